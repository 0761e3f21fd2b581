import assert from "node:assert/strict";
import { test } from "node:test";
import { blocksOf, safeAddress } from "../../../backend/web/chat/markdown.js";

const trees = (text) => blocksOf(text).flatMap((block) => block.trees);
const words = (tree) => (typeof tree === "string" ? tree : (tree.text ?? (tree.children ?? []).map(words).join("")));
const tags = (tree) => (typeof tree === "string" ? [] : [tree.tag, ...(tree.children ?? []).flatMap(tags)]);
const SAFE = new Set(
  "p h4 h5 h6 ul ol li blockquote strong em del code codeblock a br hr table thead tbody tr th td input".split(" "),
);

test("raw HTML stays text", () => {
  for (const text of [
    "<script>alert(1)</script>",
    "a <img src=x onerror=alert(1)> b",
    "<div>\n\n*x*\n\n</div>",
    "<!-- x -->",
  ]) {
    assert.equal(trees(text).map(words).join("").includes("<"), true);
    assert.deepEqual(
      trees(text)
        .flatMap(tags)
        .filter((tag) => !SAFE.has(tag)),
      [],
    );
  }
});

test("links lead to web pages and mail alone", () => {
  assert.equal(safeAddress("https://example.org/a?b"), "https://example.org/a?b");
  assert.equal(safeAddress("mailto:a@example.org"), "mailto:a@example.org");
  const refused = [
    "java" + "script:alert(1)",
    "JAVA" + "SCRIPT:x",
    "&#106;avascript:x",
    "data:text/html,x",
    "file:///etc",
    "//example.org",
    "/app",
    "",
  ];
  for (const address of refused) assert.equal(safeAddress(address), null);
});

test("a link that is not safe is its words", () => {
  const [paragraph] = trees("[press](data:text/html,x)");
  assert.deepEqual(tags(paragraph), ["p"]);
  assert.equal(words(paragraph), "press");
});

test("a safe link opens elsewhere and tells nothing of this page", () => {
  const [{ children }] = trees("[x](https://example.org)");
  const attributes = { href: "https://example.org", target: "_blank", rel: "noopener noreferrer" };
  assert.deepEqual(children[0].attributes, attributes);
});

test("an image is a link to it", () => {
  const [{ children }] = trees("![a cat](https://example.org/cat.png)");
  assert.equal(children[0].tag, "a");
  assert.equal(words(children[0]), "a cat");
});

test("headings stand below those of the page", () => {
  assert.deepEqual(
    trees("# a\n\n###### b").map(({ tag }) => tag),
    ["h4", "h6"],
  );
});

test("code keeps its text and its language", () => {
  const [code] = trees("```python title=x\nprint('<b>')\n```");
  assert.deepEqual(code, { tag: "codeblock", language: "python", text: "print('<b>')" });
});

test("tasks are boxes that say whether they are done", () => {
  const [list] = trees("- [x] a\n- [ ] b");
  assert.deepEqual(
    list.children.map(({ children }) => children[0].attributes["aria-label"]),
    ["done", "not done"],
  );
});

test("lists count from where they begin, tables keep their columns' sides", () => {
  assert.equal(trees("3. a")[0].attributes.start, 3);
  assert.equal(trees("| a |\n|--:|\n| 1 |")[0].children[1].children[0].children[0].attributes["data-align"], "right");
});

test("characters may be named, except in code", () => {
  assert.equal(words(trees("AT&amp;T &#8364; &unknown; `&amp;`")[0]), "AT&T € &unknown; &amp;");
});

test("a line break is a line break", () => assert.deepEqual(tags(trees("a\nb")[0]), ["p", "br"]));

test("text that is nested or long beyond reason is shown plainly, soon", () => {
  for (const text of ["> ".repeat(5000), "- ".repeat(3000), "[".repeat(30000), "_a".repeat(60000)]) {
    const began = performance.now();
    assert.ok(trees(text).length > 0);
    assert.ok(performance.now() - began < 4000);
  }
});

test("a growing text keeps the blocks that are finished", () => {
  const [before, after] = [blocksOf("# A\n\nfirst\n\nsec"), blocksOf("# A\n\nfirst\n\nsecond")];
  assert.deepEqual(before.slice(0, 2), after.slice(0, 2));
  assert.notEqual(before[2].raw, after[2].raw);
});
