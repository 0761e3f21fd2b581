/** What a person has of a row stays theirs while the row is shown anew: the focus, and what is folded out. */

/**
 * Buttons are known again by `data-action`, foldings by their order.
 *
 * @param {HTMLElement} element
 * @param {() => void} update
 */
export function keepingPlace(element, update) {
  const focused = document.activeElement;
  const action = focused instanceof HTMLElement && element.contains(focused) ? focused.dataset.action : undefined;
  const open = foldings(element).map((folding) => folding.open);
  update();
  foldings(element).forEach((folding, index) => {
    folding.open = open[index] ?? folding.open;
  });
  if (action && !element.contains(document.activeElement)) {
    /** @type {HTMLElement | null} */ (element.querySelector(`[data-action="${CSS.escape(action)}"]`))?.focus();
  }
}

/** @param {HTMLElement} element */
function foldings(element) {
  return [...element.querySelectorAll("details")];
}

/** @param {HTMLElement} element @returns {HTMLElement | null} the row that has the focus when this one is gone */
export function neighbourOf(element) {
  return /** @type {HTMLElement | null} */ (element.nextElementSibling ?? element.previousElementSibling);
}

/** @param {HTMLElement | null} element @param {HTMLElement} otherwise */
export function focusRow(element, otherwise) {
  const target = element?.isConnected ? element : otherwise;
  if (target.tabIndex < 0) target.tabIndex = -1;
  target.focus();
}
