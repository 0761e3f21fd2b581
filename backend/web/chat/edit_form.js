// Saying something else in place of an earlier message.

import { h } from "../app/dom.js";
import { createGrowingText } from "./growing_text.js";

const EXPLANATION =
  "The chat goes on from here with the new message. What comes after the old one is left behind: it is not shown any more, but nothing is deleted.";

let made = 0;

/**
 * @param {{text: string, send: (text: string) => void, cancel: () => void}} how
 * @returns {{element: HTMLFormElement, focus: () => void}}
 */
export function createEditForm({ text, send, cancel }) {
  const id = `edit-${made++}`;
  const growing = createGrowingText({ id, rows: 2, describedBy: `${id}-hint`, onEnter: submit });
  const { field } = growing;
  field.value = text;
  const element = h(
    "form",
    { class: "edit-form field", "aria-label": "Edit message" },
    h("label", { for: id }, "Edited message"),
    field,
    h("p", { class: "hint", id: `${id}-hint` }, EXPLANATION),
    h(
      "div",
      { class: "row" },
      h("button", { type: "submit", class: "primary" }, "Send"),
      h("button", { type: "button", on: { click: cancel } }, "Cancel"),
    ),
  );
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  element.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) cancel();
  });

  function submit() {
    if (field.value.trim()) send(field.value);
  }

  return {
    element,
    focus() {
      growing.fit();
      field.focus();
      field.setSelectionRange(field.value.length, field.value.length);
    },
  };
}
