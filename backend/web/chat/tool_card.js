// A tool call as a card: what was asked, how it stands, what came of it.

import { fill, h } from "../app/dom.js";
import { icon } from "../app/icons.js";
import { asText, diffRows, diffSummary } from "./profile_diff.js";
import { callState, failureText, readableJson, resultValue, toolLabel } from "./tool_calls.js";

/**
 * @typedef {import("./turns.js").CallStep} CallStep
 * @typedef {import("./profile_diff.js").DiffRow} DiffRow
 * @typedef {{label: string, text: string}} Raw what a program was told or said, as it is
 */

const STATES = { running: "running", finished: "done", failed: "failed", interrupted: "interrupted" };
const MARKS = { added: "+", removed: "−", changed: "±", same: "=" };
const WORDS = { added: "Added", removed: "Removed", changed: "Changed", same: "Unchanged" };

/** @returns {{element: HTMLElement, show: (step: CallStep, running: boolean) => void}} */
export function createToolCard() {
  const element = h("section", { class: "tool-card card" });
  let shown = "";

  /** @param {CallStep} step @param {boolean} running */
  function show(step, running) {
    const state = callState(step, { running });
    const seen = JSON.stringify([state, step]);
    if (seen === shown) return;
    shown = seen;
    element.setAttribute("aria-label", `Tool: ${toolLabel(step.name)}, ${STATES[state]}`);
    element.dataset.state = state;
    fill(element, head(step, state), body(step, state));
  }

  return { element, show };
}

/** @param {CallStep} step @param {keyof typeof STATES} state */
function head(step, state) {
  return h(
    "div",
    { class: "tool-head row" },
    icon(state === "failed" ? "warning" : "tool"),
    h("span", { class: "tool-name" }, toolLabel(step.name)),
    h("span", { class: "mono small muted" }, step.name),
    h(
      "span",
      { class: "badge", dataset: { state } },
      state === "running" && h("span", { class: "spinner" }),
      STATES[state],
    ),
  );
}

/** @param {CallStep} step @param {keyof typeof STATES} state */
function body(step, state) {
  if (state === "failed") return [h("p", { class: "tool-failure" }, failureText(step)), details([argumentsOf(step)])];
  const rows = step.name === "save_memory" ? diffRows(resultValue(step)) : null;
  return [rows && diff(rows), details([argumentsOf(step), step.result ? resultOf(step) : null])];
}

/** @param {(Raw | null)[]} raws in one folded line, because few people want to read them */
function details(raws) {
  const told = raws.filter((raw) => raw !== null).filter(({ text }) => text !== "" && text !== "{}");
  if (!told.length) return null;
  const summary = told.map(({ label }, position) => (position ? label.toLowerCase() : label)).join(" and ");
  return h("details", { class: "tool-details small" }, h("summary", { class: "muted" }, summary), told.map(rawText));
}

/** @param {CallStep} step @returns {Raw} */
function argumentsOf(step) {
  return { label: "Arguments", text: readableJson(step.args) };
}

/** @param {CallStep} step @returns {Raw} */
function resultOf(step) {
  return { label: "Result", text: readableJson(resultValue(step)) };
}

/** @param {Raw} raw */
function rawText({ label, text }) {
  const attributes = { class: "mono", tabindex: "0", role: "group", "aria-label": label };
  return [h("p", { class: "muted" }, label), h("pre", attributes, text)];
}

/** @param {DiffRow[]} rows */
function diff(rows) {
  return h(
    "div",
    { class: "diff" },
    h("p", { class: "small muted" }, `What is known about you: ${diffSummary(rows)}`),
    h("ul", { class: "diff-rows", "aria-label": "Changes, before and after" }, rows.map(diffRow)),
  );
}

/** @param {DiffRow} row */
function diffRow({ key, change, was, is }) {
  return h(
    "li",
    { class: "diff-row", dataset: { change } },
    h(
      "span",
      { class: "diff-key" },
      h("span", { class: "diff-mark mono", "aria-hidden": "true" }, MARKS[change]),
      h("span", { class: "visually-hidden" }, `${WORDS[change]}: `),
      key,
    ),
    (change === "removed" || change === "changed") && h("del", { class: "diff-value" }, side("−", "before: ", was)),
    change !== "removed" &&
      h(change === "same" ? "span" : "ins", { class: "diff-value" }, side(change === "same" ? "" : "+", "now: ", is)),
  );
}

/** @param {string} mark @param {string} word for who does not see the mark @param {unknown} value */
function side(mark, word, value) {
  return [
    h("span", { class: "diff-mark mono", "aria-hidden": "true" }, mark),
    h("span", { class: "visually-hidden" }, word),
    h("span", { class: "diff-text" }, asText(value)),
  ];
}
