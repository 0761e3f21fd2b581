// One chat in the list of chats.

import { fill, h } from "../app/dom.js";
import { icon } from "../app/icons.js";
import { lastActivity, threadName } from "./thread_names.js";

/**
 * @typedef {import("../app/app.js").App} App
 * @typedef {import("./thread_names.js").ThreadRecord} ThreadRecord
 * @typedef {{rename: (thread: ThreadRecord) => void, remove: (thread: ThreadRecord) => void}} RowActions
 * @typedef {ReturnType<typeof createThreadRow>} ThreadRow
 */

/** @param {App} app @param {RowActions} does */
export function createThreadRow(app, does) {
  const name = h("span", { class: "thread-name" });
  const when = h("time", { class: "thread-time small muted" });
  const link = h("a", { class: "thread-link" }, name, when);
  const rename = h("button", { type: "button", class: "icon quiet" }, icon("edit"));
  const remove = h("button", { type: "button", class: "icon quiet danger" }, icon("trash"));
  const actions = h("span", { class: "thread-actions" }, rename, remove);
  const element = h("li", { class: "thread-row" }, link, actions);
  /** @type {ThreadRecord | null} */
  let shown = null;
  rename.addEventListener("click", () => shown && does.rename(shown));
  remove.addEventListener("click", () => shown && does.remove(shown));

  /** @param {ThreadRecord} thread @param {{isOpen: boolean, firstWords?: string}} how */
  function show(thread, { isOpen, firstWords }) {
    shown = thread;
    const called = threadName(thread, firstWords);
    const at = lastActivity(thread);
    if (name.textContent !== called) fill(name, called);
    fill(when, thread.status === "busy" ? "answering …" : app.format.relative(at));
    when.dateTime = at;
    when.title = app.format.dateTime(at);
    link.href = `#/t/${encodeURIComponent(thread.thread_id)}`;
    if (isOpen) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    labelled(rename, `Rename chat ${called}`, "Rename");
    labelled(remove, `Delete chat ${called}`, "Delete");
  }

  return { element, show };
}

/** @param {HTMLButtonElement} button @param {string} label @param {string} title */
function labelled(button, label, title) {
  button.setAttribute("aria-label", label);
  button.title = title;
}
