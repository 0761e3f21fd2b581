// What a chat is called and when it was last active.

/**
 * @typedef {object} ThreadRecord
 * @property {string} thread_id
 * @property {Record<string, unknown> | null} metadata
 * @property {string} status idle, busy, interrupted, error
 * @property {string} updated_at
 */

export const UNNAMED = "New chat";
export const MAX_TITLE_CHARS = 80;
const FIRST_WORDS_CHARS = 60;

/**
 * @param {ThreadRecord} thread
 * @param {string} [firstWords] what the person wrote first, where this page knows it
 * @returns {string}
 */
export function threadName({ metadata }, firstWords = "") {
  const title = metadata?.title;
  if (typeof title === "string" && title.trim()) return title.trim();
  const words = firstWords.replace(/\s+/g, " ").trim();
  if (!words) return UNNAMED;
  return words.length > FIRST_WORDS_CHARS ? `${words.slice(0, FIRST_WORDS_CHARS).trimEnd()}…` : words;
}

/** @param {ThreadRecord} thread @returns {string} ISO; a new title is no activity, so the last message counts first */
export function lastActivity({ metadata, updated_at }) {
  const said = metadata?.last_message_at;
  return typeof said === "string" && !Number.isNaN(Date.parse(said)) ? said : updated_at;
}

/**
 * @param {readonly ThreadRecord[]} loaded
 * @param {readonly ThreadRecord[]} page
 * @returns {ThreadRecord[]} each thread once, the page's word counts
 */
export function withPage(loaded, page) {
  const newer = new Set(page.map((thread) => thread.thread_id));
  return [...loaded.filter((thread) => !newer.has(thread.thread_id)), ...page];
}
