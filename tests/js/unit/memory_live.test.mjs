import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, updateText } from "../../../backend/web/memory/differences.js";
import { createRefresher } from "../../../backend/web/memory/refresher.js";

const how = { keyOf: ([key]) => key, signatureOf: ([, signature]) => signature };

test("what has come, changed and gone is found by key", () => {
  const before = new Map([
    ["a", "1"],
    ["b", "1"],
    ["__proto__", "1"],
  ]);
  const { differences, signatures } = compare(
    before,
    [
      ["c", "1"],
      ["a", "2"],
      ["b", "1"],
    ],
    how,
  );
  assert.deepEqual(differences, { added: ["c"], changed: ["a"], removed: ["__proto__"] });
  assert.equal(signatures.get("a"), "2");
});

test("the first reading is no news", () => {
  assert.deepEqual(compare(null, [["a", "1"]], how).differences, { added: [], changed: [], removed: [] });
});

const TOLD = [
  [{ added: ["a"], changed: [], removed: [] }, "note", "Memory updated: 1 note added"],
  [{ added: ["a", "b"], changed: [], removed: ["c"] }, "note", "Memory updated: 2 notes added, 1 removed"],
  [{ added: [], changed: ["a", "b"], removed: [] }, "entry", "Memory updated: 2 entries changed"],
  [{ added: [], changed: [], removed: ["a"] }, "thread summary", "Memory updated: 1 thread summary removed"],
  [{ added: [], changed: [], removed: [] }, "note", ""],
];
for (const [differences, item, text] of TOLD) {
  test(`changes are told as "${text}"`, () => assert.equal(updateText(differences, item), text));
}

/** A reading that ends when it is told to. */
function slowReading() {
  const ends = [];
  const read = () => new Promise((resolve) => ends.push(resolve));
  return { read, ends };
}

test("however often it is asked, one reading runs and one waits", async () => {
  const { read, ends } = slowReading();
  const request = createRefresher(read);
  const first = request();
  const others = [request(), request(), request()];
  assert.equal(ends.length, 1);
  ends[0]("old");
  assert.equal(await first, "old");
  await new Promise(setImmediate);
  assert.equal(ends.length, 2);
  ends[1]("new");
  assert.deepEqual(await Promise.all(others), ["new", "new", "new"]);
  assert.equal(ends.length, 2);
});

test("after a reading has ended, the next one begins at once", async () => {
  const { read, ends } = slowReading();
  const request = createRefresher(read);
  const first = request();
  ends[0]("a");
  await first;
  request();
  assert.equal(ends.length, 2);
});
