// The list of chats: newest activity first, with new, rename and delete.

import { fill, h } from "../app/dom.js";
import { icon } from "../app/icons.js";
import { sentenceOf } from "./attempts.js";
import { askWhatGoes } from "./delete_chat.js";
import { place } from "./placing.js";
import { MAX_TITLE_CHARS, threadName, withPage } from "./thread_names.js";
import { createThreadRow } from "./thread_row.js";
import { THREADS_A_PAGE } from "./threads.js";

/**
 * @typedef {import("../app/app.js").App} App
 * @typedef {import("./thread_names.js").ThreadRecord} ThreadRecord
 * @typedef {import("./threads.js").Threads} Threads
 * @typedef {ReturnType<typeof createThreadList>} ThreadList
 */

const MOST_AT_ONCE = 200;
const CLOCK_MS = 60_000;

/** @param {{app: App, threads: Threads, onNew: () => void, onChange: () => void}} parts onChange: names may have changed */
export function createThreadList({ app, threads, onNew, onChange }) {
  const list = h("ul", { class: "thread-rows", role: "list" });
  const more = h("button", { type: "button", class: "quiet", hidden: true }, "Show more chats");
  const problem = h("div");
  const empty = h("p", { class: "empty small", hidden: true }, "No chats yet. Your first message begins one.");
  const fresh = h("button", { type: "button", class: "primary new-chat" }, icon("plus"), "New chat");
  const element = h(
    "div",
    { class: "threads" },
    h("h2", { class: "visually-hidden" }, "Chats"),
    fresh,
    problem,
    list,
    empty,
    more,
  );

  /** @type {Map<string, ReturnType<typeof createThreadRow>>} */
  let rows = new Map();
  /** @type {ThreadRecord[]} */
  let loaded = [];
  /** @type {Map<string, string>} */
  const firstWords = new Map();
  /** @type {string | null} */
  let openId = null;
  let asked = 0;

  fresh.addEventListener("click", onNew);
  more.addEventListener("click", () => load(loaded.length, THREADS_A_PAGE));
  setInterval(render, CLOCK_MS);

  /** What is loaded, read anew. */
  function refresh() {
    return load(0, Math.min(MOST_AT_ONCE, Math.max(THREADS_A_PAGE, loaded.length)));
  }

  /** @param {number} offset @param {number} limit */
  async function load(offset, limit) {
    const number = ++asked;
    try {
      const page = await threads.page(offset, limit);
      if (number !== asked) return;
      loaded = withPage(offset ? loaded : loaded.slice(limit), page);
      more.hidden = page.length < limit;
      fill(problem);
      render();
      onChange();
    } catch (error) {
      if (number === asked) showProblem(sentenceOf(error));
    }
  }

  /** @param {string} sentence */
  function showProblem(sentence) {
    const retry = h("button", { type: "button", on: { click: refresh } }, "Try again");
    fill(problem, h("p", { class: "error-line", role: "alert" }, icon("warning"), h("span", null, sentence), retry));
  }

  function render() {
    const next = new Map(
      loaded.map(({ thread_id: id }) => [id, rows.get(id) ?? createThreadRow(app, { rename, remove })]),
    );
    rows = next;
    place(
      list,
      Array.from(next.values(), (row) => row.element),
    );
    for (const thread of loaded) rows.get(thread.thread_id)?.show(thread, shownAs(thread.thread_id));
    empty.hidden = loaded.length > 0;
  }

  /** @param {string} id */
  function shownAs(id) {
    return { isOpen: id === openId, firstWords: firstWords.get(id) };
  }

  /** @param {ThreadRecord} thread */
  async function rename(thread) {
    const value = nameOf(thread.thread_id) ?? "";
    const title = await app.dialogs.prompt({
      title: "Rename chat",
      label: "Name",
      value,
      confirm: "Rename",
      maxLength: MAX_TITLE_CHARS,
    });
    if (title === null) return;
    try {
      await threads.rename(thread.thread_id, title);
      app.announce("Renamed");
    } catch (error) {
      app.notify({ text: sentenceOf(error), kind: "error", action: { label: "Try again", run: () => rename(thread) } });
    }
    await refresh();
  }

  /** @param {ThreadRecord} thread */
  async function remove(thread) {
    const wanted = await askWhatGoes(app, nameOf(thread.thread_id) ?? "");
    if (!wanted) return;
    try {
      await threads.remove(thread.thread_id, wanted.memories);
    } catch (error) {
      if (/** @type {{status?: number}} */ (error).status !== 404) {
        app.notify({
          text: sentenceOf(error),
          kind: "error",
          action: { label: "Try again", run: () => remove(thread) },
        });
        return;
      }
    }
    forget(thread.thread_id);
    app.threadDeleted(thread.thread_id);
    app.notify({ text: wanted.memories ? "Chat deleted, with what was remembered of it" : "Chat deleted" });
    fresh.focus();
  }

  /** @param {string} id */
  function forget(id) {
    asked += 1;
    loaded = loaded.filter((thread) => thread.thread_id !== id);
    render();
  }

  /** @param {string} id */
  function nameOf(id) {
    const thread = loaded.find((one) => one.thread_id === id);
    return thread ? threadName(thread, firstWords.get(id)) : null;
  }

  return {
    element,
    refresh,
    forget,
    nameOf,
    /** @param {string | null} id */
    showOpen(id) {
      openId = id;
      render();
    },
    /** @param {string} id @param {string} words that began it, until it has a title */
    began(id, words) {
      firstWords.set(id, words);
      return refresh();
    },
  };
}
