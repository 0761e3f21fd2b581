// What is said in the open chat: loaded when a chat is opened, or when somebody begins to write the first message.

import { createAnswering } from "./answering.js";
import { shownTurns } from "./conversation_state.js";
import { onFrame } from "./moments.js";
import { newId } from "./new_id.js";
import { createRuns } from "./runs.js";
import { createTurnView } from "./turn_view.js";

/**
 * @typedef {import("../app/app.js").App} App
 * @typedef {import("./conversation_state.js").ShownTurn} ShownTurn
 * @typedef {import("./attempts.js").Sent} Sent
 * @typedef {ReturnType<typeof createTalk>} Talk
 *
 * @typedef {object} TalkParts
 * @property {import("./threads.js").Threads} threads
 * @property {import("./conversation.js").Conversation} conversation
 * @property {import("./composer.js").Composer} composer
 * @property {{changed: () => void, taken: (threadId: string) => void, named: () => void, ended: () => void}} heard
 */

/** @param {App} app @param {TalkParts} parts */
export function createTalk(app, { threads, conversation, composer, heard }) {
  const answering = createAnswering({
    threads: { ...threads, ...createRuns(app.api) },
    newId,
    listener: { ...heard, changed: onFrame(heard.changed), ended },
  });

  function turns() {
    return shownTurns(answering.shown);
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
    composer.handOn(text);
    const sent = await answering.again(turn.human, text);
    if (!sent.sent) composer.notSent(text, sent.sentence, sent.isFinal ? undefined : () => edit(turn, text));
  }

  /** @param {ShownTurn} turn */
  async function mayLeaveBehind(turn) {
    if (turns().at(-1)?.key === turn.key) return true;
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

  /** @param {boolean} isAnswered */
  function ended(isAnswered) {
    const last = turns().at(-1);
    app.announce(
      isAnswered && last?.answer ? `Answer complete. ${last.answer}` : last?.failure || "The answer has ended",
    );
    heard.ended();
  }

  return {
    open: answering.open,
    send: answering.send,
    refresh: answering.refresh,
    stop,
    turns,
    turnView: () => createTurnView(app, { again, edit }),
    get isBusy() {
      return answering.shown.going !== null;
    },
  };
}
