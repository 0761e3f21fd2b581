import assert from "node:assert/strict";
import { test } from "node:test";
import { withEvent } from "../../../backend/web/chat/answer_stream.js";

const piece = (content, more = {}) => ({ type: "AIMessageChunk", id: "a", content, ...more });
const streamed = (message, about = { langgraph_node: "chat_agent" }) => ({ event: "messages", data: [message, about] });
const call = (args, more = {}) => piece("", { tool_call_chunks: [{ index: 0, args, ...more }] });
const after = (events, how) => events.reduce((messages, event) => withEvent(messages, event, how), []);

test("pieces of a message are joined by its id", () => {
  const messages = after([streamed(piece("Hel")), streamed(piece("lo")), streamed({ ...piece("!"), id: "b" })]);
  assert.deepEqual(
    messages.map(({ id, content }) => [id, content]),
    [
      ["a", "Hello"],
      ["b", "!"],
    ],
  );
});

test("arguments of a call are text until they are JSON", () => {
  const first = [streamed(call("", { id: "c", name: "save" })), streamed(call('{"a"'))];
  assert.deepEqual(after(first)[0].tool_calls, [{ id: "c", name: "save", args: '{"a"' }]);
  assert.deepEqual(after([...first, streamed(call(":1}"))])[0].tool_calls, [{ id: "c", name: "save", args: { a: 1 } }]);
});

test("calls beside each other are kept apart by their index", () => {
  const second = piece("", { tool_call_chunks: [{ index: 1, id: "d", name: "other", args: "{}" }] });
  const [message] = after([streamed(call("{}", { id: "c", name: "save" })), streamed(second)]);
  assert.deepEqual(
    message.tool_calls.map(({ name }) => name),
    ["save", "other"],
  );
});

test("a whole message takes the place of its pieces, and later pieces change nothing", () => {
  const whole = { event: "updates", data: { chat_agent: { messages: [{ type: "ai", id: "a", content: "Hello." }] } } };
  const [message, ...rest] = after([streamed(piece("Hel")), whole, streamed(piece("lo"))]);
  assert.equal(message.content, "Hello.");
  assert.equal(rest.length, 0);
});

test("results of tools come in order, once", () => {
  const tool = { type: "tool", id: "t", content: "{}", tool_call_id: "c" };
  const messages = after([
    streamed(piece("x")),
    streamed(tool),
    { event: "updates", data: { tools: { messages: [tool] } } },
  ]);
  assert.deepEqual(
    messages.map(({ id }) => id),
    ["a", "t"],
  );
});

test("what the router and the title's model say is no answer", () => {
  const before = [];
  assert.equal(withEvent(before, streamed(piece("chat_agent"), { langgraph_node: "router_agent" })), before);
  assert.equal(withEvent(before, streamed(piece("x"), { langgraph_node: "chat_agent", tags: ["nostream"] })), before);
  assert.equal(withEvent(before, { event: "updates", data: { rename_thread_agent: null } }), before);
});

test("events of other kinds change nothing", () => {
  const before = [];
  for (const event of ["metadata", "custom", "values", "error"])
    assert.equal(withEvent(before, { event, data: {} }), before);
});

test("an answer whose beginning was missed says so", () => {
  const late = { joinedLate: true };
  assert.equal(after([streamed(piece("lo")), streamed(piece(" you"))], late)[0].content, "… lo you");
  assert.equal(after([streamed(piece("")), streamed(piece("Hello"))], late)[0].content, "Hello");
});
