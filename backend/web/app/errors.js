/** What went wrong, as sentences with a way out. Knows no network and no page. */

export class ApiError extends Error {
  /**
   * @param {string} message a sentence for people
   * @param {{kind: string, status: number, body?: any}} about status 0: there was no response
   */
  constructor(message, { kind, status, body = null }) {
    super(message);
    this.name = "ApiError";
    this.kind = kind;
    this.status = status;
    this.body = body;
  }
}

/** What to do, where the server's own sentence does not say it. */
/** @type {Record<string, string>} */
const WAYS_OUT = {
  not_found: "It may have been deleted elsewhere; reload the page to see what is there.",
  duplicate: "Look for it in the list, or write it differently.",
  too_large: "Shorten it and try again.",
  forbidden: "Ask whoever runs this server for permission, or sign in with another token.",
  internal: "Try again; if it happens again, look at the server's log.",
  unavailable: "Try again in a moment.",
  bad_model_output: "Try again in a moment.",
  service_unavailable: "Try again in a moment.",
  server_unavailable: "Try again in a moment.",
};

/** What a status means where the server says nothing that people can read. */
/** @type {Record<number, {kind: string, message: string}>} */
const BY_STATUS = {
  400: { kind: "invalid", message: "The server does not take this as it is. Change it and try again." },
  401: { kind: "unauthenticated", message: "You are not signed in. Sign in and try again." },
  403: { kind: "forbidden", message: "This is not permitted." },
  404: { kind: "not_found", message: "This is not there." },
  409: { kind: "conflict", message: "This cannot be done right now. Wait a moment, then try again." },
  413: { kind: "too_large", message: "This is too long." },
  422: { kind: "invalid", message: "The server does not take this as it is. Change it and try again." },
  429: { kind: "busy", message: "The server has too much to do. Wait a moment, then try again." },
  500: { kind: "internal", message: "Something went wrong on the server." },
  503: { kind: "unavailable", message: "The server cannot answer right now." },
};

const BARE_REASONS =
  /^(?:bad request|unauthorized|forbidden|not found|method not allowed|conflict|internal server error|bad gateway|service unavailable|gateway timeout|unprocessable (?:entity|content))\.?$/i;

/** No response came, or the stream broke off. */
export function unreachable() {
  const message = "The server does not answer. Check that it is running and that you are online, then try again.";
  return new ApiError(message, { kind: "unreachable", status: 0 });
}

/** @param {number} status */
export function unreadable(status) {
  const message = "The server answered something that this page does not understand. Reload the page and try again.";
  return new ApiError(message, { kind: "unexpected", status });
}

/**
 * The error of a response: the server's own sentence first when there is one, then what to do.
 *
 * @param {number} status
 * @param {any} body parsed JSON: `{"error": {kind, message}}`, `{"detail": ...}`, anything else, or null
 */
export function errorOf(status, body) {
  const known = BY_STATUS[status] ?? BY_STATUS[status < 500 ? 400 : 503];
  const kind = typeof body?.error?.kind === "string" ? body.error.kind : known.kind;
  const said = sentence(saidIn(body)) || known.message;
  return new ApiError([said, WAYS_OUT[kind]].filter(Boolean).join(" "), { kind, status, body });
}

/** @param {unknown} error @returns {string} what it says to people */
export function sentenceOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Whether an error is a request that was given up on purpose.
 *
 * @param {unknown} error
 */
export function isAbort(error) {
  return error instanceof Error && error.name === "AbortError";
}

/**
 * @param {any} body
 * @returns {string}
 */
function saidIn(body) {
  const said = body?.error?.message ?? body?.detail ?? body?.message;
  if (Array.isArray(said))
    return said
      .map((problem) => problem?.msg ?? "")
      .filter(Boolean)
      .join("; ");
  return typeof said === "string" && !BARE_REASONS.test(said.trim()) ? said : "";
}

/** @param {string} text */
function sentence(text) {
  const trimmed = text.trim();
  if (!trimmed) return "";
  const capital = trimmed[0].toUpperCase() + trimmed.slice(1);
  return /[.!?…]$/.test(capital) ? capital : `${capital}.`;
}
