// How a tool call stands, and what it says to a person.

import { isRecord } from "./message_text.js";

/**
 * @typedef {import("./turns.js").CallStep} CallStep
 * @typedef {"running" | "finished" | "failed" | "interrupted"} CallState
 */

/** @type {Record<string, string>} */
const LABELS = {
  save_memory: "Updates what is known about you",
  manage_memory: "Works with your notes",
  lookup_thread_messages: "Looks up earlier messages",
  get_weather: "Looks up the weather",
  get_crypto_price: "Looks up a price",
};

/** @param {string} name @returns {string} */
export function toolLabel(name) {
  return Object.hasOwn(LABELS, name) ? LABELS[name] : `Uses ${name}`;
}

/** @param {CallStep} step @param {{running: boolean}} turn @returns {CallState} */
export function callState({ result }, { running }) {
  if (result) return result.failed ? "failed" : "finished";
  return running ? "running" : "interrupted";
}

/** @param {CallStep} step @returns {unknown} the result as JSON, or the text that it is */
export function resultValue({ result }) {
  if (!result) return null;
  try {
    return JSON.parse(result.text);
  } catch {
    return result.text;
  }
}

/** @param {CallStep} step @returns {string} what a failed call says: of `{error: {message}}` the message */
export function failureText(step) {
  const value = resultValue(step);
  if (isRecord(value) && isRecord(value.error)) return String(value.error.message ?? "It failed.");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.replace(/^[A-Z_]+: /, "").trim() || "It failed.";
}

/** @param {unknown} value @returns {string} for reading, with indentation */
export function readableJson(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
