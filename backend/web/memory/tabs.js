/** The tabs of the panel: one of them is chosen, arrow keys lead from one to the next. */

import { h } from "../app/dom.js";
import { SECTIONS, tabAfterKey } from "./sections.js";

/** @typedef {import("./records.js").SectionId} SectionId */

/** @param {{choose: (id: SectionId) => void}} actions */
export function createTabs({ choose }) {
  const tabs = SECTIONS.map(tab);
  const panels = new Map(SECTIONS.map((section) => [section.id, tabPanel(section)]));
  const element = h(
    "div",
    { class: "memory-tabs", role: "tablist", "aria-label": "Memory", on: { keydown: move } },
    tabs,
  );

  /** @param {(typeof SECTIONS)[number]} section */
  function tab({ id, label }) {
    const attributes = {
      type: "button",
      role: "tab",
      id: `memory-tab-${id}`,
      "aria-controls": `memory-panel-${id}`,
      on: { click: () => choose(id) },
    };
    return h("button", attributes, label);
  }

  /** @param {KeyboardEvent} event */
  function move(event) {
    const index = tabs.indexOf(/** @type {HTMLButtonElement} */ (event.target));
    const next = index < 0 ? null : tabAfterKey(event.key, index, tabs.length);
    if (next === null) return;
    event.preventDefault();
    choose(SECTIONS[next].id);
    tabs[next].focus();
  }

  return {
    element,
    panels,
    /** @param {SectionId} chosen */
    select(chosen) {
      SECTIONS.forEach(({ id }, index) => {
        tabs[index].setAttribute("aria-selected", String(id === chosen));
        tabs[index].tabIndex = id === chosen ? 0 : -1;
      });
      for (const [id, panel] of panels) panel.hidden = id !== chosen;
    },
  };
}

/** @param {(typeof SECTIONS)[number]} section */
function tabPanel({ id }) {
  return h("div", {
    class: "memory-panel",
    role: "tabpanel",
    id: `memory-panel-${id}`,
    "aria-labelledby": `memory-tab-${id}`,
    tabindex: "0",
    hidden: true,
  });
}
