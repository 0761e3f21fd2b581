/** The pages of past conversations that are loaded, joined. */

/**
 * @typedef {import("./records.js").Episode} Episode
 * @typedef {import("./records.js").EpisodePage} EpisodePage
 */

export const PAGE = 50;
export const LARGEST_PAGE = 200;

/** @type {EpisodePage} */
export const NOTHING_LOADED = { episodes: [], next: null };

/** @param {EpisodePage} loaded @returns {number} how many to ask for, so that all that is shown is read anew */
export function pageToReload({ episodes }) {
  return Math.min(LARGEST_PAGE, Math.max(PAGE, episodes.length));
}

/**
 * The newest page, read anew, and behind it what was loaded and lies further back.
 *
 * Where the new page ends with one that was not known, more was said than fits a page: what lies behind is loaded
 * again when it is asked for.
 *
 * @param {EpisodePage} loaded
 * @param {EpisodePage} newest
 * @returns {EpisodePage}
 */
export function withNewest(loaded, newest) {
  const last = newest.episodes.at(-1);
  const border = last ? loaded.episodes.findIndex((episode) => episode.id === last.id) : -1;
  const behind = newest.next === null || border < 0 ? [] : loaded.episodes.slice(border + 1);
  return {
    episodes: [...newest.episodes, ...behind],
    next: behind.length ? loaded.next : newest.next,
  };
}

/** @param {EpisodePage} loaded @param {EpisodePage} further the page behind it @returns {EpisodePage} */
export function withFurther(loaded, further) {
  const known = new Set(loaded.episodes.map((episode) => episode.id));
  return {
    episodes: [...loaded.episodes, ...further.episodes.filter((episode) => !known.has(episode.id))],
    next: further.next,
  };
}

/**
 * @param {EpisodePage} before
 * @param {EpisodePage} after
 * @returns {string[]} ids that are new only because more is loaded, not because more was said
 */
export function unknownBehind(before, after) {
  const known = new Set(before.episodes.map((episode) => episode.id));
  const last = after.episodes.findLastIndex((episode) => known.has(episode.id));
  return last < 0 ? [] : after.episodes.slice(last + 1).map((episode) => episode.id);
}
