// An answer's Markdown as elements. While it grows, only what has changed is made anew.

import { h } from "../app/dom.js";
import { copyButton } from "./copy_button.js";
import { blocksOf } from "./markdown.js";

/**
 * @typedef {import("./markdown.js").Tree} Tree
 * @typedef {import("./copy_button.js").Announce} Announce
 */

/**
 * @param {{announce: Announce}} app
 * @returns {{element: HTMLElement, show: (text: string) => void}}
 */
export function createMarkdown({ announce }) {
  const element = h("div", { class: "markdown" });
  /** @type {string[]} */
  let shown = [];
  let last = "";

  /** @param {string} text reading the same text again costs time */
  function show(text) {
    if (text === last) return;
    last = text;
    const blocks = blocksOf(text);
    const same = shown.findIndex((raw, position) => raw !== blocks[position]?.raw);
    const kept = same < 0 ? shown.length : same;
    while (element.childNodes.length > kept) element.lastChild?.remove();
    for (const block of blocks.slice(kept)) element.append(blockElement(block.trees, announce));
    shown = blocks.map((block) => block.raw);
  }

  return { element, show };
}

/** @param {Tree[]} trees @param {Announce} announce one element for each block, so that they can be counted */
function blockElement(trees, announce) {
  const [first] = trees;
  if (trees.length === 1 && typeof first === "object") return nodeOf(first, announce);
  return h(
    "p",
    null,
    trees.map((tree) => nodeOf(tree, announce)),
  );
}

/** @param {Tree} tree @param {Announce} announce @returns {Node} */
function nodeOf(tree, announce) {
  if (typeof tree === "string") return document.createTextNode(tree);
  if (tree.tag === "codeblock") return codeBlock(tree.language ?? "", tree.text ?? "", announce);
  const tag = /** @type {keyof HTMLElementTagNameMap} */ (tree.tag);
  const element = h(
    tag,
    tree.attributes,
    (tree.children ?? []).map((child) => nodeOf(child, announce)),
  );
  return tag === "table"
    ? h("div", { class: "table-scroll", tabindex: "0", role: "group", "aria-label": "Table" }, element)
    : element;
}

/** @param {string} language @param {string} text @param {Announce} announce */
function codeBlock(language, text, announce) {
  const label = language ? `Code, ${language}` : "Code";
  const copy = copyButton({ label: "Copy code", text: () => text, announce });
  return h(
    "div",
    { class: "codeblock" },
    h("div", { class: "codeblock-head row" }, h("span", { class: "small muted mono" }, language || "text"), copy),
    h("pre", { tabindex: "0", role: "group", "aria-label": label }, h("code", null, text)),
  );
}
