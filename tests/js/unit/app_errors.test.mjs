import assert from "node:assert/strict";
import { test } from "node:test";
import { errorOf, isAbort, unreachable } from "../../../backend/web/app/errors.js";

const told = (status, body) => errorOf(status, body).message;

test("the server's own sentence comes first and what to do after it", () => {
  const error = errorOf(409, { error: { kind: "duplicate", message: "The same thing is already stored." } });
  assert.equal(error.message, "The same thing is already stored. Look for it in the list, or write it differently.");
  assert.deepEqual([error.kind, error.status], ["duplicate", 409]);
});

test("a sentence that says what to do is left alone", () => {
  const message = "It has changed since it was read; read it again and repeat.";
  assert.equal(told(409, { error: { kind: "stale_version", message } }), message);
});

test("a detail of the server becomes a sentence", () => {
  assert.match(told(409, { detail: "thread is already running" }), /^Thread is already running\./);
});

test("details of several fields are told together", () => {
  assert.match(told(422, { detail: [{ msg: "Field required" }, { msg: "too short" }] }), /Field required; too short\./);
});

for (const [status, kind] of [
  [400, "invalid"],
  [401, "unauthenticated"],
  [403, "forbidden"],
  [404, "not_found"],
  [409, "conflict"],
  [413, "too_large"],
  [418, "invalid"],
  [422, "invalid"],
  [429, "busy"],
  [500, "internal"],
  [502, "unavailable"],
  [503, "unavailable"],
  [504, "unavailable"],
]) {
  for (const body of [null, "<html>", {}, { detail: "Not Found" }, { error: null }, { error: { message: 7 } }]) {
    test(`status ${status} without a sentence, ${JSON.stringify(body)}, is a sentence with a way out`, () => {
      const error = errorOf(status, body);
      assert.equal(error.kind, kind);
      assert.match(error.message, /^[A-Z].*\./);
      assert.match(error.message, /again|ask|reload/i);
    });
  }
}

test("no connection says what to check", () => {
  const error = unreachable();
  assert.deepEqual([error.kind, error.status], ["unreachable", 0]);
  assert.match(error.message, /running.*try again/);
});

test("a request that was given up is told from one that failed", () => {
  assert.ok(isAbort(new DOMException("", "AbortError")));
  assert.ok(!isAbort(unreachable()));
});
