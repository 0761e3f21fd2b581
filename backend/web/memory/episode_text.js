/** A past conversation is kept as one text; here it is parted by who said what, and shortened to its first lines. */

import { shorten } from "../app/format.js";

/** @typedef {{who: string, text: string}} Said */

const USER = "User: ";
const ASSISTANT = "\nAssistant: ";
const FIRST_LINES = 3;
const FIRST_CHARS = 240;
/** Far more than the first lines is not looked at. */
const MOST_CHARS = 10 * FIRST_CHARS;

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
 * @returns {{text: string, isCut: boolean}} its first lines in plain words; cut also where Markdown lost its form, such
 *   as a table, or the address of a link
 */
export function beginningOf({ who, text }) {
  const lines = filledLines(text.slice(0, MOST_CHARS).split("\n"));
  const plain = who === "You" ? lines : filledLines(lines.map(plainLine));
  const said = plain.length ? plain : lines;
  const first = said.slice(0, FIRST_LINES).join("\n");
  const short = shorten(first, FIRST_CHARS);
  const isCut = text.length > MOST_CHARS || short !== lines.join("\n");
  return { text: said.length > FIRST_LINES && short === first ? `${short} …` : short, isCut };
}

/** @param {string[]} lines */
function filledLines(lines) {
  return lines.filter((line) => line.trim());
}

/** @param {string} line */
function plainLine(line) {
  return MARKS.reduce((words, [mark, instead]) => words.replace(mark, instead), line).trim();
}
