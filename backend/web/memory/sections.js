/** The sections of the panel, in the order of their tabs, and what one of their items is called. */

/** @typedef {import("./records.js").SectionId} SectionId */

/** @type {readonly {id: SectionId, label: string, item: string}[]} */
export const SECTIONS = [
  { id: "about", label: "About you", item: "entry" },
  { id: "notes", label: "Notes", item: "note" },
  { id: "summaries", label: "Thread summaries", item: "thread summary" },
  { id: "episodes", label: "Past conversations", item: "past conversation" },
  { id: "data", label: "Your data", item: "item" },
];

/** Ids of a receipt do not say whether they name a note or a past conversation. @type {Map<SectionId, SectionId>} */
const SIBLINGS = new Map([
  ["notes", "episodes"],
  ["episodes", "notes"],
]);

/**
 * @param {unknown} name
 * @returns {SectionId} the first section where no section has this name
 */
export function sectionNamed(name) {
  return SECTIONS.find((section) => section.id === name)?.id ?? SECTIONS[0].id;
}

/** @param {SectionId} id @returns {SectionId | null} where an item may be that is not in this section */
export function siblingOf(id) {
  return SIBLINGS.get(id) ?? null;
}

/** @param {SectionId} id @returns {string} */
export function goneText(id) {
  const item = SECTIONS.find((section) => section.id === id)?.item ?? "item";
  return `This ${item} is not there any more. It was deleted, or something else took its place.`;
}

/**
 * Which tab a key leads to, from the tab at `index` of `count`; null for keys that lead nowhere.
 *
 * @param {string} key
 * @param {number} index
 * @param {number} count
 */
export function tabAfterKey(key, index, count) {
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  if (key === "ArrowRight" || key === "ArrowDown") return (index + 1) % count;
  if (key === "ArrowLeft" || key === "ArrowUp") return (index + count - 1) % count;
  return null;
}
