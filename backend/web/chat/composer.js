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
  /** What was handed on and not taken yet; until then it is part of the draft. */
  let sending = "";

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
    keepDraft();
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

  function keepDraft() {
    drafts.keep(threadId, [sending, text.field.value].filter((words) => words.trim()).join("\n"));
  }

  /** @param {string} written */
  function handOn(written) {
    sending = written;
    showProblem("");
    keepDraft();
  }

  function submit() {
    const written = text.field.value;
    if (!written.trim()) return;
    if (isBusy) {
      showProblem(WAIT);
      return;
    }
    // an edit that was not taken, and is given up for this
    text.setText(sending);
    handOn(written);
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
    sending = "";
    keepDraft();
    showState();
  }

  showState();
  return {
    element,
    handOn,
    /** @param {string | null} id another thread; what was handed on stays in the draft of the old one */
    showThread(id) {
      threadId = id;
      sending = "";
      text.setText(drafts.read(id));
      showProblem("");
      showState();
    },
    /** @param {string} id of the thread that has taken what was handed on @returns {string} what that was */
    taken(id) {
      const said = sending;
      sending = "";
      if (threadId !== id) drafts.keep(threadId, "");
      threadId = id;
      keepDraft();
      return said;
    },
    /** @param {string} written @param {string} sentence @param {() => void} [retry] where it has a place of its own */
    notSent(written, sentence, retry) {
      if (!retry) giveBack(written);
      showProblem(sentence, { label: "Try again", run: retry ?? submit });
      text.field.focus();
    },
    /** @param {string} words */
    fillIn(words) {
      text.setText(words);
      keepDraft();
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
