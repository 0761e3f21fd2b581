// Elements in their order.

/**
 * An element is moved only where it is not in its place: moving takes the focus away.
 *
 * @param {Element} parent
 * @param {readonly Element[]} elements all that it holds afterwards
 */
export function place(parent, elements) {
  const kept = new Set(elements);
  for (const child of Array.from(parent.children)) if (!kept.has(child)) child.remove();
  for (const [position, element] of elements.entries()) {
    const there = parent.children[position] ?? null;
    if (there !== element) parent.insertBefore(element, there);
  }
}
