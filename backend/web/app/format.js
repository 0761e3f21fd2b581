/** Times, counts and long texts as people read them. */

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [
  ["year", 365 * 86400],
  ["month", 30 * 86400],
  ["week", 7 * 86400],
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
];

/** The page speaks English; of its kinds, the reader's own, for the order of a date and the clock. */
const LOCALE = globalThis.navigator?.language?.startsWith("en") ? navigator.language : "en";
const DATE_TIME = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "short" });
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const COUNT = new Intl.NumberFormat("en");

/**
 * "Mar 5, 2026, 2:03 PM" in the reader's time zone; "" for what is no time.
 *
 * @param {string | null | undefined} iso
 */
export function dateTime(iso) {
  const time = Date.parse(iso ?? "");
  return Number.isNaN(time) ? "" : DATE_TIME.format(time);
}

/**
 * "5 minutes ago", "yesterday", "just now"; "" for what is no time. A clock that is a little behind the server's
 * does not speak of the future.
 *
 * @param {string | null | undefined} iso
 * @param {number} [now] milliseconds
 */
export function relative(iso, now = Date.now()) {
  const time = Date.parse(iso ?? "");
  if (Number.isNaN(time)) return "";
  const seconds = Math.round((time - now) / 1000);
  const unit = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  return unit ? RELATIVE.format(Math.trunc(seconds / unit[1]), unit[0]) : "just now";
}

/**
 * "1 note", "3 notes", "1,000 notes".
 *
 * @param {number} count
 * @param {string} noun
 * @param {string} [nouns] where the plural is not the noun with an s
 */
export function plural(count, noun, nouns = `${noun}s`) {
  return `${COUNT.format(count)} ${count === 1 ? noun : nouns}`;
}

/**
 * At most `length` characters, "…" included, cut at a space where one is near; no character is cut in two.
 *
 * @param {string} text
 * @param {number} length
 */
export function shorten(text, length) {
  const characters = Array.from(text);
  if (characters.length <= length) return text;
  const cut = characters.slice(0, Math.max(0, length - 1)).join("");
  const space = cut.lastIndexOf(" ");
  return `${(space > cut.length * 0.7 ? cut.slice(0, space) : cut).trimEnd()}…`;
}
