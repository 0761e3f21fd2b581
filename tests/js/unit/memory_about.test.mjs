import assert from "node:assert/strict";
import { test } from "node:test";
import { isStructured, profileRows, profileSignature, sizeOf } from "../../../backend/web/memory/profile_rows.js";

const rows = (memory, store_keys = []) => profileRows({ memory, store_keys, overlay_keys: [] });
const keys = (found) => found.map(({ key }) => key);

test("rows of the account come first in their order, then what was saved by key", () => {
  const memory = { zoo: 1, socials: [], avatar: "a", city: "Oslo", email: "e", name: "Ana" };
  assert.deepEqual(keys(rows(memory, ["zoo", "city"])), ["name", "email", "avatar", "socials", "city", "zoo"]);
});

test("what was saved over a value of the account counts as saved", () => {
  const found = rows({ name: "Ana", email: "e" }, ["name"]);
  assert.deepEqual(
    found.map(({ key, source }) => [key, source]),
    [
      ["email", "account"],
      ["name", "saved"],
    ],
  );
});

test("an account key that S1 does not know comes behind those that it knows", () => {
  assert.deepEqual(keys(rows({ alias: "a", socials: [] })), ["socials", "alias"]);
});

test("keys that objects have anyway are rows like any other", () => {
  const memory = JSON.parse('{"__proto__": "<img onerror>", "constructor": 1, "toString": null}');
  const found = rows(memory, ["__proto__", "constructor", "toString"]);
  assert.deepEqual(
    found.map(({ key, value }) => [key, value]),
    [
      ["__proto__", "<img onerror>"],
      ["constructor", 1],
      ["toString", null],
    ],
  );
});

test("objects and lists are structured; null, texts and numbers are not", () => {
  assert.deepEqual([{}, [], null, "a", 0].map(isStructured), [true, true, false, false, false]);
});

test("a row is another one when its value or where it comes from has changed", () => {
  const signatures = [
    ["1", "saved"],
    [1, "saved"],
    [1, "account"],
  ].map(([value, source]) => profileSignature({ key: "k", value, source }));
  assert.equal(new Set(signatures).size, 3);
});

test("a structured value says how much is in it", () => {
  assert.deepEqual([[1], [], { a: 1 }, { a: 1, b: 2 }].map(sizeOf), ["1 item", "0 items", "1 field", "2 fields"]);
});
