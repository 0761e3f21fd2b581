/** *Thread summaries*: what earlier turns of long chats were compressed to, chat by chat (S1). */

import { fill, h } from "../app/dom.js";
import { dateTime } from "../app/format.js";
import { icon } from "../app/icons.js";
import { chatLink } from "./chat_titles.js";
import { deleteRow } from "./deletion.js";
import { createFrame } from "./frame.js";
import { emptyState, iconButton, sourceLabel, time } from "./pieces.js";
import { createRows } from "./rows.js";

/**
 * @typedef {import("./records.js").SummarizedThread} SummarizedThread
 * @typedef {import("./records.js").SummaryPass} SummaryPass
 */

const EMPTY = "Once a conversation runs long enough to compress, the earlier turns get summarized and land here.";

const CHOICES = [
  {
    value: "rebuild",
    label: "Let it be written again",
    hint: "The next turn of this chat summarizes its earlier turns anew.",
    checked: true,
  },
  {
    value: "never",
    label: "Do not summarize these turns again",
    hint: "They stay in the chat. Turns that come later may be summarized.",
  },
];

/** @param {SummarizedThread} thread */
const keyOf = (thread) => thread.thread_id;

/**
 * @param {import("./records.js").App} app
 * @param {HTMLElement} panel
 * @returns {import("./records.js").Section}
 */
export function createSummaries(app, panel) {
  const list = h("ul", { class: "memory-list", "aria-label": "Thread summaries" });
  const empty = emptyState("scroll", EMPTY);
  const body = h("div", {}, list, empty);
  /** @type {Map<string, () => void>} */
  const expanders = new Map();
  const rows = createRows(list, { keyOf, signatureOf: JSON.stringify, make });

  const frame = createFrame(app, body, {
    /** @returns {Promise<SummarizedThread[]>} */
    read: async () => (await app.api.get("/api/memory/threads")).threads,
    show(threads) {
      rows.show(threads);
      list.hidden = !threads.length;
      empty.hidden = threads.length > 0;
    },
    news: (threads) => ({
      item: "thread summary",
      signatures: new Map(threads.map((thread) => [thread.thread_id, JSON.stringify(thread.summaries)])),
      rowOf: (key) => rows.row(key)?.element,
    }),
  });
  fill(panel, frame.status, body);

  /** @param {SummarizedThread} thread */
  function make(thread) {
    const inside = h("div", { class: "memory-fold-inside" });
    const fold = h("div", { class: "memory-fold", id: `memory-summary-${thread.thread_id}` }, inside);
    const name = h("span", { class: "memory-name" });
    const meta = h("p", { class: "memory-meta memory-below small muted" });
    const toggle = h(
      "button",
      {
        type: "button",
        class: "memory-toggle",
        "aria-expanded": "false",
        "aria-controls": fold.id,
        on: { click: () => expand(toggle.getAttribute("aria-expanded") !== "true") },
      },
      icon("chevron"),
      name,
    );
    const remove = iconButton("trash", "", () => removeAll(latest, element));
    const head = h("div", { class: "memory-head" }, h("h3", { class: "memory-heading" }, toggle), remove);
    const element = h("li", { class: "memory-row" }, head, meta, fold);
    let latest = thread;

    /** @param {boolean} isOpen */
    function expand(isOpen) {
      toggle.setAttribute("aria-expanded", String(isOpen));
      fold.classList.toggle("is-open", isOpen);
    }

    /** @param {SummarizedThread} now */
    function update(now) {
      latest = now;
      const title = now.title || now.thread_id;
      fill(name, title);
      fill(meta, now.title ? h("span", { class: "mono memory-id" }, now.thread_id) : null, time(now.last_activity));
      remove.setAttribute("aria-label", `Delete summaries of ${title}`);
      remove.title = `Delete summaries of ${title}`;
      fill(inside, sourceLabel("bot", "Summarized by AI"), now.summaries.map(passElement), openChat(now));
    }

    update(thread);
    expanders.set(thread.thread_id, () => expand(true));
    return { element, update };
  }

  /** @param {SummarizedThread} thread */
  function openChat({ thread_id }) {
    return h("p", {}, chatLink(thread_id, "Open the chat"));
  }

  /** @param {SummarizedThread} thread @param {HTMLElement} element */
  async function removeAll(thread, element) {
    await deleteRow(app, frame, {
      element,
      question: {
        title: "Delete these summaries?",
        text: `All summaries of “${thread.title || thread.thread_id}” are deleted. The chat itself stays as it is.`,
        confirm: "Delete",
        danger: true,
        choices: CHOICES,
      },
      request: (choice) =>
        app.api.delete(`/api/memory/threads/${encodeURIComponent(thread.thread_id)}`, {
          query: { rebuild: choice === "never" ? "false" : undefined },
        }),
      done: "Summaries deleted",
    });
  }

  return {
    refresh: frame.refresh,
    async find(id) {
      const row = rows.row(id);
      if (row) expanders.get(id)?.();
      return row?.element ?? null;
    },
  };
}

/** @param {SummaryPass} pass */
function passElement(pass) {
  const heading = h(
    "h4",
    { class: "small muted" },
    `Summary · ${pass.sequence} · `,
    h("time", { datetime: pass.created_at }, dateTime(pass.created_at)),
  );
  return h("section", { class: "memory-pass" }, heading, pass.summary.entries.map(entryElement));
}

/** @param {import("./records.js").SummaryEntry} entry */
function entryElement({ question, answer, refs }) {
  const labels = refs.length ? h("span", { class: "small muted memory-refs" }, ` ${refs.join(", ")}`) : null;
  return h(
    "div",
    { class: "memory-entry" },
    h("p", { class: "memory-text" }, h("span", { class: "memory-who" }, "Question: "), question, labels),
    h("p", { class: "memory-text" }, h("span", { class: "memory-who" }, "Answer: "), answer),
  );
}
