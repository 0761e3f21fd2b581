import assert from "node:assert/strict";
import { test } from "node:test";
import { checkpointBefore, messagesBefore } from "../../../backend/web/chat/branches.js";
import { createDrafts } from "../../../backend/web/chat/drafts.js";
import { newId } from "../../../backend/web/chat/new_id.js";
import { NO_ANSWER, stateFailure, streamFailure } from "../../../backend/web/chat/run_failures.js";
import { lastActivity, threadName, withPage } from "../../../backend/web/chat/thread_names.js";
import { callState, failureText, resultValue, toolLabel } from "../../../backend/web/chat/tool_calls.js";

const thread = (metadata, more = {}) => ({
  thread_id: "t",
  metadata,
  status: "idle",
  updated_at: "2026-01-02T00:00:00Z",
  ...more,
});
const step = (result) => ({ kind: "call", key: "k", id: "c", name: "save_memory", args: {}, result });
const state = (id, ...ids) => ({
  checkpoint: { checkpoint_id: id },
  values: { messages: ids.map((one) => ({ id: one })) },
});

test("a chat is called by its title, else by its first words, else New chat", () => {
  assert.equal(threadName(thread({ title: " Plans " }), "x"), "Plans");
  assert.equal(threadName(thread({ title: "" }), "go\n to  Oslo"), "go to Oslo");
  assert.equal(threadName(thread(null)), "New chat");
  assert.equal(threadName(thread({ title: 7 }), "x".repeat(90)), `${"x".repeat(60)}…`);
});

test("a new title is no activity", () => {
  assert.equal(lastActivity(thread({ last_message_at: "2026-01-01T00:00:00Z" })), "2026-01-01T00:00:00Z");
  assert.equal(lastActivity(thread({ last_message_at: "soon" })), "2026-01-02T00:00:00Z");
});

test("a thread that moved to another page is listed once", () => {
  const [a, b, c] = ["a", "b", "c"].map((thread_id) => thread({}, { thread_id }));
  assert.deepEqual(
    withPage([a, b], [b, c]).map((one) => one.thread_id),
    ["a", "b", "c"],
  );
});

test("a thread forks where the same messages stood before", () => {
  const states = [state("3", "a", "b", "c", "d"), state("2", "a", "x"), state("1", "a", "b"), state("0")];
  const messages = ["a", "b", "c"].map((id) => ({ type: "human", id, content: "" }));
  assert.deepEqual(checkpointBefore(states, messagesBefore(messages, "c")), { checkpoint_id: "1", checkpoint_ns: "" });
  assert.deepEqual(checkpointBefore(states, messagesBefore(messages, "a")), { checkpoint_id: "0", checkpoint_ns: "" });
  assert.equal(checkpointBefore([state("2", "a", "x")], messages), null);
});

test("a call runs while its turn does, and is interrupted after it", () => {
  assert.equal(callState(step(null), { running: true }), "running");
  assert.equal(callState(step(null), { running: false }), "interrupted");
  assert.equal(callState(step({ text: "{}", failed: false }), { running: false }), "finished");
  assert.equal(callState(step({ text: "no", failed: true }), { running: true }), "failed");
});

test("a failed call says why, without its code", () => {
  assert.equal(failureText(step({ text: "PATCH_FAILED: No such key.", failed: true })), "No such key.");
  assert.equal(
    failureText(step({ text: '{"error":{"kind":"duplicate","message":"Known."}}', failed: true })),
    "Known.",
  );
  assert.equal(failureText(step({ text: "", failed: true })), "It failed.");
});

test("a result is JSON where it can be read as such", () => {
  assert.deepEqual(resultValue(step({ text: '{"a":1}', failed: false })), { a: 1 });
  assert.equal(resultValue(step({ text: "plain", failed: false })), "plain");
});

test("a tool that the page does not know is called by its name", () => assert.equal(toolLabel("dig"), "Uses dig"));

test("a run's failure is the server's sentence, or one of ours", () => {
  assert.equal(streamFailure({ error: "ModelUnavailable", message: "Try again." }), "Try again.");
  assert.equal(streamFailure({ error: "X", message: "An internal error occurred" }), NO_ANSWER);
  assert.equal(streamFailure(null), NO_ANSWER);
});

test("the state of a thread tells why its last run failed, unless it was stopped", () => {
  assert.equal(
    stateFailure([{ error: "ModelUnavailable('The model failed; try again.')" }]),
    "The model failed; try again.",
  );
  assert.equal(stateFailure([{ error: "CancelledError()" }]), "");
  assert.equal(stateFailure([{ error: null }]), "");
  assert.equal(stateFailure([{ error: "Strange" }]), NO_ANSWER);
});

test("drafts are kept by chat, and a storage that refuses loses nothing else", () => {
  const kept = new Map();
  const storage = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, text) => kept.set(key, text),
    removeItem: (key) => kept.delete(key),
  };
  const drafts = createDrafts(storage);
  drafts.keep("a", "one");
  drafts.keep(null, "two");
  assert.deepEqual([drafts.read("a"), drafts.read(null), drafts.read("b")], ["one", "two", ""]);
  drafts.keep("a", "");
  assert.equal(kept.size, 1);
  const full = { getItem: () => null, setItem: () => assert.fail("full"), removeItem: () => {} };
  createDrafts(full).keep("a", "text");
});

test("ids are random UUIDs", () => {
  assert.match(newId(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.notEqual(newId(), newId());
});
