import assert from "node:assert/strict";
import { test } from "node:test";
import { groupTurns, isComplete } from "../../../backend/web/chat/turns.js";

const human = (id, content, more = {}) => ({ type: "human", id, content, ...more });
const ai = (id, content, more = {}) => ({ type: "ai", id, content, ...more });
const result = (callId, content, more = {}) => ({
  type: "tool",
  id: `r-${callId}`,
  tool_call_id: callId,
  content,
  ...more,
});
const calling = (id, ...calls) => ai(id, "", { tool_calls: calls });

test("a turn is one human message and all that follows", () => {
  const turns = groupTurns([human("1", "a"), ai("2", "b"), ai("3", "c"), human("4", "d")]);
  assert.deepEqual(
    turns.map(({ key, said, answer }) => [key, said, answer]),
    [
      ["1", "a", "b\n\nc"],
      ["4", "d", ""],
    ],
  );
});

test("messages that a framework made are not shown and begin no turn", () => {
  const hidden = { additional_kwargs: { hide_from_ui: true } };
  const summary = { additional_kwargs: { lc_source: "summarization" } };
  const messages = [
    { type: "system", id: "s", content: "x" },
    human("h", "x", hidden),
    human("1", "a"),
    human("h2", "x", summary),
    ai("2", "b"),
  ];
  const turns = groupTurns(messages);
  assert.equal(turns.length, 1);
  assert.equal(turns[0].answer, "b");
});

test("a result belongs to its call", () => {
  const turns = groupTurns([
    human("1", "a"),
    calling("2", { id: "x", name: "one", args: { a: 1 } }, { id: "y", name: "two", args: {} }),
    result("y", "second"),
    result("x", "first", { status: "error" }),
  ]);
  assert.deepEqual(
    turns[0].steps.map(({ name, result: { text, failed } }) => [name, text, failed]),
    [
      ["one", "first", true],
      ["two", "second", false],
    ],
  );
});

test("an id that a model uses again answers the call that has no result yet", () => {
  const messages = [human("1", "a"), calling("2", { id: "0", name: "t", args: {} }), result("0", "first")];
  const again = [calling("3", { id: "0", name: "t", args: {} }), { ...result("0", "second"), id: "other" }];
  const [turn] = groupTurns([...messages, ...again]);
  assert.deepEqual(
    turn.steps.map((step) => step.result.text),
    ["first", "second"],
  );
});

test("the receipt is that of the last message that has one", () => {
  const about = (cut) => ({ response_metadata: { memory: { cut } } });
  const [turn] = groupTurns([human("1", "a"), ai("2", "b", about(1)), ai("3", "c", about(2)), ai("4", "d")]);
  assert.equal(turn.receipt.cut, 2);
});

test("content in blocks becomes text, with markers for what is none", () => {
  const blocks = [
    { type: "text", text: "see" },
    { type: "image_url", image_url: {} },
    { type: "reasoning", text: "no" },
  ];
  const [turn] = groupTurns([human("1", blocks)]);
  assert.equal(turn.said, "see\n[image]");
});

test("an answer that was stopped says so", () => {
  const [turn] = groupTurns([human("1", "a"), ai("2", "b", { response_metadata: { stopped: true } })]);
  assert.equal(turn.stopped, true);
});

test("what stands before the first human message is a turn without one", () => {
  const [turn] = groupTurns([ai("2", "b")]);
  assert.equal(turn.human, null);
});

test("a turn that ends with a call is not complete", () => {
  assert.equal(isComplete(groupTurns([human("1", "a"), calling("2", { id: "x", name: "t" })])[0]), false);
  assert.equal(isComplete(groupTurns([human("1", "a"), ai("2", "b")])[0]), true);
});
