/** *Your data*: taking it along, erasing it, and trying out what it is good for. */

import { fill, h } from "../app/dom.js";
import { icon } from "../app/icons.js";
import { failureText } from "./frame.js";
import { erasedText, exportName } from "./own_data.js";
import { createTryOut } from "./try_out.js";

const CHATS_STAY =
  "Your chats stay. Delete a chat in the list of chats, where you can also delete what it left behind.";

/**
 * @param {import("./records.js").App} app
 * @param {HTMLElement} panel
 * @param {{erased: () => void}} heard
 * @returns {import("./records.js").Section}
 */
export function createData(app, panel, { erased }) {
  fill(panel, h("div", { class: "memory-data" }, exportCard(app), tryOutCard(app), eraseCard(app, erased)));
  return { refresh: async () => true, find: async () => null };
}

/** @param {import("./records.js").App} app */
function exportCard(app) {
  const text = "Everything that is remembered about you, in one JSON file.";
  return card(
    "Export",
    text,
    action("Download as JSON", { name: "download" }, () => download(app)),
  );
}

/** @param {import("./records.js").App} app */
function tryOutCard(app) {
  return card(
    "What would be recalled?",
    "Notes and past conversations that would be shown to the assistant with a message, and what speaks for each.",
    createTryOut(app),
  );
}

/** @param {import("./records.js").App} app @param {() => void} erased */
function eraseCard(app, erased) {
  const text = `Deletes what is known about you, your notes, thread summaries and past conversations. ${CHATS_STAY}`;
  return card("Erase everything", text, action("Erase everything", { name: "trash", danger: true }, erase));

  async function erase() {
    const agreed = await app.dialogs.confirmTyped({
      title: "Erase everything that is remembered?",
      text: `This cannot be undone. ${CHATS_STAY}`,
      word: "erase",
      confirm: "Erase everything",
      danger: true,
    });
    if (!agreed) return "";
    const counts = await app.api.delete("/api/memory");
    erased();
    return `${erasedText(counts)} ${CHATS_STAY}`;
  }
}

/** @param {string} title @param {string} text @param {HTMLElement} content */
function card(title, text, content) {
  return h("section", { class: "card stack" }, h("h3", null, title), h("p", { class: "small muted" }, text), content);
}

/**
 * A button with what came of it: the text that `run` gives, or what failed. Pressing it again tries again.
 *
 * @param {string} label
 * @param {{name: import("./records.js").IconName, danger?: boolean}} look
 * @param {() => Promise<string>} run
 */
function action(label, { name, danger = false }, run) {
  const result = h("div", { role: "status" });
  const button = h(
    "button",
    { type: "button", class: danger ? "danger" : null, on: { click: start } },
    icon(name),
    label,
  );

  async function start() {
    button.disabled = true;
    fill(result);
    try {
      const text = await run();
      fill(result, text ? h("p", null, text) : null);
    } catch (error) {
      const again = h("button", { type: "button", on: { click: start } }, "Try again");
      fill(result, h("div", { class: "error-line" }, icon("warning"), h("p", null, failureText(error)), again));
    } finally {
      button.disabled = false;
    }
  }

  return h("div", { class: "stack" }, h("div", { class: "row" }, button), result);
}

/** @param {import("./records.js").App} app @returns {Promise<string>} */
async function download(app) {
  const all = await app.api.get("/api/memory/export");
  const url = URL.createObjectURL(new Blob([JSON.stringify(all, null, 2)], { type: "application/json" }));
  const name = exportName(new Date());
  h("a", { href: url, download: name }).click();
  // the browser reads it when the click has been handled
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return `Saved as ${name}`;
}
