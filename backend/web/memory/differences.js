/** What has changed between two readings of a list, and how that is told. */

import { counted } from "./counted.js";

/** @typedef {{added: string[], changed: string[], removed: string[]}} Differences */

/**
 * @template T
 * @param {Map<string, string> | null} before signatures by key as last shown; null when nothing was shown yet
 * @param {readonly T[]} items
 * @param {{keyOf: (item: T) => string, signatureOf: (item: T) => string}} how
 * @returns {{differences: Differences, signatures: Map<string, string>}}
 */
export function compare(before, items, { keyOf, signatureOf }) {
  const signatures = new Map(items.map((item) => [keyOf(item), signatureOf(item)]));
  if (before === null) return { differences: none(), signatures };
  const keys = [...signatures.keys()];
  const differences = {
    added: keys.filter((key) => !before.has(key)),
    changed: keys.filter((key) => before.has(key) && before.get(key) !== signatures.get(key)),
    removed: [...before.keys()].filter((key) => !signatures.has(key)),
  };
  return { differences, signatures };
}

/** @returns {Differences} */
export function none() {
  return { added: [], changed: [], removed: [] };
}

/**
 * @param {Differences} differences
 * @param {string} item what one is called, in the singular
 * @returns {string} "Memory updated: 1 note added, 2 removed"; empty when nothing has changed
 */
export function updateText({ added, changed, removed }, item) {
  const told = [
    [added.length, "added"],
    [changed.length, "changed"],
    [removed.length, "removed"],
  ].filter(([count]) => count);
  if (!told.length) return "";
  const [[first, verb], ...others] = told;
  const rest = others.map(([count, what]) => `, ${count} ${what}`).join("");
  return `Memory updated: ${counted(Number(first), item)} ${verb}${rest}`;
}
