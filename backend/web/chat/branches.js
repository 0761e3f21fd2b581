// Where a thread forks: the checkpoint that was there before a human message was said.

/**
 * @typedef {import("./message_text.js").Message} Message
 *
 * @typedef {object} ThreadState
 * @property {{messages?: Message[]}} values
 * @property {{checkpoint_id: string, checkpoint_ns?: string}} checkpoint
 */

/**
 * @param {readonly ThreadState[]} states those that an input made: their messages end before the input
 * @param {readonly Message[]} before the messages that stand before the human message in the branch that is shown
 * @returns {{checkpoint_id: string, checkpoint_ns: string} | null}
 */
export function checkpointBefore(states, before) {
  const ids = before.map((message) => message.id);
  const found = states.find((state) => isSame(state.values.messages ?? [], ids));
  return found ? { checkpoint_id: found.checkpoint.checkpoint_id, checkpoint_ns: "" } : null;
}

/** @param {readonly Message[]} messages @param {readonly unknown[]} ids */
function isSame(messages, ids) {
  return messages.length === ids.length && messages.every((message, position) => message.id === ids[position]);
}

/**
 * @param {readonly Message[]} messages of the branch that is shown
 * @param {string} humanId
 * @returns {readonly Message[]} those before the human message
 */
export function messagesBefore(messages, humanId) {
  const position = messages.findIndex((message) => message.id === humanId);
  return messages.slice(0, Math.max(0, position));
}
