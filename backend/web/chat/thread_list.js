// The list of chats: newest activity first, with new, rename and delete.

import { fill, h } from "../app/dom.js";
import { sentenceOf } from "../app/errors.js";
import { icon } from "../app/icons.js";
import { whenNeeded } from "../app/loading.js";
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

const loadQuestion = whenNeeded(() => import("./delete_chat.js"));
const MOST_AT_ONCE = 200;
const CLOCK_MS = 60_000;
const RENAME = { title: "Rename chat", label: "Name", confirm: "Rename", maxLength: MAX_TITLE_CHARS };

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

  /** @param {ThreadRecord} thread @param {string} [name] that was typed before, when it could not be sent */
  async function rename(thread, name = nameOf(thread.thread_id) ?? "") {
    let typed = name;
    try {
      const title = await app.dialogs.prompt({ ...RENAME, value: name });
      if (title === null) return;
      typed = title;
      await threads.rename(thread.thread_id, title);
      app.announce("Renamed");
    } catch (error) {
      tell(error, () => rename(thread, typed));
    }
    await refresh();
  }

  /** @param {ThreadRecord} thread */
  async function remove(thread) {
    try {
      const { askWhatGoes } = await loadQuestion();
      const wanted = await askWhatGoes(app, nameOf(thread.thread_id) ?? "");
      if (!wanted) return;
      await threads.remove(thread.thread_id, wanted.memories).catch(ignoreGone);
      removed(thread.thread_id, wanted.memories);
    } catch (error) {
      tell(error, () => remove(thread));
    }
  }

  /** @param {string} id @param {boolean} memories whether what was remembered of it went too */
  function removed(id, memories) {
    forget(id);
    app.threadDeleted(id);
    app.notify({ text: memories ? "Chat deleted, with what was remembered of it" : "Chat deleted" });
    fresh.focus();
  }

  /** @param {unknown} error @param {() => void} retry */
  function tell(error, retry) {
    app.notify({ text: sentenceOf(error), kind: "error", action: { label: "Try again", run: retry } });
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

/** @param {unknown} error told again, except that the chat is gone already */
function ignoreGone(error) {
  if (/** @type {{status?: number}} */ (error).status !== 404) throw error;
}
