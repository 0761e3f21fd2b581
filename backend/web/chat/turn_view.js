// One turn on the page: what was said, and the answer to it as it grows.

import { fill, h } from "../app/dom.js";
import { icon } from "../app/icons.js";
import { copyButton } from "./copy_button.js";
import { createEditForm } from "./edit_form.js";
import { createMarkdown } from "./markdown_view.js";
import { place } from "./placing.js";
import { createReceipt } from "./receipt_view.js";
import { createToolCard } from "./tool_card.js";

/**
 * @typedef {import("../app/app.js").App} App
 * @typedef {import("./conversation_state.js").ShownTurn} ShownTurn
 * @typedef {import("./turns.js").Step} Step
 *
 * @typedef {object} TurnActions
 * @property {(turn: ShownTurn) => void} again
 * @property {(turn: ShownTurn, text: string) => void} edit
 *
 * @typedef {ReturnType<typeof createTurnView>} TurnView
 */

const NO_ANSWER = "This message has no answer yet.";

/** @param {App} app @param {TurnActions} actions */
export function createTurnView(app, actions) {
  const said = createSaid(app, { send: (text) => latest && actions.edit(latest, text) });
  const steps = createSteps(app);
  const state = h("div", { class: "turn-state" });
  const receipt = createReceipt(app);
  const again = h(
    "button",
    { type: "button", class: "icon quiet when-idle", "aria-label": "Answer again", title: "Answer again" },
    icon("retry"),
  );
  const copy = copyButton({ label: "Copy answer", text: () => latest?.answer ?? "", announce: app.announce });
  const buttons = h("div", { class: "turn-buttons row" }, copy, again);
  const answer = h(
    "div",
    { class: "answer" },
    h("h3", { class: "visually-hidden" }, "Assistant answered"),
    steps.element,
    state,
    h("div", { class: "answer-foot" }, buttons, receipt.element),
  );
  const element = h("li", { class: "turn" }, said.element, answer);
  /** @type {ShownTurn | null} */
  let latest = null;
  again.addEventListener("click", () => latest && actions.again(latest));

  /** @param {ShownTurn} turn a thread that is read again brings new objects that mostly say the same */
  function show(turn) {
    if (turn === latest || JSON.stringify(turn) === JSON.stringify(latest)) return;
    latest = turn;
    element.setAttribute("aria-busy", String(turn.running));
    said.show(turn);
    steps.show(turn.steps, turn.running);
    fill(
      state,
      stateOf(turn, () => actions.again(turn)),
    );
    buttons.hidden = turn.running || !turn.steps.length;
    copy.hidden = !turn.answer;
    again.hidden = !turn.human;
    receipt.show(turn.running ? null : turn.receipt);
  }

  return {
    element,
    show,
    get isEditing() {
      return said.isEditing;
    },
  };
}

/** @param {ShownTurn} turn @param {() => void} again */
function stateOf(turn, again) {
  if (turn.running) return h("p", { class: "working muted row" }, h("span", { class: "spinner" }), workingText(turn));
  const button = h("button", { type: "button", on: { click: again } }, icon("retry"), "Answer again");
  if (turn.failure) return h("p", { class: "error-line" }, icon("warning"), h("span", null, turn.failure), button);
  if (turn.stopped) return h("p", { class: "muted small" }, "You stopped this answer.");
  return turn.lacksAnswer ? h("p", { class: "no-answer muted row" }, NO_ANSWER, button) : null;
}

/** @param {ShownTurn} turn */
function workingText({ steps }) {
  const last = steps.at(-1);
  if (last?.kind === "call") return last.result ? "Reading the result …" : "Using a tool …";
  return last ? "Writing …" : "Thinking …";
}

/** @param {App} app @param {{send: (text: string) => void}} actions */
function createSaid(app, { send }) {
  const words = h("div", { class: "bubble plain" });
  const edit = h(
    "button",
    { type: "button", class: "icon quiet when-idle", "aria-label": "Edit message", title: "Edit message" },
    icon("edit"),
  );
  const copy = copyButton({ label: "Copy message", text: () => text, announce: app.announce });
  const buttons = h("div", { class: "turn-buttons row" }, copy, edit);
  const place = h("div", { class: "said-place" }, words, buttons);
  const element = h("div", { class: "said" }, h("h3", { class: "visually-hidden" }, "You said"), place);
  let text = "";
  let isEditing = false;

  function stopEditing() {
    isEditing = false;
    fill(place, words, buttons);
    edit.focus();
  }

  edit.addEventListener("click", () => {
    isEditing = true;
    const form = createEditForm({
      text,
      cancel: stopEditing,
      send(changed) {
        stopEditing();
        send(changed);
      },
    });
    fill(place, form.element);
    form.focus();
  });

  return {
    element,
    /** @param {ShownTurn} turn */
    show(turn) {
      element.hidden = turn.human === null;
      if (turn.said === text) return;
      text = turn.said;
      fill(words, text);
    },
    get isEditing() {
      return isEditing;
    },
  };
}

/** @param {App} app */
function createSteps(app) {
  const element = h("div", { class: "steps" });
  /** @type {Map<string, {element: HTMLElement, show: (step: Step, running: boolean) => void}>} */
  let views = new Map();

  return {
    element,
    /** @param {Step[]} steps @param {boolean} running */
    show(steps, running) {
      views = new Map(steps.map((step) => [step.key, views.get(step.key) ?? createStep(app, step.kind)]));
      place(
        element,
        Array.from(views.values(), (view) => view.element),
      );
      for (const step of steps) views.get(step.key)?.show(step, running);
    },
  };
}

/**
 * @param {App} app
 * @param {Step["kind"]} kind
 * @returns {{element: HTMLElement, show: (step: Step, running: boolean) => void}}
 */
function createStep(app, kind) {
  const [words, card] = [createMarkdown(app), createToolCard()];
  return {
    element: kind === "text" ? words.element : card.element,
    show: (step, running) => (step.kind === "text" ? words.show(step.text) : card.show(step, running)),
  };
}
