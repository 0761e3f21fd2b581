import assert from "node:assert/strict";
import { test } from "node:test";
import { SECTIONS as ADDRESSES } from "../../../backend/web/app/routes.js";
import { erasedText, exportName, scoreParts } from "../../../backend/web/memory/own_data.js";
import { goneText, SECTIONS, sectionNamed, siblingOf, tabAfterKey } from "../../../backend/web/memory/sections.js";

test("every section has an address", () => {
  assert.deepEqual(
    SECTIONS.map(({ id }) => id),
    [...ADDRESSES],
  );
});

test("a name that no section has leads to the first", () => {
  assert.deepEqual(["notes", "__proto__", undefined].map(sectionNamed), ["notes", "about", "about"]);
});

test("an id of a receipt may be a note or a past conversation", () => {
  assert.deepEqual(["notes", "episodes", "about"].map(siblingOf), ["episodes", "notes", null]);
});

test("what is gone is called by its name", () => {
  assert.match(goneText("episodes"), /^This past conversation is not there any more\./);
});

const KEYS = [
  ["ArrowRight", 4, 0],
  ["ArrowDown", 1, 2],
  ["ArrowLeft", 0, 4],
  ["ArrowUp", 2, 1],
  ["Home", 3, 0],
  ["End", 0, 4],
  ["Enter", 0, null],
];
for (const [key, from, to] of KEYS) {
  test(`${key} leads from tab ${from} to ${to}`, () => assert.equal(tabAfterKey(key, from, 5), to));
}

test("what was erased is counted by kind", () => {
  const counts = { profile_keys: 1, facts: 12, episodes: 1, thread_summaries: 2 };
  assert.equal(erasedText(counts), "Erased: 1 entry about you, 12 notes, 1 past conversation and 2 thread summaries.");
});

test("an export is named after its day", () => {
  assert.equal(exportName(new Date("2026-03-05T23:00:00Z")), "afterthought-memory-2026-03-05.json");
});

test("the parts of a score that count are shown, the largest first, as shares of the best score", () => {
  assert.deepEqual(scoreParts({ words: 1, meaning: 0, name: 2, recency: 0.0001 }, 4), [
    { name: "name", value: 2, share: 0.5 },
    { name: "words", value: 1, share: 0.25 },
  ]);
});
