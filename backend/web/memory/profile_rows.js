/** The rows of *About you*: their order and where each comes from (S1). */

/** @typedef {{key: string, value: unknown, source: "account" | "saved"}} ProfileRow */

const ACCOUNT_ORDER = ["name", "email", "avatar", "socials"];

/**
 * Rows of the account first, in S1's order; then what was saved, by key. What was saved over a value of the account
 * counts as saved.
 *
 * @param {import("./records.js").Profile} profile
 * @returns {ProfileRow[]}
 */
export function profileRows({ memory, store_keys }) {
  const saved = new Set(store_keys);
  const rows = Object.entries(memory).map(([key, value]) => row(key, value, saved.has(key)));
  return rows.sort(inOrder);
}

/** @param {string} key @param {unknown} value @param {boolean} isSaved @returns {ProfileRow} */
function row(key, value, isSaved) {
  return { key, value, source: isSaved ? "saved" : "account" };
}

/** @param {ProfileRow} one @param {ProfileRow} other */
function inOrder(one, other) {
  if (one.source !== other.source) return one.source === "account" ? -1 : 1;
  const places = one.source === "account" ? place(one.key) - place(other.key) : 0;
  return places || alphabetical(one.key, other.key);
}

/** @param {string} key */
function place(key) {
  const index = ACCOUNT_ORDER.indexOf(key);
  return index < 0 ? ACCOUNT_ORDER.length : index;
}

/** @param {string} one @param {string} other */
function alphabetical(one, other) {
  return one.localeCompare(other, "en") || (one < other ? -1 : 1);
}

/** @param {unknown} value @returns {value is object} whether it is shown as JSON */
export function isStructured(value) {
  return typeof value === "object" && value !== null;
}

/** @param {ProfileRow} row */
export function profileSignature({ value, source }) {
  return JSON.stringify([source, value]);
}

/** @param {object} value @returns {string} "3 entries", "1 field" */
export function sizeOf(value) {
  const [count, item] = Array.isArray(value) ? [value.length, "item"] : [Object.keys(value).length, "field"];
  return `${count} ${item}${count === 1 ? "" : "s"}`;
}
