// A button that copies a text and says so.

import { copied, showCopied } from "../app/clipboard.js";
import { h } from "../app/dom.js";
import { icon } from "../app/icons.js";

/** @typedef {(text: string) => void} Announce */

const NOT_COPIED = "The browser did not allow copying. Select the text and copy it by hand.";

/** @param {{label: string, text: () => string, announce: Announce}} what */
export function copyButton({ label, text, announce }) {
  const button = h("button", { type: "button", class: "icon quiet", "aria-label": label, title: label }, icon("copy"));
  button.addEventListener("click", async () => {
    const isCopied = await copied(text());
    announce(isCopied ? "Copied" : NOT_COPIED);
    if (isCopied) showCopied(button);
  });
  return button;
}
