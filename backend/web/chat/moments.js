// Doing something later, and once for many occasions.

/** @param {() => void} action @returns {() => void} does it once before the next frame; in a hidden tab a little later */
export function onFrame(action) {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    const run = () => {
      if (!isDue) return;
      isDue = false;
      action();
    };
    if (document.hidden) setTimeout(run, 0);
    else requestAnimationFrame(run);
  };
}

/** @param {() => void} action @param {number} ms @returns {() => void} does it once, so long after the first occasion */
export function soon(action, ms) {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      action();
    }, ms);
  };
}

/** @param {number} ms @returns {Promise<void>} */
export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
