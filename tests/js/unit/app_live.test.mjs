import assert from "node:assert/strict";
import { test } from "node:test";
import { unreachable } from "../../../backend/web/app/errors.js";
import { createLive, pauseAfter } from "../../../backend/web/app/live.js";

/** A server whose connections are scripted; when they are used up it stops the line. */
function scripted(...connections) {
  const pauses = [];
  let finished = () => {};
  const done = new Promise((resolve) => {
    finished = () => resolve(null);
  });
  const api = {
    async *events() {
      const events = connections.shift();
      if (!events) throw unreachable();
      for (const event of events) yield { event, data: {}, id: null };
    },
  };
  const wait = async (ms) => {
    pauses.push(ms);
    if (connections.length > 0) return;
    live.stop();
    finished();
  };
  const live = createLive({ api, wait });
  return { live, done, pauses };
}

function changesOf(live) {
  const changes = [];
  live.subscribe((change) => changes.push(change.kind));
  return changes;
}

test("each change is told to every subscriber", async () => {
  const { live, done } = scripted(["ready", "memory_changed", "memory_changed"]);
  const [one, other] = [changesOf(live), changesOf(live)];
  live.start();
  await done;
  assert.deepEqual([one.length, other.length], [2, 2]);
});

test("the first connection alone is no change and a return is one", async () => {
  const { live, done } = scripted(["ready"], ["ready"]);
  const changes = changesOf(live);
  live.start();
  await done;
  assert.deepEqual(changes, ["memory_changed"]);
});

test("pauses grow while the server is away and start anew when it was there", async () => {
  const { live, done, pauses } = scripted(null, null, null, ["ready"], null);
  live.start();
  await done;
  assert.deepEqual(pauses, [500, 1000, 2000, 500, 1000]);
});

test("no pause is longer than ten seconds", () => {
  assert.deepEqual([0, 1, 4, 5, 50, 5000].map(pauseAfter), [500, 1000, 8000, 10_000, 10_000, 10_000]);
});

test("who has ended the subscription hears nothing", async () => {
  const { live, done } = scripted(["memory_changed"]);
  live.subscribe(assert.fail)();
  live.start();
  await done;
});

test("it is connected from the first event to the end", async () => {
  const { live, done } = scripted(["ready", "memory_changed"]);
  const seen = [live.connected];
  live.subscribe(() => seen.push(live.connected));
  live.start();
  await done;
  assert.deepEqual([...seen, live.connected], [false, true, false]);
});
