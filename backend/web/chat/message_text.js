// The text of a message, whatever form its content has.

/**
 * A message as the server keeps or streams it.
 *
 * @typedef {object} Message
 * @property {string} type human, ai, tool, system; a streamed piece is an AIMessageChunk
 * @property {string | null} [id]
 * @property {unknown} content text, or a list of blocks
 * @property {string | null} [name]
 * @property {Record<string, unknown>} [additional_kwargs]
 * @property {Record<string, unknown>} [response_metadata]
 * @property {ToolCall[]} [tool_calls]
 * @property {CallPiece[]} [tool_call_chunks]
 * @property {string} [tool_call_id] of a tool's result: the call that it answers
 * @property {string} [status] of a tool's result: success or error
 *
 * @typedef {{name?: string | null, args?: unknown, id?: string | null}} ToolCall
 * @typedef {{name?: string | null, args?: string | null, id?: string | null, index?: number | null}} CallPiece
 */

const READ_BLOCKS = new Set(["text", "input_text", "output_text"]);
const SILENT_BLOCKS = new Set(["reasoning", "thinking", "redacted_thinking", "tool_use", "tool_call", "function_call"]);

/**
 * @param {unknown} content
 * @returns {string} the text; what is not text is a short marker, such as "[image]"
 */
export function textOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map(blockText).filter(Boolean).join("\n");
}

/** @param {unknown} block */
function blockText(block) {
  if (typeof block === "string") return block;
  if (!isRecord(block)) return "";
  const type = typeof block.type === "string" ? block.type : "";
  if (READ_BLOCKS.has(type)) return typeof block.text === "string" ? block.text : "";
  return type === "" || SILENT_BLOCKS.has(type) ? "" : `[${type.replace(/_url$|^input_/, "")}]`;
}

/** @param {Message} message @returns {boolean} whether the page leaves it out: a framework made it */
export function isHidden(message) {
  const marks = message.additional_kwargs ?? {};
  return message.type === "system" || marks.hide_from_ui === true || (isHuman(message) && "lc_source" in marks);
}

/** @param {Message} message */
export function isHuman(message) {
  return message.type === "human" || message.type === "HumanMessageChunk";
}

/** @param {Message} message */
export function isAnswer(message) {
  return message.type === "ai" || message.type === "AIMessageChunk";
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
export function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
