/** Which of the three views a narrow window shows, and where the focus goes when it changes. */

import { fill, h } from "./dom.js";
import { icon } from "./icons.js";

/** @typedef {"chats" | "chat" | "memory"} View */

/** @type {{view: View, label: string, icon: import("./icons.js").IconName, region: string}[]} */
const VIEWS = [
  { view: "chats", label: "Chats", icon: "menu", region: "threads" },
  { view: "chat", label: "Chat", icon: "bot", region: "chat" },
  { view: "memory", label: "Memory", icon: "memory", region: "memory" },
];
const WIDE = "(min-width: 1100px)";

/**
 * @param {{shell: HTMLElement, bar: HTMLElement, choose: (view: View) => void}} parts `choose` is called with the view
 *   whose button was pressed
 */
export function createLayout({ shell, bar, choose }) {
  const buttons = VIEWS.map(({ view, label, icon: name }) =>
    h("button", { type: "button", dataset: { view }, on: { click: () => choose(view) } }, icon(name), label),
  );
  fill(bar, buttons);

  /**
   * Show a view. Where the window is wide all three are there and only the focus may move.
   *
   * @param {View} view
   * @param {{focus?: boolean}} [options]
   */
  function show(view, { focus = false } = {}) {
    const isChanged = shell.dataset.view !== view;
    shell.dataset.view = view;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.view === view));
    if (focus && isChanged && !matchMedia(WIDE).matches) focusHeading(view);
  }

  return { show, focusHeading };
}

/**
 * A view is read from its heading on.
 *
 * @param {View} view
 */
function focusHeading(view) {
  const region = document.getElementById(VIEWS.find((one) => one.view === view)?.region ?? "");
  const target = /** @type {HTMLElement | null | undefined} */ (region?.querySelector("h1, h2, h3") ?? region);
  if (!target) return;
  if (!target.hasAttribute("tabindex")) target.tabIndex = -1;
  target.focus();
}
