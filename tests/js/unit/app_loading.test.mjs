import assert from "node:assert/strict";
import { test } from "node:test";
import { whenNeeded } from "../../../backend/web/app/loading.js";

test("what is needed often is loaded once", async () => {
  let loads = 0;
  const part = whenNeeded(async () => ++loads);
  assert.equal(loads, 0);
  assert.deepEqual(await Promise.all([part(), part()]), [1, 1]);
  assert.equal(await part(), 1);
});

test("what did not come is told in a sentence, and asked for again", async () => {
  const answers = [Promise.reject(new TypeError("Failed to fetch")), Promise.resolve("it")];
  const part = whenNeeded(() => answers.shift());
  await assert.rejects(part(), {
    kind: "unreachable",
    status: 0,
    message: /^The server does not answer\..* try again/,
  });
  assert.equal(await part(), "it");
});
