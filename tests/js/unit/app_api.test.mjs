import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { ApiError, createApi } from "../../../backend/web/app/api.js";

/** @type {Record<string, (request: any, response: any) => void>} */
const ANSWERS = {
  "/json": (request, response) => json(response, 200, { method: request.method, url: request.url }),
  "/nothing": (_, response) => response.writeHead(204).end(),
  "/page": (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
  "/closed": (_, response) => json(response, 401, { error: { kind: "unauthenticated", message: "Sign in first." } }),
  "/gone": (_, response) => json(response, 404, { detail: "Not Found" }),
  "/echo": (request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => json(response, 201, { body, headers: request.headers }));
  },
  "/stream": (_, response) => {
    stream(response);
    const bytes = Buffer.from('event: values\ndata: {"text": "é"}\n\ndata: plain\n\nevent: end\n\n');
    for (const byte of bytes) response.write(Buffer.from([byte]));
    response.end();
  },
  "/broken": (_, response) => {
    stream(response);
    response.write("data: 1\n\n", () => response.destroy());
  },
  "/endless": (request, response) => {
    stream(response);
    response.write("data: 1\n\n");
    request.on("close", () => left?.());
  },
};

/** @type {(() => void) | null} */
let left = null;
let base = "";
const server = createServer((request, response) => ANSWERS[request.url.split("?")[0]](request, response));

before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  base = `http://127.0.0.1:${server.address().port}`;
});
after(() => {
  server.close();
  server.closeAllConnections();
});

function json(response, status, body) {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function stream(response) {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
}

function api({ token = null, onSignedOut = () => {} } = {}) {
  return createApi({ token: () => token, onSignedOut });
}

async function failure(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  assert.fail("it did not fail");
}

async function all(events) {
  const told = [];
  for await (const event of events) told.push(event);
  return told;
}

test("a query leaves out what is undefined and spells the rest safely", async () => {
  const { url } = await api().get(`${base}/json`, { query: { q: "a&b é", limit: 0, after: undefined } });
  assert.equal(url, "/json?q=a%26b+%C3%A9&limit=0");
});

test("a body goes out as JSON with the token of who is signed in", async () => {
  const { body, headers } = await api({ token: "t" }).patch(`${base}/echo`, { a: [1] });
  assert.equal(body, '{"a":[1]}');
  assert.equal(headers.authorization, "Bearer t");
  assert.equal(headers["content-type"], "application/json");
});

test("nobody sends no token", async () => {
  const { headers } = await api().post(`${base}/echo`, {});
  assert.equal(headers.authorization, undefined);
});

test("no content is null", async () => {
  assert.equal(await api().delete(`${base}/nothing`), null);
});

test("an answer that is not JSON is a sentence and not a syntax error", async () => {
  const error = await failure(api().get(`${base}/page`));
  assert.ok(error instanceof ApiError);
  assert.match(error.message, /Reload the page/);
});

test("a refused sign-in is told once to whoever minds it, and to the caller", async () => {
  let count = 0;
  const error = await failure(api({ onSignedOut: () => count++ }).get(`${base}/closed`));
  assert.deepEqual([count, error.status, error.kind], [1, 401, "unauthenticated"]);
});

test("another refusal does not end the sign-in", async () => {
  const error = await failure(api({ onSignedOut: assert.fail }).get(`${base}/gone`));
  assert.equal(error.kind, "not_found");
});

test("a server that is not there is unreachable", async () => {
  const error = await failure(api().get("http://127.0.0.1:1/json"));
  assert.deepEqual([error.kind, error.status], ["unreachable", 0]);
});

test("a request that is given up fails as the browser says it", async () => {
  const error = await failure(api().get(`${base}/json`, { signal: AbortSignal.abort() }));
  assert.equal(error.name, "AbortError");
});

test("events come parsed, with characters whole that came in pieces", async () => {
  assert.deepEqual(await all(api().events(`${base}/stream`)), [
    { event: "values", data: { text: "é" }, id: null },
    { event: "message", data: "plain", id: null },
    { event: "end", data: null, id: null },
  ]);
});

test("a stream that is refused fails before its first event", async () => {
  assert.equal((await failure(all(api().events(`${base}/closed`)))).status, 401);
});

test("what is no stream is not read as one", async () => {
  assert.equal((await failure(all(api().events(`${base}/json`)))).kind, "unexpected");
});

test("a stream that breaks off is unreachable after the events that came", async () => {
  const events = api().events(`${base}/broken`);
  assert.equal((await events.next()).value.data, 1);
  assert.equal((await failure(events.next())).kind, "unreachable");
});

test("giving up a stream fails as the browser says it", async () => {
  const giveUp = new AbortController();
  const events = api().events(`${base}/endless`, { signal: giveUp.signal });
  await events.next();
  const rest = failure(events.next());
  giveUp.abort();
  assert.equal((await rest).name, "AbortError");
});

test("whoever stops reading closes the connection", async () => {
  const closed = new Promise((resolve) => {
    left = () => resolve(true);
  });
  for await (const _ of api().events(`${base}/endless`)) break;
  assert.ok(await closed);
});
