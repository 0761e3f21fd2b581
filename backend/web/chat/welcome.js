// What a new chat shows before anything was said.

import { h } from "../app/dom.js";
import { icon } from "../app/icons.js";

const EXAMPLES = [
  "My name is Ana and I live in Lisbon.",
  "Remember that I prefer short answers.",
  "What do you know about me?",
];

/** @param {(words: string) => void} choose called with the words of the example that was pressed */
export function createWelcome(choose) {
  const buttons = EXAMPLES.map((words) =>
    h("li", null, h("button", { type: "button", class: "example", on: { click: () => choose(words) } }, words)),
  );
  return h(
    "section",
    { class: "welcome empty", "aria-label": "Welcome" },
    icon("bot"),
    h(
      "p",
      { class: "welcome-line" },
      "Good to see you. Tell me about yourself: I will still know it in your next chat.",
    ),
    h("ul", { class: "examples", "aria-label": "Ways to begin" }, buttons),
  );
}
