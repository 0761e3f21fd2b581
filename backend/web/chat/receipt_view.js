// The line under an answer that tells what memory did for it, and opens to the particulars.

import { fill, h } from "../app/dom.js";
import { messagesSentence, receiptParticulars, receiptSentence } from "./receipt.js";

/**
 * @typedef {import("../app/app.js").App} App
 * @typedef {import("./receipt.js").Receipt} Receipt
 * @typedef {import("./receipt.js").Particular} Particular
 */

const NOTE_CHARS = 80;

/**
 * @param {App} app
 * @returns {{element: HTMLDetailsElement, show: (receipt: Receipt | null) => void}}
 */
export function createReceipt(app) {
  const line = h("summary", null);
  const inside = h("div", { class: "receipt-inside" });
  const element = h("details", { class: "receipt small muted", hidden: true }, line, inside);
  /** @type {Receipt | null} */
  let told = null;

  element.addEventListener("toggle", () => {
    if (element.open && told) showParticulars(app, inside, told);
  });

  /** @param {Receipt | null} receipt */
  function show(receipt) {
    if (JSON.stringify(receipt) === JSON.stringify(told)) return;
    told = receipt;
    element.hidden = receipt === null;
    fill(line, receiptSentence(receipt));
    if (element.open && receipt) showParticulars(app, inside, receipt);
  }

  return { element, show };
}

/** @param {App} app @param {HTMLElement} inside @param {Receipt} receipt */
function showParticulars(app, inside, receipt) {
  const rows = receiptParticulars(receipt).map((particular) => row(app, particular));
  fill(inside, h("dl", { class: "receipt-rows" }, rows), h("p", null, messagesSentence(receipt)));
}

/** @param {App} app @param {Particular} particular */
function row(app, { label, section, state, ids }) {
  const open = link(label, () => app.openMemory({ section }));
  const items = h("ul", { class: "receipt-items", hidden: ids.length === 0 });
  if (ids.length) showItems(app, items, ids);
  return h("div", { class: "receipt-row" }, h("dt", null, open), h("dd", null, state, items));
}

/**
 * The receipt has ids alone: what is no note is a past conversation.
 *
 * @param {App} app @param {HTMLElement} items @param {string[]} ids
 */
async function showItems(app, items, ids) {
  fill(items, h("li", null, "Looking up …"));
  const notes = await notesById(app);
  fill(
    items,
    ids.map((id, position) => h("li", null, itemLink(app, id, notes.get(id), position))),
  );
}

/** @param {App} app @returns {Promise<Map<string, string>>} empty where they cannot be read: the links work all the same */
async function notesById(app) {
  try {
    const { facts } = await app.api.get("/api/memory/facts");
    return new Map(facts.map((/** @type {{id: string, content: string}} */ fact) => [fact.id, fact.content]));
  } catch {
    return new Map();
  }
}

/** @param {App} app @param {string} id @param {string | undefined} content of a note @param {number} position */
function itemLink(app, id, content, position) {
  if (content === undefined)
    return link(`Past conversation ${position + 1}`, () => app.openMemory({ section: "episodes", id }));
  return link(`Note: ${app.format.shorten(content, NOTE_CHARS)}`, () => app.openMemory({ section: "notes", id }));
}

/** @param {string} label @param {() => void} open */
function link(label, open) {
  return h("button", { type: "button", class: "link", on: { click: open } }, label);
}
