// What becomes of a request of the chat: it was taken, or a sentence says why not.

import { sentenceOf } from "../app/errors.js";
import { STILL_ANSWERING } from "./run_failures.js";

/**
 * @typedef {{sent: true} | {sent: false, sentence: string, busy?: boolean, isFinal?: boolean}} Sent
 *   busy: the thread is still answering; isFinal: trying again would not help
 */

/** Who has left is told nothing; what was not sent is in the draft of the thread. @type {Sent} */
export const LEFT = { sent: true };

/**
 * @param {AbortSignal} signal
 * @param {() => Promise<Sent>} action
 * @returns {Promise<Sent>}
 */
export async function attempt(signal, action) {
  try {
    return await action();
  } catch (error) {
    if (signal.aborted) return LEFT;
    const busy = statusOf(error) === 409;
    return { sent: false, busy, sentence: busy ? STILL_ANSWERING : sentenceOf(error) };
  }
}

/** @param {unknown} error */
function statusOf(error) {
  return /** @type {{status?: number} | null} */ (error)?.status;
}

/** @param {unknown} error told again, except that a run that has ended cannot be cancelled */
export function ignoreEnded(error) {
  if (![404, 409].includes(statusOf(error) ?? 0)) throw error;
}
