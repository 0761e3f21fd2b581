/** One note: as it is read, and as it is edited. */

import { fill, h } from "../app/dom.js";
import { shorten } from "../app/format.js";
import { deleteRow, kindOf } from "./deletion.js";
import { createConflictBox, createGoneBox } from "./note_conflict_box.js";
import { changesOf, draftOf, newNoteBody, problemsOf, shortNumber, typedOf } from "./note_fields.js";
import { createNoteForm } from "./note_form.js";
import { originText } from "./note_lists.js";
import { iconButton, time } from "./pieces.js";
import { focusRow } from "./place.js";

/**
 * @typedef {import("./records.js").Fact} Fact
 * @typedef {import("./note_form.js").NoteForm} NoteForm
 */

/**
 * @typedef {{
 *   app: import("./records.js").App,
 *   frame: import("./frame.js").Frame,
 *   chats: import("./chat_titles.js").ChatLinks,
 *   refused(form: NoteForm, error: unknown): void,
 *   released(): void,
 * }} NoteParts `released`: the row is no longer held, so the list may be shown anew
 */

const PATH = "/api/memory/facts";
const USUAL_IMPORTANCE = 0.5;

/**
 * @param {Fact} note
 * @param {NoteParts} parts
 * @returns {import("./rows.js").Row<Fact>}
 */
export function createNoteRow(note, parts) {
  const { app, frame } = parts;
  const view = h("div", { class: "memory-view" });
  const editing = h("div", { hidden: true });
  const element = h("li", { class: "memory-row memory-note" }, view, editing);
  let stored = note;
  /** @type {{form: NoteForm, base: Fact, box: HTMLElement} | null} */
  let editor = null;
  let isSaving = false;

  /** @param {Fact} now */
  function update(now) {
    stored = now;
    fill(view, noteView(now, parts, { edit, remove }));
    if (editor && !isSaving && editor.base.version !== now.version) showConflict();
  }

  function edit() {
    const box = h("div", { role: "alert" });
    const form = createNoteForm({ label: "Edit note", typed: typedOf(stored), save: () => save(), cancel: close });
    editor = { form, base: stored, box };
    fill(editing, box, form.element);
    show(true);
    form.focus();
  }

  /** @param {boolean} isEditing */
  function show(isEditing) {
    view.hidden = isEditing;
    editing.hidden = !isEditing;
  }

  function close() {
    const panel = /** @type {HTMLElement} */ (element.closest("[role=tabpanel]") ?? element);
    editor = null;
    fill(editing);
    show(false);
    parts.released();
    focusRow(view.querySelector("[data-action=edit]"), panel);
  }

  /** @param {Fact} [over] the version that is changed; the one that was read unless it is named */
  async function save(over = editor?.base) {
    if (!editor || !over) return;
    const { form, base } = editor;
    const problems = problemsOf(draftOf(form.read()));
    form.showProblems(problems);
    if (problems.length) return;
    const changes = changesOf(form.read(), base);
    if (!Object.keys(changes).length) return close();
    await attempt(form, () => app.api.patch(`${PATH}/${stored.id}`, { version: over.version, ...changes }));
  }

  async function saveAsNew() {
    if (!editor) return;
    const { form } = editor;
    const problems = problemsOf(draftOf(form.read()));
    form.showProblems(problems);
    if (!problems.length) await attempt(form, () => app.api.post(PATH, newNoteBody(draftOf(form.read()))));
  }

  /** @param {NoteForm} form @param {() => Promise<unknown>} request */
  async function attempt(form, request) {
    form.setBusy(true);
    isSaving = true;
    try {
      await frame.change(request);
      app.announce("Note saved");
      close();
    } catch (error) {
      if (kindOf(error) === "stale_version") showConflict();
      else if (kindOf(error) === "not_found") gone();
      else parts.refused(form, error);
    } finally {
      form.setBusy(false);
      isSaving = false;
    }
  }

  function showConflict() {
    if (!editor) return;
    const { form, base, box } = editor;
    const now = stored;
    fill(
      box,
      createConflictBox({ typed: form.read(), base, stored: now, useMine: () => save(now), keepStored: close }),
    );
  }

  function gone() {
    if (editor) fill(editor.box, createGoneBox({ saveAsNew, drop: close }));
  }

  async function remove() {
    await deleteRow(app, frame, {
      element,
      question: {
        title: "Delete this note?",
        text: `“${shorten(stored.content, 200)}” is no longer remembered. The chats stay as they are.`,
        confirm: "Delete",
      },
      request: () => app.api.delete(`${PATH}/${stored.id}`, { query: { version: stored.version } }),
      done: "Note deleted",
    });
  }

  update(note);
  return { element, update, isHeld: () => editor !== null, gone };
}

/**
 * @param {Fact} note
 * @param {NoteParts} parts
 * @param {{edit: () => void, remove: () => void}} actions
 */
function noteView(note, { chats }, { edit, remove }) {
  const name = shorten(note.content, 40);
  const changed = note.updated_at === note.created_at ? time(note.created_at) : time(note.updated_at, "changed");
  return [
    h(
      "div",
      { class: "memory-head" },
      h("p", { class: "memory-text" }, note.content),
      iconButton("edit", `Edit note: ${name}`, edit),
      iconButton("trash", `Delete note: ${name}`, remove),
    ),
    h(
      "div",
      { class: "memory-meta small muted" },
      note.key === null ? null : h("span", { class: "badge mono" }, note.key),
      note.categories.map((category) => h("span", { class: "badge" }, category)),
      note.importance === USUAL_IMPORTANCE ? null : h("span", null, `importance ${shortNumber(note.importance)}`),
      changed,
      h("span", null, originText(note)),
      note.thread_id === null ? null : chats.link(note.thread_id),
    ),
  ];
}
