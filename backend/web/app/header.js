/** Which model answers. The offline model says how to set a real one. */

import { fill, h } from "./dom.js";
import { icon } from "./icons.js";

/** @typedef {{offline: boolean, names: Record<string, string>, notice: string | null}} ModelHealth */

/**
 * @param {HTMLElement} place
 * @param {Pick<import("./app.js").App, "health" | "dialogs">} app
 */
export function showModel(place, { health: { model }, dialogs }) {
  fill(place, model.offline ? offlineBadge(model.notice ?? "", dialogs) : nameBadge(model.names.chat));
}

/** @param {string} name */
function nameBadge(name) {
  return h("span", { class: "badge", title: `Answers come from ${name}` }, "Model: ", name);
}

/**
 * @param {string} notice
 * @param {import("./dialogs.js").Dialogs} dialogs
 */
function offlineBadge(notice, dialogs) {
  const tell = () => dialogs.inform({ title: "Offline model", body: howToSetAModel(notice) });
  const attributes = { type: "button", class: "badge warn", "aria-haspopup": "dialog", on: { click: tell } };
  return h("button", attributes, icon("warning"), "Offline model");
}

/** @param {string} notice */
function howToSetAModel(notice) {
  return h(
    "div",
    { class: "stack" },
    h("p", null, notice),
    h("p", { class: "label" }, "With OpenAI, in the file .env:"),
    h("pre", { class: "mono", tabindex: 0 }, "OPENAI_API_KEY=your key\nMODEL=the model's name"),
    h("p", { class: "label" }, "With any server that speaks the same protocol, such as Ollama, llama.cpp or vLLM:"),
    h("pre", { class: "mono", tabindex: 0 }, "OPENAI_BASE_URL=http://127.0.0.1:11434/v1\nMODEL=the model's name"),
    h("p", { class: "muted small" }, "What is remembered stays when the model changes."),
  );
}
