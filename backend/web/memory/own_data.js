/** The words and numbers of *Your data*. */

import { counted } from "./counted.js";

/** @param {import("./records.js").Erased} counts @returns {string} what was erased, by kind */
export function erasedText({ profile_keys, facts, episodes, thread_summaries }) {
  const kinds = [
    `${counted(profile_keys, "entry")} about you`,
    counted(facts, "note"),
    counted(episodes, "past conversation"),
    counted(thread_summaries, "thread summary"),
  ];
  return `Erased: ${kinds.slice(0, -1).join(", ")} and ${kinds.at(-1)}.`;
}

/** @param {Date} day @returns {string} */
export function exportName(day) {
  return `afterthought-memory-${day.toISOString().slice(0, 10)}.json`;
}

/**
 * The parts of a score that count, the largest first; `share` is of the largest score in the list, 0 to 1.
 *
 * @param {Record<string, number>} parts
 * @param {number} largest
 * @returns {{name: string, value: number, share: number}[]}
 */
export function scoreParts(parts, largest) {
  return Object.entries(parts)
    .filter(([, value]) => Math.abs(value) >= 0.0005)
    .sort(([, one], [, other]) => other - one)
    .map(([name, value]) => ({ name, value, share: largest > 0 ? Math.min(1, Math.max(0, value / largest)) : 0 }));
}
