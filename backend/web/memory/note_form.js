/** The form in which a note is written or changed. What is typed stays until it is saved or dropped. */

import { fill, h } from "../app/dom.js";

/**
 * @typedef {import("./note_fields.js").Field} Field
 * @typedef {import("./note_fields.js").Typed} Typed
 * @typedef {HTMLInputElement | HTMLTextAreaElement} Input
 */

/**
 * @typedef {{
 *   element: HTMLFormElement,
 *   read(): Typed,
 *   focus(field?: Field): void,
 *   showProblems(problems: {field: Field | null, text: string, action?: HTMLElement | null}[]): void,
 *   hint(field: Field, text: string): void,
 *   setBusy(isBusy: boolean): void,
 * }} NoteForm
 */

/** @type {readonly {field: Field, label: string, hint: string}[]} */
const FIELDS = [
  { field: "content", label: "Note", hint: "" },
  { field: "categories", label: "Categories (optional)", hint: "Up to 3, with commas between them" },
  { field: "key", label: "Key (optional)", hint: "A name for what has one value at a time, such as “diet”" },
  { field: "importance", label: "Importance (optional)", hint: "From 0 to 1; a new note has 0.5" },
];

let made = 0;

/**
 * @param {{label: string, typed: Typed, save: () => void, cancel: () => void, changed?: (typed: Typed) => void}} how
 * @returns {NoteForm}
 */
export function createNoteForm({ label, typed, save, cancel, changed }) {
  const number = made++;
  const fields = new Map(FIELDS.map((field) => [field.field, createField(field, typed[field.field], number)]));
  const general = h("div", { class: "error-line", role: "alert", hidden: true });
  const submit = h("button", { type: "submit", class: "primary" }, "Save");
  const drop = h("button", { type: "button", on: { click: cancel } }, "Cancel");
  const element = h(
    "form",
    {
      class: "memory-form card",
      "aria-label": label,
      novalidate: true,
      on: {
        submit: (/** @type {SubmitEvent} */ event) => {
          event.preventDefault();
          if (!submit.disabled) save();
        },
        keydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) element.requestSubmit();
        },
        input: () => changed?.(read()),
      },
    },
    [...fields.values()].map(({ box }) => box),
    general,
    h("div", { class: "row" }, submit, drop),
  );

  /** @param {Field} name @returns {ReturnType<typeof createField>} */
  const field = (name) => /** @type {ReturnType<typeof createField>} */ (fields.get(name));

  /** @returns {Typed} */
  function read() {
    return {
      content: field("content").input.value,
      key: field("key").input.value,
      categories: field("categories").input.value,
      importance: field("importance").input.value,
    };
  }

  return {
    element,
    read,
    focus: (name = "content") => field(name).input.focus(),
    showProblems(problems) {
      for (const { field: name } of FIELDS) field(name).show(problems.filter((problem) => problem.field === name));
      const others = problems.filter((problem) => problem.field === null);
      general.hidden = !others.length;
      fill(
        general,
        others.map(({ text }) => h("p", null, text)),
      );
      const first = FIELDS.find(({ field: name }) => problems.some((problem) => problem.field === name));
      if (first) field(first.field).input.focus();
    },
    hint: (name, text) => field(name).setHint(text),
    setBusy(isBusy) {
      submit.disabled = isBusy;
      submit.textContent = isBusy ? "Saving…" : "Save";
    },
  };
}

/**
 * @param {(typeof FIELDS)[number]} about
 * @param {string} value
 * @param {number} number of the form
 */
function createField({ field, label, hint: usualHint }, value, number) {
  const id = `memory-${field}-${number}`;
  const hint = h("p", { class: "hint", id: `${id}-hint` }, usualHint);
  const error = h("div", { class: "error", id: `${id}-error`, role: "alert", hidden: true });
  const input = inputFor(field, { id, "aria-describedby": `${hint.id} ${error.id}` });
  input.value = value;
  hint.hidden = !usualHint;
  return {
    input,
    box: h("div", { class: "field" }, h("label", { for: id }, label), input, hint, error),
    /** @param {{text: string, action?: HTMLElement | null}[]} problems */
    show(problems) {
      if (problems.length) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
      error.hidden = !problems.length;
      fill(
        error,
        problems.map(({ text, action }) => h("p", null, text, action ? [" ", action] : null)),
      );
    },
    /** @param {string} text */
    setHint(text) {
      const wanted = text || usualHint;
      if (hint.textContent !== wanted) fill(hint, wanted);
    },
  };
}

/** @param {Field} field @param {Record<string, unknown>} attributes @returns {Input} */
function inputFor(field, attributes) {
  // no maxlength: it would cut off what is pasted, without a word
  if (field === "content") return h("textarea", { ...attributes, rows: 3, required: true });
  if (field === "importance") {
    return h("input", { ...attributes, type: "number", min: 0, max: 1, step: "any", inputmode: "decimal" });
  }
  return h("input", { ...attributes, type: "text", autocomplete: "off" });
}
