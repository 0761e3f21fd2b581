/** Numbers of things that are remembered, some of which have an irregular plural. */

import { plural } from "../app/format.js";

const IRREGULAR = new Map([
  ["entry", "entries"],
  ["thread summary", "thread summaries"],
]);

/** @param {number} count @param {string} item @returns {string} "1 entry", "3 thread summaries" */
export function counted(count, item) {
  return plural(count, item, IRREGULAR.get(item));
}
