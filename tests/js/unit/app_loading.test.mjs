import assert from "node:assert/strict";
import { test } from "node:test";
import { stylesheet, whenNeeded } from "../../../backend/web/app/loading.js";

test("what is needed often is loaded once", async () => {
  let loads = 0;
  const part = whenNeeded(async () => ++loads);
  assert.equal(loads, 0);
  assert.deepEqual(await Promise.all([part(), part()]), [1, 1]);
  assert.equal(await part(), 1);
});

test("what did not come is told in a sentence, and asked for again", async () => {
  const answers = [Promise.reject(new TypeError("Failed to fetch")), Promise.resolve("it")];
  const part = whenNeeded(() => answers.shift());
  await assert.rejects(part(), {
    kind: "unreachable",
    status: 0,
    message: /^The server does not answer\..* try again/,
  });
  assert.equal(await part(), "it");
});

/** A page that only takes links to styles, as they come. */
function headOfPage() {
  const links = [];
  class Link extends EventTarget {
    setAttribute() {}
    append() {}
    remove() {
      links.splice(links.indexOf(this), 1);
    }
  }
  globalThis.document = { createElement: () => new Link(), head: { append: (link) => links.push(link) } };
  return links;
}

test("who needs a stylesheet that is on its way waits for it too", async () => {
  const links = headOfPage();
  let came = 0;
  const waiting = [stylesheet("/a.css"), stylesheet("/a.css")].map((sheet) => sheet.then(() => ++came));
  await new Promise(setImmediate);
  assert.deepEqual([links.length, came], [1, 0]);
  links[0].dispatchEvent(new Event("load"));
  await Promise.all(waiting);
  await stylesheet("/a.css");
  assert.deepEqual([links.length, came], [1, 2]);
});

test("a stylesheet that did not come is asked for again", async () => {
  const links = headOfPage();
  const first = stylesheet("/b.css");
  links[0].dispatchEvent(new Event("error"));
  await assert.rejects(first, /b\.css did not come/);
  const second = stylesheet("/b.css");
  assert.equal(links.length, 1);
  links[0].dispatchEvent(new Event("load"));
  await second;
});
