// Characters that Markdown may name, such as &amp;. Only text comes out of it.

/** @type {Record<string, string>} */
const NAMED = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  copy: "©",
  deg: "°",
  euro: "€",
  times: "×",
  rarr: "→",
  larr: "←",
};

/** @param {string} text @returns {string} the named and numbered characters in their places; unknown names stay */
export function decoded(text) {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]+));/gi, (whole, hex, decimal, name) => {
    if (name) return Object.hasOwn(NAMED, name) ? NAMED[name] : whole;
    return character(hex ? Number.parseInt(hex, 16) : Number.parseInt(decimal, 10));
  });
}

/** @param {number} code */
function character(code) {
  const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : "\ufffd";
}
