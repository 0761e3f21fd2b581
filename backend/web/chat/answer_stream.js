// What a running answer has said so far, put together from the events of its stream.

import { isAnswer, isRecord, textOf } from "./message_text.js";

/**
 * @typedef {import("./message_text.js").Message} Message
 * @typedef {import("./message_text.js").CallPiece} CallPiece
 * @typedef {{event: string, data: unknown}} StreamEvent
 */

const NAMING_NODE = "rename_thread_agent";
const NOT_ANSWERING = new Set(["router_agent", NAMING_NODE]);
export const CUT_START = "… ";

/**
 * @param {readonly Message[]} messages the new messages of the turn, oldest first
 * @param {StreamEvent} event of the modes `messages-tuple` and `updates`
 * @param {{joinedLate?: boolean}} [how] joinedLate: the stream began before we listened
 * @returns {readonly Message[]} the same list when the event says nothing of the answer
 */
export function withEvent(messages, { event, data }, { joinedLate = false } = {}) {
  if (event === "messages" || event.startsWith("messages|")) return withStreamed(messages, data, joinedLate);
  if (event === "updates") return updatedMessages(data).reduce(withWhole, messages);
  return messages;
}

/** @param {readonly Message[]} messages @param {unknown} data @param {boolean} joinedLate */
function withStreamed(messages, data, joinedLate) {
  if (!Array.isArray(data) || !isMessage(data[0]) || !isAnswering(data[1])) return messages;
  const message = data[0];
  if (message.type === "AIMessageChunk") return withPiece(messages, message, joinedLate);
  return message.type === "tool" || isAnswer(message) ? withWhole(messages, message) : messages;
}

/** @param {unknown} about what the server says of a streamed message */
function isAnswering(about) {
  if (!isRecord(about)) return true;
  const tags = Array.isArray(about.tags) ? about.tags : [];
  return !NOT_ANSWERING.has(String(about.langgraph_node)) && !tags.includes("nostream");
}

/** @param {unknown} value @returns {value is Message} */
function isMessage(value) {
  return isRecord(value) && typeof value.type === "string";
}

/** @param {unknown} data `{node: {messages: [...]}}` @returns {Message[]} */
function updatedMessages(data) {
  if (!isRecord(data)) return [];
  return Object.values(data).flatMap((update) => {
    const listed = isRecord(update) && Array.isArray(update.messages) ? update.messages : [];
    return listed.filter(isMessage).filter((message) => message.type === "tool" || isAnswer(message));
  });
}

/** @param {readonly Message[]} messages @param {Message} whole @returns {readonly Message[]} */
function withWhole(messages, whole) {
  const position = messages.findIndex((message) => message.id === whole.id);
  return position < 0 ? [...messages, whole] : replaced(messages, position, whole);
}

/**
 * @template T
 * @param {readonly T[]} list
 * @param {number} position
 * @param {T} item
 */
function replaced(list, position, item) {
  return [...list.slice(0, position), item, ...list.slice(position + 1)];
}

/** @param {readonly Message[]} messages @param {Message} piece @param {boolean} joinedLate */
function withPiece(messages, piece, joinedLate) {
  const known = messages.find((message) => message.id === piece.id);
  if (known && !isAnswerPiece(known)) return messages;
  return withWhole(messages, known ? joined(known, piece) : begun(piece, joinedLate && messages.length === 0));
}

/** @param {Message} message @returns {boolean} whether more pieces may follow; a whole message is final */
function isAnswerPiece(message) {
  return message.type === "AIMessageChunk";
}

/** @param {Message} piece @param {boolean} lacksStart @returns {Message} */
function begun(piece, lacksStart) {
  const text = textOf(piece.content);
  const message = { ...piece, content: lacksStart && text ? CUT_START + text : text, tool_calls: [] };
  return withCalls(message, piece.tool_call_chunks ?? []);
}

/** @param {Message} known @param {Message} piece @returns {Message} */
function joined(known, piece) {
  const content = textOf(known.content) + textOf(piece.content);
  const message = { ...known, content, response_metadata: { ...known.response_metadata, ...piece.response_metadata } };
  return withCalls(message, [...(known.tool_call_chunks ?? []), ...(piece.tool_call_chunks ?? [])]);
}

/** @param {Message} message @param {CallPiece[]} pieces of all its calls @returns {Message} */
function withCalls(message, pieces) {
  const calls = pieces.reduce(withCallPiece, /** @type {CallPiece[]} */ ([]));
  const read = calls.map((call) => ({ name: call.name, id: call.id, args: parsedOrText(call.args ?? "") }));
  return { ...message, tool_call_chunks: calls, tool_calls: read };
}

/** @param {CallPiece[]} calls @param {CallPiece} piece @returns {CallPiece[]} */
function withCallPiece(calls, piece) {
  const position = calls.findIndex((call) => call.index === piece.index && (!piece.id || call.id === piece.id));
  const known = calls[position];
  if (!known) return [...calls, piece];
  const name = (known.name ?? "") + (piece.id ? "" : (piece.name ?? ""));
  return replaced(calls, position, { ...known, name, args: (known.args ?? "") + (piece.args ?? "") });
}

/** @param {string} text @returns {unknown} */
function parsedOrText(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @param {unknown} data of the event `metadata` @returns {string | undefined} */
export function runIdIn(data) {
  return /** @type {{run_id?: string} | null} */ (data)?.run_id;
}

/** @param {StreamEvent} event */
export function namesThread({ event, data }) {
  return event === "updates" && typeof data === "object" && data !== null && NAMING_NODE in data;
}
