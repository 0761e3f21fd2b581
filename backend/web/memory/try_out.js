/** What recall would find for a text, with what speaks for each item. */

import { fill, h } from "../app/dom.js";
import { shorten } from "../app/format.js";
import { failureText } from "./frame.js";
import { scoreParts } from "./own_data.js";

/** @typedef {import("./records.js").Found} Found */

/** @param {import("./records.js").App} app */
export function createTryOut(app) {
  const input = h("input", { type: "search", id: "memory-try", autocomplete: "off" });
  const results = h("div", { class: "stack", role: "status" });
  const form = h(
    "form",
    { on: { submit: find } },
    h("div", { class: "field" }, h("label", { for: input.id }, "A message you might send"), input),
    h("button", { type: "submit" }, "Look it up"),
  );

  /** @param {SubmitEvent} event */
  async function find(event) {
    event.preventDefault();
    const asked = input.value.trim();
    if (!asked) return input.focus();
    try {
      const { results: found } = await app.api.get("/api/memory/search", { query: { q: asked } });
      fill(
        results,
        found.length ? resultList(app, found) : h("p", { class: "muted" }, "Nothing would be recalled for this."),
      );
    } catch (error) {
      fill(results, h("p", { class: "error-line" }, failureText(error), " Look it up again."));
    }
  }

  return h("div", { class: "stack" }, form, results);
}

/** @param {import("./records.js").App} app @param {Found[]} found */
function resultList(app, found) {
  const largest = Math.max(...found.map(({ score }) => score));
  return h(
    "ol",
    { class: "memory-found", "aria-label": "What would be recalled" },
    found.map((one) => resultRow(app, one, largest)),
  );
}

/** @param {import("./records.js").App} app @param {Found} found @param {number} largest */
function resultRow(app, { id, kind, content, score, parts }, largest) {
  const isNote = kind === "fact";
  const open = () => app.openMemory({ section: isNote ? "notes" : "episodes", id });
  return h(
    "li",
    null,
    h("p", { class: "memory-text" }, shorten(content, 200)),
    h(
      "div",
      { class: "memory-meta small muted" },
      h("span", { class: "badge" }, isNote ? "note" : "past conversation"),
      h("span", null, `score ${score.toFixed(2)}`),
      h("button", { type: "button", class: "quiet", on: { click: open } }, "Show it"),
    ),
    h("table", { class: "memory-parts small" }, h("tbody", null, scoreParts(parts, largest).map(partRow))),
  );
}

/** @param {ReturnType<typeof scoreParts>[number]} part */
function partRow({ name, value, share }) {
  const bar = h("div", { class: "memory-bar", "aria-hidden": "true" });
  bar.style.inlineSize = `${Math.max(1, share * 100)}%`;
  return h("tr", null, h("th", { scope: "row" }, name), h("td", null, value.toFixed(2)), h("td", null, bar));
}
