/** Small parts of rows that several sections show. */

import { h } from "../app/dom.js";
import { dateTime, relative } from "../app/format.js";
import { icon } from "../app/icons.js";

/** @param {string} iso @param {string} [before] words in front of the time */
export function time(iso, before) {
  return h("time", { datetime: iso, title: dateTime(iso) }, before ? `${before} ` : null, relative(iso));
}

/** @param {import("./records.js").IconName} name @param {string} text */
export function emptyState(name, text) {
  return h("div", { class: "empty" }, icon(name), h("p", {}, text));
}

/**
 * @param {import("./records.js").IconName} name of the icon
 * @param {string} label what it does and to what
 * @param {() => void} run
 */
export function iconButton(name, label, run) {
  return h(
    "button",
    { type: "button", class: "icon", "aria-label": label, title: label, dataset: { action: name }, on: { click: run } },
    icon(name),
  );
}

/** @param {import("./records.js").IconName} source @param {string} text @param {string} [hint] */
export function sourceLabel(source, text, hint) {
  return h("span", { class: "memory-source small muted", title: hint }, icon(source), text);
}
