// The messages of a chat: the newest turns first of all, older ones as the person goes back.

import { h } from "../app/dom.js";
import { place } from "./placing.js";
import { createScrolling } from "./scrolling.js";

/**
 * @typedef {import("./conversation_state.js").ShownTurn} ShownTurn
 * @typedef {import("./turn_view.js").TurnView} TurnView
 * @typedef {ReturnType<typeof createConversation>} Conversation
 */

const TURNS_AT_ONCE = 25;

/** @param {HTMLElement} welcome shown while nothing was said @param {() => TurnView} newView of a turn */
export function createConversation(welcome, newView) {
  const list = h("ol", { class: "turns", role: "list" });
  const log = h("div", { role: "log", "aria-label": "Messages", "aria-live": "off" }, list);
  const earlier = h("button", { type: "button", class: "earlier", hidden: true }, "Show earlier messages");
  const loading = h(
    "p",
    { class: "row muted loading", hidden: true },
    h("span", { class: "spinner" }),
    "Loading the chat …",
  );
  const content = h("div", { class: "chat-content" }, loading, welcome, earlier, log);
  const scroller = h(
    "div",
    { class: "chat-scroll", tabindex: "0", role: "region", "aria-label": "Conversation" },
    content,
  );
  const latest = h("button", { type: "button", class: "latest", hidden: true }, "Jump to latest");
  const element = h("div", { class: "chat-messages" }, scroller, latest);
  const scrolling = createScrolling({ scroller, content, onAway: (isAway) => (latest.hidden = !isAway) });

  /** @type {Map<string, TurnView>} */
  let views = new Map();
  /** @type {readonly ShownTurn[]} */
  let turns = [];
  let hiddenTurns = 0;
  let isAnew = true;

  /** @param {ShownTurn} turn */
  function viewOf(turn) {
    return views.get(turn.key) ?? newView();
  }

  function render() {
    list.toggleAttribute(
      "data-running",
      turns.some((turn) => turn.running),
    );
    const next = new Map(turns.slice(hiddenTurns).map((turn) => [turn.key, viewOf(turn)]));
    views = next;
    place(
      list,
      Array.from(next.values(), (view) => view.element),
    );
    for (const turn of turns.slice(hiddenTurns)) next.get(turn.key)?.show(turn);
    earlier.hidden = hiddenTurns === 0;
  }

  function showEarlier() {
    const hadFocus = document.activeElement === earlier;
    hiddenTurns = Math.max(0, hiddenTurns - TURNS_AT_ONCE);
    scrolling.keepingPlace(render);
    if (hadFocus && earlier.hidden) scroller.focus({ preventScroll: true });
  }

  earlier.addEventListener("click", showEarlier);
  latest.addEventListener("click", () => {
    scrolling.toEnd();
    scroller.focus({ preventScroll: true });
  });
  const watch = new IntersectionObserver(([seen]) => seen?.isIntersecting && !earlier.hidden && showEarlier(), {
    root: scroller,
  });
  watch.observe(earlier);

  return {
    element,
    /** @param {readonly ShownTurn[]} shown */
    show(shown) {
      turns = shown;
      const newest = Math.max(0, turns.length - TURNS_AT_ONCE);
      hiddenTurns = isAnew ? newest : Math.min(hiddenTurns, newest);
      isAnew = isAnew && turns.length === 0;
      render();
    },
    /** Another chat: its newest turns are shown, from the end. */
    startAnew() {
      isAnew = true;
      views = new Map();
      place(list, []);
      scrolling.toEnd();
    },
    /** @param {boolean} isLoading @param {boolean} isNew */
    showEmptiness(isLoading, isNew) {
      loading.hidden = !isLoading;
      welcome.hidden = !isNew;
    },
    toEnd: scrolling.toEnd,
    get isEditing() {
      return [...views.values()].some((view) => view.isEditing);
    },
  };
}
