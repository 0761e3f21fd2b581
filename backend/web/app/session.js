/** Who is signed in: a token that this tab alone knows, for as long as it is open. */

const KEY = "afterthought.token";

/**
 * @typedef {object} Session
 * @property {() => string | null} token null while nobody is signed in
 * @property {(token: string) => "same" | "other" | "unknown"} begin tells whether it is who was signed in before
 * @property {() => void} end what was typed stays, for who signs in again
 * @property {() => void} forget everything that this tab kept
 */

/**
 * @param {Storage} storage of this tab, where the parts keep their drafts too
 * @returns {Session}
 */
export function createSession(storage) {
  let last = storage.getItem(KEY);

  return {
    token: () => storage.getItem(KEY),
    begin(token) {
      const before = last;
      last = token;
      storage.setItem(KEY, token);
      return before === null ? "unknown" : comparedUsers(before, token);
    },
    end: () => storage.removeItem(KEY),
    forget() {
      last = null;
      storage.clear();
    },
  };
}

/**
 * What people paste, as a token: without spaces, quotes and the word before it. Null for what cannot be sent as one.
 *
 * @param {string} pasted
 */
export function tokenIn(pasted) {
  const token = pasted
    .trim()
    .replace(/^bearer\s+/i, "")
    .replace(/^(["'])(.*)\1$/, "$2");
  return /^[\x21-\x7e]+$/.test(token) ? token : null;
}

/**
 * Whether two tokens are of one user, as far as this page can tell: it reads JSON web tokens, which it cannot check.
 *
 * @param {string} before
 * @param {string} now
 * @returns {"same" | "other" | "unknown"}
 */
export function comparedUsers(before, now) {
  if (before === now) return "same";
  const [one, two] = [subject(before), subject(now)];
  if (one === null || two === null) return "unknown";
  return one === two ? "same" : "other";
}

/**
 * @param {string} token
 * @returns {string | null}
 */
function subject(token) {
  try {
    const claims = JSON.parse(atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/")));
    return typeof claims.sub === "string" ? `${claims.iss ?? ""} ${claims.sub}` : null;
  } catch {
    return null;
  }
}
