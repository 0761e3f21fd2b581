import assert from "node:assert/strict";
import { test } from "node:test";
import { messagesSentence, receiptParticulars, receiptSentence } from "../../../backend/web/chat/receipt.js";

const used = (items) => ({ used: true, reason: "used", items, tokens: 12 });
const not = (reason) => ({ used: false, reason, items: 0, tokens: 0 });
const receipt = (more = {}) => ({
  profile: not("empty"),
  facts: not("empty"),
  recalled: { ...not("empty"), ids: [] },
  earlier_conversation: not("empty"),
  cut: 0,
  messages_sent: 3,
  messages_left_out: 0,
  ...more,
});

test("without a receipt nothing is said", () => assert.equal(receiptSentence(null), ""));

test("what was used is counted, and the turns that summaries stand for", () => {
  const told = receipt({ facts: used(3), earlier_conversation: used(2), cut: 12 });
  assert.equal(receiptSentence(told), "used 3 notes, 2 summaries; 12 older turns compressed");
});

test("one is one", () => {
  const told = receipt({
    profile: used(1),
    facts: used(1),
    recalled: { ...used(1), ids: ["i"] },
    earlier_conversation: used(1),
    cut: 1,
  });
  const expected = "used 1 detail about you, 1 note, 1 recalled memory, 1 summary; 1 older turn compressed";
  assert.equal(receiptSentence(told), expected);
});

test("nothing used is said plainly", () => assert.equal(receiptSentence(receipt()), "used nothing from memory"));

test("turns without summaries were left out, and what could not be read is named", () => {
  const told = receipt({ earlier_conversation: not("unavailable"), cut: 4 });
  const expected = "used nothing from memory; 4 older turns left out; could not read: thread summaries";
  assert.equal(receiptSentence(told), expected);
});

test("particulars lead to where the items are", () => {
  const told = receipt({ profile: used(2), recalled: { ...used(1), ids: ["i"] }, facts: not("off") });
  assert.deepEqual(receiptParticulars(told), [
    { label: "About you", section: "about", state: "2 details about you, about 12 tokens", ids: [] },
    { label: "Notes", section: "notes", state: "not used: memory is off for this chat", ids: [] },
    { label: "Recalled", section: "episodes", state: "1 recalled memory, about 12 tokens", ids: ["i"] },
    { label: "Thread summaries", section: "summaries", state: "not used: nothing fitting is kept yet", ids: [] },
  ]);
});

test("a receipt of an older version, with blocks missing, can be told", () => {
  const { profile, cut, messages_sent, messages_left_out } = receipt({ profile: used(2) });
  const old = { profile, cut, messages_sent, messages_left_out };
  assert.equal(receiptSentence(old), "used 2 details about you");
  assert.equal(receiptParticulars(old).length, 1);
});

test("messages sent and left out are counted", () => {
  assert.equal(messagesSentence(receipt()), "3 messages of this chat sent to the model");
  const left = receipt({ messages_sent: 1, messages_left_out: 9 });
  assert.equal(messagesSentence(left), "1 message of this chat sent to the model, 9 left out");
});
