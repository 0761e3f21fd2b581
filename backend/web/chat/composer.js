// Where a message is written. What was typed stays until the server has taken it.

import { fill, h } from "../app/dom.js";
import { icon } from "../app/icons.js";
import { createGrowingText } from "./growing_text.js";

/**
 * @typedef {ReturnType<typeof import("./drafts.js").createDrafts>} Drafts
 * @typedef {ReturnType<typeof createComposer>} Composer
 */

const WAIT = "The assistant is still answering. Stop it or wait, then send.";

/**
 * @param {{drafts: Drafts, onSend: (text: string) => void, onStop: () => void}} how
 */
export function createComposer({ drafts, onSend, onStop }) {
  /** @type {string | null} */
  let threadId = null;
  let isBusy = false;

  const text = createGrowingText({
    id: "composer-text",
    placeholder: "Write a message",
    describedBy: "composer-hint",
    onEnter: submit,
  });
  const send = h(
    "button",
    { type: "submit", class: "primary icon", "aria-label": "Send message", title: "Send message" },
    icon("send"),
  );
  const stop = h(
    "button",
    { type: "button", class: "icon stop", "aria-label": "Stop answering", title: "Stop answering", hidden: true },
    icon("stop"),
  );
  const problem = h("div", { class: "composer-problem", role: "alert" });
  const element = h(
    "form",
    { class: "composer", "aria-label": "Write a message" },
    problem,
    h(
      "div",
      { class: "composer-box" },
      h("label", { class: "visually-hidden", for: "composer-text" }, "Message"),
      text.field,
      send,
      stop,
    ),
    h(
      "p",
      { id: "composer-hint", class: "composer-hint small muted" },
      "Enter sends, Shift and Enter begin a new line.",
    ),
  );

  text.field.addEventListener("input", () => {
    drafts.keep(threadId, text.field.value);
    showState();
  });
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  stop.addEventListener("click", onStop);

  function showState() {
    send.disabled = !text.field.value.trim();
    send.hidden = isBusy;
    stop.hidden = !isBusy;
  }

  function submit() {
    const written = text.field.value;
    if (!written.trim()) return;
    if (isBusy) {
      showProblem(WAIT);
      return;
    }
    showProblem("");
    text.setText("");
    showState();
    onSend(written);
  }

  /** @param {string} sentence @param {{label: string, run: () => void}} [action] */
  function showProblem(sentence, action) {
    const button = action && h("button", { type: "button", on: { click: action.run } }, action.label);
    fill(problem, sentence && h("p", { class: "error-line" }, icon("warning"), h("span", null, sentence), button));
  }

  /** @param {string} written not sent; what was typed since stays behind it */
  function giveBack(written) {
    const since = text.field.value;
    text.setText(since.trim() && since !== written ? `${written}\n${since}` : written);
    drafts.keep(threadId, text.field.value);
    showState();
  }

  showState();
  return {
    element,
    showProblem,
    /** @param {string | null} id @param {string} sent what the thread has just taken, which is no draft any more */
    showThread(id, sent = "") {
      const typed = text.field.value;
      if (sent) drafts.keep(threadId, "");
      threadId = id;
      if (sent && typed) drafts.keep(id, typed);
      text.setText(drafts.read(id));
      showProblem("");
      showState();
    },
    /** The server has taken what was sent. */
    taken: () => drafts.keep(threadId, text.field.value),
    /** @param {string} written @param {string} sentence */
    notSent(written, sentence) {
      giveBack(written);
      showProblem(sentence, { label: "Try again", run: submit });
      text.field.focus();
    },
    /** @param {string} words */
    fillIn(words) {
      text.setText(words);
      drafts.keep(threadId, words);
      showState();
      text.field.focus();
    },
    /** @param {boolean} busy */
    showBusy(busy) {
      const isStopFocused = document.activeElement === stop;
      if (busy === isBusy) return;
      isBusy = busy;
      if (!busy && problem.textContent?.includes(WAIT)) showProblem("");
      showState();
      if (isStopFocused || document.activeElement === document.body) text.field.focus();
    },
    focus: () => text.field.focus(),
  };
}
