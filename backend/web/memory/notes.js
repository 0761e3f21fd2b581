/** *Notes*: the sentences that are kept, to read, search, write and correct (S0, S4). */

import { fill, h } from "../app/dom.js";
import { createFrame } from "./frame.js";
import { draftOf, NOTHING_TYPED, newNoteBody, problemsOf } from "./note_fields.js";
import { createNoteForm } from "./note_form.js";
import { ALL, categoryChoices, countsText, emptyText, notesIn, sameKeyText } from "./note_lists.js";
import { refusalOf } from "./note_problems.js";
import { createNoteRow } from "./note_row.js";
import { createNotesHead } from "./notes_head.js";
import { emptyState } from "./pieces.js";
import { createRows } from "./rows.js";

/**
 * @typedef {import("./records.js").Fact} Fact
 * @typedef {import("./note_form.js").NoteForm} NoteForm
 * @typedef {{facts: Fact[], counts: import("./records.js").FactCounts}} Notes
 */

const PATH = "/api/memory/facts";

/** @param {Fact} note */
const keyOf = (note) => note.id;
/** @param {Fact} note */
const signatureOf = (note) => `${note.version}`;

/**
 * @param {import("./records.js").App} app
 * @param {HTMLElement} panel
 * @param {import("./chat_titles.js").ChatLinks} chats
 * @returns {import("./records.js").Section}
 */
export function createNotes(app, panel, chats) {
  let text = "";
  let category = ALL;
  /** @type {Notes} */
  let found = { facts: [], counts: { total: 0, limit: 0, shown: 0 } };
  /** @type {Fact[]} all notes, as last read without a search */
  let known = [];

  const head = createNotesHead({ search, choose, add });
  const adding = h("div", { hidden: true });
  const list = h("ul", { class: "memory-list", "aria-label": "Notes" });
  const emptyPlace = h("div", {});
  const body = h("div", {}, head.element, adding, list, emptyPlace);
  const rows = createRows(list, { keyOf, signatureOf, make });

  /** @type {import("./frame.js").Frame} */
  const frame = createFrame(app, body, {
    /** @returns {Promise<Notes | null>} */
    async read() {
      const asked = text;
      const notes = await app.api.get(PATH, { query: { q: asked || undefined } });
      return asked === text ? notes : null;
    },
    show(notes) {
      found = notes;
      if (!text) known = notes.facts;
      show();
    },
    news: (notes) =>
      text
        ? null
        : {
            item: "note",
            signatures: new Map(notes.facts.map((note) => [note.id, signatureOf(note)])),
            rowOf: (id) => rows.row(id)?.element,
          },
  });
  fill(panel, frame.status, body);

  function show() {
    const choices = categoryChoices(found.facts);
    if (!choices.some(({ value }) => value === category)) category = ALL;
    const shown = notesIn(found.facts, category);
    head.show({ counts: countsText(found.counts), choices, category });
    // a search does not say what is gone
    rows.show(shown, { all: text ? known : found.facts });
    list.hidden = !list.children.length;
    fill(emptyPlace, shown.length ? null : emptyState("note", emptyText(found.facts.length, text, category)));
  }

  /** @param {Fact} note @returns {import("./rows.js").Row<Fact>} */
  function make(note) {
    return createNoteRow(note, { app, frame, chats, refused, released: show });
  }

  /** @param {string} wanted */
  async function search(wanted) {
    text = wanted.trim();
    if ((await frame.refresh()) && text) app.announce(`${found.facts.length} found`);
  }

  /** @param {string} chosen */
  function choose(chosen) {
    category = chosen;
    show();
  }

  function add() {
    if (!adding.hidden) return adding.querySelector("textarea")?.focus();
    const form = createNoteForm({ label: "New note", typed: NOTHING_TYPED, save, cancel: close, changed: tellSameKey });
    fill(adding, form.element);
    adding.hidden = false;
    form.focus();

    /** @param {import("./note_fields.js").Typed} typed */
    function tellSameKey({ key }) {
      form.hint("key", sameKeyText(known, key));
    }

    function close() {
      fill(adding);
      adding.hidden = true;
      head.focusAdd();
    }

    async function save() {
      const draft = draftOf(form.read());
      const problems = problemsOf(draft);
      form.showProblems(problems);
      if (problems.length) return;
      form.setBusy(true);
      try {
        await frame.change(() => app.api.post(PATH, newNoteBody(draft)));
        app.announce("Note saved");
        close();
      } catch (error) {
        refused(form, error);
      } finally {
        form.setBusy(false);
      }
    }
  }

  /** @param {NoteForm} form @param {unknown} error */
  function refused(form, error) {
    const refusal = refusalOf(/** @type {import("../app/errors.js").ApiError} */ (error));
    const { otherId } = refusal;
    const action = otherId ? h("button", { type: "button", on: { click: () => showOther(otherId) } }, "Show it") : null;
    form.showProblems([{ ...refusal, action }]);
  }

  /** @param {string} id */
  function showOther(id) {
    app.openMemory({ section: "notes", id });
  }

  /** @param {string} id */
  async function find(id) {
    if (!rows.row(id)) {
      text = "";
      category = ALL;
      head.clear();
      await frame.refresh();
    }
    return rows.row(id)?.element ?? null;
  }

  return { refresh: frame.refresh, find };
}
