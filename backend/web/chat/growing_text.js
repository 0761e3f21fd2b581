// A field for text that grows with it: Enter sends, Shift and Enter begin a new line.

import { h } from "../app/dom.js";

const MAX_HEIGHT_OF_WINDOW = 0.4;

/**
 * @param {{id: string, rows?: number, placeholder?: string, describedBy?: string, onEnter: () => void}} how
 * @returns {{field: HTMLTextAreaElement, setText: (text: string) => void, fit: () => void}}
 */
export function createGrowingText({ id, rows = 1, placeholder, describedBy, onEnter }) {
  const field = h("textarea", { id, rows, placeholder, "aria-describedby": describedBy });

  function fit() {
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight + 2, window.innerHeight * MAX_HEIGHT_OF_WINDOW)}px`;
  }

  /** @param {string} text */
  function setText(text) {
    field.value = text;
    fit();
  }

  field.addEventListener("input", fit);
  field.addEventListener("keydown", (event) => {
    if (!isSending(event)) return;
    event.preventDefault();
    onEnter();
  });
  return { field, setText, fit };
}

/** @param {KeyboardEvent} event @returns {boolean} not while an input method puts a word together; 229 is what some browsers say then */
function isSending(event) {
  return event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229;
}
