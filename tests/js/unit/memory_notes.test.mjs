import assert from "node:assert/strict";
import { test } from "node:test";
import { errorOf, unreachable } from "../../../backend/web/app/errors.js";
import { conflictRows, withMine } from "../../../backend/web/memory/note_conflict.js";
import {
  categoriesIn,
  changesOf,
  draftOf,
  NOTHING_TYPED,
  newNoteBody,
  problemsOf,
  shortNumber,
  typedOf,
} from "../../../backend/web/memory/note_fields.js";
import {
  ALL,
  categoryChoices,
  countsText,
  emptyText,
  notesIn,
  originText,
  sameKeyText,
  WITHOUT,
} from "../../../backend/web/memory/note_lists.js";
import { refusalOf, sentence } from "../../../backend/web/memory/note_problems.js";

const ID = "38cd569a-be28-4c2a-9a83-3ad43f1aa04b";
const note = (values = {}) => ({
  id: ID,
  content: "I like tea",
  key: null,
  categories: [],
  importance: 0.5,
  ...values,
});
const typed = (values) => ({ ...NOTHING_TYPED, ...values });
const problems = (values) => problemsOf(draftOf(typed({ content: "a", ...values })));
const refused = (kind, message) => refusalOf(errorOf(409, { error: { kind, message } }));

test("commas part categories, and one that differs in case only is there once", () => {
  assert.deepEqual(categoriesIn(" Food ,, my   work,food,__proto__"), ["Food", "my work", "__proto__"]);
});

test("a new note says only what was typed", () => {
  assert.deepEqual(newNoteBody(draftOf(typed({ content: " Tea " }))), { content: "Tea" });
});

test("a new note has its key, categories and importance", () => {
  const draft = draftOf({ content: "Tea", key: " drink ", categories: "food", importance: "0" });
  assert.deepEqual(newNoteBody(draft), { content: "Tea", key: "drink", categories: ["food"], importance: 0 });
});

const WRONG = [
  ["no text", { content: "  " }, "content", /Write what/],
  ["a text that is too long", { content: "x".repeat(2001) }, "content", /at most 2000 characters; this has 2001/],
  ["a key that is too long", { key: "k".repeat(129) }, "key", /at most 128/],
  ["four categories", { categories: "a,b,c,d" }, "categories", /at most 3 categories; these are 4/],
  ["a slash", { categories: "a/b" }, "categories", /no slash/],
  ["a category that is too long", { categories: "c".repeat(61) }, "categories", /at most 60/],
  ["an importance above 1", { importance: "1.5" }, "importance", /from 0 to 1/],
  ["an importance that is no number", { importance: "much" }, "importance", /from 0 to 1/],
];
for (const [what, values, field, text] of WRONG) {
  test(`${what} is told at its field before anything is sent`, () => {
    const [problem, ...others] = problems(values);
    assert.equal(problem.field, field);
    assert.match(problem.text, text);
    assert.deepEqual(others, []);
  });
}

test("length is counted in characters as the server counts them", () => {
  assert.deepEqual(problems({ content: "😀".repeat(2000) }), []);
});

test("only what was changed is sent", () => {
  const stored = note({ key: "drink", categories: ["food"], importance: 0.30000001192092896 });
  const same = typedOf(stored);
  assert.deepEqual(changesOf(same, stored), {});
  assert.deepEqual(changesOf({ ...same, content: "Coffee " }, stored), { content: "Coffee" });
  assert.deepEqual(changesOf({ ...same, key: "", categories: "" }, stored), { key: null, categories: [] });
  assert.deepEqual(changesOf({ ...same, importance: "1" }, stored), { importance: 1 });
  assert.deepEqual(changesOf({ ...same, importance: "" }, stored), {});
});

test("an importance that is kept in four bytes is shown short", () => {
  assert.equal(shortNumber(0.30000001192092896), "0.3");
});

test("a conflict shows each field that changed on either side, stored beside mine", () => {
  const base = note({ version: 1 });
  const stored = note({ version: 2, content: "I like coffee", importance: 0.9 });
  assert.deepEqual(conflictRows({ ...typedOf(base), content: "I like milk" }, base, stored), [
    { name: "Note", stored: "I like coffee", mine: "I like milk" },
    { name: "Importance", stored: "0.9", mine: "0.9" },
  ]);
});

test("mine leaves what I did not touch as it is stored now", () => {
  const base = note({ key: "drink" });
  const stored = note({ key: "drink", categories: ["food"], importance: 0.9 });
  const mine = withMine({ ...typedOf(base), key: "" }, base, stored);
  assert.deepEqual([mine.key, mine.categories, mine.importance, mine.content], [null, ["food"], 0.9, "I like tea"]);
});

test("a duplicate names the note that is in the way", () => {
  const said = `this is kept already, as ${ID} in version 2; there is nothing to do`;
  const { field, text, otherId } = refused("duplicate", said);
  assert.deepEqual([field, otherId], ["content", ID]);
  assert.match(text, /says this already/);
});

test("a key of another note is told at the key", () => {
  const refusal = refused(
    "duplicate",
    `the key facts: ${ID} is that of another fact, ${ID}; change or delete that one`,
  );
  assert.deepEqual([refusal.field, refusal.otherId], ["key", ID]);
});

test("a limit is told in the words of the page", () => {
  const said = "there is room for 200 facts; delete or change one that is not needed any more";
  const { field, text } = refused("limit_reached", said);
  assert.equal(field, "content");
  assert.equal(text, "There is room for 200 notes; delete or change one that is not needed any more.");
});

test("what the server says of a field is told at that field", () => {
  const { field, text } = refused("invalid", "categories.0: Value error, a category has no slash; key: too long");
  assert.deepEqual([field, text], ["categories", "A category has no slash."]);
});

test("a refusal that names no field is told at the text", () => {
  const { field, text } = refused("invalid", "this is nothing but a password");
  assert.deepEqual([field, text], ["content", "This is nothing but a password."]);
});

test("a server that does not answer is no field's fault", () => {
  assert.equal(refusalOf(unreachable()).field, null);
  assert.match(refusalOf(unreachable()).text, /does not answer/);
});

test("a sentence has a capital and one stop", () => {
  assert.deepEqual(["no", "No!", " ", "so."].map(sentence), ["No.", "No!", "", "So."]);
});

const LISTED = [
  note({ categories: ["Food"] }),
  note({ categories: ["food", "work"] }),
  note({ categories: [] }),
  note({ categories: ["__proto__", "constructor"] }),
];

test("categories are counted whatever their case, by name", () => {
  assert.deepEqual(
    categoryChoices(LISTED).map(({ label }) => label),
    ["All (4)", "__proto__ (1)", "constructor (1)", "Food (2)", "work (1)", "Without a category (1)"],
  );
});

test("without any category there is nothing to choose", () => {
  assert.deepEqual(categoryChoices([note()]), [{ value: ALL, label: "All (1)" }]);
});

test("each choice lists as many notes as it says", () => {
  for (const { value, label } of categoryChoices(LISTED)) {
    assert.match(label, new RegExp(`\\(${notesIn(LISTED, value).length}\\)$`));
  }
  assert.deepEqual(notesIn(LISTED, WITHOUT), [LISTED[2]]);
});

test("the counts say how many a new chat is shown", () => {
  assert.equal(countsText({ total: 12, limit: 200, shown: 12 }), "12 of 200 notes; 12 are shown in each new chat");
  assert.match(countsText({ total: 1, limit: 200, shown: 1 }), /^1 of 200 notes; 1 is shown/);
});

test("an empty list says why it is empty", () => {
  assert.match(emptyText(0, " tea ", ALL), /No note is about “tea”/);
  assert.match(emptyText(3, "", "food"), /in this category/);
  assert.match(emptyText(0, "", ALL), /No notes yet/);
});

test("who said a note is told", () => {
  assert.deepEqual(
    [
      { said_by: "assistant", thread_id: "t" },
      { said_by: "user", thread_id: "t" },
      { said_by: "user", thread_id: null },
    ].map(originText),
    ["saved by the assistant", "said by you", "added by you"],
  );
});

test("a key that is taken tells what saving would replace", () => {
  const known = [note({ key: "my drink" })];
  assert.match(sameKeyText(known, " my  drink "), /replaces.*“I like tea”/);
  assert.equal(sameKeyText([note()], ""), "");
});
