/**
 * A list on the page that follows a list of items: rows stay as they are, with focus and open editors, while others
 * come, change and go.
 */

import { fill } from "../app/dom.js";
import { keepingPlace } from "./place.js";

/**
 * @template T
 * @typedef {{
 *   element: HTMLElement,
 *   update(item: T): void,
 *   isHeld?(): boolean,
 *   gone?(): void,
 * }} Row a row that is held (it has an open editor) stays when its item goes; `gone` tells it so
 */

/**
 * @template T
 * @typedef {{
 *   show(items: readonly T[], options?: {all?: readonly T[]}): void,
 *   row(key: string): Row<T> | undefined,
 * }} Rows `all`: of which `items` are some, where a row that is not shown may still be there
 */

/**
 * @template T
 * @param {HTMLElement} list
 * @param {{
 *   keyOf: (item: T) => string,
 *   signatureOf: (item: T) => string,
 *   make: (item: T) => Row<T>,
 * }} how `make` gives a row that shows the item; `update` is called when its signature has changed
 * @returns {Rows<T>}
 */
export function createRows(list, { keyOf, signatureOf, make }) {
  /** @type {Map<string, {row: Row<T>, signature: string}>} */
  let kept = new Map();
  fill(list);

  /** @param {T} item */
  function rowFor(item) {
    const signature = signatureOf(item);
    const known = kept.get(keyOf(item));
    if (!known) return { row: make(item), signature };
    if (known.signature !== signature) keepingPlace(known.row.element, () => known.row.update(item));
    return { row: known.row, signature };
  }

  return {
    show(items, { all = items } = {}) {
      const next = new Map(items.map((item) => [keyOf(item), rowFor(item)]));
      const there = new Set(all.map(keyOf));
      for (const [key, { row, signature }] of kept) {
        if (next.has(key)) continue;
        if (!row.isHeld?.()) row.element.remove();
        else {
          if (!there.has(key)) row.gone?.();
          next.set(key, { row, signature });
        }
      }
      kept = next;
      arrange(
        list,
        inPlace(
          list,
          [...next.values()].map(({ row }) => row.element),
        ),
      );
    },
    row: (key) => kept.get(key)?.row,
  };
}

/**
 * The row that has the focus is not moved, because it would lose it; the others are put before and behind it.
 *
 * @param {HTMLElement} list
 * @param {{elements: HTMLElement[], fixed: number}} order
 */
function arrange(list, { elements, fixed }) {
  if (!elements.length) return;
  if (!elements[fixed].isConnected || elements[fixed].parentElement !== list) list.append(elements[fixed]);
  for (let index = fixed - 1; index >= 0; index -= 1) {
    const next = elements[index + 1];
    if (next.previousElementSibling !== elements[index]) next.before(elements[index]);
  }
  for (let index = fixed + 1; index < elements.length; index += 1) {
    const previous = elements[index - 1];
    if (previous.nextElementSibling !== elements[index]) previous.after(elements[index]);
  }
}

/** @param {HTMLElement} list @param {HTMLElement[]} elements */
function inPlace(list, elements) {
  const focused = elements.findIndex((element) => element.contains(document.activeElement));
  const there = elements.findIndex((element) => element.parentElement === list);
  return { elements, fixed: Math.max(0, focused >= 0 ? focused : there) };
}
