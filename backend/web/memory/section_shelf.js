/** The sections, each loaded and made when it is asked for the first time: a first visit needs one of them. */

/**
 * @typedef {import("./records.js").App} App
 * @typedef {import("./records.js").Section} Section
 * @typedef {import("./records.js").SectionId} SectionId
 * @typedef {{erased: () => void}} Heard
 */

/**
 * @param {App} app
 * @param {Map<SectionId, HTMLElement>} panels
 * @param {Heard} heard
 * @returns {(id: SectionId) => Promise<Section>} rejects when its modules cannot be loaded, and may be asked again
 */
export function createSectionShelf(app, panels, heard) {
  /** @type {Map<SectionId, Promise<Section>>} */
  const made = new Map();
  /** @type {Promise<import("./chat_titles.js").ChatLinks> | null} */
  let links = null;

  function chats() {
    links ??= import("./chat_titles.js").then(({ createChatLinks }) => createChatLinks(app.api));
    links.catch(() => {
      links = null;
    });
    return links;
  }

  /** @type {Record<SectionId, (panel: HTMLElement) => Promise<Section>>} */
  const makers = {
    about: async (panel) => (await import("./about.js")).createAbout(app, panel),
    notes: async (panel) => (await import("./notes.js")).createNotes(app, panel, await chats()),
    summaries: async (panel) => (await import("./summaries.js")).createSummaries(app, panel),
    episodes: async (panel) => (await import("./episodes.js")).createEpisodes(app, panel, await chats()),
    data: async (panel) => (await import("./data.js")).createData(app, panel, heard),
  };

  return function section(id) {
    const known = made.get(id);
    if (known) return known;
    const making = makers[id](/** @type {HTMLElement} */ (panels.get(id)));
    made.set(id, making);
    making.catch(() => made.delete(id));
    return making;
  };
}
