import assert from "node:assert/strict";
import { test } from "node:test";
import { hashOf, routeOf, titleOf } from "../../../backend/web/app/routes.js";

const NEW_CHAT = { view: "chat", threadId: null };

for (const hash of ["", "#", "#/", "#/t/", "#/t/%E0%A4%A", "#/nowhere", "#chat"]) {
  test(`${JSON.stringify(hash)} is a new chat`, () => {
    assert.deepEqual(routeOf(hash), NEW_CHAT);
  });
}

for (const route of [
  NEW_CHAT,
  { view: "chat", threadId: "0b5f" },
  { view: "chat", threadId: "a/b #%?é" },
  { view: "memory", section: "about" },
  { view: "memory", section: "data" },
]) {
  test(`${JSON.stringify(route)} is read back from its address`, () => {
    assert.deepEqual(routeOf(hashOf(route)), route);
  });
}

for (const hash of ["#/memory", "#/memory/", "#/memory/secrets"]) {
  test(`${hash} opens the first section`, () => {
    assert.deepEqual(routeOf(hash), { view: "memory", section: "about" });
  });
}

test("the window is named after what it shows", () => {
  const chat = { view: "chat", threadId: "a" };
  assert.equal(titleOf(NEW_CHAT, null), "New chat · Afterthought");
  assert.equal(titleOf(chat, null), "Chat · Afterthought");
  assert.equal(titleOf(chat, "Trip to Oslo"), "Trip to Oslo · Afterthought");
  assert.equal(titleOf({ view: "memory", section: "notes" }, "Trip to Oslo"), "Memory · Afterthought");
});
