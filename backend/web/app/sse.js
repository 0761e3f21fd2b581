/**
 * Server-sent events out of the text of a stream. Knows no network.
 *
 * @typedef {{event: string, data: string, id: string | null}} RawEvent
 */

/**
 * A parser that takes the stream in pieces of any size. `push` returns the events that a piece completes; data stays
 * text. Lines end with CR, LF or both, also across pieces. Comments and `retry` are passed over. An event with a name
 * and no data is told too, with empty data, because some servers end a stream with one.
 *
 * @returns {{push(piece: string): RawEvent[]}}
 */
export function createParser() {
  const events = createCollector();
  let rest = "";
  let holdsReturn = false;
  let isFirst = true;

  /** @param {string} piece */
  function push(piece) {
    const text = isFirst ? piece.replace(/^\uFEFF/, "") : piece;
    if (piece) isFirst = false;
    const mayEndLine = holdsReturn || /[\r\n]/.test(text);
    rest += text;
    // a long line comes in many pieces: looking into what is collected each time would take the square of its length
    if (!mayEndLine) return [];
    const { lines, left } = cut(rest);
    rest = left;
    holdsReturn = left.endsWith("\r");
    return lines.flatMap((line) => events.take(line));
  }

  return { push };
}

/**
 * Whole lines of a text. A CR at its end is left over: the LF that belongs to it may come with the next piece.
 *
 * @param {string} text
 */
function cut(text) {
  const held = text.endsWith("\r") ? "\r" : "";
  const lines = text.slice(0, text.length - held.length).split(/\r\n|\n|\r/);
  return { lines, left: (lines.pop() ?? "") + held };
}

/** Collects fields until an empty line ends the event. */
function createCollector() {
  let event = "";
  /** @type {string[]} */
  let data = [];
  /** @type {string | null} */
  let id = null;

  /**
   * @param {string} line
   * @returns {RawEvent[]}
   */
  function take(line) {
    if (line === "") return dispatch();
    const [name, value] = fieldOf(line);
    if (name === "event") event = value;
    else if (name === "data") data.push(value);
    else if (name === "id" && !value.includes("\0")) id = value;
    return [];
  }

  function dispatch() {
    const isEmpty = event === "" && data.length === 0;
    const complete = { event: event || "message", data: data.join("\n"), id };
    event = "";
    data = [];
    return isEmpty ? [] : [complete];
  }

  return { take };
}

/**
 * @param {string} line
 * @returns {[string, string]}
 */
function fieldOf(line) {
  const colon = line.indexOf(":");
  if (colon < 0) return [line, ""];
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
}
