/** The memory panel: five sections, of which one is shown, kept up to date while memory changes. */

import { fill, h } from "../app/dom.js";
import { failureText } from "./frame.js";
import { showFound } from "./highlight.js";
import { createSectionShelf } from "./section_shelf.js";
import { goneText, SECTIONS, sectionNamed, siblingOf } from "./sections.js";
import { createTabs } from "./tabs.js";

/** @typedef {import("./records.js").SectionId} SectionId */

/**
 * @param {import("./records.js").App} app
 * @param {HTMLElement} panel
 * @returns {{open(place: {section: SectionId, id?: string}): Promise<void>}} `open` shows a section and goes to one of
 *   its items; where there is no such item any more, it says so
 */
export function mountMemory(app, panel) {
  const tabs = createTabs({ choose });
  const notice = h("div", { class: "memory-notice", role: "status" });
  const section = createSectionShelf(app, tabs.panels, { erased: outdate });
  /** @type {Set<SectionId>} */
  const outdated = new Set(SECTIONS.map(({ id }) => id));
  /** @type {SectionId} */
  let shown = SECTIONS[0].id;

  function outdate() {
    for (const { id } of SECTIONS) outdated.add(id);
  }

  /** @param {SectionId} id */
  function choose(id) {
    select(id);
    app.openMemory({ section: id });
  }

  /** @param {SectionId} id @returns {Promise<boolean>} whether it is up to date */
  async function select(id) {
    fill(notice);
    shown = id;
    tabs.select(id);
    return bringUpToDate(id);
  }

  /** @param {SectionId} id @param {{live?: boolean}} [options] */
  async function bringUpToDate(id, options) {
    if (!outdated.has(id) && app.live.connected) return true;
    outdated.delete(id);
    const isDone = await refresh(id, options);
    if (!isDone) outdated.add(id);
    return isDone;
  }

  /** @param {SectionId} id @param {{live?: boolean}} [options] */
  async function refresh(id, options) {
    try {
      return await (await section(id)).refresh(options);
    } catch {
      // its modules did not come; where memory cannot be read, the section says so itself
      tell("This part of the page could not be loaded.", () => select(id));
      return false;
    }
  }

  /** @param {SectionId} id @param {string} item */
  async function show(id, item) {
    try {
      const row = await (await section(id)).find(item);
      if (row) return showFound(row);
      const sibling = siblingOf(id);
      if (sibling && (await isIn(sibling, item))) return app.openMemory({ section: sibling, id: item });
      tell(goneText(id));
    } catch (error) {
      tell(failureText(error), () => show(id, item));
    }
  }

  /** @param {SectionId} id @param {string} item */
  async function isIn(id, item) {
    await bringUpToDate(id);
    return (await (await section(id)).find(item)) !== null;
  }

  /** @param {string} text @param {() => void} [again] */
  function tell(text, again) {
    fill(notice, h("p", null, text), again && h("button", { type: "button", on: { click: again } }, "Try again"));
  }

  app.live.subscribe(() => {
    outdate();
    bringUpToDate(shown, { live: true });
  });
  const title = h("h2", { class: "memory-title" }, "Memory");
  fill(panel, h("div", { class: "memory" }, title, tabs.element, notice, [...tabs.panels.values()]));
  tabs.select(shown);

  return {
    async open({ section: name, id }) {
      const chosen = sectionNamed(name);
      const isRead = await select(chosen);
      if (id !== undefined && isRead) await show(chosen, id);
    },
  };
}
