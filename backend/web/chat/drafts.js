// What was typed and not sent yet, by chat; kept for the tab.

const PREFIX = "draft:";
const NEW_CHAT = "new";

/**
 * @param {Storage} [storage]
 * @returns {{read: (id: string | null) => string, keep: (id: string | null, text: string) => void}}
 */
export function createDrafts(storage = window.sessionStorage) {
  return {
    read: (id) => attempt(() => storage.getItem(keyOf(id))) ?? "",
    keep: (id, text) => {
      attempt(() => (text ? storage.setItem(keyOf(id), text) : storage.removeItem(keyOf(id))));
    },
  };
}

/** @param {string | null} id */
function keyOf(id) {
  return PREFIX + (id ?? NEW_CHAT);
}

/**
 * Storage may be forbidden or full; a draft is then lost with the page.
 *
 * @template T
 * @param {() => T} action
 * @returns {T | null}
 */
function attempt(action) {
  try {
    return action();
  } catch {
    return null;
  }
}
