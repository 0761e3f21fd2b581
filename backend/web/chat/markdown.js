// Markdown as a tree of elements that are safe to make. Knows no DOM; what is not named here stays text.

import { lexer } from "../vendor/marked.js";
import { decoded } from "./entities.js";

/**
 * @typedef {import("../vendor/marked.js").Token} Token
 *
 * @typedef {object} Element
 * @property {string} tag one of those in this module, or "codeblock" with `language` and `text`
 * @property {Record<string, string | number | boolean | undefined>} [attributes]
 * @property {Tree[]} [children]
 * @property {string} [language]
 * @property {string} [text]
 *
 * @typedef {string | Element} Tree
 * @typedef {{raw: string, trees: Tree[]}} Block
 */

const MAX_DEPTH = 24;
/** The lexer's time can grow with the square of a text that is made for it; answers are shorter than this. */
const MAX_CHARS = 40_000;
const SAFE_LINK = /^(?:https?:\/\/|mailto:)/i;
const HEADINGS_BELOW = 3;

/**
 * @param {string} text
 * @returns {Block[]} the parts of a document in order; `raw` tells whether one is still what it was
 */
export function blocksOf(text) {
  return tokensOf(text)
    .filter(({ type }) => type !== "space" && type !== "def")
    .map((token) => ({ raw: token.raw, trees: treesOf([token], 0) }));
}

/** @param {string} text @returns {Token[]} */
function tokensOf(text) {
  if (text.length > MAX_CHARS) return plain(text);
  try {
    return lexer(text, { gfm: true, breaks: true });
  } catch {
    // text that is nested deeper than the parser goes
    return plain(text);
  }
}

/** @param {string} text @returns {Token[]} */
function plain(text) {
  return [{ type: "escape", raw: text, text }];
}

/** @param {readonly Token[] | undefined} tokens @param {number} depth @returns {Tree[]} */
function treesOf(tokens, depth) {
  return (tokens ?? []).flatMap((token) => (depth > MAX_DEPTH ? [token.raw] : treeOf(token, depth + 1)));
}

/** @param {Token} token @param {number} depth @returns {Tree[]} */
function treeOf(token, depth) {
  const make = MAKERS[token.type];
  return make ? make(token, depth) : [token.raw];
}

/** @param {string} tag @returns {(token: Token, depth: number) => Tree[]} */
function holding(tag) {
  return (token, depth) => [{ tag, children: inside(token, depth) }];
}

/** @param {Token} token @param {number} depth @returns {Tree[]} */
function inside(token, depth) {
  return token.tokens ? treesOf(token.tokens, depth) : [decoded(token.text ?? "")];
}

/** @type {Record<string, (token: Token, depth: number) => Tree[]>} */
const MAKERS = {
  space: () => [],
  def: () => [],
  hr: () => [{ tag: "hr" }],
  br: () => [{ tag: "br" }],
  text: inside,
  escape: (token) => [token.text ?? ""],
  html: (token) => [token.text ?? ""],
  paragraph: holding("p"),
  blockquote: holding("blockquote"),
  strong: holding("strong"),
  em: holding("em"),
  del: holding("del"),
  codespan: (token) => [{ tag: "code", children: [token.text ?? ""] }],
  code: (token) => [{ tag: "codeblock", language: languageOf(token.lang), text: token.text ?? "" }],
  heading: (token, depth) => [{ tag: headingTag(token.depth ?? 1), children: inside(token, depth) }],
  link: (token, depth) => linkOf(token.href, inside(token, depth)),
  image: (token) => linkOf(token.href, [decoded(token.text ?? "") || "image"]),
  checkbox: (token) => [checkbox(token.checked === true)],
  list: listOf,
  table: tableOf,
};

/** @param {number} depth answers stand below the page's own headings */
function headingTag(depth) {
  return `h${Math.min(6, depth + HEADINGS_BELOW)}`;
}

/** @param {string | undefined} lang the first word behind the fence */
function languageOf(lang) {
  return (lang ?? "").trim().split(/\s/)[0].slice(0, 30);
}

/** @param {string | undefined} href @param {Tree[]} children @returns {Tree[]} the words alone where a link would not be safe */
function linkOf(href, children) {
  const address = safeAddress(href);
  if (!address) return children;
  return [{ tag: "a", attributes: { href: address, target: "_blank", rel: "noopener noreferrer" }, children }];
}

/** @param {string | undefined} href @returns {string | null} */
export function safeAddress(href) {
  const address = decoded(href ?? "").trim();
  return SAFE_LINK.test(address) ? address : null;
}

/** @param {boolean} checked @returns {Element} */
function checkbox(checked) {
  const label = checked ? "done" : "not done";
  return { tag: "input", attributes: { type: "checkbox", disabled: true, checked, "aria-label": label } };
}

/** @param {Token} token @param {number} depth @returns {Tree[]} */
function listOf(token, depth) {
  const children = (token.items ?? []).map((item) => ({
    tag: "li",
    attributes: item.task ? { class: "task" } : {},
    children: treesOf(item.tokens, depth),
  }));
  if (!token.ordered) return [{ tag: "ul", children }];
  return [{ tag: "ol", attributes: { start: Number(token.start) || 0 }, children }];
}

/** @param {Token} token @param {number} depth @returns {Tree[]} */
function tableOf(token, depth) {
  const head = { tag: "thead", children: [rowOf("th", token.header ?? [], depth)] };
  const body = { tag: "tbody", children: (token.rows ?? []).map((row) => rowOf("td", row, depth)) };
  return [{ tag: "table", children: [head, body] }];
}

/** @param {"th" | "td"} tag @param {Token[]} cells @param {number} depth @returns {Element} */
function rowOf(tag, cells, depth) {
  return {
    tag: "tr",
    children: cells.map((cell) => ({
      tag,
      attributes: cell.align ? { "data-align": cell.align } : {},
      children: treesOf(cell.tokens, depth),
    })),
  };
}
