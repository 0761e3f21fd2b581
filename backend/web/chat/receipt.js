// What memory did for one answer, as a sentence and as particulars.

import { plural } from "../app/format.js";

/**
 * @typedef {object} BlockReceipt
 * @property {boolean} used
 * @property {"used" | "off" | "unavailable" | "empty"} reason
 * @property {number} items
 * @property {number} tokens estimated
 *
 * @typedef {object} Receipt
 * @property {BlockReceipt} profile
 * @property {BlockReceipt} facts
 * @property {BlockReceipt & {ids: string[]}} recalled
 * @property {BlockReceipt} earlier_conversation
 * @property {number} cut the turn from which messages were sent, 0-based
 * @property {number} messages_sent
 * @property {number} messages_left_out
 *
 * @typedef {"profile" | "facts" | "recalled" | "earlier_conversation"} BlockName
 * @typedef {"about" | "notes" | "episodes" | "summaries"} Section
 *
 * @typedef {object} Particular
 * @property {string} label
 * @property {Section} section where the items are shown
 * @property {string} state
 * @property {string[]} ids of recalled items
 */

/**
 * @type {readonly {name: BlockName, label: string, section: Section, one: string, many: string}[]}
 */
const BLOCKS = [
  { name: "profile", label: "About you", section: "about", one: "detail about you", many: "details about you" },
  { name: "facts", label: "Notes", section: "notes", one: "note", many: "notes" },
  { name: "recalled", label: "Recalled", section: "episodes", one: "recalled memory", many: "recalled memories" },
  { name: "earlier_conversation", label: "Thread summaries", section: "summaries", one: "summary", many: "summaries" },
];

const WHY_NOT = {
  used: "used",
  off: "not used: memory is off for this chat",
  unavailable: "not used: it could not be read",
  empty: "not used: nothing fitting is kept yet",
};

/**
 * @param {Receipt | null} receipt
 * @returns {string} such as "used 3 notes, 2 summaries; 12 older turns compressed"; empty without a receipt
 */
export function receiptSentence(receipt) {
  if (!receipt) return "";
  return [usedPart(receipt), ...cutPart(receipt), ...unreadPart(receipt)].join("; ");
}

/** @param {Receipt} receipt */
function usedPart(receipt) {
  const used = BLOCKS.filter(({ name }) => receipt[name]?.used);
  if (!used.length) return "used nothing from memory";
  return `used ${used.map(({ name, one, many }) => plural(receipt[name].items, one, many)).join(", ")}`;
}

/** @param {Receipt} receipt turns before the cut are compressed only where summaries stand for them */
function cutPart({ cut, earlier_conversation: summaries }) {
  if (!cut) return [];
  return [`${plural(cut, "older turn")} ${summaries?.used ? "compressed" : "left out"}`];
}

/** @param {Receipt} receipt */
function unreadPart(receipt) {
  const unread = BLOCKS.filter(({ name }) => receipt[name]?.reason === "unavailable");
  return unread.length ? [`could not read: ${unread.map(({ label }) => label.toLowerCase()).join(", ")}`] : [];
}

/** @param {Receipt} receipt @returns {Particular[]} a row for each block that the receipt tells of */
export function receiptParticulars(receipt) {
  return BLOCKS.filter(({ name }) => receipt[name]).map((block) => {
    const told = receipt[block.name];
    const ids = block.name === "recalled" ? (receipt.recalled.ids ?? []) : [];
    return { label: block.label, section: block.section, state: blockState(told, block), ids };
  });
}

/** @param {BlockReceipt} told @param {{one: string, many: string}} words */
function blockState(told, { one, many }) {
  if (!told.used) return WHY_NOT[told.reason] ?? "not used";
  return `${plural(told.items, one, many)}, about ${plural(told.tokens, "token")}`;
}

/** @param {Receipt} receipt @returns {string} */
export function messagesSentence(receipt) {
  const sent = `${plural(receipt.messages_sent, "message")} of this chat sent to the model`;
  return receipt.messages_left_out ? `${sent}, ${receipt.messages_left_out} left out` : sent;
}
