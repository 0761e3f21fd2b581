import assert from "node:assert/strict";
import { test } from "node:test";
import { comparedUsers, createSession, tokenIn } from "../../../backend/web/app/session.js";

class TabStorage {
  #kept = new Map();
  getItem = (key) => this.#kept.get(key) ?? null;
  setItem = (key, value) => void this.#kept.set(key, value);
  removeItem = (key) => void this.#kept.delete(key);
  clear = () => this.#kept.clear();
}

const jwt = (claims) => `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;

for (const [pasted, token] of [
  ["  abc \n", "abc"],
  ["Bearer abc", "abc"],
  ['"abc"', "abc"],
  ["a b", null],
  ["", null],
  ["   ", null],
  ["tökén", null],
  ["a\u0000b", null],
]) {
  test(`${JSON.stringify(pasted)} is pasted as the token ${token}`, () => {
    assert.equal(tokenIn(pasted), token);
  });
}

test("a token of the same user is told from one of another", () => {
  const [now, later, other] = [jwt({ sub: "ana", exp: 1 }), jwt({ sub: "ana", exp: 2 }), jwt({ sub: "ben" })];
  assert.equal(comparedUsers(now, later), "same");
  assert.equal(comparedUsers(now, other), "other");
  assert.equal(comparedUsers(now, jwt({ sub: "ana", iss: "elsewhere" })), "other");
  assert.equal(comparedUsers("plain", "other plain"), "unknown");
  assert.equal(comparedUsers("plain", "plain"), "same");
});

test("what was typed outlives a sign-in that ended", () => {
  const storage = new TabStorage();
  const session = createSession(storage);
  session.begin("one");
  storage.setItem("draft", "words");
  session.end();
  assert.deepEqual([session.token(), storage.getItem("draft")], [null, "words"]);
  assert.equal(session.begin("one"), "same");
});

test("signing out leaves nothing", () => {
  const storage = new TabStorage();
  const session = createSession(storage);
  session.begin("one");
  storage.setItem("draft", "words");
  session.forget();
  assert.deepEqual([session.token(), storage.getItem("draft")], [null, null]);
  assert.equal(session.begin("one"), "unknown");
});
