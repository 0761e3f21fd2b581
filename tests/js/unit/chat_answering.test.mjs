import assert from "node:assert/strict";
import { test } from "node:test";
import { createAnswering } from "../../../backend/web/chat/answering.js";
import { shownTurns, stoppedAnswer } from "../../../backend/web/chat/conversation_state.js";

/** A server with one thread: `runs` are the events of the runs to come, `busy` says so many times that one goes on. */
function server({ messages = [], runs = [], busy = 0, tasks = [], failing = {} } = {}) {
  const calls = [];
  const state = { messages, busy, updated: 0 };
  const did = (name, ...about) => {
    calls.push([name, ...about]);
    if (failing[name]) throw failing[name];
  };
  const threads = {
    create: async () => did("create") ?? "t",
    remove: async () => did("remove"),
    record: async () => {
      did("record");
      state.busy -= 1;
      return {
        thread_id: "t",
        metadata: {},
        status: state.busy >= 0 ? "busy" : "idle",
        updated_at: String(state.updated),
      };
    },
    view: async () => ({ messages: state.messages, tasks }),
    forkPoint: async (_id, before) => (before.length > 8 ? null : { checkpoint_id: "c" }),
    async *run(_id, { message, checkpoint }) {
      did("run", message.content, checkpoint?.checkpoint_id);
      for (const event of runs.shift() ?? []) yield typeof event === "function" ? await event(state, message) : event;
    },
    async *join() {
      did("join");
      for (const event of runs.shift() ?? []) yield event;
    },
    activeRun: async () => "r",
    cancel: async () => did("cancel"),
    keepStopped: async (_id, answer) => {
      did("keepStopped", answer.content);
      state.messages = [...state.messages, answer];
    },
  };
  return { threads, calls, state };
}

const metadata = { event: "metadata", data: { run_id: "r" } };
const piece = (content) => ({ event: "messages", data: [{ type: "AIMessageChunk", id: "a", content }, {}] });
/** The server keeps what `kept` makes of the question, and streams an event. */
const keeping = (kept, event) => (state, human) => {
  state.messages = kept(human);
  return event;
};
const keeps = (content) => (state, human) => {
  state.messages = [...state.messages, human, { type: "ai", id: "a", content }];
  state.updated += 1;
  return piece(content);
};

function chat(made) {
  const heard = [];
  let resolve;
  const ends = new Promise((done) => {
    resolve = done;
  });
  const listener = {
    changed: () => {},
    taken: (id) => heard.push(`taken ${id}`),
    named: () => heard.push("named"),
    ended: (isAnswered) => resolve(heard.push(`ended ${isAnswered}`)),
  };
  let number = 0;
  const answering = createAnswering({
    threads: made.threads,
    listener,
    newId: () => `h${++number}`,
    wait: async () => {},
  });
  return { answering, heard, ends, names: () => made.calls.map(([name]) => name) };
}

const answers = ({ shown }) => shownTurns(shown).map(({ said, answer }) => [said, answer]);

test("the first message makes a thread, and what the server keeps is shown at the end", async () => {
  const made = server({ runs: [[metadata, piece("He"), keeps("Hello.")]] });
  const { answering, heard, ends } = chat(made);
  await answering.open(null);
  assert.deepEqual(await answering.send("hi"), { sent: true });
  await ends;
  assert.deepEqual(answers(answering), [["hi", "Hello."]]);
  assert.deepEqual(heard, ["taken t", "ended true"]);
  assert.equal(answering.shown.going, null);
});

test("a message that the server does not take is not shown, and the thread made for it goes", async () => {
  const made = server({ failing: { run: new Error("The server does not answer.") } });
  const { answering, heard, names } = chat(made);
  await answering.open(null);
  const sent = await answering.send("hi");
  assert.equal(sent.sentence, "The server does not answer.");
  assert.deepEqual(answers(answering), []);
  assert.deepEqual(heard, []);
  assert.ok(names().includes("remove"));
  assert.equal(answering.threadId, null);
});

test("a thread that is answering elsewhere says so, and the run is followed", async () => {
  const made = server({
    messages: [{ type: "human", id: "x", content: "first" }],
    failing: { run: Object.assign(new Error("409"), { status: 409 }) },
  });
  const { answering, names, ends } = chat(made);
  await answering.open("t");
  made.state.busy = 1;
  const sent = await answering.send("second");
  assert.match(sent.sentence, /still answering/);
  await ends;
  assert.ok(names().includes("join"));
  assert.deepEqual(answers(answering), [["first", ""]]);
});

test("a failed run is told by its turn", async () => {
  const failed = { event: "error", data: { error: "ModelUnavailable", message: "Try again in a moment." } };
  const keepsQuestion = keeping((human) => [human], failed);
  const { answering, heard, ends } = chat(server({ runs: [[metadata, keepsQuestion]] }));
  await answering.open("t");
  await answering.send("hi");
  await ends;
  assert.equal(shownTurns(answering.shown)[0].failure, "Try again in a moment.");
  assert.deepEqual(heard, ["taken t", "ended false"]);
});

test("what had come of a stopped answer is kept", async () => {
  let go;
  const gate = new Promise((done) => {
    go = done;
  });
  const keepsQuestion = keeping((human) => [human], piece("Once upon"));
  const made = server({ runs: [[metadata, keepsQuestion, () => gate.then(() => ({ event: "other" }))]] });
  const { answering, ends } = chat(made);
  await answering.open("t");
  await answering.send("tell");
  while (!answering.shown.going.messages[1]) await Promise.resolve();
  await answering.stop();
  go();
  await ends;
  assert.deepEqual(answers(answering), [["tell", "Once upon"]]);
  assert.equal(shownTurns(answering.shown)[0].stopped, true);
});

test("while an answer grows, only its own turn is made anew", () => {
  const kept = ["1", "2", "3"].flatMap((id) => [
    { type: "human", id, content: id },
    { type: "ai", id: `a${id}`, content: "x" },
  ]);
  const going = {
    runId: "r",
    messages: [{ type: "human", id: "4", content: "4" }],
    joinedLate: false,
    stopping: false,
  };
  const [before, after] = [{}, { failure: "" }].map((more) => shownTurns({ kept, going, failure: "", ...more }));
  assert.deepEqual(
    before.map((turn, position) => turn === after[position]),
    [true, true, false, false],
  );
  assert.deepEqual(
    before.map(({ said, running }) => [said, running]),
    [
      ["1", false],
      ["2", false],
      ["3", false],
      ["4", true],
    ],
  );
});

test("an answer that was finished before it could be stopped stays as it is", () => {
  const news = [{ type: "AIMessageChunk", id: "a", content: "Once" }];
  assert.equal(
    stoppedAnswer(
      [
        { type: "human", id: "h" },
        { type: "ai", id: "a", content: "Once." },
      ],
      news,
    ),
    null,
  );
  assert.equal(stoppedAnswer([{ type: "human", id: "h" }], [{ type: "AIMessageChunk", id: "a", content: " " }]), null);
  assert.equal(stoppedAnswer([{ type: "human", id: "h" }], news).content, "Once");
});

test("answering again runs the same message from before it and leaves behind what came after", async () => {
  const old = [
    { type: "human", id: "1", content: "one" },
    { type: "ai", id: "2", content: "first" },
    { type: "human", id: "3", content: "two" },
    { type: "ai", id: "4", content: "second" },
  ];
  const fork = keeping((human) => [human, { type: "ai", id: "a", content: "anew" }], piece("anew"));
  const made = server({ messages: old, runs: [[metadata, fork]] });
  const { answering, ends } = chat(made);
  await answering.open("t");
  await answering.again(old[0]);
  assert.deepEqual(
    made.calls.find(([name]) => name === "run"),
    ["run", "one", "c"],
  );
  await ends;
  assert.deepEqual(answers(answering), [["one", "anew"]]);
});

test("an edited message is another one", async () => {
  const old = [{ type: "human", id: "1", content: "one" }];
  const made = server({
    messages: old,
    runs: [[metadata, keeping((human) => [human], piece("x"))]],
  });
  const { answering, ends } = chat(made);
  await answering.open("t");
  await answering.again(old[0], "changed");
  await ends;
  assert.deepEqual(answering.shown.kept, [{ type: "human", id: "h1", content: "changed" }]);
});

test("where the point before a message is gone, that is said and nothing changes", async () => {
  const many = Array.from({ length: 10 }, (_, position) => ({ type: "human", id: String(position), content: "x" }));
  const { answering } = chat(server({ messages: many }));
  await answering.open("t");
  const sent = await answering.again(many[9]);
  assert.match(sent.sentence, /not kept any more/);
  assert.equal(answering.shown.kept.length, 10);
});

test("a run that is going on when the chat is opened is joined", async () => {
  const made = server({ messages: [{ type: "human", id: "1", content: "one" }], busy: 1, runs: [[piece("lo")]] });
  const { answering, heard, ends } = chat(made);
  assert.equal(await answering.open("t"), true);
  assert.notEqual(answering.shown.going, null);
  await ends;
  assert.deepEqual(heard, ["ended true"]);
  assert.ok(made.calls.some(([name]) => name === "join"));
});

test("a refresh reads the thread again only when it has changed", async () => {
  const made = server({ messages: [{ type: "human", id: "1", content: "one" }] });
  const { answering } = chat(made);
  await answering.open("t");
  made.state.messages = [{ type: "human", id: "2", content: "two" }];
  await answering.refresh();
  assert.deepEqual(answers(answering), [["one", ""]]);
  made.state.updated = 1;
  await answering.refresh();
  assert.deepEqual(answers(answering), [["two", ""]]);
});

test("when the line breaks and the server is away, what had come stays", async () => {
  const made = server({ runs: [[metadata, piece("Hello"), () => Promise.reject(new Error("broken"))]] });
  const { answering, ends } = chat(made);
  await answering.open("t");
  made.threads.record = async () => {
    throw new Error("The server does not answer.");
  };
  await answering.send("hi");
  await ends;
  assert.deepEqual(answers(answering), [["hi", "Hello"]]);
  assert.equal(shownTurns(answering.shown)[0].failure, "The server does not answer.");
});

test("a chat that was left changes nothing any more", async () => {
  const made = server({ runs: [[metadata, keeps("late")]] });
  const { answering, heard } = chat(made);
  await answering.open("t");
  const sending = answering.send("hi");
  await answering.open(null);
  await sending;
  await new Promise(setImmediate);
  assert.deepEqual(answers(answering), []);
  assert.ok(!heard.includes("ended true"));
});

const first = [
  { type: "human", id: "1", content: "one" },
  { type: "ai", id: "2", content: "first" },
];
/** The server's answers to `name` wait for `let go`; `asked` resolves with the first request. */
function holding(made, name) {
  const answer = made.threads[name];
  const held = {};
  const gate = new Promise((resolve) => {
    held.letGo = resolve;
  });
  held.asked = new Promise((resolve) => {
    made.threads[name] = async (...what) => {
      resolve();
      await gate;
      return answer(...what);
    };
  });
  return held;
}

test("a message sent while the chat is read comes behind what was read", async () => {
  const made = server({ messages: first, runs: [[metadata, keeps("second")]] });
  const { answering, ends } = chat(made);
  const reading = holding(made, "view");
  const opening = answering.open("t");
  const sending = answering.send("two");
  await reading.asked;
  assert.ok(!made.calls.some(([name]) => name === "run"));
  reading.letGo();
  await opening;
  assert.deepEqual(await sending, { sent: true });
  await ends;
  assert.deepEqual(answers(answering), [
    ["one", "first"],
    ["two", "second"],
  ]);
});

test("a message that is refused after the chat was read changes nothing of what was read", async () => {
  const made = server({ messages: first, failing: { run: new Error("Away.") } });
  const { answering } = chat(made);
  answering.open("t");
  assert.equal((await answering.send("two")).sentence, "Away.");
  assert.deepEqual(answers(answering), [["one", "first"]]);
});

test("a chat that turns out to be answering takes no message, and its run is followed once", async () => {
  const made = server({ messages: first, busy: 1, runs: [[piece("lo"), piece("ok")]] });
  const { answering, names, ends } = chat(made);
  answering.open("t");
  const sent = await answering.send("two");
  assert.match(sent.sentence, /still answering/);
  await ends;
  assert.equal(names().filter((name) => name === "join").length, 1);
  assert.ok(!names().includes("run"));
});

test("a chat that could not be read takes no message", async () => {
  const made = server({ failing: { record: new Error("Away.") } });
  const { answering, names } = chat(made);
  const opening = answering.open("t");
  assert.equal((await answering.send("two")).sentence, "Away.");
  await assert.rejects(opening, /Away/);
  assert.ok(!names().includes("run"));
});

test("two looks at a run that began elsewhere follow it once", async () => {
  const made = server({ messages: first });
  const { answering, names } = chat(made);
  await answering.open("t");
  Object.assign(made.state, { busy: 4, updated: 1 });
  const looking = holding(made, "activeRun");
  const looks = [answering.refresh(), answering.refresh()];
  await looking.asked;
  looking.letGo();
  await Promise.all(looks);
  assert.equal(names().filter((name) => name === "join").length, 1);
});

test("a look at the chat does not follow the run that a message has begun meanwhile", async () => {
  const made = server({ messages: first, runs: [[metadata, keeps("second")]] });
  const { answering, names, ends } = chat(made);
  await answering.open("t");
  made.state.updated = 1;
  const record = made.threads.record;
  let looks = 0;
  made.threads.record = async (id) => {
    const look = ++looks;
    if (look === 2) await answering.send("two");
    return { ...(await record(id)), status: look === 2 ? "busy" : "idle" };
  };
  await answering.refresh();
  await ends;
  assert.ok(!names().includes("join"));
});

test("who leaves before the point to answer from is found begins nothing elsewhere", async () => {
  const made = server({ messages: first });
  const { answering, names } = chat(made);
  await answering.open("t");
  const looking = holding(made, "forkPoint");
  const again = answering.again(first[0], "changed");
  await looking.asked;
  await answering.open("other");
  looking.letGo();
  assert.deepEqual(await again, { sent: true });
  assert.ok(!names().includes("run"));
});

test("who leaves before the new chat is made leaves none behind", async () => {
  const made = server({ runs: [[metadata]] });
  const { answering, heard, names } = chat(made);
  await answering.open(null);
  const creating = holding(made, "create");
  made.threads.run = async function* (_id, { signal }) {
    signal.throwIfAborted();
    yield metadata;
  };
  const sending = answering.send("hi");
  await creating.asked;
  await answering.open("other");
  creating.letGo();
  assert.deepEqual(await sending, { sent: true });
  assert.deepEqual([heard, answering.threadId], [[], "other"]);
  assert.ok(names().includes("remove"));
});
