import time
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backend.chat.reply_filter import ReplyFilter, blocks_in, without_blocks
from backend.memory.redaction import BLOCK_NAMES

PROFILE = '{"name":"Ana","city":"Oslo"}'
BLOCK = f"<memory>\n{PROFILE}\n</memory>"
MAX_HELD = 500
"""No tag of ours is longer, with all that may be written into it."""

PARTS = st.sampled_from(
    [
        "<memory>", "</memory>", "<facts>", "</facts>", "<MEMORY a='1'>", "< / fact changes >", "＜recalled＞",
        "<memory/>", "<mem", "ory>", "<", ">", "</", "<b>", "<memory_usage>", "<memory and b> c", "a < b", "\u200b",
        "`", "``", "```", "~~~", "```xml", "\n", "\n\n", " ", "  ", "\t", "word", PROFILE, '{"name":', "-", "日本",
        "\r\n", "=", "\u00a0", "x" * 50,
    ]
)  # fmt: skip
ANSWERS = st.lists(PARTS, max_size=25).map("".join)


def piece_by_piece(answer: str, cuts: list[int], sent: tuple[str, ...] = ()) -> str:
    reply = ReplyFilter(sent)
    edges = sorted({0, len(answer), *(cut % (len(answer) + 1) for cut in cuts)})
    shown = [reply.feed(answer[start:end]) for start, end in pairwise(edges)]
    return "".join(shown) + reply.finish()


class TestBlocks:
    @pytest.mark.parametrize("name", BLOCK_NAMES)
    @pytest.mark.parametrize(
        ("opening", "closing"),
        [
            pytest.param("<{}>", "</{}>", id="as in prompts"),
            pytest.param("< {} >", "< / {} >", id="spaces"),
            pytest.param("<{} kind='all'>", "</{}\n>", id="attributes"),
            pytest.param("＜{}＞", "＜／{}＞", id="full width"),
            pytest.param("<\u200b{}\u200b>", "<\u200b/{}>", id="invisible"),
        ],
    )
    def test_a_block_is_removed_with_its_content(self, name: str, opening: str, closing: str) -> None:
        for spelled in (name, name.upper(), name.replace("_", "-"), name[0] + "\u200d" + name[1:]):
            block = f"{opening.format(spelled)}\n{PROFILE}\n{closing.format(spelled)}"
            assert without_blocks(f"Hello.\n\n{block}\n\nBye.") == "Hello.\n\nBye."
            assert without_blocks(f"Hello {block} there") == "Hello  there"

    @pytest.mark.parametrize(
        ("answer", "shown"),
        [
            pytest.param(f"{BLOCK}\n\nHello", "Hello", id="at the beginning"),
            pytest.param(f"Hello\n{BLOCK}", "Hello\n", id="at the end"),
            pytest.param(f"One.\n{BLOCK}\n\nTwo.", "One.\n\nTwo.", id="between paragraphs"),
            pytest.param(f"One.\n{BLOCK}\nTwo.", "One.\nTwo.", id="between lines"),
            pytest.param(f"One.\n\n{BLOCK}\n\n\n    code", "One.\n\n    code", id="indentation behind it"),
            pytest.param(f"{BLOCK}\n\n{BLOCK}\nHello {BLOCK}", "Hello ", id="repeated"),
            pytest.param("<memory>a<memory>b</memory>c</memory>d", "d", id="nested"),
            pytest.param("so <memory>a<memory>b</memory>c</memory>d", "so d", id="nested in a line"),
            pytest.param("<memory>\n<facts>\nb\n</facts>\nc\n</memory>\nd", "d", id="another in it"),
            pytest.param("<memory/>\nHello <facts /> there", "Hello  there", id="empty tags"),
            pytest.param("</memory>\nHello</facts> there", "Hello there", id="closing tags that close nothing"),
            pytest.param(f"Hello\n  {BLOCK}\nBye", "Hello\n  Bye", id="indented"),
            pytest.param(BLOCK, "", id="nothing else"),
        ],
    )
    def test_what_is_left(self, answer: str, shown: str) -> None:
        assert without_blocks(answer) == shown

    @pytest.mark.parametrize(
        ("answer", "shown"),
        [
            pytest.param(f"Hello\n<memory>\n{PROFILE}", "Hello\n", id="at the beginning of a line"),
            pytest.param(f"Hello\n  <memory>{PROFILE}\n\nand on", "Hello\n  ", id="indented"),
            pytest.param("The <memory> tag is ours.\n\nSo.", "The <memory> tag is ours.\n\nSo.", id="in a line"),
            pytest.param(
                "Either <memory> or <facts>, a < b", "Either <memory> or <facts>, a < b", id="several in a line"
            ),
            pytest.param(
                f"The <memory> tag.\n\n{BLOCK}\nSo.", "The <memory> tag.\n\nSo.", id="spoken of and then repeated"
            ),
            pytest.param(
                f"The <memory> tag, <facts>x</facts> and\n{BLOCK}\nSo.",
                "The <memory> tag,  and\nSo.",
                id="among others",
            ),
            pytest.param("<memory> a <memory", "", id="cut off"),
        ],
    )
    def test_a_block_that_is_not_closed_ends_the_answer_only_where_it_begins_a_line(
        self, answer: str, shown: str
    ) -> None:
        assert without_blocks(answer) == shown


class TestEverythingElse:
    @pytest.mark.parametrize(
        "answer",
        [
            "a < b and c > d", "if x <memory and y> z:", "List<int> and Map<String, List<Memory2>>", "<b>bold</b><br/>",
            "<memories>", "<memory_usage>5</memory_usage>", "<memory-card>", "<memory:x>", "<memory.x>", "I <3 memory",
            "x<y", "<<<<", "ends in <", "ends in </", "ends in <fact_chan", "<memory", "<>", "a <\n b", "&lt;memory>",
            "", "\n\n  \n", "日本 ＜b＞",
        ],
        ids=repr,
    )  # fmt: skip
    def test_other_tags_comparisons_and_beginnings_stay_byte_for_byte(self, answer: str) -> None:
        assert without_blocks(answer) == answer

    @given(st.text(st.characters(exclude_characters="<＜﹤")))
    def test_text_without_a_bracket_goes_out_at_once(self, answer: str) -> None:
        reply = ReplyFilter()
        assert reply.feed(answer) == answer
        assert reply.finish() == ""


class TestCode:
    @pytest.mark.parametrize(
        "answer",
        [
            pytest.param("The `<memory>` and `</memory>` tags, or ``<facts>``.", id="spans"),
            pytest.param("Write `<memory>1</memory>` there.", id="element in a span"),
            pytest.param("```xml\n<memory unit='KiB'>512</memory>\n```\nThat is it.", id="fence"),
            pytest.param("```xml\n<transcript>\n  <text>Hi</text>\n</transcript>\n```\n", id="document in a fence"),
            pytest.param("~~~~\n```\n<facts>\n~~~\n<memory>\n~~~~\nDone.", id="fence in a fence, not closed"),
            pytest.param("1. Like this:\n   ```\n   <memory>\n   ```\n", id="fence in a list"),
            pytest.param("```\n<memory>", id="not finished"),
        ],
    )
    def test_in_code_the_users_own_elements_stay(self, answer: str) -> None:
        assert without_blocks(answer, [PROFILE]) == answer

    @pytest.mark.parametrize(
        ("answer", "shown"),
        [
            pytest.param(f"See:\n```\n{BLOCK}\n```\nDone.", "See:\n```\n```\nDone.", id="fence"),
            pytest.param(f"It is `<memory>{PROFILE}</memory>`, see?", "It is ``, see?", id="span"),
            pytest.param(
                '```json\n<memory>\n{\n  "name": "Ana",\n  "city": "Oslo"\n}\n</memory>\n```',
                "```json\n```",
                id="pretty-printed",
            ),
        ],
    )
    def test_in_code_a_block_that_begins_as_the_prompts_does_is_removed(self, answer: str, shown: str) -> None:
        assert without_blocks(answer, [PROFILE]) == shown

    def test_behind_code_it_is_prose_again(self) -> None:
        assert without_blocks(f"```\nx\n```\n{BLOCK}\n`y` <facts>z</facts>!") == "```\nx\n```\n`y` !"
        assert without_blocks(f"an odd ` here\n{BLOCK}\nend") == "an odd ` here\nend"

    def test_the_blocks_of_a_prompt_are_known_by_name_and_beginning(self) -> None:
        prompt = f"Data:\n\n{BLOCK}\n\n<facts>\n- likes tea\n</facts>\nthe <memory> tag\n<other>\nx\n</other>"
        assert list(blocks_in(prompt)) == [("memory", PROFILE), ("facts", "- likes tea")]


class TestStream:
    @given(ANSWERS, st.lists(st.integers(0, 2000), max_size=12))
    @example("the <memory> tag `</memory>` <facts>\n<memory>x</memory>", [5, 9, 30])
    def test_where_the_chunks_are_cut_makes_no_difference(self, answer: str, cuts: list[int]) -> None:
        whole = without_blocks(answer, [PROFILE])
        assert piece_by_piece(answer, cuts, (PROFILE,)) == whole
        assert piece_by_piece(answer, list(range(len(answer))), (PROFILE,)) == whole

    @given(ANSWERS)
    def test_an_answer_without_our_names_stays(self, answer: str) -> None:
        plain = answer.replace("mem", "mim").replace("MEM", "MIM").replace("fact", "fict").replace("recall", "ricall")
        assert without_blocks(plain) == plain

    def test_text_before_a_bracket_is_not_held_and_what_is_no_tag_goes_on_at_once(self) -> None:
        reply = ReplyFilter()
        shown = [reply.feed(piece) for piece in ("Hello ", "x <", "m", "e", "d", "ia> y", " <", "3", " <b")]
        assert shown == ["Hello ", "x ", "", "", "<med", "ia> y", " ", "<3", " <b"]
        assert reply.finish() == ""

    @pytest.mark.parametrize(
        "endless",
        [
            pytest.param("x <memory" + " a" * 2000, id="attributes"),
            pytest.param("x <" + " " * 2000, id="spaces"),
            pytest.param("x <m" + "\u200b" * 2000, id="invisible"),
        ],
    )
    def test_what_may_become_a_tag_is_held_only_so_long(self, endless: str) -> None:
        reply, held, longest = ReplyFilter(), 0, 0
        for character in endless:
            held += 1 - len(reply.feed(character))
            longest = max(longest, held)
        assert longest < MAX_HELD
        assert held == 0

    def test_behind_a_tag_in_code_the_text_is_held_only_until_it_differs_from_the_prompts(self) -> None:
        reply = ReplyFilter([PROFILE])
        shown = [reply.feed(piece) for piece in ("`<memory>", '{"na', 'me":"', "Bob", '"}`')]
        assert shown == ["`", "", "", '<memory>{"name":"Bob', '"}`']


@pytest.mark.parametrize(
    "unit",
    ["word ", "<", "<memory ", "x <memory> ", "x <memory> <facts> y</memory>", "`", "< ", "x\n", "<memory>", "\n"],
)
def test_time_grows_with_the_length_of_the_text_and_no_faster(unit: str) -> None:
    def seconds(count: int) -> float:
        start = time.process_time()
        without_blocks(unit * count, [PROFILE])
        return time.process_time() - start

    seconds(100)
    assert seconds(16_000) < 0.1 + 16 * 3 * max(seconds(1_000), 0.002)
