// What is shown of a thread: what the server keeps, and what a run is adding to it.

import { isHidden, isHuman, textOf } from "./message_text.js";
import { groupTurns, isAnswered, isComplete } from "./turns.js";

/**
 * @typedef {import("./message_text.js").Message} Message
 * @typedef {import("./turns.js").Turn} Turn
 *
 * @typedef {object} Going a run that is going on
 * @property {string | null} runId null until the server has told it
 * @property {readonly Message[]} messages what it has brought so far; the human message first where this page sent it
 * @property {boolean} joinedLate
 * @property {boolean} stopping
 *
 * @typedef {object} Shown
 * @property {readonly Message[]} kept
 * @property {Going | null} going
 * @property {string} failure why the last run has no answer; empty for no failure
 *
 * @typedef {Turn & {running: boolean, failure: string, lacksAnswer: boolean}} ShownTurn
 */

/**
 * Finished turns, by the list of messages that they are of: with each piece of an answer only its own turn is made anew.
 *
 * @type {WeakMap<readonly Message[], ShownTurn[]>}
 */
const finished = new WeakMap();

/** @param {Shown} shown @returns {ShownTurn[]} only the last turn may be running or have failed */
export function shownTurns({ kept, going, failure }) {
  const start = kept.findLastIndex((message) => isHuman(message) && !isHidden(message));
  const open = groupTurns(merged(kept.slice(Math.max(0, start)), going?.messages ?? []));
  const last = open.pop();
  const before = [...finishedTurns(kept, start), ...open.map(finishedTurn)];
  return last ? [...before, lastTurn(last, going !== null, failure)] : before;
}

/** @param {readonly Message[]} kept @param {number} end */
function finishedTurns(kept, end) {
  const known = finished.get(kept) ?? groupTurns(kept.slice(0, Math.max(0, end))).map(finishedTurn);
  finished.set(kept, known);
  return known;
}

/** @param {Turn} turn @returns {ShownTurn} */
function finishedTurn(turn) {
  return { ...turn, running: false, failure: "", lacksAnswer: turn.human !== null && !isAnswered(turn) };
}

/** @param {Turn} turn @param {boolean} running @param {string} failure @returns {ShownTurn} */
function lastTurn(turn, running, failure) {
  if (running) return { ...turn, running, failure: "", lacksAnswer: false };
  return { ...turn, running, failure, lacksAnswer: turn.human !== null && !isComplete(turn) };
}

/**
 * @param {readonly Message[]} kept
 * @param {readonly Message[]} news
 * @returns {readonly Message[]} each message once; the news are fresher
 */
export function merged(kept, news) {
  const fresh = new Map(news.map((message) => [message.id, message]));
  const known = new Set(kept.map((message) => message.id));
  return [...kept.map((message) => fresh.get(message.id) ?? message), ...news.filter(({ id }) => !known.has(id))];
}

/**
 * The server forgets what a cancelled node had begun to say.
 *
 * @param {readonly Message[]} kept
 * @param {readonly Message[]} news
 * @returns {Message | null} the words that had come of an unfinished answer, as a message to keep
 */
export function stoppedAnswer(kept, news) {
  const last = news.at(-1);
  if (last?.type !== "AIMessageChunk" || !textOf(last.content).trim()) return null;
  // where an answer stands already, the run had ended before it could be stopped
  if (!["human", "tool"].includes(kept.at(-1)?.type ?? "")) return null;
  return { type: "ai", id: last.id, content: textOf(last.content), response_metadata: { stopped: true } };
}
