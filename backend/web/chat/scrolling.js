// The end of a chat stays in sight while it grows, unless the person has scrolled away from it.

const NEAR_PX = 60;

/**
 * @param {{scroller: HTMLElement, content: HTMLElement, onAway: (isAway: boolean) => void}} parts
 */
export function createScrolling({ scroller, content, onAway }) {
  let isAtEnd = true;
  let lastTop = 0;

  /** @param {boolean} atEnd */
  function note(atEnd) {
    if (atEnd === isAtEnd) return;
    isAtEnd = atEnd;
    onAway(!atEnd);
  }

  function toEnd() {
    scroller.scrollTop = scroller.scrollHeight;
    note(true);
  }

  function isNearEnd() {
    return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_PX;
  }

  scroller.addEventListener("scroll", () => {
    // what grows below moves the end away, but only a person moves back
    if (isNearEnd()) note(true);
    else if (scroller.scrollTop < lastTop) note(false);
    lastTop = scroller.scrollTop;
  });
  content.addEventListener("click", ({ target }) => {
    // what opens where somebody pressed must not run away from them
    if (target instanceof Element && target.closest("summary, .turn-buttons")) isAtEnd = false;
  });
  content.addEventListener("toggle", showOpened, true);

  /** @param {Event} event that of a <details>, which does not bubble */
  function showOpened({ target }) {
    if (target instanceof HTMLDetailsElement && target.open) target.scrollIntoView({ block: "nearest" });
    isAtEnd = isNearEnd();
    onAway(!isAtEnd);
  }

  const watch = new ResizeObserver(() => isAtEnd && toEnd());
  watch.observe(content);
  watch.observe(scroller);

  return {
    toEnd,
    /** @param {() => void} change of what stands above: what is seen stays where it is */
    keepingPlace(change) {
      const behind = scroller.scrollHeight - scroller.scrollTop;
      change();
      scroller.scrollTop = scroller.scrollHeight - behind;
    },
  };
}
