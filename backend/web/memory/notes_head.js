/** What stands above the notes: how many there are, the search, the categories, and the way to a new one. */

import { fill, h } from "../app/dom.js";
import { icon } from "../app/icons.js";

/** @typedef {{value: string, label: string}[]} Choices */

const PAUSE_MS = 250;

/**
 * @param {{search: (text: string) => void, choose: (category: string) => void, add: () => void}} actions `search` is
 *   called when typing pauses
 */
export function createNotesHead({ search, choose, add }) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  /** @type {string} */
  let known = "";
  const counts = h("p", { class: "small muted", id: "memory-note-counts" });
  const input = h("input", { type: "search", id: "memory-note-search", autocomplete: "off", on: { input: later } });
  const select = h("select", { id: "memory-note-category", on: { change: () => choose(select.value) } });
  const button = h("button", { type: "button", class: "primary", on: { click: add } }, icon("plus"), "Add note");
  const categories = h("div", { class: "field" }, h("label", { for: select.id }, "Category"), select);
  const element = h(
    "div",
    { class: "memory-tools" },
    h("div", { class: "memory-head" }, counts, button),
    h(
      "div",
      { class: "memory-filters" },
      h("div", { class: "field" }, h("label", { for: input.id }, "Search notes"), input),
      categories,
    ),
  );

  function later() {
    clearTimeout(typing);
    typing = setTimeout(() => search(input.value), PAUSE_MS);
  }

  return {
    element,
    focusAdd: () => button.focus(),
    clear() {
      clearTimeout(typing);
      input.value = "";
    },
    /** @param {{counts: string, choices: Choices, category: string}} now */
    show({ counts: told, choices, category }) {
      fill(counts, told);
      categories.hidden = choices.length < 2;
      // a list that is open in front of somebody is not taken away
      if (JSON.stringify(choices) !== known) fill(select, choices.map(optionOf));
      known = JSON.stringify(choices);
      select.value = category;
    },
  };
}

/** @param {Choices[number]} choice */
function optionOf({ value, label }) {
  return h("option", { value }, label);
}
