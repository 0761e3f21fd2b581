// Runs in the thread that is shown: send, stop, answer again, join one that is going on. Knows no DOM.

import { sentenceOf } from "../app/errors.js";
import { withEvent } from "./answer_stream.js";
import { attempt, ignoreEnded } from "./attempts.js";
import { messagesBefore } from "./branches.js";
import { merged, stoppedAnswer } from "./conversation_state.js";
import { stateFailure, streamFailure } from "./run_failures.js";

/**
 * @typedef {import("./message_text.js").Message} Message
 * @typedef {import("./threads.js").Threads & import("./runs.js").Runs} Threads
 * @typedef {import("./conversation_state.js").Shown} Shown
 * @typedef {import("./conversation_state.js").Going} Going
 * @typedef {import("./answer_stream.js").StreamEvent} StreamEvent
 *
 * @typedef {object} Listener
 * @property {() => void} changed what is shown has changed
 * @property {(threadId: string) => void} taken the server has taken what was sent
 * @property {() => void} named a run may have named the thread
 * @property {(isAnswered: boolean) => void} ended
 *
 * @typedef {import("./attempts.js").Sent} Sent
 * @typedef {ReturnType<typeof createAnswering>} Answering
 */

const NO_FORK =
  "The point before this message is not kept any more, so it cannot be answered again. Send it as a new one.";
const POLL_MS = 700;
const NAMING_NODE = "rename_thread_agent";

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

  /** @param {Partial<Shown>} change */
  function set(change) {
    shown = { ...shown, ...change };
    listener.changed();
  }

  /** @param {Partial<Going>} change */
  function setGoing(change) {
    if (shown.going) set({ going: { ...shown.going, ...change } });
  }

  /** @param {string | null} id @returns {Promise<boolean>} whether there is such a thread */
  async function open(id) {
    visit.abort();
    visit = new AbortController();
    threadId = id;
    seenAt = "";
    set({ kept: [], going: null, failure: "" });
    return id === null || (await settle(id, visit.signal));
  }

  /** @param {string} content @returns {Promise<Sent>} */
  function send(content) {
    return begin({ message: { type: "human", id: newId(), content }, kept: shown.kept });
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
    const message = {
      type: "human",
      id: content === undefined ? human.id : newId(),
      content: content ?? human.content,
    };
    return attempt(signal, async () => {
      const checkpoint = await threads.forkPoint(threadId ?? "", kept);
      return checkpoint ? begin({ message, kept, checkpoint }) : { sent: false, sentence: NO_FORK };
    });
  }

  /**
   * @param {{message: Message, kept: readonly Message[], checkpoint?: import("./runs.js").Checkpoint}} what
   * @returns {Promise<Sent>} as soon as the server has taken it, or has not
   */
  async function begin({ message, kept, checkpoint }) {
    const { signal } = visit;
    const before = shown;
    set({ kept, failure: "", going: { runId: null, messages: [message], joinedLate: false, stopping: false } });
    const sent = await attempt(signal, async () => {
      const id = threadId ?? (await threads.create());
      return startRun(id, { message, checkpoint, signal });
    });
    if (!sent.sent && !signal.aborted) await takeBack(before, sent);
    return sent;
  }

  /**
   * @param {string} id
   * @param {{message: Message, checkpoint?: import("./runs.js").Checkpoint, signal: AbortSignal}} what
   * @returns {Promise<Sent>}
   */
  async function startRun(id, what) {
    const events = threads.run(id, what)[Symbol.asyncIterator]();
    try {
      const first = await events.next();
      threadId = id;
      listener.taken(id);
      follow(id, first, events, what.signal);
      return { sent: true };
    } catch (error) {
      if (threadId === null) threads.remove(id, false).catch(() => {});
      throw error;
    }
  }

  /** @param {Shown} before @param {Sent & {sent: false}} sent */
  async function takeBack(before, sent) {
    set(before);
    if (sent.busy && threadId) settle(threadId, visit.signal);
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
    if (!signal.aborted) await settle(id, signal).catch((error) => signal.aborted || loseSight(error));
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
    let view = await threads.view(id, signal);
    const partial = going?.stopping ? stoppedAnswer(view.messages, going.messages) : null;
    if (partial) view = await keepPartial(id, partial, view, signal);
    if (signal.aborted) return;
    set({
      kept: view.messages,
      going: null,
      failure: going?.stopping ? "" : shown.failure || stateFailure(view.tasks),
    });
  }

  /** @param {string} id @param {Message} partial @param {import("./runs.js").ThreadView} view @param {AbortSignal} signal */
  async function keepPartial(id, partial, view, signal) {
    try {
      await threads.keepStopped(id, partial);
      return await threads.view(id, signal);
    } catch {
      // it stays on the page at least
      return { ...view, messages: merged(view.messages, [partial]) };
    }
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
    return settle(threadId, signal);
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

/** @param {unknown} data @returns {string | undefined} */
function runIdIn(data) {
  return /** @type {{run_id?: string} | null} */ (data)?.run_id;
}

/** @param {StreamEvent} event */
function namesThread({ event, data }) {
  return event === "updates" && typeof data === "object" && data !== null && NAMING_NODE in data;
}

/** @param {number} ms @returns {Promise<void>} */
function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
