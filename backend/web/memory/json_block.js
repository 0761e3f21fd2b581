/** A structured value, folded out, with a button that copies it. */

import { copied, showCopied } from "../app/clipboard.js";
import { h } from "../app/dom.js";
import { icon } from "../app/icons.js";
import { sizeOf } from "./profile_rows.js";

/**
 * @param {import("./records.js").App} app
 * @param {object} value
 * @param {string} name of what it is the value of
 */
export function jsonBlock(app, value, name) {
  const text = JSON.stringify(value, null, 2);
  const label = `Copy the value of ${name}`;
  const copy = h(
    "button",
    {
      type: "button",
      class: "icon memory-copy",
      "aria-label": label,
      title: label,
      dataset: { action: "copy" },
      on: { click: () => copyText(app, text, copy) },
    },
    icon("copy"),
  );
  return h(
    "details",
    { class: "memory-json", open: true },
    h("summary", { dataset: { action: "fold" } }, sizeOf(value)),
    h(
      "div",
      { class: "memory-json-body" },
      h("pre", { class: "mono", tabindex: "0", role: "region", "aria-label": `Value of ${name}` }, text),
      copy,
    ),
  );
}

/**
 * @param {import("./records.js").App} app
 * @param {string} text
 * @param {HTMLElement} button
 */
async function copyText(app, text, button) {
  if (!(await copied(text))) {
    app.notify({
      text: "The browser did not let this page copy. Select the text and copy it yourself.",
      kind: "error",
    });
    return;
  }
  showCopied(button);
  app.announce("Copied");
}
