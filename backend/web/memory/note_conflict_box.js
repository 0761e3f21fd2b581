/** What a person sees above the form when the note that they edit was changed or deleted elsewhere. */

import { h } from "../app/dom.js";
import { CONFLICT_TEXT, CONFLICT_TITLE, conflictRows, GONE_TEXT, GONE_TITLE } from "./note_conflict.js";

/**
 * @typedef {import("./records.js").Fact} Fact
 * @typedef {import("./note_fields.js").Typed} Typed
 */

/** @param {{typed: Typed, base: Fact, stored: Fact, useMine: () => void, keepStored: () => void}} conflict */
export function createConflictBox({ typed, base, stored, useMine, keepStored }) {
  const rows = conflictRows(typed, base, stored).map(({ name, stored: kept, mine }) =>
    h("tr", null, h("th", { scope: "row" }, name), h("td", null, kept), h("td", null, mine)),
  );
  const head = ["Field", "Stored now", "Yours"].map((name) => h("th", { scope: "col" }, name));
  return h(
    "div",
    { class: "memory-conflict card" },
    h("h3", null, CONFLICT_TITLE),
    h("table", null, h("thead", null, h("tr", null, head)), h("tbody", null, rows)),
    h("p", { class: "small" }, CONFLICT_TEXT),
    h("div", { class: "row" }, button("Use mine", useMine), button("Keep the stored one", keepStored)),
  );
}

/** @param {{saveAsNew: () => void, drop: () => void}} actions */
export function createGoneBox({ saveAsNew, drop }) {
  return h(
    "div",
    { class: "memory-conflict card" },
    h("h3", null, GONE_TITLE),
    h("p", { class: "small" }, GONE_TEXT),
    h("div", { class: "row" }, button("Save as a new note", saveAsNew), button("Drop it", drop)),
  );
}

/** @param {string} label @param {() => void} run */
function button(label, run) {
  return h("button", { type: "button", on: { click: run } }, label);
}
