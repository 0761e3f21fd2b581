// What one call of `save_memory` changed of the profile.

import { isRecord } from "./message_text.js";

/**
 * @typedef {"added" | "changed" | "removed" | "same"} Change
 * @typedef {{key: string, change: Change, was: unknown, is: unknown}} DiffRow
 */

/**
 * @param {unknown} payload what the tool answered: `{ok, before, after, patches: [{op, path, value?, old_value?}]}`
 * @returns {DiffRow[] | null} a row for each key that a patch names, in their order; null when it is no such answer
 */
export function diffRows(payload) {
  if (!isRecord(payload) || !isRecord(payload.before) || !isRecord(payload.after)) return null;
  const { before, after, patches } = payload;
  if (!Array.isArray(patches)) return null;
  const keys = new Set(patches.filter(isRecord).map((patch) => String(patch.path ?? "").slice(1)));
  return [...keys].filter(Boolean).map((key) => diffRow(key, before, after));
}

/** @param {string} key @param {Record<string, unknown>} before @param {Record<string, unknown>} after @returns {DiffRow} */
function diffRow(key, before, after) {
  const [had, has] = [Object.hasOwn(before, key), Object.hasOwn(after, key)];
  const [was, is] = [had ? before[key] : undefined, has ? after[key] : undefined];
  return { key, change: changeOf(had, has, asText(was) === asText(is)), was, is };
}

/** @param {boolean} had @param {boolean} has @param {boolean} equal @returns {Change} */
function changeOf(had, has, equal) {
  if (had && has) return equal ? "same" : "changed";
  if (had) return "removed";
  return has ? "added" : "same";
}

/** @param {unknown} value @returns {string} a text as it is, anything else as JSON */
export function asText(value) {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 1) ?? "");
}

/** @param {DiffRow[]} rows @returns {string} such as "1 added, 2 changed" */
export function diffSummary(rows) {
  const kinds = /** @type {const} */ (["added", "changed", "removed", "same"]);
  const counts = kinds.map((kind) => ({ kind, count: rows.filter((row) => row.change === kind).length }));
  const told = counts.filter(({ count }) => count).map(({ kind, count }) => `${count} ${WORDS[kind]}`);
  return told.join(", ") || "nothing changed";
}

const WORDS = { added: "added", changed: "changed", removed: "removed", same: "unchanged" };
