/** Hearing from the server that memory has changed, and connecting again when the connection is lost. */

import { ApiError, isAbort } from "./errors.js";

const PATH = "/api/memory/events";
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/**
 * @typedef {{kind: "memory_changed"}} Change
 * @typedef {(change: Change) => void} Subscriber
 * @typedef {object} Live
 * @property {(subscriber: Subscriber) => () => void} subscribe the result ends the subscription
 * @property {() => void} start connects now, also when it is waiting to connect again
 * @property {() => void} stop
 * @property {boolean} connected
 */

/**
 * Subscribers are told of each change, and once after it connected again, because changes may have been missed.
 *
 * @param {{api: Pick<import("./api.js").Api, "events">, wait?: (ms: number, signal: AbortSignal) => Promise<void>}} parts
 * @returns {Live}
 */
export function createLive({ api, wait = pause }) {
  /** @type {Set<Subscriber>} */
  const subscribers = new Set();
  let attempt = new AbortController();
  let connected = false;
  let hasConnected = false;

  function tell() {
    for (const subscriber of subscribers) subscriber({ kind: "memory_changed" });
  }

  /** @param {string} event */
  function take(event) {
    const isReturn = hasConnected && !connected;
    connected = hasConnected = true;
    if (isReturn || event === "memory_changed") tell();
  }

  /**
   * Listens until the connection ends.
   *
   * @param {AbortSignal} signal
   * @returns {Promise<boolean>} whether it was there at all
   */
  async function listen(signal) {
    try {
      for await (const { event } of api.events(PATH, { signal })) if (!signal.aborted) take(event);
    } catch (error) {
      if (!(error instanceof ApiError || isAbort(error))) throw error;
    }
    const wasConnected = connected;
    if (!signal.aborted) connected = false;
    return wasConnected;
  }

  /** @param {AbortSignal} signal */
  async function keepListening(signal) {
    for (let failures = 0; !signal.aborted; failures += 1) {
      if (await listen(signal)) failures = 0;
      if (!signal.aborted) await wait(pauseAfter(failures), signal);
    }
  }

  function stop() {
    attempt.abort();
    connected = false;
  }

  return {
    subscribe(subscriber) {
      subscribers.add(subscriber);
      return () => subscribers.delete(subscriber);
    },
    start() {
      stop();
      attempt = new AbortController();
      keepListening(attempt.signal);
    },
    stop,
    get connected() {
      return connected;
    },
  };
}

/**
 * How long to wait after so many failures in a row.
 *
 * @param {number} failures
 * @returns {number} milliseconds
 */
export function pauseAfter(failures) {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
}

/**
 * @param {number} ms
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });

    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
