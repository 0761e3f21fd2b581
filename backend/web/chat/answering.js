// Runs in the thread that is shown: send, stop, answer again, join one that is going on. Knows no DOM.

import { sentenceOf } from "../app/errors.js";
import { namesThread, runIdIn, withEvent } from "./answer_stream.js";
import { attempt, ignoreEnded, LEFT } from "./attempts.js";
import { messagesBefore } from "./branches.js";
import { merged } from "./conversation_state.js";
import { pause } from "./moments.js";
import { STILL_ANSWERING, stateFailure, streamFailure } from "./run_failures.js";
import { viewAfter } from "./stopped_answer.js";

/**
 * @typedef {import("./message_text.js").Message} Message
 * @typedef {import("./threads.js").Threads & import("./runs.js").Runs} Threads
 * @typedef {import("./conversation_state.js").Shown} Shown
 * @typedef {import("./conversation_state.js").Going} Going
 * @typedef {import("./answer_stream.js").StreamEvent} StreamEvent
 * @typedef {import("./attempts.js").Sent} Sent
 *
 * @typedef {object} Listener
 * @property {() => void} changed what is shown has changed
 * @property {(threadId: string) => void} taken the server has taken what was sent
 * @property {() => void} named a run may have named the thread
 * @property {(isAnswered: boolean) => void} ended
 * @typedef {ReturnType<typeof createAnswering>} Answering
 */

const NO_FORK =
  "The point before this message is not kept any more, so it cannot be answered again. Send it as a new one.";
const POLL_MS = 700;

/**
 * @param {{threads: Threads, listener: Listener, newId: () => string, wait?: (ms: number) => Promise<void>}} parts
 */
export function createAnswering({ threads, listener, newId, wait = pause }) {
  /** @type {string | null} */
  let threadId = null;
  /** @type {Shown} */
  let shown = { kept: [], going: null, failure: "" };
  let seenAt = "";
  let visit = new AbortController();
  let reader = new AbortController();
  let opening = Promise.resolve(true);
  let joined = () => {};

  /** @param {Partial<Shown>} change */
  function set(change) {
    shown = { ...shown, ...change };
    listener.changed();
  }

  /** @param {Partial<Going>} change */
  function setGoing(change) {
    if (shown.going) set({ going: { ...shown.going, ...change } });
  }

  /** One at a time reads the thread or follows its run: two would each add what it says. @returns {AbortSignal} */
  function newReader() {
    reader.abort();
    reader = new AbortController();
    return reader.signal;
  }

  /** @param {string | null} id @returns {Promise<boolean>} whether there is such a thread; as soon as it is shown */
  function open(id) {
    visit.abort();
    visit = new AbortController();
    threadId = id;
    seenAt = "";
    set({ kept: [], going: null, failure: "" });
    opening = firstShown(id, newReader());
    return opening;
  }

  /** @param {string | null} id @param {AbortSignal} signal */
  async function firstShown(id, signal) {
    if (id === null) return true;
    /** @type {Promise<boolean>} */
    const isJoined = new Promise((resolve) => {
      joined = () => resolve(true);
    });
    const isSettled = settle(id, signal);
    isSettled.catch((error) => signal.aborted || !shown.going || loseSight(error));
    return Promise.race([isJoined, isSettled]);
  }

  /** @param {string} content @returns {Promise<Sent>} when what stands before it has been read */
  function send(content) {
    const { signal } = visit;
    return attempt(signal, async () => {
      await opening;
      if (signal.aborted) return LEFT;
      return begin({ message: { type: "human", id: newId(), content }, kept: shown.kept });
    });
  }

  /**
   * Answers a message again, or another one in its place, from where the thread was before it.
   *
   * @param {Message} human
   * @param {unknown} [content] what is said instead
   * @returns {Promise<Sent>}
   */
  async function again(human, content) {
    const { signal } = visit;
    const kept = messagesBefore(shown.kept, human.id ?? "");
    const id = content === undefined ? human.id : newId();
    const message = { type: "human", id, content: content ?? human.content };
    return attempt(signal, async () => {
      const checkpoint = await threads.forkPoint(threadId ?? "", kept, signal);
      if (signal.aborted) return LEFT;
      return checkpoint ? begin({ message, kept, checkpoint }) : { sent: false, isFinal: true, sentence: NO_FORK };
    });
  }

  /**
   * @param {{message: Message, kept: readonly Message[], checkpoint?: import("./runs.js").Checkpoint}} what
   * @returns {Promise<Sent>} as soon as the server has taken it, or has not
   */
  async function begin({ message, kept, checkpoint }) {
    if (shown.going) return { sent: false, sentence: STILL_ANSWERING };
    const signal = newReader();
    const before = shown;
    set({ kept, failure: "", going: { runId: null, messages: [message], joinedLate: false, stopping: false } });
    const sent = await attempt(signal, () => startRun({ message, checkpoint, signal }));
    if (!sent.sent && !signal.aborted) takeBack(before, sent);
    return sent;
  }

  /**
   * @param {{message: Message, checkpoint?: import("./runs.js").Checkpoint, signal: AbortSignal}} what
   * @returns {Promise<Sent>}
   */
  async function startRun(what) {
    const isNew = threadId === null;
    const id = threadId ?? (await threads.create());
    try {
      const events = threads.run(id, what)[Symbol.asyncIterator]();
      const first = await events.next();
      if (what.signal.aborted) return LEFT;
      threadId = id;
      listener.taken(id);
      follow(id, first, events, what.signal);
      return { sent: true };
    } catch (error) {
      if (isNew) threads.remove(id, false).catch(() => {});
      throw error;
    }
  }

  /** @param {Shown} before @param {Sent & {sent: false}} sent */
  function takeBack(before, sent) {
    set(before);
    seenAt = "";
    if (sent.busy && threadId) settleAlone(threadId, newReader());
  }

  /**
   * @param {string} id
   * @param {IteratorResult<StreamEvent>} first
   * @param {AsyncIterator<StreamEvent>} events
   * @param {AbortSignal} signal
   */
  async function follow(id, first, events, signal) {
    try {
      for (let next = first; !next.done && !signal.aborted; next = await events.next()) take(next.value);
    } catch {
      // the line broke; what became of the run is asked below
    }
    if (!signal.aborted) settleAlone(id, signal);
  }

  /** @param {string} id @param {AbortSignal} signal nobody waits for it: where it fails, the turn says so */
  function settleAlone(id, signal) {
    settle(id, signal).catch((error) => signal.aborted || loseSight(error));
  }

  /** @param {unknown} error nobody knows what became of the run; what had come stays, and the next refresh tells */
  function loseSight(error) {
    const kept = merged(shown.kept, shown.going?.messages ?? []);
    set({ kept, going: null, failure: sentenceOf(error) });
    seenAt = "";
    listener.ended(false);
  }

  /** @param {StreamEvent} event */
  function take(event) {
    const { going } = shown;
    if (!going) return;
    if (event.event === "metadata") setGoing({ runId: runIdIn(event.data) ?? going.runId, joinedLate: false });
    else if (event.event === "error") set({ failure: streamFailure(event.data) });
    else takeMessages(going, event);
    if (namesThread(event)) listener.named();
  }

  /** @param {Going} going @param {StreamEvent} event */
  function takeMessages(going, event) {
    const messages = withEvent(going.messages, event, going);
    if (messages !== going.messages) setGoing({ messages });
  }

  /**
   * Until nothing runs: join it and look again. Then what the server keeps is shown.
   *
   * @param {string} id
   * @param {AbortSignal} signal
   * @returns {Promise<boolean>} whether there is such a thread
   */
  async function settle(id, signal) {
    let wasGoing = shown.going !== null;
    for (;;) {
      const record = await threads.record(id);
      if (signal.aborted) return true;
      if (!record) return false;
      seenAt = record.updated_at;
      if (record.status !== "busy") break;
      wasGoing = true;
      await joinRun(id, signal);
      if (signal.aborted) return true;
    }
    await showKept(id, signal);
    if (wasGoing && !signal.aborted) listener.ended(!shown.failure);
    return true;
  }

  /** @param {string} id @param {AbortSignal} signal */
  async function joinRun(id, signal) {
    const runId = await threads.activeRun(id);
    if (!shown.going && !signal.aborted) await showBehind(id, runId, signal);
    if (runId) await listenTo(id, runId, signal);
    if (!signal.aborted) await wait(POLL_MS);
  }

  /** @param {string} id @param {string | null} runId @param {AbortSignal} signal what stands before what the run says */
  async function showBehind(id, runId, signal) {
    const { messages } = await threads.view(id, signal);
    if (signal.aborted) return;
    set({ kept: messages, failure: "", going: { runId, messages: [], joinedLate: true, stopping: false } });
    joined();
  }

  /** @param {string} id @param {string} runId @param {AbortSignal} signal */
  async function listenTo(id, runId, signal) {
    setGoing({ runId });
    for await (const event of threads.join(id, runId, signal)) {
      if (signal.aborted) return;
      take(event);
    }
  }

  /** @param {string} id @param {AbortSignal} signal */
  async function showKept(id, signal) {
    const { going } = shown;
    const stopped = going?.stopping ? going : null;
    const view = await viewAfter(threads, id, { stopped, signal });
    if (signal.aborted) return;
    const failure = stopped ? "" : shown.failure || stateFailure(view.tasks);
    set({ kept: view.messages, going: null, failure });
  }

  /** @returns {Promise<Sent>} */
  async function stop() {
    const { signal } = visit;
    if (!shown.going || !threadId) return { sent: true };
    const id = threadId;
    setGoing({ stopping: true });
    return attempt(signal, async () => {
      const runId = shown.going?.runId ?? (await threads.activeRun(id));
      if (runId) await threads.cancel(id, runId).catch(ignoreEnded);
      return { sent: true };
    });
  }

  /** What another tab or a background run may have changed; not while a run is followed here. */
  async function refresh() {
    const { signal } = visit;
    if (!threadId || shown.going) return true;
    const record = await threads.record(threadId);
    if (signal.aborted || shown.going) return true;
    if (!record) return false;
    if (record.updated_at === seenAt) return true;
    shown = { ...shown, failure: "" };
    return settle(threadId, newReader());
  }

  return {
    open,
    send,
    again,
    stop,
    refresh,
    get threadId() {
      return threadId;
    },
    get shown() {
      return shown;
    },
  };
}
