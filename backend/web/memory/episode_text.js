/** A past conversation is kept as one text; here it is parted by who said what. */

/** @typedef {{who: string, text: string}} Said */

const USER = "User: ";
const ASSISTANT = "\nAssistant: ";

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
