/** The titles of the chats in which something was said; asked for once for each chat. */

/** @typedef {{link(threadId: string): HTMLElement}} ChatLinks */

import { fill, h } from "../app/dom.js";
import { shorten } from "../app/format.js";
import { hashOf } from "../app/routes.js";

const AT_ONCE = 100;

/** @param {import("./records.js").Api} api @returns {ChatLinks} */
export function createChatLinks(api) {
  /** @type {Map<string, string | null>} title by chat; null for one that is gone */
  const titles = new Map();
  /** @type {Map<string, HTMLElement[]>} */
  const waiting = new Map();
  let isAsking = false;

  function ask() {
    if (isAsking) return;
    isAsking = true;
    queueMicrotask(async () => {
      const ids = [...waiting.keys()].slice(0, AT_ONCE);
      const found = await titlesOf(api, ids);
      isAsking = false;
      for (const id of ids) settle(id, found);
      if (waiting.size) ask();
    });
  }

  /** @param {string} id @param {Map<string, string> | null} found */
  function settle(id, found) {
    const places = waiting.get(id) ?? [];
    waiting.delete(id);
    if (!found) return;
    const title = found.get(id) ?? null;
    // a chat without a title gets one soon
    if (title !== "") titles.set(id, title);
    for (const place of places) show(place, id, title);
  }

  /** @param {HTMLElement} place @param {string} id @param {string | null | undefined} title */
  function show(place, id, title) {
    if (title === null) fill(place, "from a chat that is deleted");
    else fill(place, chatLink(id, title ? `from chat “${shorten(title, 40)}”` : "from a chat"));
  }

  return {
    link(threadId) {
      const place = h("span", { class: "memory-origin" });
      show(place, threadId, titles.get(threadId));
      if (!titles.has(threadId)) {
        waiting.set(threadId, [...(waiting.get(threadId) ?? []), place]);
        ask();
      }
      return place;
    },
  };
}

/** @param {string} threadId @param {string} text */
export function chatLink(threadId, text) {
  return h("a", { href: hashOf({ view: "chat", threadId }) }, text);
}

/**
 * @param {import("./records.js").Api} api
 * @param {string[]} ids
 * @returns {Promise<Map<string, string> | null>} of the chats that exist; null when it could not be asked
 */
async function titlesOf(api, ids) {
  try {
    const threads = await api.post("/threads/search", { ids, limit: AT_ONCE, select: ["thread_id", "metadata"] });
    return new Map(threads.map(titleEntry));
  } catch {
    return null;
  }
}

/** @param {{thread_id: string, metadata?: {title?: unknown}}} thread @returns {[string, string]} */
function titleEntry({ thread_id, metadata }) {
  return [thread_id, typeof metadata?.title === "string" ? metadata.title : ""];
}
