// A button that copies a text and says so.

import { fill, h } from "../app/dom.js";
import { icon } from "../app/icons.js";

/** @typedef {(text: string) => void} Announce */

const SHOWN_MS = 2000;
const NOT_COPIED = "The browser did not allow copying. Select the text and copy it by hand.";

/** @param {{label: string, text: () => string, announce: Announce}} what */
export function copyButton({ label, text, announce }) {
  const button = h("button", { type: "button", class: "icon quiet", "aria-label": label, title: label }, icon("copy"));
  button.addEventListener("click", async () => {
    const isCopied = await copied(text());
    announce(isCopied ? "Copied" : NOT_COPIED);
    if (isCopied) showDone(button);
  });
  return button;
}

/** @param {HTMLElement} button */
function showDone(button) {
  fill(button, icon("check"));
  setTimeout(() => fill(button, icon("copy")), SHOWN_MS);
}

/** @param {string} text @returns {Promise<boolean>} */
async function copied(text) {
  try {
    // there is no clipboard on a page that came over plain HTTP from another machine
    if (!navigator.clipboard) return copiedBySelection(text);
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text);
  }
}

/** @param {string} text */
function copiedBySelection(text) {
  const before = document.activeElement;
  const area = h("textarea", { class: "visually-hidden", "aria-hidden": "true", props: { value: text } });
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}
