/** Which notes are listed, under which categories, and how they are counted. */

import { counted } from "./counted.js";

/** @typedef {import("./records.js").Fact} Fact */

/** What is chosen in place of a category: all notes, or those without one. No category has a slash. */
export const ALL = "/all";
export const WITHOUT = "/without";

/**
 * @param {readonly Fact[]} notes
 * @returns {{value: string, label: string}[]} choices with their counts, categories by name whatever their case
 */
export function categoryChoices(notes) {
  /** @type {Map<string, {name: string, count: number}>} */
  const found = new Map();
  for (const category of notes.flatMap((note) => note.categories)) {
    const known = found.get(category.toLowerCase()) ?? { name: category, count: 0 };
    found.set(category.toLowerCase(), { ...known, count: known.count + 1 });
  }
  const without = notes.filter((note) => !note.categories.length).length;
  const named = [...found].sort(([one], [other]) => one.localeCompare(other, "en"));
  return [
    { value: ALL, label: `All (${notes.length})` },
    ...named.map(([value, { name, count }]) => ({ value, label: `${name} (${count})` })),
    ...(without && found.size ? [{ value: WITHOUT, label: `Without a category (${without})` }] : []),
  ];
}

/** @param {readonly Fact[]} notes @param {string} choice @returns {Fact[]} */
export function notesIn(notes, choice) {
  if (choice === ALL) return [...notes];
  if (choice === WITHOUT) return notes.filter((note) => !note.categories.length);
  return notes.filter((note) => note.categories.some((category) => category.toLowerCase() === choice));
}

/** @param {import("./records.js").FactCounts} counts @returns {string} */
export function countsText({ total, limit, shown }) {
  const verb = shown === 1 ? "is" : "are";
  return `${total} of ${counted(limit, "note")}; ${shown} ${verb} shown in each new chat`;
}

/** @param {number} count @param {string} text what was searched for @param {string} category @returns {string} */
export function emptyText(count, text, category) {
  if (text.trim()) return `No note is about “${text.trim()}”. Search with other words.`;
  if (category !== ALL && count) return "No note is in this category.";
  return "No notes yet. What you ask the assistant to remember shows up here, and you can add a note yourself.";
}

/** @param {Fact} note @returns {string} who said it */
export function originText({ said_by, thread_id }) {
  if (said_by !== "user") return "saved by the assistant";
  return thread_id ? "said by you" : "added by you";
}

/**
 * @param {readonly Fact[]} notes
 * @param {string} typed a key, while it is typed for a new note
 * @returns {string} what saving under it would replace; empty when nothing
 */
export function sameKeyText(notes, typed) {
  const key = typed.normalize("NFC").split(/\s+/).filter(Boolean).join(" ");
  const same = notes.find((note) => note.key === key);
  return same ? `Saving replaces the note that has this key: “${same.content}”` : "";
}
