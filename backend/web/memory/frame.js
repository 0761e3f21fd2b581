/** What all sections have in common: reading again when memory changes, saying what changed, and saying what failed. */

import { fill, h } from "../app/dom.js";
import { icon } from "../app/icons.js";
import { compare, updateText } from "./differences.js";
import { highlightNews } from "./highlight.js";
import { createRefresher } from "./refresher.js";

/**
 * @template T
 * @typedef {{
 *   read(): Promise<T | null>,
 *   show(value: T): void,
 *   news(value: T): News | null,
 * }} Reading `read` gives null for an answer that nobody wants any more
 */

/**
 * @typedef {{
 *   item: string,
 *   signatures: Map<string, string>,
 *   rowOf: (key: string) => HTMLElement | undefined,
 * }} News what is shown, for finding what has changed since
 */

/**
 * @typedef {{
 *   status: HTMLElement,
 *   refresh(options?: {live?: boolean}): Promise<boolean>,
 *   change<R>(make: () => Promise<R>): Promise<R>,
 *   learn(keys: Iterable<string>): void,
 * }} Frame `change` makes a change and then reads again; `learn` takes keys, all with an empty signature, for no news
 */

/**
 * @template T
 * @param {import("./records.js").App} app
 * @param {HTMLElement} body where the section shows its value; busy while it is read for the first time
 * @param {Reading<T>} reading
 * @returns {Frame}
 */
export function createFrame(app, body, { read, show, news }) {
  const status = h("div", { class: "memory-status" }, loading());
  /** @type {Map<string, string> | null} */
  let shown = null;
  let isLive = false;
  let changes = 0;
  body.hidden = true;

  const request = createRefresher(async () => {
    const tell = isLive;
    isLive = false;
    try {
      const value = await read();
      if (value === null) return true;
      show(value);
      body.hidden = false;
      fill(status);
      tellNews(news(value), tell);
      return true;
    } catch (error) {
      showFailure(error);
      return false;
    }
  });

  /** @param {News | null} now @param {boolean} tell */
  function tellNews(now, tell) {
    if (!now) return;
    const before = shown;
    shown = now.signatures;
    const { differences } = compare(before, [...now.signatures], {
      keyOf: ([key]) => key,
      signatureOf: ([, signature]) => signature,
    });
    for (const key of [...differences.added, ...differences.changed]) {
      const row = now.rowOf(key);
      if (row) highlightNews(row);
    }
    const text = tell && updateText(differences, now.item);
    if (text) app.announce(text);
  }

  /** @param {unknown} error */
  function showFailure(error) {
    const again = h("button", { type: "button", on: { click: () => retry(again) } }, "Try again");
    fill(
      status,
      h("div", { class: "error-line", role: "alert" }, icon("warning"), h("p", {}, failureText(error)), again),
    );
  }

  /** @param {HTMLButtonElement} again */
  async function retry(again) {
    again.disabled = true;
    await request();
  }

  return {
    status,
    async refresh({ live = false } = {}) {
      // what this page changes is read again when the change is made, and told by whoever makes it
      if (live && changes) return true;
      isLive ||= live;
      return request();
    },
    async change(make) {
      changes += 1;
      try {
        return await make();
      } finally {
        changes -= 1;
        await request();
      }
    },
    learn(keys) {
      for (const key of keys) shown?.set(key, "");
    },
  };
}

/** @param {unknown} error @returns {string} a sentence for people */
export function failureText(error) {
  return error instanceof Error && error.message ? error.message : "This did not work. Try again.";
}

function loading() {
  const spinner = h("span", { class: "spinner", "aria-hidden": "true" });
  return h("p", { class: "memory-loading muted", role: "status" }, spinner, "Loading…");
}
