import assert from "node:assert/strict";
import { test } from "node:test";
import {
  NOTHING_LOADED,
  pageToReload,
  unknownBehind,
  withFurther,
  withNewest,
} from "../../../backend/web/memory/episode_pages.js";
import { sidesOf } from "../../../backend/web/memory/episode_text.js";

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
