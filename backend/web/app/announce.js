/** Telling people what happened: to screen readers, and as a notice at the edge of the page. */

import { fill, h } from "./dom.js";
import { icon } from "./icons.js";

/**
 * @typedef {object} Notice
 * @property {string} text
 * @property {"info" | "error"} [kind] an error stays until it is closed
 * @property {{label: string, run: () => void}} [action] a button beside the text; the notice goes when it is pressed
 */

const STAY_MS = 6000;
const STAY_WITH_ACTION_MS = 12000;

/**
 * Say something to a screen reader, when it has finished what it is saying.
 *
 * @param {string} text
 */
export function announce(text) {
  const region = document.getElementById("live");
  if (!region) return;
  // said again when it is the same text: each is an element of its own
  region.replaceChildren(h("p", null, text));
}

/**
 * Show a notice.
 *
 * @param {Notice} notice
 */
export function notify({ text, kind = "info", action }) {
  const toast = h("div", { class: "toast", role: kind === "error" ? "alert" : "status", dataset: { kind } });
  const close = () => toast.remove();
  fill(
    toast,
    icon(kind === "error" ? "warning" : "check"),
    h("p", null, text),
    action && actionButton(action, close),
    h("button", { type: "button", class: "icon", "aria-label": "Close notice", on: { click: close } }, icon("close")),
  );
  document.getElementById("notices")?.append(toast);
  if (kind === "info") closeLater(toast, action ? STAY_WITH_ACTION_MS : STAY_MS);
}

/**
 * @param {NonNullable<Notice["action"]>} action
 * @param {() => void} close
 */
function actionButton({ label, run }, close) {
  function click() {
    close();
    run();
  }
  return h("button", { type: "button", class: "quiet", on: { click } }, label);
}

/**
 * Not while someone is about to use it.
 *
 * @param {HTMLElement} toast
 * @param {number} after milliseconds
 */
function closeLater(toast, after) {
  setTimeout(() => {
    if (toast.matches(":hover, :focus-within")) closeLater(toast, after);
    else toast.remove();
  }, after);
}
