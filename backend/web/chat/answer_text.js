// The words of an answer: plain until what reads Markdown is there, which is loaded with the first answer.

import { fill, h } from "../app/dom.js";

/**
 * @typedef {typeof import("./markdown_view.js")} MarkdownView
 * @typedef {import("./copy_button.js").Announce} Announce
 */

/** @type {MarkdownView | null} */
let loaded = null;
/** @type {Promise<MarkdownView> | null} */
let loading = null;

/** @param {{announce: Announce}} app @returns {{element: HTMLElement, show: (text: string) => void}} */
export function createAnswerText(app) {
  if (loaded) return whenChanged(loaded.createMarkdown(app));
  const element = h("div", { class: "answer-text" });
  let latest = "";
  /** @param {string} text */
  let show = (text) => fill(element, h("p", { class: "plain" }, text));
  load()?.then(({ createMarkdown }) => {
    const view = createMarkdown(app);
    show = view.show;
    fill(element, view.element);
    show(latest);
  }, ignore);
  return whenChanged({
    element,
    show(text) {
      latest = text;
      show(text);
    },
  });
}

/** @param {{element: HTMLElement, show: (text: string) => void}} view reading the same text again costs time */
function whenChanged({ element, show }) {
  let shown = "";
  return {
    element,
    show(/** @type {string} */ text) {
      if (text === shown) return;
      shown = text;
      show(text);
    },
  };
}

function load() {
  loading ??= import("./markdown_view.js").then((view) => {
    loaded = view;
    return view;
  });
  return loading;
}

/** Without it the text stays plain, and the next answer tries again. */
function ignore() {
  loading = null;
}
