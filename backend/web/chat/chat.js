// The chat: the list of chats, the messages of the one that is open, and where the next one is written.

import { fill, h } from "../app/dom.js";
import { createAnswering } from "./answering.js";
import { createComposer } from "./composer.js";
import { createConversation } from "./conversation.js";
import { shownTurns } from "./conversation_state.js";
import { createDrafts } from "./drafts.js";
import { onFrame, soon } from "./moments.js";
import { newId } from "./new_id.js";
import { createThreadList } from "./thread_list.js";
import { UNNAMED } from "./thread_names.js";
import { createThreads } from "./threads.js";
import { createWelcome } from "./welcome.js";

/**
 * @typedef {import("../app/app.js").App} App
 * @typedef {import("./conversation_state.js").ShownTurn} ShownTurn
 * @typedef {import("./attempts.js").Sent} Sent
 */

const GONE = "This chat is not there any more. It may have been deleted elsewhere.";
const REFRESH_MS = 250;

/**
 * @param {App} app
 * @param {{threads: HTMLElement, main: HTMLElement}} places
 * @returns {{open: (threadId: string | null) => Promise<void>, forget: (threadId: string) => void}}
 */
export function mountChat(app, places) {
  const threads = createThreads(app.api);
  const answering = createAnswering({ threads, newId, listener: { changed: onFrame(show), taken, named, ended } });
  const composer = createComposer({ drafts: createDrafts(), onSend: send, onStop: stop });
  const welcome = createWelcome((words) => composer.fillIn(words));
  const conversation = createConversation(app, { again, edit }, welcome);
  const list = createThreadList({ app, threads, onNew: startNew, onChange: showTitle });
  const title = h("h2", { class: "chat-title" });
  const problem = h("div", { class: "chat-problem" });
  fill(places.threads, list.element);
  fill(places.main, h("div", { class: "chat" }, title, problem, conversation.element, composer.element));

  /** @type {string | null | undefined} */
  let openId;
  let isLoading = false;
  /** What is being sent, until the server has taken it. */
  let sending = "";

  function show() {
    const turns = shownTurns(answering.shown);
    conversation.show(turns);
    conversation.showEmptiness(
      isLoading && !turns.length,
      !isLoading && !turns.length && problem.childElementCount === 0,
    );
    composer.showBusy(answering.shown.going !== null);
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
    const loading = answering.open(id);
    show();
    try {
      const isThere = await loading;
      if (openId === id && !isThere) showProblem(GONE, { label: "New chat", run: startNew });
    } catch (error) {
      if (openId === id) showProblem(/** @type {Error} */ (error).message, { label: "Try again", run: () => load(id) });
    }
    if (openId !== id) return;
    isLoading = false;
    show();
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
    sending = text;
    conversation.toEnd();
    const sent = await answering.send(text);
    sending = "";
    if (!sent.sent) composer.notSent(text, sent.sentence);
  }

  /** @param {ShownTurn} turn */
  async function again(turn) {
    if (!turn.human || !(await mayLeaveBehind(turn))) return;
    conversation.toEnd();
    tell(await answering.again(turn.human), () => again(turn));
  }

  /** @param {ShownTurn} turn @param {string} text */
  async function edit(turn, text) {
    if (!turn.human) return;
    conversation.toEnd();
    const sent = await answering.again(turn.human, text);
    if (!sent.sent) composer.notSent(text, sent.sentence);
  }

  /** @param {ShownTurn} turn */
  async function mayLeaveBehind(turn) {
    if (shownTurns(answering.shown).at(-1)?.key === turn.key) return true;
    return app.dialogs.confirm({
      title: "Answer this message again?",
      text: "The chat goes on from here. What comes after this message is left behind: it is not shown any more, but nothing is deleted.",
      confirm: "Answer again",
      danger: false,
    });
  }

  /** @param {Sent} sent @param {() => void} retry */
  function tell(sent, retry) {
    if (!sent.sent) app.notify({ text: sent.sentence, kind: "error", action: { label: "Try again", run: retry } });
  }

  async function stop() {
    tell(await answering.stop(), stop);
  }

  /** @param {string} id */
  function taken(id) {
    if (openId === id) {
      composer.taken();
      list.refresh();
      return;
    }
    openId = id;
    composer.showThread(id, sending);
    list.showOpen(id);
    list.began(id, sending);
    app.openThread(id);
    showTitle();
  }

  function named() {
    list.refresh();
  }

  /** @param {boolean} isAnswered */
  function ended(isAnswered) {
    const last = shownTurns(answering.shown).at(-1);
    app.announce(
      isAnswered && last?.answer ? `Answer complete. ${last.answer}` : last?.failure || "The answer has ended",
    );
    list.refresh();
  }

  const refreshList = soon(() => list.refresh(), REFRESH_MS);
  const refreshOpen = soon(async () => {
    if (isLoading || conversation.isEditing) return;
    const id = openId;
    const isThere = await answering.refresh().catch(() => true);
    if (!isThere && id && id === openId) showProblem(GONE, { label: "New chat", run: startNew });
  }, REFRESH_MS);

  function refresh() {
    refreshList();
    refreshOpen();
  }

  app.live.subscribe(refresh);
  window.addEventListener("focus", refresh);
  list.refresh();

  return {
    open,
    forget(id) {
      list.forget(id);
      if (id === openId) answering.open(null);
    },
  };
}
