/** Drawing the eye to a row: briefly to what has changed, lastingly to what was looked for. */

/**
 * The class marks what is new until its animation would have ended, also where nothing is animated.
 *
 * @param {HTMLElement} element
 */
export function highlightNews(element) {
  element.classList.remove("is-news");
  requestAnimationFrame(() => element.classList.add("is-news"));
  setTimeout(() => element.classList.remove("is-news"), 3000);
}

/** @param {HTMLElement} element scrolled to, focused, and marked until the focus leaves it */
export function showFound(element) {
  element.tabIndex = -1;
  element.classList.add("is-found");
  element.addEventListener("blur", () => element.classList.remove("is-found"), { once: true });
  element.scrollIntoView({ block: "center", behavior: motion() });
  element.focus({ preventScroll: true });
}

/** @returns {ScrollBehavior} */
function motion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}
