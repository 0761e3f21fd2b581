import assert from "node:assert/strict";
import { test } from "node:test";
import { asText, diffRows, diffSummary } from "../../../backend/web/chat/profile_diff.js";

const payload = (before, after, ...paths) => ({ ok: true, before, after, patches: paths.map((path) => ({ path })) });

test("rows tell what each named key was and is", () => {
  const rows = diffRows(payload({ a: 1, b: 2, c: 3, x: 9 }, { a: 1, b: "two", d: null, x: 9 }, "/d", "/b", "/c", "/a"));
  assert.deepEqual(
    rows.map(({ key, change, was, is }) => [key, change, was, is]),
    [
      ["d", "added", undefined, null],
      ["b", "changed", 2, "two"],
      ["c", "removed", 3, undefined],
      ["a", "same", 1, 1],
    ],
  );
});

test("a key that several patches name has one row, from first to last", () => {
  const rows = diffRows(payload({ city: "Rome" }, { city: "Oslo" }, "/city", "/city"));
  assert.deepEqual(rows, [{ key: "city", change: "changed", was: "Rome", is: "Oslo" }]);
});

test("equal structures are no change", () => {
  assert.equal(diffRows(payload({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, "/a"))[0].change, "same");
});

test("what is no answer of the tool has no rows", () => {
  for (const other of [null, "failed", [], {}, { before: {}, after: {} }]) assert.equal(diffRows(other), null);
});

test("a key named like a member of every object is only there when it was saved", () => {
  assert.equal(diffRows(payload({}, { constructor: "x" }, "/constructor"))[0].change, "added");
});

test("the summary counts the changes", () => {
  assert.equal(diffSummary(diffRows(payload({ b: 1 }, { a: 1, b: 2 }, "/a", "/b"))), "1 added, 1 changed");
  assert.equal(diffSummary([]), "nothing changed");
});

test("a text is shown as it is, anything else as JSON", () => {
  assert.equal(asText("a <b>"), "a <b>");
  assert.equal(asText(false), "false");
});
