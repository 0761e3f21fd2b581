/** *Past conversations*: the finished turns that are kept, page by page (S0). */

import { fill, h } from "../app/dom.js";
import { shorten } from "../app/format.js";
import { deleteRow } from "./deletion.js";
import {
  LARGEST_PAGE,
  NOTHING_LOADED,
  PAGE,
  pageToReload,
  unknownBehind,
  withFurther,
  withNewest,
} from "./episode_pages.js";
import { createSide } from "./episode_side.js";
import { sidesOf } from "./episode_text.js";
import { createFrame, failureText } from "./frame.js";
import { emptyState, iconButton, time } from "./pieces.js";
import { createRows } from "./rows.js";

/**
 * @typedef {import("./records.js").Episode} Episode
 * @typedef {import("./records.js").EpisodePage} EpisodePage
 */

const EMPTY = "When a turn of a chat is finished, what you and the assistant said is kept and lands here.";
const PATH = "/api/memory/episodes";
/** The server keeps 5,000 past conversations of a person. */
const MOST_PAGES = 25;

/**
 * @param {import("./records.js").App} app
 * @param {HTMLElement} panel
 * @param {import("./chat_titles.js").ChatLinks} chats
 * @returns {import("./records.js").Section}
 */
export function createEpisodes(app, panel, chats) {
  /** @type {EpisodePage} */
  let loaded = NOTHING_LOADED;
  const list = h("ul", { class: "memory-list", "aria-label": "Past conversations" });
  const empty = emptyState("memory", EMPTY);
  const more = h("button", { type: "button", on: { click: showMore } }, "Show more");
  const problem = h("p", { class: "error-line", role: "alert", hidden: true });
  const body = h("div", {}, list, empty, problem, more);
  const rows = createRows(list, { keyOf: (episode) => episode.id, signatureOf: () => "", make });

  const frame = createFrame(app, body, {
    /** @returns {Promise<EpisodePage>} */
    read: () => app.api.get(PATH, { query: { limit: pageToReload(loaded) } }),
    show(newest) {
      const joined = withNewest(loaded, newest);
      frame.learn(unknownBehind(loaded, joined));
      show(joined);
    },
    news: () => ({
      item: "past conversation",
      signatures: new Map(loaded.episodes.map((episode) => [episode.id, ""])),
      rowOf: (key) => rows.row(key)?.element,
    }),
  });
  fill(panel, frame.status, body);

  /** @param {EpisodePage} now */
  function show(now) {
    loaded = now;
    rows.show(now.episodes);
    list.hidden = !now.episodes.length;
    empty.hidden = now.episodes.length > 0;
    more.hidden = now.next === null;
    problem.hidden = true;
  }

  async function showMore() {
    const before = loaded.episodes.length;
    more.disabled = true;
    try {
      const page = await app.api.get(PATH, { query: { limit: PAGE, after: loaded.next } });
      const joined = withFurther(loaded, page);
      frame.learn(unknownBehind(loaded, joined));
      show(joined);
      app.announce(`${loaded.episodes.length - before} more past conversations`);
      focusAt(before);
    } catch (error) {
      fill(problem, failureText(error));
      problem.hidden = false;
    } finally {
      more.disabled = false;
    }
  }

  /** @param {number} index */
  function focusAt(index) {
    const row = /** @type {HTMLElement | undefined} */ (list.children[index]);
    if (!row) return;
    row.tabIndex = -1;
    row.focus({ preventScroll: true });
  }

  /** @param {Episode} episode */
  function make(episode) {
    const [first] = sidesOf(episode.content);
    const remove = iconButton("trash", `Delete past conversation: ${shorten(first.text, 40)}`, () =>
      removeOne(episode, element),
    );
    const chat = episode.thread_id ? chats.link(episode.thread_id) : null;
    const meta = h("div", { class: "memory-meta small muted" }, time(episode.created_at), chat);
    const head = h("div", { class: "memory-head" }, meta, remove);
    const element = h(
      "li",
      { class: "memory-row" },
      head,
      sidesOf(episode.content).map((said) => createSide(app, said)),
    );
    return { element, update: () => {} };
  }

  /** @param {Episode} episode @param {HTMLElement} element */
  async function removeOne(episode, element) {
    await deleteRow(app, frame, {
      element,
      question: {
        title: "Delete this past conversation?",
        text: "It is no longer recalled, and it does not come back. The chat in which it was said stays as it is.",
        confirm: "Delete",
        danger: true,
      },
      request: async () => {
        await app.api.delete(`${PATH}/${encodeURIComponent(episode.id)}`);
        loaded = { ...loaded, episodes: loaded.episodes.filter((other) => other.id !== episode.id) };
      },
      done: "Past conversation deleted",
    });
  }

  return {
    refresh: frame.refresh,
    async find(id) {
      const there = await withPagesUpTo(app, loaded, id);
      if (!there) return null;
      frame.learn(unknownBehind(loaded, there));
      if (there !== loaded) show(there);
      return rows.row(id)?.element ?? null;
    },
  };
}

/**
 * @param {import("./records.js").App} app
 * @param {EpisodePage} loaded
 * @param {string} id
 * @returns {Promise<EpisodePage | null>} with the pages up to the one that has the episode; null when none has
 */
async function withPagesUpTo(app, loaded, id) {
  let joined = loaded;
  for (let page = 0; page <= MOST_PAGES; page += 1) {
    if (joined.episodes.some((episode) => episode.id === id)) return joined;
    if (joined.next === null) return null;
    joined = withFurther(joined, await app.api.get(PATH, { query: { limit: LARGEST_PAGE, after: joined.next } }));
  }
  return null;
}
