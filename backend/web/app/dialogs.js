/** Questions in a dialog of their own. Escape answers no, and the focus returns to where it was. */

import { fill, h } from "./dom.js";

/**
 * @typedef {{value: string, label: string, hint?: string, checked?: boolean}} Choice
 * @typedef {{title: string, text?: string, confirm: string, danger?: boolean}} Question
 * @typedef {{confirm: (question: Question & {choices?: Choice[]}) => Promise<null | {choice: string | null}>,
 *   confirmTyped: (question: Question & {word: string}) => Promise<boolean>,
 *   prompt: (question: {title: string, label: string, value?: string, confirm: string, maxLength?: number}) =>
 *     Promise<string | null>, inform: (message: {title: string, body: import("./dom.js").Children}) => Promise<void>}}
 *     Dialogs
 */

let opened = 0;

/**
 * Ask before doing something. With `choices` one of them is picked too; the first unless one is `checked`.
 *
 * @param {Question & {choices?: Choice[]}} question
 * @returns {Promise<null | {choice: string | null}>} null when it was cancelled
 */
export async function confirm({ title, text = "", confirm: label, danger = true, choices = [] }) {
  const group = choices.length ? choiceGroup(title, choices) : null;
  const agreed = await ask({ title, text, label, danger, body: [group] });
  if (!agreed) return null;
  return { choice: group?.querySelector("input:checked")?.getAttribute("value") ?? null };
}

/**
 * Ask before doing something that cannot be undone: the button works once `word` is typed.
 *
 * @param {Question & {word: string}} question
 */
export async function confirmTyped({ title, text = "", word, confirm: label, danger = true }) {
  const input = h("input", { id: `typed-${opened}`, type: "text", autocomplete: "off", autocapitalize: "off" });
  input.spellcheck = false;
  const prompted = h("label", { for: input.id }, "Type ", h("strong", { class: "mono" }, word), " to go on");
  const isReady = () => input.value.trim() === word;
  const body = h("div", { class: "field" }, prompted, input);
  return ask({ title, text, label, danger, body: [body], input, isReady });
}

/**
 * Ask for one line of text.
 *
 * @param {{title: string, label: string, value?: string, confirm: string, maxLength?: number}} question
 * @returns {Promise<string | null>} without spaces around it and never empty; null when it was cancelled
 */
export async function prompt({ title, label: name, value = "", confirm: label, maxLength }) {
  const input = h("input", { id: `prompt-${opened}`, type: "text", maxlength: maxLength, autocomplete: "off" });
  input.value = value;
  const isReady = () => input.value.trim() !== "";
  const body = h("div", { class: "field" }, h("label", { for: input.id }, name), input);
  return (await ask({ title, label, danger: false, body: [body], input, isReady })) ? input.value.trim() : null;
}

/**
 * Tell something that has more than one sentence.
 *
 * @param {{title: string, body: import("./dom.js").Children}} message
 * @returns {Promise<void>} when it was closed
 */
export async function inform({ title, body }) {
  const close = h("button", { type: "submit", class: "primary", autofocus: true }, "Close");
  await show({ title, body: [body], buttons: [close] });
}

/**
 * @param {{title: string, text?: string, label: string, danger: boolean, body: import("./dom.js").Children,
 *   input?: HTMLInputElement, isReady?: () => boolean}} question
 */
function ask({ title, text = "", label, danger, body, input, isReady = () => true }) {
  const agree = h("button", { type: "submit", class: danger ? "danger" : "primary", disabled: !isReady() }, label);
  // without an input the focus starts on the answer that does no harm
  const cancel = h("button", { type: "button", autofocus: !input, dataset: { cancel: "" } }, "Cancel");
  input?.setAttribute("autofocus", "");
  input?.addEventListener("input", () => {
    agree.disabled = !isReady();
  });
  return show({ title, text, body, buttons: [cancel, agree], opened: () => input?.select() });
}

/**
 * @param {{title: string, text?: string, body: import("./dom.js").Children, buttons: HTMLButtonElement[],
 *   opened?: () => void}} parts
 * @returns {Promise<boolean>} whether it was answered with its submit button
 */
function show({ title, text, body, buttons, opened: whenOpen }) {
  const number = opened++;
  const describes = text ? `dialog-text-${number}` : null;
  const form = h("form", { method: "dialog", class: "stack" });
  fill(
    form,
    h("h2", { id: `dialog-title-${number}` }, title),
    text && h("p", { id: describes }, text),
    body,
    h("div", { class: "row dialog-buttons" }, buttons),
  );
  const labels = { "aria-labelledby": `dialog-title-${number}`, "aria-describedby": describes };
  const dialog = h("dialog", { class: "dialog", ...labels }, form);
  return new Promise((resolve) => {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      dialog.close("agreed");
    });
    form.querySelector("[data-cancel]")?.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "agreed");
    });
    document.body.append(dialog);
    dialog.showModal();
    whenOpen?.();
  });
}

/**
 * @param {string} title
 * @param {Choice[]} choices
 */
function choiceGroup(title, choices) {
  const preset = choices.findIndex((choice) => choice.checked);
  const checked = Math.max(0, preset);
  const name = `choice-${opened}`;
  return h(
    "fieldset",
    { class: "choices" },
    h("legend", { class: "visually-hidden" }, title),
    choices.map(({ value, label, hint }, index) =>
      h(
        "label",
        { class: "choice" },
        h("input", { type: "radio", name, value, checked: index === checked }),
        h("span", null, label, hint ? h("span", { class: "hint" }, hint) : null),
      ),
    ),
  );
}
