import assert from "node:assert/strict";
import { test } from "node:test";
import {
  NOTHING_LOADED,
  pageToReload,
  unknownBehind,
  withFurther,
  withNewest,
} from "../../../backend/web/memory/episode_pages.js";
import { beginningOf, sidesOf } from "../../../backend/web/memory/episode_text.js";

const page = (ids, next = null) => ({ episodes: [...ids].map((id) => ({ id })), next });
const ids = ({ episodes }) => episodes.map(({ id }) => id).join("");

test("a past conversation is parted by who said what", () => {
  assert.deepEqual(sidesOf("User: one\ntwo\nAssistant: three\nAssistant: four"), [
    { who: "You", text: "one\ntwo" },
    { who: "Assistant", text: "three\nAssistant: four" },
  ]);
});

test("a text of another form is shown whole", () => {
  assert.deepEqual(sidesOf("Assistant: alone"), [{ who: "", text: "Assistant: alone" }]);
});

test("what is shown is read anew, within what the server gives at once", () => {
  assert.deepEqual([NOTHING_LOADED, page("a".repeat(70)), page("a".repeat(900))].map(pageToReload), [50, 70, 200]);
});

test("new ones come before, and what lies further back stays", () => {
  const joined = withNewest(page("abcde", "e"), page("nabc", "c"));
  assert.deepEqual([ids(joined), joined.next], ["nabcde", "e"]);
});

test("what was deleted goes, and what its page has in its place is no news", () => {
  const before = page("abc", "c");
  const joined = withNewest(before, page("acd", "d"));
  assert.deepEqual([ids(joined), joined.next], ["acd", "d"]);
  assert.deepEqual(unknownBehind(before, joined), ["d"]);
});

test("where a whole page is new, what lies behind is asked for again", () => {
  const joined = withNewest(page("abc", "c"), page("xyz", "z"));
  assert.deepEqual([ids(joined), joined.next], ["xyz", "z"]);
});

test("when the newest page is all there is, nothing stays behind it", () => {
  const joined = withNewest(page("abcd", "d"), page("ab"));
  assert.deepEqual([ids(joined), joined.next], ["ab", null]);
});

test("a further page is joined behind, each once", () => {
  const joined = withFurther(page("ab", "b"), page("bcd", "d"));
  assert.deepEqual([ids(joined), joined.next], ["abcd", "d"]);
  assert.deepEqual(unknownBehind(page("ab"), joined), ["c", "d"]);
});

test("the first ones of an empty list are news", () => {
  assert.deepEqual(unknownBehind(NOTHING_LOADED, page("ab")), []);
});

const answer = (text) => beginningOf({ who: "Assistant", text });

test("a short answer is shown without its markup, which is seen in all of it", () => {
  const text = "## Bergen\n**Seven** [hills](https://hills.example), `rain` and *no* snake_case: 2 * 3 * 4";
  assert.deepEqual(answer(text), {
    text: "Bergen\nSeven hills, rain and no snake_case: 2 * 3 * 4",
    isCut: true,
  });
});

test("a short answer in plain words is all there is", () => {
  assert.deepEqual(answer("Bergen.\n\nIt has no snake_case: 2 * 3 * 4\n"), {
    text: "Bergen.\nIt has no snake_case: 2 * 3 * 4",
    isCut: false,
  });
});

for (const [what, hidden] of [
  ["an address", "[here](https://hills.example)"],
  ["an indented line", "    let a;"],
  ["what stands behind many empty lines", `Yes.${"\n".repeat(3_000)}But not today.`],
]) {
  test(`there is more to show where ${what} is not seen`, () => assert.equal(answer(hidden).isCut, true));
}

test("what a person said behind many empty lines is more to show", () => {
  assert.equal(beginningOf({ who: "You", text: `Yes.${"\n".repeat(3_000)}No.` }).isCut, true);
});

test("a long answer begins with its first lines", () => {
  assert.deepEqual(answer("one\n\n- two\n- three\n- four"), { text: "one\n• two\n• three …", isCut: true });
  const { text, isCut } = answer("word ".repeat(200));
  assert.ok(isCut && text.endsWith("…") && text.length <= 240, text);
});

test("a table or code has more to show than its words", () => {
  assert.deepEqual(answer("| a | b |\n| --- | ---: |\n| 1 | 2 |"), { text: "a · b\n1 · 2", isCut: true });
  assert.deepEqual(answer("```js\nlet a;\n```"), { text: "let a;", isCut: true });
});

test("what a person said is no Markdown", () => {
  const text = "**So** it | goes";
  assert.deepEqual(beginningOf({ who: "You", text }), { text, isCut: false });
});

test("something is shown of what is nothing but markup", () => {
  assert.equal(answer("***").text, "***");
});

for (const made of ["\n", "|", "- ", "*a ", "[", " ", "`", "-|"]) {
  test(`many times ${JSON.stringify(made)} is read in no time`, () => {
    const start = performance.now();
    answer(`y${made.repeat(60_000)}x`);
    assert.ok(performance.now() - start < 500);
  });
}
