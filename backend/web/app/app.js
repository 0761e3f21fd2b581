/** What the parts of the page get: the same for all of them. */

import { announce, notify } from "./announce.js";
import * as format from "./format.js";
import { whenNeeded } from "./loading.js";

/**
 * @typedef {{section: import("./routes.js").Section, id?: string}} MemoryPlace
 *
 * @typedef {object} Doing what the page can be asked to do
 * @property {(threadId: string | null) => Promise<void>} openThread null is a new chat
 * @property {(place: MemoryPlace) => Promise<void>} openMemory
 * @property {(threadId: string) => void} threadDeleted leaves the chat if it is the one that is shown
 * @property {(title: string | null) => void} setTitle of the chat that is shown, for the window's title
 * @property {() => void} signOut also forgets what was typed; does nothing where nobody signs in
 *
 * @typedef {object} Parts
 * @property {import("./api.js").Api} api
 * @property {import("./live.js").Live} live
 * @property {import("./boot.js").Health} health
 * @property {boolean} signedIn false where nobody signs in, too
 *
 * @typedef {Parts & Doing & {announce: typeof announce, notify: typeof notify, dialogs: import("./dialogs.js").Dialogs,
 *   format: typeof format}} App
 */

/** Dialogs are loaded when the first one is asked for: most visits need none. */
const loadDialogs = whenNeeded(() => import("./dialogs.js"));

/** @type {import("./dialogs.js").Dialogs} */
const dialogs = {
  confirm: async (question) => (await loadDialogs()).confirm(question),
  confirmTyped: async (question) => (await loadDialogs()).confirmTyped(question),
  prompt: async (question) => (await loadDialogs()).prompt(question),
  inform: async (message) => (await loadDialogs()).inform(message),
};

/**
 * @param {{api: Parts["api"], live: Parts["live"], health: Parts["health"], isSignedIn: () => boolean, doing: Doing}} parts
 * @returns {App}
 */
export function createApp({ api, live, health, isSignedIn, doing }) {
  return {
    ...doing,
    api,
    live,
    health,
    announce,
    notify,
    dialogs,
    format,
    get signedIn() {
      return isSignedIn();
    },
  };
}
