/**
 * Making elements. Text only ever becomes text nodes: nothing here parses HTML.
 *
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {Child | readonly Children[]} Children
 * @typedef {Record<string, any>} Attributes
 */

/**
 * An element with attributes as HTML spells them: true is present; false, null and undefined are absent. In `aria-*`
 * true and false are values. Besides attributes: `on` (listeners by event), `dataset`, `props` (properties to set).
 *
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes | null} [attributes]
 * @param {...Children} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  const { on = {}, dataset = {}, props = {}, ...plain } = attributes ?? {};
  for (const [name, value] of Object.entries(plain)) setAttribute(element, name, value);
  for (const [event, listener] of Object.entries(on)) element.addEventListener(event, listener);
  for (const [name, value] of Object.entries(dataset)) if (value != null) element.dataset[name] = String(value);
  element.append(...nodesOf(children));
  return Object.assign(element, props);
}

/**
 * Replace everything inside of an element.
 *
 * @param {Element} element
 * @param {...Children} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...nodesOf(children));
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {unknown} value
 */
function setAttribute(element, name, value) {
  // a handler as text would be code made of a string, and styles as text are refused by the page's policy
  if (/^(?:on|style$|srcdoc$)/i.test(name)) throw new TypeError(`h() does not set ${name}`);
  const isState = name.startsWith("aria-") && typeof value === "boolean";
  if (isState) element.setAttribute(name, String(value));
  else if (value === true) element.setAttribute(name, "");
  else if (value !== false && value != null) element.setAttribute(name, String(value));
}

/**
 * @param {readonly Children[]} children
 * @returns {(Node | string)[]}
 */
function nodesOf(children) {
  return children.flatMap((child) => {
    if (Array.isArray(child)) return nodesOf(child);
    if (child === null || child === undefined || child === false) return [];
    return [child instanceof Node ? child : String(child)];
  });
}
