/** What the page starts with, by what the server says of itself. Knows no page. */

/**
 * @typedef {object} Health
 * @property {"ok" | "degraded"} status
 * @property {{ok: boolean, problem: string | null}} database
 * @property {import("./header.js").ModelHealth} model
 * @property {string} auth_mode
 *
 * @typedef {{show: "page", health: Health} | {show: "sign-in", health: Health | null} |
 *   {show: "problem", title: string, text: string}} Start
 */

/**
 * @param {{health: Health | null, error: import("./errors.js").ApiError | null, isSignedIn: boolean}} found the body of
 *   GET /api/health, or why there is none
 * @returns {Start}
 */
export function startOf({ health, error, isSignedIn }) {
  if (health?.status === "ok") return afterHealth(health, isSignedIn);
  const told = health ?? error?.body;
  if (told?.status === "degraded") return { show: "problem", title: "The database is away", text: degraded(told) };
  if (error?.status === 401) return { show: "sign-in", health: null };
  return { show: "problem", title: "The page cannot be shown", text: error?.message ?? "The server is not ready." };
}

/**
 * @param {Health} health
 * @param {boolean} isSignedIn
 * @returns {Start}
 */
function afterHealth(health, isSignedIn) {
  return { show: health.auth_mode === "none" || isSignedIn ? "page" : "sign-in", health };
}

/** @param {Health} health */
function degraded(health) {
  const why = health.database?.problem ? ` The server says: ${health.database.problem}` : "";
  return `The server runs, but without its database there are no chats and no memory. Nothing is lost.${why}`;
}
