/** What stands in the place of the page while it cannot be shown: loading, or what is wrong and what to do. */

import { fill, h } from "./dom.js";

/** @param {HTMLElement} gate */
export function showLoading(gate) {
  fill(gate, h("p", { class: "row muted", role: "status" }, h("span", { class: "spinner" }), "Loading"));
}

/**
 * @param {HTMLElement} gate
 * @param {{title: string, text: string, retry: () => void}} problem
 */
export function showProblem(gate, { title, text, retry }) {
  const again = h("button", { type: "button", class: "primary", on: { click: retry } }, "Try again");
  fill(gate, card(title, h("p", { role: "alert" }, text), again));
  again.focus();
}

/**
 * @param {string} title
 * @param {...import("./dom.js").Children} body
 */
export function card(title, ...body) {
  return h("div", { class: "gate-card" }, h("img", { src: "/app/favicon.svg", alt: "" }), h("h1", null, title), body);
}
