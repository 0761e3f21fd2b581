/** The address: what it names is shown, and what is shown is named in it. */

import { hashOf, routeOf, titleOf } from "./routes.js";

/**
 * @typedef {import("./routes.js").Route} Route
 * @typedef {{id?: string, keepsView?: boolean}} Details what the address does not say: an item to go to, and whether a
 *   narrow window stays where it is
 */

/**
 * @param {{show: (route: Route, details: Details) => Promise<void>}} parts `show` is called for each route
 */
export function createNavigation({ show }) {
  let current = routeOf(location.hash);
  /** @type {string | null} */
  let chatTitle = null;

  function setWindowTitle() {
    document.title = titleOf(current, chatTitle);
  }

  /**
   * @param {Route} route
   * @param {Details} [details]
   */
  function apply(route, details = {}) {
    if (isOtherChat(current, route)) chatTitle = null;
    current = route;
    setWindowTitle();
    return show(route, details);
  }

  /**
   * @param {Route} route
   * @param {Details} [details]
   */
  function go(route, details) {
    if (location.hash !== hashOf(route)) history.pushState(null, "", hashOf(route));
    return apply(route, details);
  }

  /** @param {string | null} title */
  function setTitle(title) {
    chatTitle = title;
    setWindowTitle();
  }

  addEventListener("hashchange", () => apply(routeOf(location.hash)));
  document.addEventListener("click", (event) => {
    const hash = hashOfPlainClick(event);
    if (hash === null) return;
    event.preventDefault();
    go(routeOf(hash));
  });

  return { go, setTitle, start: () => apply(current), current: () => current };
}

/**
 * @param {Route} before
 * @param {Route} now
 */
function isOtherChat(before, now) {
  return now.view === "chat" && !(before.view === "chat" && before.threadId === now.threadId);
}

/**
 * Links of the page are followed here: one to the address that is open already would otherwise do nothing, though a
 * narrow window may show another view.
 *
 * @param {MouseEvent} event
 * @returns {string | null}
 */
function hashOfPlainClick(event) {
  const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
  if (!isPlain || event.defaultPrevented || !(event.target instanceof Element)) return null;
  return event.target.closest('a[href^="#/"]')?.getAttribute("href") ?? null;
}
