/** Readings that are asked for often are made one at a time, with at most one more behind the one that runs. */

/**
 * @template T
 * @param {() => Promise<T>} read must not reject
 * @returns {() => Promise<T>} asks for a reading that begins now or later; fulfilled when it has ended
 */
export function createRefresher(read) {
  /** @type {Promise<T> | null} */
  let running = null;
  /** @type {Promise<T> | null} */
  let waiting = null;

  function start() {
    const current = read().finally(() => {
      if (running === current) running = null;
    });
    running = current;
    return current;
  }

  return function request() {
    if (!running) return start();
    waiting ??= running.then(() => {
      waiting = null;
      return start();
    });
    return waiting;
  };
}
