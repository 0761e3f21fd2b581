import assert from "node:assert/strict";
import { test } from "node:test";
import { dateTime, plural, relative, shorten } from "../../../backend/web/app/format.js";

const NOW = Date.parse("2026-03-05T12:00:00Z");

for (const [seconds, text] of [
  [0, "just now"],
  [59, "just now"],
  [-20, "just now"],
  [60, "1 minute ago"],
  [5 * 60 + 59, "5 minutes ago"],
  [3600, "1 hour ago"],
  [86399, "23 hours ago"],
  [86400, "yesterday"],
  [8 * 86400, "last week"],
  [70 * 86400, "2 months ago"],
  [800 * 86400, "2 years ago"],
]) {
  test(`${seconds} seconds before now are ${text}`, () => {
    assert.equal(relative(new Date(NOW - seconds * 1000).toISOString(), NOW), text);
  });
}

for (const nothing of ["", "soon", null, undefined]) {
  test(`${JSON.stringify(nothing)} is no time`, () => {
    assert.equal(relative(nothing, NOW), "");
    assert.equal(dateTime(nothing), "");
  });
}

test("a date names the month, so that nobody takes it for the day", () => {
  assert.match(dateTime("2026-03-05T12:00:00Z"), /Mar.*2026/);
});

test("counts agree with their nouns", () => {
  assert.deepEqual(
    [plural(0, "note"), plural(1, "note"), plural(1000, "note"), plural(2, "memory", "memories")],
    ["0 notes", "1 note", "1,000 notes", "2 memories"],
  );
});

test("a text that fits is left alone", () => {
  assert.equal(shorten("twelve chars", 12), "twelve chars");
});

test("a long text is cut between words where that is near", () => {
  assert.equal(shorten("one two three four", 16), "one two three…");
  assert.equal(shorten("a verylongwordindeed", 12), "a verylongw…");
});

test("a character of two units is not cut in two", () => {
  assert.equal(shorten("😀😀😀😀", 3), "😀😀…");
});
