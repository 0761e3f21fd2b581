// What a thread holds after a run that was stopped: with the words that had come.

import { merged, stoppedAnswer } from "./conversation_state.js";

/**
 * @typedef {import("./runs.js").Runs} Runs
 * @typedef {import("./runs.js").ThreadView} ThreadView
 */

/**
 * @param {Runs} runs
 * @param {string} id
 * @param {{stopped: import("./conversation_state.js").Going | null, signal: AbortSignal}} how stopped: the run, where
 *   the person stopped it
 * @returns {Promise<ThreadView>}
 */
export async function viewAfter(runs, id, { stopped, signal }) {
  const view = await runs.view(id, signal);
  const partial = stopped && stoppedAnswer(view.messages, stopped.messages);
  if (!partial) return view;
  try {
    await runs.keepStopped(id, partial);
    return await runs.view(id, signal);
  } catch {
    // it stays on the page at least
    return { ...view, messages: merged(view.messages, [partial]) };
  }
}
