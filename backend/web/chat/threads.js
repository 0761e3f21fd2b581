// The requests of the list of chats: threads, without what they hold.

/**
 * @typedef {import("../app/api.js").Api} Api
 * @typedef {import("./thread_names.js").ThreadRecord} ThreadRecord
 * @typedef {ReturnType<typeof createThreads>} Threads
 */

export const GRAPH = "agent";
const LISTED = ["thread_id", "metadata", "status", "updated_at"];
export const THREADS_A_PAGE = 30;

/** @param {Api} api */
export function createThreads(api) {
  /** @param {Record<string, unknown>} which @returns {Promise<ThreadRecord[]>} */
  function search(which) {
    return api.post("/threads/search", {
      metadata: { graph_id: GRAPH },
      sort_by: "updated_at",
      sort_order: "desc",
      select: LISTED,
      ...which,
    });
  }

  return {
    /** @param {number} offset @param {number} [limit] newest activity first */
    page: (offset, limit = THREADS_A_PAGE) => search({ limit, offset }),

    /** @param {string} id @returns {Promise<ThreadRecord | null>} without what it holds; null when it is not there */
    record: async (id) => (await search({ ids: [id], limit: 1, metadata: {} }))[0] ?? null,

    /** @returns {Promise<string>} the id; the graph's name lists it before its first run has begun */
    create: async () => (await api.post("/threads", { metadata: { graph_id: GRAPH } })).thread_id,

    /** @param {string} id @param {string} title */
    rename: (id, title) => api.patch(threadPath(id), { metadata: { title } }),

    /** @param {string} id @param {boolean} memories whether the notes and past conversations of it go too */
    remove: (id, memories) =>
      api.delete(`/api/threads/${encodeURIComponent(id)}`, { query: memories ? { memories } : {} }),
  };
}

/** @param {string} id @param {string} [rest] @returns {string} */
export function threadPath(id, rest = "") {
  return `/threads/${encodeURIComponent(id)}${rest}`;
}
