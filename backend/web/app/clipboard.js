/** Copying a text. */

import { fill, h } from "./dom.js";
import { icon } from "./icons.js";

const SHOWN_MS = 2000;

/** @param {HTMLElement} button whose icon says for a moment that it is done */
export function showCopied(button) {
  fill(button, icon("check"));
  setTimeout(() => fill(button, icon("copy")), SHOWN_MS);
}

/** @param {string} text @returns {Promise<boolean>} whether the browser let it be copied */
export async function copied(text) {
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
