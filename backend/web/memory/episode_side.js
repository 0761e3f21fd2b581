/** What one side said in a past conversation: its first lines, and all of it where somebody wants to read on. */

import { fill, h } from "../app/dom.js";
import { stylesheet, whenNeeded } from "../app/loading.js";
import { beginningOf } from "./episode_text.js";
import { failureText } from "./frame.js";

/** Answers are Markdown, which is read by what reads it in a chat. */
const loadMarkdown = whenNeeded(async () => {
  const [{ createMarkdown }] = await Promise.all([
    import("../chat/markdown_view.js"),
    stylesheet("/app/styles/markdown.css"),
  ]);
  return createMarkdown;
});

/** @param {import("./records.js").App} app @param {import("./episode_text.js").Said} said */
export function createSide(app, { who, text }) {
  const beginning = beginningOf({ who, text });
  const words = h("p", { class: "memory-text" });
  const whole = h("div", { hidden: true });
  const attributes = { type: "button", class: "quiet memory-more", "aria-expanded": false };
  const fold = h("button", { ...attributes, on: { click: toggle } }, "Show more");
  fill(words, whoSpeaks(who), beginning.text);

  async function toggle() {
    const isOpen = fold.getAttribute("aria-expanded") === "true";
    if (isOpen || (await filled())) show(!isOpen);
  }

  /** @param {boolean} isOpen */
  function show(isOpen) {
    fold.setAttribute("aria-expanded", String(isOpen));
    fill(fold, isOpen ? "Show less" : "Show more");
    words.hidden = isOpen;
    whole.hidden = !isOpen;
  }

  /** @returns {Promise<boolean>} whether all of it is there to be shown */
  async function filled() {
    if (whole.childElementCount) return true;
    try {
      fill(whole, ...(await content()));
      return true;
    } catch (error) {
      app.notify({ text: failureText(error), kind: "error", action: { label: "Try again", run: toggle } });
      return false;
    }
  }

  async function content() {
    if (who === "You") return [h("p", { class: "memory-text" }, whoSpeaks(who), text)];
    const { element, show: showText } = (await loadMarkdown())(app);
    showText(text);
    return [h("p", { class: "memory-text" }, whoSpeaks(who)), element];
  }

  return h("div", { class: "memory-side" }, words, whole, beginning.isCut && fold);
}

/** @param {string} who "" for nobody */
function whoSpeaks(who) {
  return who ? h("span", { class: "memory-who" }, `${who}: `) : null;
}
