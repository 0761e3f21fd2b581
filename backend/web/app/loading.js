/** Modules and styles that are loaded when they are needed first, and not with the page. */

import { h } from "./dom.js";
import { ApiError } from "./errors.js";

const MISSING =
  "The server does not answer. Check that it is running and that you are online, then try again. If that does not help, load the page again.";

/**
 * @template T
 * @param {() => Promise<T>} load
 * @returns {() => Promise<T>} loads once. Rejects with an ApiError when the line dropped, and may then be asked again;
 *   some browsers do not ask again for a module that failed, so the sentence has a second way out
 */
export function whenNeeded(load) {
  /** @type {Promise<T> | null} */
  let loading = null;
  return () => {
    loading ??= load().catch(() => {
      loading = null;
      throw new ApiError(MISSING, { kind: "unreachable", status: 0 });
    });
    return loading;
  };
}

/** @type {Map<string, Promise<void>>} */
const sheets = new Map();

/**
 * @param {string} href
 * @returns {Promise<void>} when its rules are in force; one that did not come is asked for again by the next who needs it
 */
export function stylesheet(href) {
  const sheet = sheets.get(href) ?? newSheet(href);
  sheets.set(href, sheet);
  return sheet;
}

/** @param {string} href @returns {Promise<void>} */
function newSheet(href) {
  const link = h("link", { rel: "stylesheet", href });
  return new Promise((resolve, reject) => {
    link.addEventListener("load", () => resolve());
    link.addEventListener("error", () => {
      link.remove();
      sheets.delete(href);
      reject(new Error(`${href} did not come`));
    });
    document.head.append(link);
  });
}
