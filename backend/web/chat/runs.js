// The requests of an open chat: what its thread holds, and runs in it.

import { checkpointBefore } from "./branches.js";
import { GRAPH, threadPath } from "./threads.js";

/**
 * @typedef {import("../app/api.js").Api} Api
 * @typedef {import("./message_text.js").Message} Message
 * @typedef {{checkpoint_id: string, checkpoint_ns: string}} Checkpoint
 *
 * @typedef {object} ThreadView what a thread holds
 * @property {readonly Message[]} messages
 * @property {{error?: string | null}[]} tasks what stood open when the last run ended
 *
 * @typedef {ReturnType<typeof createRuns>} Runs
 */

const STATES_A_PAGE = 10;
/** A node at whose end the turn is over: an answer that was stopped is kept as if it came from there. */
const TURN_END = "trigger_background_agent";

/** @param {Api} api */
export function createRuns(api) {
  return {
    /** @param {string} id @param {AbortSignal} [signal] @returns {Promise<ThreadView>} */
    async view(id, signal) {
      const state = await api.get(threadPath(id, "/state"), { signal });
      return { messages: state.values?.messages ?? [], tasks: state.tasks ?? [] };
    },

    /**
     * @param {string} id
     * @param {readonly Message[]} before the messages that stand before a human message in the branch that is shown
     * @param {AbortSignal} signal
     * @returns {Promise<Checkpoint | null>} where the thread forks, null when it is not kept any more
     */
    async forkPoint(id, before, signal) {
      let behind = null;
      for (;;) {
        const states = await inputStates(api, id, { behind, signal });
        const found = checkpointBefore(states, before);
        if (found || states.length < STATES_A_PAGE) return found;
        behind = states.at(-1)?.checkpoint;
      }
    },

    /** @param {string} id @param {{message: Message, checkpoint?: Checkpoint | null, signal: AbortSignal}} what */
    run: (id, { message, checkpoint, signal }) =>
      api.events(threadPath(id, "/runs/stream"), { method: "POST", body: runBody(message, checkpoint), signal }),

    /** @param {string} id @param {string} runId @param {AbortSignal} signal what comes from now on */
    join: (id, runId, signal) => api.events(threadPath(id, `/runs/${encodeURIComponent(runId)}/stream`), { signal }),

    /** @param {string} id @returns {Promise<string | null>} of the run that is waiting or going on */
    async activeRun(id) {
      const [newest] = await api.get(threadPath(id, "/runs"), { query: { limit: 1 } });
      return ["pending", "running"].includes(newest?.status) ? newest.run_id : null;
    },

    /** @param {string} id @param {string} runId resolves when the run has ended */
    cancel: (id, runId) =>
      api.post(threadPath(id, `/runs/${encodeURIComponent(runId)}/cancel?wait=true&action=interrupt`)),

    /** @param {string} id @param {Message} answer what had come when the person stopped it */
    keepStopped: (id, answer) =>
      api.post(threadPath(id, "/state"), { values: { messages: [answer] }, as_node: TURN_END }),
  };
}

/** @param {Api} api @param {string} id @param {{behind: any, signal: AbortSignal}} how behind: a checkpoint, to read what is older */
function inputStates(api, id, { behind, signal }) {
  const before = behind ? { configurable: { checkpoint_id: behind.checkpoint_id } } : undefined;
  const body = { limit: STATES_A_PAGE, metadata: { source: "input" }, before };
  return api.post(threadPath(id, "/history"), body, { signal });
}

/** @param {Message} message @param {Checkpoint | null} [checkpoint] */
function runBody(message, checkpoint) {
  return {
    assistant_id: GRAPH,
    input: { messages: [message] },
    // `values` would send the whole thread at each step
    stream_mode: ["messages-tuple", "updates"],
    multitask_strategy: "reject",
    on_disconnect: "continue",
    ...(checkpoint ? { checkpoint } : {}),
  };
}
