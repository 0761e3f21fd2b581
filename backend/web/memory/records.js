/** Types only: what the server sends about memory, and what the page gives to this panel. No module loads this file. */

/**
 * @typedef {Record<string, unknown>} Json
 * @typedef {{id: string, content: string, categories: string[], key: string | null, importance: number,
 *   version: number, said_by: string, thread_id: string | null, created_at: string, updated_at: string}} Fact
 * @typedef {{total: number, limit: number, shown: number}} FactCounts
 * @typedef {{id: string, content: string, thread_id: string | null, turn: number | null, created_at: string}} Episode
 * @typedef {{episodes: Episode[], next: string | null}} EpisodePage
 * @typedef {{question: string, answer: string, refs: string[]}} SummaryEntry
 * @typedef {{thread_id: string, sequence: number, start_message_index: number, end_message_index: number,
 *   summary: {entries: SummaryEntry[]}, created_at: string}} SummaryPass
 * @typedef {{thread_id: string, title: string | null, last_activity: string, summaries: SummaryPass[]}} SummarizedThread
 * @typedef {{memory: Json, store_keys: string[], overlay_keys: string[]}} Profile
 * @typedef {{id: string, kind: "fact" | "episode", content: string, score: number, parts: Record<string, number>}} Found
 * @typedef {{profile_keys: number, facts: number, episodes: number, thread_summaries: number}} Erased
 */

/**
 * @typedef {import("../app/app.js").App} App
 * @typedef {import("../app/api.js").Api} Api
 * @typedef {import("../app/routes.js").Section} SectionId
 * @typedef {import("../app/icons.js").IconName} IconName
 * @typedef {import("../app/dialogs.js").Question & {choices?: import("../app/dialogs.js").Choice[]}} Question
 */

/**
 * What memory.js needs of a section. `refresh` is false when reading failed, which it shows. `find` gives the row of an item, loading what it must; null when there is none.
 *
 * @typedef {{
 *   refresh(options?: {live?: boolean}): Promise<boolean>,
 *   find(id: string): Promise<HTMLElement | null>,
 * }} Section
 */

export {};
