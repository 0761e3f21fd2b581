/** *About you*: the merged profile, row by row (S1). */

import { fill, h } from "../app/dom.js";
import { createFrame } from "./frame.js";
import { emptyState, iconButton, sourceLabel } from "./pieces.js";
import { isStructured, profileRows, profileSignature } from "./profile_rows.js";
import { createRows } from "./rows.js";

/** @typedef {import("./profile_rows.js").ProfileRow} ProfileRow */

const EMPTY = "When the assistant writes down something to remember about you, it'll show up here.";
const ACCOUNT_HINT = "This comes from your account and is edited there.";

/**
 * @param {import("./records.js").App} app
 * @param {HTMLElement} panel
 * @returns {import("./records.js").Section}
 */
export function createAbout(app, panel) {
  /** @type {typeof import("./deletion.js") | undefined} */
  let deletion;
  /** @type {typeof import("./json_block.js") | undefined} */
  let json;
  const list = h("ul", { class: "memory-list", "aria-label": "About you" });
  const empty = emptyState("bot", EMPTY);
  const body = h("div", {}, list, empty);
  const rows = createRows(list, { keyOf: (row) => row.key, signatureOf: profileSignature, make });

  const frame = createFrame(app, body, {
    async read() {
      const found = profileRows(await app.api.get("/api/memory/profile"));
      await loadFor(found);
      return found;
    },
    show(found) {
      rows.show(found);
      list.hidden = !found.length;
      empty.hidden = found.some(({ source }) => source === "saved");
    },
    news: (found) => ({
      item: "entry",
      signatures: new Map(found.map((row) => [row.key, profileSignature(row)])),
      rowOf: (key) => rows.row(key)?.element,
    }),
  });
  fill(panel, frame.status, body);

  /** @param {ProfileRow[]} found what a first visit has no use for is loaded when there is something to use it on */
  async function loadFor(found) {
    if (found.some(({ source }) => source === "saved")) deletion ??= await import("./deletion.js");
    if (found.some(({ value }) => isStructured(value))) json ??= await import("./json_block.js");
  }

  /** @param {ProfileRow} row */
  function make(row) {
    const element = h("li", { class: "memory-row", "aria-label": row.key });
    /** @param {ProfileRow} now */
    const update = (now) => fill(element, ...content(now, () => remove(now.key, element)));
    update(row);
    return { element, update };
  }

  /** @param {ProfileRow} row @param {() => void} removeIt */
  function content({ key, value, source }, removeIt) {
    const isSaved = source === "saved";
    const head = h(
      "div",
      { class: "memory-head" },
      h("h3", { class: "memory-key" }, key),
      isSaved ? sourceLabel("bot", "Summarized by AI") : sourceLabel("user", "From account", ACCOUNT_HINT),
      isSaved ? iconButton("trash", `Delete memory: ${key}`, removeIt) : null,
    );
    const hint = isSaved ? null : h("p", { class: "small muted" }, ACCOUNT_HINT);
    return [head, shown(key, value), hint];
  }

  /** @param {string} key @param {unknown} value */
  function shown(key, value) {
    if (isStructured(value)) return json?.jsonBlock(app, value, key);
    const isText = typeof value === "string";
    return h("p", { class: isText ? "memory-text" : "memory-text mono" }, String(value));
  }

  /** @param {string} key @param {HTMLElement} element */
  async function remove(key, element) {
    await deletion?.deleteRow(app, frame, {
      element,
      question: {
        title: "Delete this memory?",
        text: `“${key}” is no longer remembered about you. The chats in which you said it stay as they are.`,
        confirm: "Delete",
        danger: true,
      },
      request: () => app.api.delete(`/api/memory/profile/${encodeURIComponent(key)}`),
      done: `Deleted: ${key}`,
    });
  }

  return { refresh: frame.refresh, find: async (key) => rows.row(key)?.element ?? null };
}
