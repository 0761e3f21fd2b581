import assert from "node:assert/strict";
import { test } from "node:test";
import { startOf } from "../../../backend/web/app/boot.js";
import { errorOf, unreachable } from "../../../backend/web/app/errors.js";

const ok = (auth_mode) => ({ status: "ok", database: { ok: true, problem: null }, model: {}, auth_mode });
const start = (found) => startOf({ health: null, error: null, isSignedIn: false, ...found });

test("where nobody signs in the page opens", () => {
  assert.equal(start({ health: ok("none") }).show, "page");
});

for (const mode of ["tokens", "jwt"]) {
  test(`with ${mode} the page opens for who is signed in only`, () => {
    assert.equal(start({ health: ok(mode) }).show, "sign-in");
    assert.equal(start({ health: ok(mode), isSignedIn: true }).show, "page");
  });
}

test("a server that asks for a sign-in at once gets one", () => {
  assert.equal(start({ error: errorOf(401, null) }).show, "sign-in");
});

test("a database that is away is said plainly, with the server's words", () => {
  const body = { ...ok("none"), status: "degraded", database: { ok: false, problem: "It does not answer." } };
  const { show, text } = start({ error: errorOf(503, body) });
  assert.equal(show, "problem");
  assert.match(text, /database.*Nothing is lost.*It does not answer\./);
});

test("a server that does not answer is a problem with a way out", () => {
  const { show, text } = start({ error: unreachable() });
  assert.equal(show, "problem");
  assert.match(text, /try again/);
});
