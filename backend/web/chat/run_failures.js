// Why a run ended without an answer, in a sentence.

import { isRecord } from "./message_text.js";

export const NO_ANSWER = "The answer failed. Nothing is lost; answer again in a moment.";
export const STILL_ANSWERING = "This chat is still answering, perhaps in another tab. Send again when it has ended.";

/** @param {unknown} data of the stream's event `error`: `{error, message}` @returns {string} */
export function streamFailure(data) {
  const message = isRecord(data) && typeof data.message === "string" ? data.message.trim() : "";
  return message && !/internal error/i.test(message) ? message : NO_ANSWER;
}

/**
 * @param {readonly {error?: string | null}[]} tasks of a thread's state: what stood open when the run ended
 * @returns {string} empty when nothing failed, or when the person stopped it
 */
export function stateFailure(tasks) {
  const error = tasks.find((task) => task.error)?.error ?? "";
  if (!error || error.startsWith("CancelledError")) return "";
  const quoted = /^\w+\((['"])(.+)\1,?\)$/s.exec(error);
  return quoted?.[2] ?? NO_ANSWER;
}
