// Messages, grouped into turns: what a person said and all that follows up to what they said next.

import { isAnswer, isHidden, isHuman, isRecord, textOf } from "./message_text.js";

/**
 * @typedef {import("./message_text.js").Message} Message
 * @typedef {import("./receipt.js").Receipt} Receipt
 *
 * @typedef {object} CallResult
 * @property {string} text
 * @property {boolean} failed
 *
 * @typedef {object} TextStep
 * @property {"text"} kind
 * @property {string} key stays the same while the message grows
 * @property {string} text Markdown
 *
 * @typedef {object} CallStep
 * @property {"call"} kind
 * @property {string} key
 * @property {string} id the call's own id; some models use one again in a later message
 * @property {string} name
 * @property {unknown} args an object, or text that is not JSON yet
 * @property {CallResult | null} result
 *
 * @typedef {TextStep | CallStep} Step
 *
 * @typedef {object} Turn
 * @property {string} key
 * @property {Message | null} human null for what stands before the first human message
 * @property {string} said
 * @property {Step[]} steps
 * @property {string} answer all text of the answer, for copying
 * @property {Receipt | null} receipt of the last message that has one
 * @property {boolean} stopped whether the person stopped the answer
 */

/**
 * @param {readonly Message[]} messages as the server keeps them, oldest first
 * @returns {Turn[]}
 */
export function groupTurns(messages) {
  /** @type {Turn[]} */
  const turns = [];
  for (const message of messages) {
    if (isHidden(message)) continue;
    if (isHuman(message)) turns.push(newTurn(message, turns.length));
    else addToTurn(turns.at(-1) ?? openTurn(turns), message);
  }
  return turns;
}

/** @param {Message | null} human @param {number} position @returns {Turn} */
function newTurn(human, position) {
  const said = human ? textOf(human.content) : "";
  return { key: human?.id ?? `turn-${position}`, human, said, steps: [], answer: "", receipt: null, stopped: false };
}

/** @param {Turn[]} turns */
function openTurn(turns) {
  const turn = newTurn(null, turns.length);
  turns.push(turn);
  return turn;
}

/** @param {Turn} turn @param {Message} message */
function addToTurn(turn, message) {
  if (message.type === "tool") addResult(turn, message);
  else if (isAnswer(message)) addAnswer(turn, message);
}

/** @param {Turn} turn @param {Message} message */
function addAnswer(turn, message) {
  const text = textOf(message.content);
  const key = message.id ?? `message-${turn.steps.length}`;
  if (text.trim()) turn.steps.push({ kind: "text", key, text });
  for (const [index, call] of (message.tool_calls ?? []).entries()) {
    turn.steps.push(callStep(`${key}/${index}`, call));
  }
  turn.answer = [turn.answer, text.trim()].filter(Boolean).join("\n\n");
  const about = message.response_metadata ?? {};
  turn.receipt = isRecord(about.memory) ? /** @type {Receipt} */ (about.memory) : turn.receipt;
  turn.stopped = about.stopped === true;
}

/** @param {string} key @param {import("./message_text.js").ToolCall} call @returns {CallStep} */
function callStep(key, call) {
  return { kind: "call", key, id: call.id ?? "", name: call.name || "tool", args: call.args ?? {}, result: null };
}

/** @param {Turn} turn @param {Message} message */
function addResult(turn, message) {
  const result = { text: textOf(message.content), failed: message.status === "error" };
  const open = turn.steps.filter(isOpenCall).find((step) => step.id === message.tool_call_id);
  if (open) open.result = result;
  else turn.steps.push({ ...callStep(`result-${message.id ?? turn.steps.length}`, { name: message.name }), result });
}

/** @param {Step} step @returns {step is CallStep} */
function isOpenCall(step) {
  return step.kind === "call" && step.result === null;
}

/** @param {Turn} turn @returns {boolean} whether it says or does anything yet */
export function isAnswered(turn) {
  return turn.steps.length > 0;
}

/** @param {Turn} turn @returns {boolean} whether its last step is an answer in words, so that nothing is missing */
export function isComplete(turn) {
  return turn.steps.at(-1)?.kind === "text";
}
