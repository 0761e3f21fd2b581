// The chat: the list of chats, the messages of the one that is open, and where the next one is written.

import { fill, h } from "../app/dom.js";
import { ApiError, sentenceOf } from "../app/errors.js";
import { stylesheet, whenNeeded } from "../app/loading.js";
import { createComposer } from "./composer.js";
import { createConversation } from "./conversation.js";
import { createDrafts } from "./drafts.js";
import { soon } from "./moments.js";
import { createThreadList } from "./thread_list.js";
import { UNNAMED } from "./thread_names.js";
import { createThreads } from "./threads.js";
import { createWelcome } from "./welcome.js";

/**
 * @typedef {import("../app/app.js").App} App
 * @typedef {import("./attempts.js").Sent} Sent
 * @typedef {import("./talk.js").Talk} Talk
 */

const GONE = "This chat is not there any more. It may have been deleted elsewhere.";
const STOPPED = "You stopped this message before it was sent.";
const NOWHERE = "This address leads to no chat.";
const REFRESH_MS = 250;
/** What the server says of an id that cannot be one. */
const NO_ID = [400, 404, 422];

/**
 * @param {App} app
 * @param {{threads: HTMLElement, main: HTMLElement}} places
 * @returns {{open: (threadId: string | null) => Promise<void>, forget: (threadId: string) => void}}
 */
export function mountChat(app, places) {
  const threads = createThreads(app.api);
  const composer = createComposer({
    drafts: createDrafts(),
    onSend: send,
    onStop: () => (giveUpWaiting ? giveUpWaiting() : talk?.stop()),
  });
  const welcome = createWelcome((words) => composer.fillIn(words));
  const conversation = createConversation(welcome, () => /** @type {Talk} */ (talk).turnView());
  const list = createThreadList({ app, threads, onNew: startNew, onChange: showTitle });
  const title = h("h2", { class: "chat-title" });
  const problem = h("div", { class: "chat-problem" });
  fill(places.threads, list.element);
  fill(places.main, h("div", { class: "chat" }, title, problem, conversation.element, composer.element));

  /** @type {string | null | undefined} */
  let openId;
  /** @type {Talk | null} */
  let talk = null;
  let isLoading = false;
  let opening = Promise.resolve(true);
  /** Who leaves a chat and comes back has not stayed. */
  let visit = 0;
  /** @type {(() => void) | null} there while a message waits for what answers, or for the chat to be read */
  let giveUpWaiting = null;
  const START_NEW = { label: "Start a new chat", run: startNew };

  const talking = whenNeeded(async () => {
    const [{ createTalk }] = await Promise.all([
      import("./talk.js"),
      stylesheet("/app/styles/turns.css"),
      stylesheet("/app/styles/markdown.css"),
    ]);
    const heard = { changed: show, taken, named: list.refresh, ended: list.refresh };
    talk = createTalk(app, { threads, conversation, composer, heard });
    return talk;
  });

  function show() {
    const turns = talk?.turns() ?? [];
    const isWaiting = isLoading || giveUpWaiting !== null;
    conversation.show(turns);
    conversation.showEmptiness(
      isWaiting && !turns.length,
      !isWaiting && !turns.length && problem.childElementCount === 0,
    );
    composer.showBusy(giveUpWaiting !== null || talk?.isBusy === true);
  }

  function showTitle() {
    const named = openId ? list.nameOf(openId) : null;
    title.textContent = openId ? (named ?? "Chat") : UNNAMED;
    app.setTitle(named);
  }

  /** @param {string | null} id */
  async function open(id) {
    if (id === openId) return;
    openId = id;
    visit += 1;
    giveUpWaiting = null;
    conversation.startAnew();
    composer.showThread(id);
    list.showOpen(id);
    showTitle();
    await load(id);
  }

  /** @param {string | null} id */
  async function load(id) {
    isLoading = id !== null;
    fill(problem);
    const mine = opened(id);
    opening = mine;
    show();
    try {
      const isThere = await mine;
      if (opening === mine && !isThere) showProblem(GONE, START_NEW);
    } catch (error) {
      if (opening === mine) showFailure(id, error);
    }
    if (opening !== mine) return;
    isLoading = false;
    show();
  }

  /** @param {string | null} id @returns {Promise<boolean>} whether there is such a chat; a new one needs nothing yet */
  async function opened(id) {
    if (id === null && !talk) return true;
    const from = visit;
    const { open } = talk ?? (await talking());
    return visit !== from || open(id);
  }

  /** @param {string | null} id @param {unknown} error */
  function showFailure(id, error) {
    if (error instanceof ApiError && NO_ID.includes(error.status)) showProblem(NOWHERE, START_NEW);
    else showProblem(sentenceOf(error), { label: "Try again", run: () => load(id) });
  }

  /** @param {string} sentence @param {{label: string, run: () => void}} action */
  function showProblem(sentence, { label, run }) {
    const button = h("button", { type: "button", on: { click: run } }, label);
    fill(problem, h("p", { class: "error-line", role: "alert" }, h("span", null, sentence), button));
  }

  function startNew() {
    app.openThread(null);
    composer.focus();
  }

  /** @param {string} text */
  async function send(text) {
    const from = visit;
    conversation.toEnd();
    const sent = await sentWhenRead(text);
    if (visit !== from) return;
    show();
    if (!sent.sent) composer.notSent(text, sent.sentence);
  }

  /**
   * What answers has been on its way since somebody began to write. Who leaves the chat before it has come finds what
   * was written there as a draft.
   *
   * @param {string} text
   * @returns {Promise<Sent>}
   */
  async function sentWhenRead(text) {
    const from = visit;
    /** @type {Promise<never>} */
    const stopped = new Promise((_, reject) => {
      giveUpWaiting = () => reject(new Error(STOPPED));
    });
    let ready;
    show();
    try {
      ready = await Promise.race([whatAnswers(), stopped]);
    } catch (error) {
      return { sent: false, sentence: sentenceOf(error) };
    } finally {
      if (visit === from) giveUpWaiting = null;
    }
    return visit === from ? ready.send(text) : { sent: true };
  }

  /** @returns {Promise<Talk>} with the open chat read; where it could not be, it is asked for again */
  async function whatAnswers() {
    await opening.catch(() => {
      load(/** @type {string | null} */ (openId));
      return opening;
    });
    return talking();
  }

  /** @param {string} id */
  function taken(id) {
    const said = composer.taken(id);
    if (openId === id) {
      list.refresh();
      return;
    }
    openId = id;
    list.showOpen(id);
    list.began(id, said);
    app.openThread(id);
    showTitle();
  }

  const refreshList = soon(() => list.refresh(), REFRESH_MS);
  const refreshOpen = soon(async () => {
    if (!talk || isLoading || conversation.isEditing) return;
    const id = openId;
    const isThere = await talk.refresh().catch(() => true);
    if (!isThere && id && id === openId) showProblem(GONE, START_NEW);
  }, REFRESH_MS);

  function refresh() {
    refreshList();
    refreshOpen();
  }

  app.live.subscribe(refresh);
  // a chat that is made elsewhere and changes no memory is told by nobody
  window.addEventListener("focus", refresh);
  document.addEventListener("visibilitychange", () => document.hidden || refresh());
  composer.element.addEventListener("focusin", () => talking().catch(() => {}), { once: true });
  list.refresh();

  return {
    open,
    forget(id) {
      list.forget(id);
      if (id === openId) talk?.open(null);
    },
  };
}
