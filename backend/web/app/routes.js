/** What an address shows. Knows no page. */

export const SECTIONS = /** @type {const} */ (["about", "notes", "summaries", "episodes", "data"]);

/**
 * @typedef {typeof SECTIONS[number]} Section
 * @typedef {{view: "chat", threadId: string | null} | {view: "memory", section: Section}} Route
 */

/**
 * An address that means nothing is a new chat.
 *
 * @param {string} hash as in `location.hash`
 * @returns {Route}
 */
export function routeOf(hash) {
  const [kind, id = ""] = hash.replace(/^#?\/?/, "").split("/");
  if (kind === "memory") return { view: "memory", section: SECTIONS.find((section) => section === id) ?? "about" };
  return { view: "chat", threadId: kind === "t" ? decoded(id) : null };
}

/**
 * @param {Route} route
 * @returns {string} with its `#`
 */
export function hashOf(route) {
  if (route.view === "memory") return `#/memory/${route.section}`;
  return route.threadId === null ? "#/" : `#/t/${encodeURIComponent(route.threadId)}`;
}

/**
 * The title of the window.
 *
 * @param {Route} route
 * @param {string | null} chatTitle of the chat that is shown, when it has one
 */
export function titleOf(route, chatTitle) {
  if (route.view === "memory") return "Memory · Afterthought";
  if (route.threadId === null) return "New chat · Afterthought";
  return `${chatTitle || "Chat"} · Afterthought`;
}

/**
 * @param {string} text
 * @returns {string | null}
 */
function decoded(text) {
  try {
    return decodeURIComponent(text) || null;
  } catch {
    return null;
  }
}
