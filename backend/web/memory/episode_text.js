/** A past conversation is kept as one text; here it is parted by who said what, and shortened to its first lines. */

import { shorten } from "../app/format.js";

/** @typedef {{who: string, text: string}} Said */

const USER = "User: ";
const ASSISTANT = "\nAssistant: ";
const FIRST_LINES = 3;
const FIRST_CHARS = 240;

/**
 * What marks up a line of Markdown, and what stands in its place.
 *
 * @type {[RegExp, string][]}
 */
const MARKS = [
  [/^\s*(?:```|~~~).*$/, ""],
  [/^[\s:|*_-]*$/, ""],
  [/^\s*(?:#{1,6}|>)\s+/, ""],
  [/^\s*[-*+]\s+/, "• "],
  [/^\s*\||\|\s*$/g, ""],
  [/ *\| */g, " · "],
  [/!?\[([^\]]*)\]\([^)\s]*\)/g, "$1"],
  [/(\*\*|__|~~|`)([^*_~`]+)\1/g, "$2"],
  [/(^|[\s(])[*_]([^*_\s][^*_]*)[*_](?=$|[\s).,;:!?])/g, "$1$2"],
];
const HAS_FORM = /^\s*(?:```|~~~|\|)/m;

/**
 * @param {string} content "User: ...\nAssistant: ..."; anything else is one text of nobody
 * @returns {Said[]}
 */
export function sidesOf(content) {
  const border = content.indexOf(ASSISTANT);
  if (!content.startsWith(USER) || border < 0) return [{ who: "", text: content }];
  return [
    { who: "You", text: content.slice(USER.length, border) },
    { who: "Assistant", text: content.slice(border + ASSISTANT.length) },
  ];
}

/**
 * @param {Said} said
 * @returns {{text: string, isCut: boolean}} its first lines in plain words; cut also where a table or code lost its form
 */
export function beginningOf({ who, text }) {
  // far more than the first lines is not looked at
  const lines = text.slice(0, 10 * FIRST_CHARS).split("\n");
  const isMarkdown = who !== "You";
  const plain = (isMarkdown ? lines.map(plainLine) : lines).filter((line) => line.trim());
  const said = plain.length ? plain : lines;
  const first = said.slice(0, FIRST_LINES).join("\n");
  const short = shorten(first, FIRST_CHARS);
  const isCut = short !== first || said.length > FIRST_LINES || (isMarkdown && HAS_FORM.test(text));
  return { text: said.length > FIRST_LINES && short === first ? `${short} …` : short, isCut };
}

/** @param {string} line */
function plainLine(line) {
  return MARKS.reduce((words, [mark, instead]) => words.replace(mark, instead), line).trim();
}
