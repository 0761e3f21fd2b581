/** A note that was changed elsewhere while somebody edits it: what is stored beside what was typed. */

import { changesOf, describedFields, draftOf } from "./note_fields.js";

/**
 * @typedef {import("./records.js").Fact} Fact
 * @typedef {import("./note_fields.js").Typed} Typed
 * @typedef {{name: string, stored: string, mine: string}} ConflictRow `mine`: what the field has if mine is used
 */

export const CONFLICT_TITLE = "This note was changed meanwhile";
export const CONFLICT_TEXT =
  "Nothing of yours is saved yet, and nothing is lost. “Use mine” saves what you changed over what is stored now; " +
  "“Keep the stored one” drops what you typed.";
export const GONE_TITLE = "This note was deleted meanwhile";
export const GONE_TEXT = "What you typed is still here. Save it as a new note, or drop it.";

/**
 * The fields that were changed on either side.
 *
 * @param {Typed} typed
 * @param {Fact} base the note as it was when the editing began
 * @param {Fact} stored the note as it is now
 * @returns {ConflictRow[]}
 */
export function conflictRows(typed, base, stored) {
  const before = describedFields(base);
  const now = describedFields(stored);
  const mine = describedFields(withMine(typed, base, stored));
  return now
    .map(([name, text], index) => ({ name, stored: text, mine: mine[index][1], before: before[index][1] }))
    .filter((row) => row.stored !== row.before || row.mine !== row.stored)
    .map(({ name, stored: text, mine: own }) => ({ name, stored: text, mine: own }));
}

/**
 * The stored note with what was typed over it; fields that were not touched stay as they are stored.
 *
 * @param {Typed} typed
 * @param {Fact} base
 * @param {Fact} stored
 * @returns {Fact}
 */
export function withMine(typed, base, stored) {
  const changes = changesOf(typed, base);
  const draft = draftOf(typed);
  return {
    ...stored,
    ...("content" in changes ? { content: draft.content } : {}),
    ...("key" in changes ? { key: draft.key } : {}),
    ...("categories" in changes ? { categories: draft.categories } : {}),
    ...("importance" in changes ? { importance: draft.importance ?? stored.importance } : {}),
  };
}
