/** The open page: chat beside memory, the address, and the line to the server that tells of changes. */

import { mountChat } from "../chat/chat.js";
import { createApp } from "./app.js";
import { fill, h } from "./dom.js";
import { showModel } from "./header.js";
import { createLayout } from "./layout.js";
import { createLive } from "./live.js";
import { createNavigation } from "./navigation.js";

/**
 * @typedef {import("./app.js").App} App
 * @typedef {{app: App, resume: () => void}} Page `resume` goes on after somebody signed in again
 */

/**
 * @param {{api: import("./api.js").Api, health: import("./boot.js").Health, session: import("./session.js").Session}}
 *   parts
 * @returns {Page} at once: what it shows first is still on its way
 */
export function openPage({ api, health, session }) {
  const live = createLive({ api });
  const canSignOut = health.auth_mode !== "none";
  const isSignedIn = () => canSignOut && session.token() !== null;
  /** @type {import("./routes.js").Section} */
  let section = "about";
  /** @type {string | null} */
  let threadId = null;

  const layout = createLayout({ shell: element("shell"), bar: element("views"), choose });
  const navigation = createNavigation({ show });
  const app = createApp({ api, live, health, isSignedIn, doing: doing() });
  const chat = mountChat(app, { threads: element("threads"), main: element("chat") });
  const memory = import("../memory/memory.js").then(
    ({ mountMemory }) => mountMemory(app, element("memory")),
    () => showMissing(element("memory")),
  );

  /** @returns {import("./app.js").Doing} */
  function doing() {
    return {
      openThread: (id) => navigation.go({ view: "chat", threadId: id }),
      openMemory: (place) => navigation.go({ view: "memory", section: place.section }, { id: place.id }),
      threadDeleted: leave,
      setTitle: navigation.setTitle,
      signOut: () => canSignOut && signOut(session),
    };
  }

  /** @param {string} deleted */
  function leave(deleted) {
    chat.forget(deleted);
    if (threadId === deleted) navigation.go({ view: "chat", threadId: null }, { keepsView: true });
  }

  /**
   * @param {import("./routes.js").Route} route
   * @param {import("./navigation.js").Details} details
   */
  async function show(route, { id, keepsView = false }) {
    if (!keepsView) layout.show(route.view, { focus: true });
    if (route.view === "memory") {
      section = route.section;
      return (await memory).open({ section, id });
    }
    threadId = route.threadId;
    return chat.open(threadId);
  }

  /** @param {import("./layout.js").View} view */
  function choose(view) {
    if (view === "chats") layout.show("chats", { focus: true });
    else navigation.go(view === "chat" ? { view, threadId } : { view, section });
  }

  element("skip").addEventListener("click", (event) => {
    event.preventDefault();
    choose("chat");
    element("chat").focus();
  });
  showModel(element("model"), app);
  showSignOut(canSignOut, app);
  listenWhileVisible(live, () => !canSignOut || isSignedIn());
  navigation.start();
  if (navigation.current().view === "memory") chat.open(null);
  else openMemoryToo();
  return { app, resume: () => live.start() };

  async function openMemoryToo() {
    await (await memory).open({ section });
  }
}

/**
 * The line dropped while the page loaded. Browsers do not ask again for a module that failed, so the page starts anew.
 *
 * @param {HTMLElement} panel
 */
function showMissing(panel) {
  const again = h("button", { type: "button", on: { click: () => location.reload() } }, "Load the page again");
  const what = "Memory could not be loaded, because the server did not answer.";
  fill(panel, h("div", { class: "empty" }, h("p", { role: "alert" }, what), again));
  return { open: async () => {} };
}

/** @param {string} id */
function element(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * @param {boolean} canSignOut
 * @param {App} app
 */
function showSignOut(canSignOut, app) {
  const button = element("sign-out");
  button.hidden = !canSignOut;
  button.addEventListener("click", () => app.signOut());
}

/** @param {import("./session.js").Session} session */
function signOut(session) {
  session.forget();
  location.replace("#/");
  location.reload();
}

/**
 * A browser keeps few connections to one server: a page that nobody sees gives its own back.
 *
 * @param {import("./live.js").Live} live
 * @param {() => boolean} mayListen
 */
function listenWhileVisible(live, mayListen) {
  const update = () => (document.hidden || !mayListen() ? live.stop() : live.start());
  document.addEventListener("visibilitychange", update);
  addEventListener("online", update);
  update();
}
