/** What the server refuses about a note, as a sentence at the field that it is about. */

/**
 * @typedef {import("./note_fields.js").Field} Field
 * @typedef {{field: Field | null, text: string, otherId: string | null}} Refusal `otherId`: the note that is in the way
 * @typedef {Pick<import("../app/errors.js").ApiError, "kind" | "message" | "body">} Refused
 */

const FIELD = /(?:^|\s)(content|key|categories|importance)(?:\.\d+)?: (?:Value error, )?([^;]+)/;
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/**
 * @param {Refused} error
 * @returns {Refusal} `field` is null for what no field can mend, such as a server that does not answer
 */
export function refusalOf({ kind, message, body }) {
  const said = typeof body?.error?.message === "string" ? body.error.message : message;
  if (kind === "duplicate") return duplicate(said);
  if (kind === "limit_reached") return at("content", sentence(inWordsOfThePage(said)));
  if (kind === "invalid" || kind === "too_large") return invalid(said);
  return at(null, message);
}

/** @param {string} message @returns {Refusal} */
function duplicate(message) {
  const otherId = ID.exec(message)?.[0] ?? null;
  if (message.startsWith("the key ")) {
    return { ...at("key", "Another note has this key. Choose another key, or change that note."), otherId };
  }
  return { ...at("content", "There is a note that says this already, so there is nothing to save."), otherId };
}

/** @param {string} message @returns {Refusal} */
function invalid(message) {
  const named = FIELD.exec(message);
  if (!named) return at("content", sentence(inWordsOfThePage(message)));
  return at(/** @type {Field} */ (named[1]), sentence(named[2]));
}

/** @param {Field | null} field @param {string} text @returns {Refusal} */
function at(field, text) {
  return { field, text, otherId: null };
}

/** @param {string} message */
function inWordsOfThePage(message) {
  return message.replace(/\bfacts\b/g, "notes").replace(/\bfact\b/g, "note");
}

/** @param {string} message @returns {string} with a capital and a full stop */
export function sentence(message) {
  const text = message.trim();
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) || !whole ? whole : `${whole}.`;
}
