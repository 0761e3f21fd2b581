/** What a person types about a note: how it is read, what of it has changed, and what is wrong with it. */

/**
 * @typedef {import("./records.js").Fact} Fact
 * @typedef {"content" | "key" | "categories" | "importance"} Field
 * @typedef {Record<Field, string>} Typed the texts of the four fields
 * @typedef {{content: string, key: string | null, categories: string[], importance: number | null}} Draft
 * @typedef {{field: Field, text: string}} Problem
 */

const MAX_CONTENT = 2000;
const MAX_KEY = 128;
const MAX_CATEGORIES = 3;
const MAX_CATEGORY = 60;

/** @type {Typed} */
export const NOTHING_TYPED = { content: "", key: "", categories: "", importance: "" };

/** @param {Pick<Fact, Field>} note @returns {Typed} */
export function typedOf({ content, key, categories, importance }) {
  return { content, key: key ?? "", categories: categories.join(", "), importance: shortNumber(importance) };
}

/** @param {number} number @returns {string} at most two decimals, for what is kept in four bytes */
export function shortNumber(number) {
  return String(Math.round(number * 100) / 100);
}

/** @param {Typed} typed @returns {Draft} */
export function draftOf({ content, key, categories, importance }) {
  return {
    content: content.trim(),
    key: key.trim() || null,
    categories: categoriesIn(categories),
    importance: importance.trim() ? Number(importance) : null,
  };
}

/** @param {string} text @returns {string[]} what commas part, each once whatever its case */
export function categoriesIn(text) {
  /** @type {Map<string, string>} */
  const found = new Map();
  for (const part of text.split(",")) {
    const category = part.split(/\s+/).filter(Boolean).join(" ");
    if (category && !found.has(category.toLowerCase())) found.set(category.toLowerCase(), category);
  }
  return [...found.values()];
}

/** @param {Draft} draft @returns {Problem[]} one for each field that cannot be sent as it is */
export function problemsOf(draft) {
  /** @type {[Field, string][]} */
  const found = [
    ["content", contentProblem(draft.content)],
    ["key", tooLong(draft.key ?? "", MAX_KEY, "A key")],
    ["categories", categoriesProblem(draft.categories)],
    ["importance", importanceProblem(draft.importance)],
  ];
  return found.filter(([, text]) => text).map(([field, text]) => ({ field, text }));
}

/** @param {string} content */
function contentProblem(content) {
  return content ? tooLong(content, MAX_CONTENT, "A note") : "Write what is to be remembered.";
}

/** @param {string[]} categories */
function categoriesProblem(categories) {
  if (categories.length > MAX_CATEGORIES) {
    return `A note has at most ${MAX_CATEGORIES} categories; these are ${categories.length}.`;
  }
  if (categories.some((category) => category.includes("/"))) return "A category has no slash.";
  return categories.map((category) => tooLong(category, MAX_CATEGORY, "A category")).find(Boolean) ?? "";
}

/** @param {number | null} importance */
function importanceProblem(importance) {
  const isFine = importance === null || (importance >= 0 && importance <= 1);
  return isFine ? "" : "Importance is a number from 0 to 1.";
}

/** @param {string} text @param {number} most @param {string} what @returns {string} the server counts code points */
function tooLong(text, most, what) {
  const count = [...text].length;
  return count > most ? `${what} has at most ${most} characters; this has ${count}.` : "";
}

/** @param {Draft} draft @returns {Record<string, unknown>} the body of a new note, without what is left out */
export function newNoteBody({ content, key, categories, importance }) {
  return {
    content,
    ...(categories.length ? { categories } : {}),
    ...(key === null ? {} : { key }),
    ...(importance === null ? {} : { importance }),
  };
}

/**
 * What of a note becomes something else. A field that was not touched is left out, so that a number which is shown
 * rounded stays as it is.
 *
 * @param {Typed} typed
 * @param {Pick<Fact, Field>} stored
 * @returns {Record<string, unknown>} empty when nothing does
 */
export function changesOf(typed, stored) {
  const before = draftOf(typedOf(stored));
  const after = draftOf(typed);
  return {
    ...(after.content === stored.content ? {} : { content: after.content }),
    ...(after.key === stored.key ? {} : { key: after.key }),
    ...(JSON.stringify(after.categories) === JSON.stringify(stored.categories) ? {} : { categories: after.categories }),
    ...(after.importance === null || after.importance === before.importance ? {} : { importance: after.importance }),
  };
}

/** @param {Pick<Fact, Field>} note @returns {[string, string][]} names and texts of what is kept of a note */
export function describedFields({ content, key, categories, importance }) {
  return [
    ["Note", content],
    ["Key", key ?? "none"],
    ["Categories", categories.join(", ") || "none"],
    ["Importance", shortNumber(importance)],
  ];
}
