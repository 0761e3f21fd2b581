import assert from "node:assert/strict";
import { test } from "node:test";
import { createParser } from "../../../backend/web/app/sse.js";

const STREAM =
  ': a comment\r\nid: 7\r\nevent: metadata\r\ndata: {"run_id": "r"}\r\n\r\nevent: values\r\ndata: {"a":\r\ndata: "é😀"}\r\n\r\n';
const EVENTS = [
  { event: "metadata", data: '{"run_id": "r"}', id: "7" },
  { event: "values", data: '{"a":\n"é😀"}', id: "7" },
];

const parsed = (...pieces) => {
  const parser = createParser();
  return pieces.flatMap((piece) => parser.push(piece));
};

test("a stream gives the same events wherever it is cut", () => {
  for (let at = 0; at <= STREAM.length; at += 1) {
    assert.deepEqual(parsed(STREAM.slice(0, at), STREAM.slice(at)), EVENTS, `cut at ${at}`);
  }
});

test("a stream that comes one character at a time gives the same events", () => {
  assert.deepEqual(parsed(...STREAM), EVENTS);
});

for (const [name, end] of [
  ["LF", "\n"],
  ["CR", "\r"],
  ["CR LF", "\r\n"],
]) {
  test(`lines may end with ${name}`, () => {
    const text = STREAM.replaceAll("\r\n", end);
    assert.deepEqual(parsed(text, ": the next line"), EVENTS);
  });
}

test("an event is told when its empty line has come and not before", () => {
  const parser = createParser();
  assert.deepEqual(parser.push("data: 1\n"), []);
  assert.deepEqual(parser.push("\n"), [{ event: "message", data: "1", id: null }]);
});

test("comments and empty lines alone are no events", () => {
  assert.deepEqual(parsed(": ping\n\n\n\n: ping\n\n"), []);
});

test("an event without data is told with empty data", () => {
  assert.deepEqual(parsed("event: end\n\n"), [{ event: "end", data: "", id: null }]);
});

test("one space after the colon belongs to the field and more to the value", () => {
  assert.deepEqual(parsed("data:  two\ndata:none\ndata\n\n")[0].data, " two\nnone\n");
});

test("a byte order mark at the start is passed over", () => {
  assert.deepEqual(parsed("\uFEFFdata: 1\n\n")[0].data, "1");
});

test("the name of an event is not kept for the next", () => {
  assert.deepEqual(
    parsed("event: a\ndata: 1\n\ndata: 2\n\n").map(({ event }) => event),
    ["a", "message"],
  );
});

test("an event that ends half way is not told", () => {
  assert.deepEqual(parsed("data: 1\n\ndata: 2\n").length, 1);
});

test("a long line in many pieces is read in time", () => {
  const parser = createParser();
  const piece = "x".repeat(4096);
  const began = performance.now();
  for (let count = 0; count < 5000; count += 1) parser.push(count === 0 ? `data: ${piece}` : piece);
  assert.equal(parser.push("\n\n")[0].data.length, 5000 * 4096);
  assert.ok(performance.now() - began < 3000);
});
