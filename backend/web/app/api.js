/** Requests to the server, with the token of who is signed in and errors as sentences. */

import { ApiError, errorOf, isAbort, unreachable, unreadable } from "./errors.js";
import { createParser } from "./sse.js";

export { ApiError };

/**
 * @typedef {Record<string, string | number | boolean | null | undefined>} Query undefined values are left out
 * @typedef {{event: string, data: any, id: string | null}} ServerEvent data is parsed JSON, or the text as it came
 * @typedef {{signal?: AbortSignal}} Options
 * @typedef {{method: string, query?: Query, body?: unknown, accept?: string} & Options} Request
 * @typedef {object} Api
 * @property {(path: string, options?: {query?: Query} & Options) => Promise<any>} get
 * @property {(path: string, body?: unknown, options?: Options) => Promise<any>} post
 * @property {(path: string, body?: unknown, options?: Options) => Promise<any>} patch
 * @property {(path: string, options?: {query?: Query} & Options) => Promise<any>} delete
 * @property {(path: string, options?: {method?: string, body?: unknown} & Options) => AsyncGenerator<ServerEvent>} events
 */

/**
 * Every method throws ApiError; an AbortError passes through as it is. A 401 also calls `onSignedOut`. Results are
 * parsed JSON, or null where there is no content.
 *
 * @param {{token: () => string | null, onSignedOut: () => void}} session
 * @returns {Api}
 */
export function createApi({ token, onSignedOut }) {
  /**
   * @param {string} path
   * @param {Request} request
   */
  async function send(path, request) {
    const response = await reach(withQuery(path, request.query), requestInit(request, token()));
    if (response.ok) return response;
    if (response.status === 401) onSignedOut();
    throw errorOf(response.status, await jsonOrNull(response));
  }

  return {
    get: async (path, options) => content(await send(path, { method: "GET", ...options })),
    post: async (path, body, options) => content(await send(path, { method: "POST", body, ...options })),
    patch: async (path, body, options) => content(await send(path, { method: "PATCH", body, ...options })),
    delete: async (path, options) => content(await send(path, { method: "DELETE", ...options })),
    async *events(path, { method = "GET", body, signal } = {}) {
      const response = await send(path, { method, body, signal, accept: "text/event-stream" });
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
      if (!isStream || !response.body) throw unreadable(response.status);
      yield* eventsIn(response.body);
    },
  };
}

/**
 * @param {string} path
 * @param {Query} [query]
 */
function withQuery(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
}

/**
 * @param {Request} request
 * @param {string | null} token
 * @returns {RequestInit}
 */
function requestInit({ method, body, accept = "application/json", signal }, token) {
  /** @type {Record<string, string>} */
  const headers = { accept };
  if (token) headers.authorization = `Bearer ${token}`;
  if (body === undefined) return { method, headers, signal, cache: "no-store" };
  headers["content-type"] = "application/json";
  return { method, headers, signal, cache: "no-store", body: JSON.stringify(body) };
}

/**
 * @param {string} url
 * @param {RequestInit} init
 */
async function reach(url, init) {
  try {
    return await fetch(url, init);
  } catch (error) {
    throw isAbort(error) ? error : unreachable();
  }
}

/** @param {Response} response */
async function content(response) {
  const text = await textOf(response);
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable(response.status);
  }
}

/** @param {Response} response */
async function textOf(response) {
  try {
    return await response.text();
  } catch (error) {
    throw isAbort(error) ? error : unreachable();
  }
}

/** @param {Response} response */
async function jsonOrNull(response) {
  const text = await textOf(response);
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Whoever stops reading early closes the connection.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<ServerEvent>}
 */
async function* eventsIn(body) {
  const reader = body.getReader();
  const parser = createParser();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await next(reader);
      if (done) return;
      for (const raw of parser.push(decoder.decode(value, { stream: true }))) yield { ...raw, data: parsed(raw.data) };
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** @param {ReadableStreamDefaultReader<Uint8Array>} reader */
async function next(reader) {
  try {
    return await reader.read();
  } catch (error) {
    throw isAbort(error) ? error : unreachable();
  }
}

/** @param {string} data */
function parsed(data) {
  if (data === "") return null;
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}
