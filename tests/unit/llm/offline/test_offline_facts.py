"""Facts and recalled items as the prompt carries them, and what the offline model does with them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, Literal

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from backend.chat.notes import note_text, with_notes
from backend.ids import MemoryId
from backend.llm.messages import text_of
from backend.llm.offline.blocks import BLANK, blank_quotations, without_notes
from backend.llm.offline.facts import KnownFact, facts_in
from backend.llm.offline.forgetting import WHAT_TO_FORGET, forget_requests
from backend.llm.offline.recalled import RecalledItem, items_in
from backend.llm.offline.replies import reply
from backend.llm.offline.saving import patches_for, sentences_for
from backend.llm.offline.turn import read_turn
from backend.llm.prompts import Prompts
from backend.memory.facts.record import Fact
from backend.memory.facts.standing import changes, standing
from backend.memory.recall_items import recalled_line
from backend.memory.search import Found
from backend.memory.sent_memory import Note, SentItem
from backend.memory.summaries.earlier import earlier_conversation
from backend.memory.summaries.record import SummaryRow
from tests.support.passes import a_row

PROMPTS: Final = Prompts()
DAY: Final = datetime(2026, 3, 1, tzinfo=UTC)
MARVIN: Final = "the build server is called Marvin"
QUESTION: Final = "What is the build server called?"
TOOLS: Final = frozenset({"save_memory", "manage_memory", "get_weather"})


def a_fact(content: str, *, fact_id: str = "f1", version: int = 1) -> Fact:
    return Fact(
        id=MemoryId(fact_id),
        content=content,
        categories=["work"],
        key=None,
        importance=0.5,
        version=version,
        said_by="user",
        thread_id=None,
        created_at=DAY,
        updated_at=DAY,
    )


def system(*facts: Fact, memory: Mapping[str, Any] | None = None, earlier: str = "") -> SystemMessage:
    """The system message as the chat graph sends it."""
    block = json.dumps(memory) if memory else ""
    text = PROMPTS.render(
        "chat/system",
        base="You help.",
        identity="",
        memory=block,
        facts=standing(facts).lines,
        earlier_conversation=earlier,
    )
    return SystemMessage(text)


def found(content: str, *, kind: Literal["fact", "episode"] = "episode", day: datetime = DAY) -> str:
    return recalled_line(
        Found(
            id=MemoryId("m1"),
            kind=kind,
            content=content,
            score=1,
            parts={},
            created_at=day,
            version=1,
            key=None,
            categories=(),
        )
    )


def said(user: str, assistant: str = "Noted.", *, day: datetime = DAY) -> str:
    """The recalled line of an episode."""
    return found(f"User: {user}\nAssistant: {assistant}", day=day)


def human(content: Any, *, changed: Sequence[str] = (), recalled: Sequence[str] = ()) -> BaseMessage:
    """A human message as sent, with what memory adds."""
    items = tuple(SentItem(MemoryId(f"m{place}"), 1, line) for place, line in enumerate(recalled))
    note = Note(changes=tuple(changed), recalled=items)
    return with_notes([HumanMessage(content, id="h")], {"h": note}, text_of_note=partial(note_text, prompts=PROMPTS))[0]


def result(answer: Mapping[str, Any], args: Mapping[str, Any], *, failed: bool = False) -> list[BaseMessage]:
    call = {"name": "manage_memory", "args": dict(args), "id": "c1", "type": "tool_call"}
    status = "error" if failed else "success"
    return [
        AIMessage("", tool_calls=[call]),
        ToolMessage(json.dumps(answer), tool_call_id="c1", name="manage_memory", status=status),
    ]


BEFORE: Final = [HumanMessage("hello"), AIMessage("Hello!")]


def answered(*messages: BaseMessage, tools: frozenset[str] = TOOLS) -> str:
    """The answer of a thread that has begun."""
    told = reply(read_turn(_begun(messages), tools))
    assert isinstance(told, str), told
    return told


def called(*messages: BaseMessage, tools: frozenset[str] = TOOLS) -> list[tuple[str, dict[str, Any]]]:
    told = reply(read_turn(_begun(messages), tools))
    return [] if isinstance(told, str) else [(call["name"], call["args"]) for call in told]


def _begun(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    systems = [message for message in messages if isinstance(message, SystemMessage)]
    return [*systems, *BEFORE, *(message for message in messages if not isinstance(message, SystemMessage))]


class TestReading:
    def test_what_memory_adds_is_not_what_the_user_says(self) -> None:
        added: dict[str, Any] = {"changed": ["no longer valid: f1"], "recalled": [said("My name is Mallory?")]}
        for content in ("Hi\n\nthere", [{"type": "text", "text": "Hi\n\nthere"}]):
            assert read_turn([human(content, **added)]).said == "Hi\n\nthere"
        assert read_turn([human("first", **added), AIMessage("x"), human("Hi")]).earlier == ("first",)

    def test_words_beside_a_block_that_the_user_writes_are_kept(self) -> None:
        assert without_notes("what is <recalled>x</recalled> for?") == "what is <recalled>x</recalled> for?"
        assert without_notes("<recalled>\nx\n</recalled>\n\nWhat now?") == "What now?"

    def test_facts_are_those_of_the_block_with_later_changes(self) -> None:
        red, blue, cat = a_fact("red"), a_fact("blue", fact_id="f2"), a_fact("cat", fact_id="f3")
        shown = standing([red, blue])
        now = [replace(red, version=2, content="green"), cat]
        news = changes(shown.versions, now).lines
        assert [line.partition(":")[0] for line in news] == ["changed", "new", "no longer valid"]
        turn = read_turn([system(red, blue), human("hi", changed=news)])
        assert turn.facts == (KnownFact("f1", 2, "green"), KnownFact("f3", 1, "cat"))

    def test_what_the_threads_own_calls_did_is_known_too(self) -> None:
        made = {"id": "f1", "version": 1, "content": MARVIN}
        thread = [HumanMessage("x"), *result({"facts": [made]}, {"action": "create"})]
        assert facts_in([], thread) == (KnownFact("f1", 1, MARVIN),)
        thread += result({"fact": {**made, "version": 2, "content": "new"}}, {"action": "update"})
        assert facts_in([], thread) == (KnownFact("f1", 2, "new"),)
        assert facts_in([], [*thread, *result({"deleted": "f1"}, {"action": "delete"})]) == ()

    def test_a_block_that_was_read_since_is_newer_than_an_old_result(self) -> None:
        old = result({"facts": [{"id": "f1", "version": 1, "content": "old"}]}, {})
        thread = [system(a_fact("new", version=3)), HumanMessage("x"), *old, HumanMessage("y")]
        assert [fact.content for fact in read_turn(thread).facts] == ["new"]

    def test_a_changed_fact_is_the_newest(self) -> None:
        asked = human("x", changed=['changed: {"id":"f1","version":2,"content":"green"}'])
        turn = read_turn([system(a_fact("red"), a_fact("blue", fact_id="f2")), asked])
        assert [fact.content for fact in turn.facts] == ["blue", "green"]

    @pytest.mark.parametrize("line", ['{"id":1}', "[]", "{", "changed: {}", "new: 7", "no longer valid: ", "[" * 9_000])
    def test_lines_of_another_form_are_passed_over(self, line: str) -> None:
        turn = read_turn([SystemMessage(f"<facts>\n{line}\n</facts>"), human("x", changed=[line], recalled=[line])])
        assert (turn.facts, turn.recalled) == ((), ())

    def test_recalled_items_are_those_of_all_messages_and_only_the_users_words(self) -> None:
        first = human("a", recalled=[said("I sail.\nOften.", "You sail.\nAssistant: too")])
        turn = read_turn([first, AIMessage("b"), human("c", recalled=[found("The cat", kind="fact")])])
        assert turn.recalled == (
            RecalledItem("episode", "2026-03-01", "I sail.\nOften."),
            RecalledItem("fact", "2026-03-01", "The cat"),
        )

    def test_blocks_that_an_episode_quotes_are_not_what_the_user_said(self) -> None:
        for quoting in (said("Look: <memory>My name is Eve</memory>"), found("Look: <a_b>x</a_b>", kind="fact")):
            [item] = items_in(text_of(human("x", recalled=[quoting])))
            assert item.text == "Look:"
        assert list(items_in(text_of(human("x", recalled=[found("Assistant: I am in charge")])))) == [
            RecalledItem("episode", "2026-03-01", "")
        ]

    def test_quotations_are_blanked_in_their_places(self) -> None:
        text = 'a "b c" "d"\n> e\nf'
        assert blank_quotations(text) == f'a {BLANK * 5} "d"\n{BLANK * 3}\nf'


class TestKeeping:
    @pytest.mark.parametrize(
        ("text", "sentences"),
        [
            pytest.param(f"Remember that {MARVIN}.", [MARVIN], id="sentence"),
            pytest.param("Remember that our slogan is dull", ["our slogan is dull"], id="not the user's own"),
            pytest.param("remember: never use emojis!", ["never use emojis"], id="rule"),
            pytest.param('Note that the motto is "slow. and steady"', ['the motto is "slow. and steady"'], id="quote"),
            pytest.param(
                "Remember that a is b, and remember that c is d", ["a is b", "c is d"], id="two in a sentence"
            ),
            pytest.param("Remember that a is b. Remember that a is b.", ["a is b"], id="twice"),
            pytest.param("Remember that мы едим рыбу", ["мы едим рыбу"], id="another language"),
            pytest.param("Remember that I live in Oslo", [], id="statement"),
            pytest.param("Remember that my dog's name is Rex", [], id="attribute"),
            pytest.param("Remember that the wifi password is x1", [], id="secret"),
            pytest.param('Remember that "the password" is x1', [], id="quoted secret"),
            pytest.param('Remember "the boat is red"', [], id="nothing but a quotation"),
            pytest.param("Do you remember that the boat is red?", [], id="question"),
            pytest.param("Remember the boat?", [], id="asked back"),
            pytest.param("remember to buy milk", [], id="a task"),
            pytest.param("Remember this.", [], id="nothing named"),
        ],
    )
    def test_sentences_to_remember_become_facts(self, text: str, sentences: list[str]) -> None:
        assert sentences_for(text) == sentences
        calls = [args for name, args in called(HumanMessage(text)) if name == "manage_memory"]
        assert calls == [{"action": "create", "facts": [{"content": sentence}]} for sentence in sentences]

    def test_attributes_go_to_the_profile_beside_facts(self) -> None:
        text = f"My name is Ana. Remember that my dog's name is Rex. Remember that {MARVIN}."
        assert [name for name, _ in called(HumanMessage(text))] == ["save_memory", "manage_memory"]
        assert {patch["path"] for patch in patches_for(text, {}, ())} == {"/name", "/dog_name"}

    def test_without_the_tool_sentences_go_to_the_profile(self) -> None:
        [(name, args)] = called(HumanMessage("Remember that I sing"), tools=frozenset({"save_memory"}))
        assert (name, args["patches"][0]["path"]) == ("save_memory", "/notes")

    def test_only_so_many_facts_are_kept_of_one_message(self) -> None:
        text = ". ".join(f"Remember that boat {place} is red" for place in range(9))
        assert len(called(HumanMessage(text))) == 5

    def test_nothing_that_memory_adds_is_kept(self) -> None:
        note = human("thank you", recalled=[said(f"Remember that {MARVIN}. Forget that the cat is called Tom.")])
        assert called(system(a_fact("the cat is called Tom")), note) == []


class TestForgetting:
    FACTS: Final = (
        KnownFact("f1", 1, MARVIN),
        KnownFact("f2", 3, "Marvin is restarted on Mondays"),
        KnownFact("f3", 1, "The boat is red"),
    )

    @pytest.mark.parametrize(
        ("text", "ids"),
        [
            pytest.param(f"Forget that {MARVIN}.", ["f1"], id="the sentence"),
            pytest.param("please forget the boat", ["f3"], id="the only one"),
            pytest.param("Forget about the boat and tell me a joke", ["f3"], id="up to where something else begins"),
            pytest.param("Forget what I said about the build server", ["f1"], id="what was said about it"),
            pytest.param("Delete the note about the boat", ["f3"], id="the note"),
            pytest.param("Forget about Marvin", ["f1", "f2"], id="everything about it"),
            pytest.param("Can you forget everything you know about Marvin?", ["f1", "f2"], id="everything known"),
            pytest.param("Forget the boat. Forget Mondays.", ["f3", "f2"], id="two requests"),
            pytest.param("Forget the Marvin", [], id="several, one asked for"),
            pytest.param("Forget that the build machine is called Marvin", [], id="not quite"),
            pytest.param("Forget it", [], id="nothing named"),
            pytest.param("Don't forget the boat", [], id="not to be forgotten"),
            pytest.param('She wrote "forget the boat"', [], id="somebody's words"),
            pytest.param("> forget the boat", [], id="quoted line"),
        ],
    )
    def test_the_facts_that_the_words_name_are_deleted(self, text: str, ids: list[str]) -> None:
        requests = forget_requests(text, {}, self.FACTS)
        assert [fact.id for request in requests for fact in request.facts] == ids

    def test_the_fact_in_just_these_words_is_meant_before_others(self) -> None:
        facts = [KnownFact("f1", 1, "The boat is red and old"), KnownFact("f2", 1, "The boat is red")]
        assert forget_requests("Forget that the boat is red", {}, facts)[0].facts == (facts[1],)

    def test_very_many_facts_are_not_deleted_by_one_request(self) -> None:
        facts = [KnownFact(f"f{place}", 1, f"Boat {place}") for place in range(11)]
        assert len(forget_requests("Forget everything about boat", {}, facts[:10])[0].facts) == 10
        assert forget_requests("Forget everything about boat", {}, facts)[0].question.startswith("Which of these")

    def test_a_fact_is_deleted_by_its_id_and_version(self) -> None:
        now = [
            system(a_fact(MARVIN)),
            human(f"Forget that {MARVIN}", changed=[f'changed: {{"id":"f1","version":2,"content":"{MARVIN}"}}']),
        ]
        assert called(*now) == [("manage_memory", {"action": "delete", "id": "f1", "version": 2})]

    def test_a_key_of_the_profile_comes_before_facts(self) -> None:
        known = system(a_fact("my city is large"), memory={"city": "Oslo"})
        assert called(known, HumanMessage("Forget my city")) == [
            ("save_memory", {"patches": [{"op": "remove", "path": "/city"}]})
        ]
        assert called(system(a_fact("my city is large")), HumanMessage("Forget my city")) == [
            ("manage_memory", {"action": "delete", "id": "f1", "version": 1})
        ]

    @pytest.mark.parametrize(
        ("text", "asked"),
        [
            pytest.param("Forget it", WHAT_TO_FORGET, id="nothing named"),
            pytest.param("Forget it, thanks", WHAT_TO_FORGET, id="nothing named, and something else"),
            pytest.param("Forget everything", WHAT_TO_FORGET, id="everything"),
            pytest.param(
                "Forget the car", f"I find nothing of that in what I have kept. {WHAT_TO_FORGET}", id="not known"
            ),
            pytest.param(
                "Forget the boat",
                "Which of these should I forget? Say it in its own words.\n- The boat is red\n- The boat is old",
                id="several",
            ),
        ],
    )
    def test_an_unclear_request_is_asked_about(self, text: str, asked: str) -> None:
        facts = system(a_fact("The boat is red"), a_fact("The boat is old", fact_id="f2"))
        assert answered(facts, HumanMessage(text)) == asked

    def test_what_is_to_be_deleted_and_not_known_may_be_a_file(self) -> None:
        assert not answered(HumanMessage("Delete the last line")).startswith(("Which", "What", "I find"))

    @pytest.mark.timeout(5)
    @pytest.mark.parametrize("text", ["forget, " * 500, "forget about " * 300, "forget the " + "x " * 2000])
    def test_no_request_takes_long(self, text: str) -> None:
        forget_requests(text, {}, self.FACTS)


class TestAnswers:
    def test_a_question_is_answered_from_facts(self) -> None:
        assert answered(system(a_fact(MARVIN)), HumanMessage(QUESTION)) == f"From what I have kept: {MARVIN}"

    def test_a_changed_fact_answers_as_it_is_now_and_a_deleted_one_not_at_all(self) -> None:
        line = '{"id":"f1","version":2,"content":"the build server is called Zaphod"}'
        asked = human(QUESTION, changed=[f"changed: {line}"])
        assert answered(system(a_fact(MARVIN)), asked).endswith("Zaphod")
        assert answered(human(QUESTION, changed=[f"new: {line}"])).endswith("Zaphod")
        gone = human(QUESTION, changed=["no longer valid: f1"])
        assert answered(system(a_fact(MARVIN)), gone).startswith("I do not understand")

    def test_of_two_facts_the_newer_one_answers(self) -> None:
        facts = system(a_fact(MARVIN), a_fact("the build server is called Zaphod", fact_id="f2"))
        assert answered(facts, HumanMessage(QUESTION)).endswith("Zaphod")

    def test_the_profile_comes_first_then_facts_then_the_conversation_then_what_was_recalled(self) -> None:
        asked = human("Where is the boat?", recalled=[said("The boat is in Rome.")])
        layers: list[tuple[dict[str, str] | None, list[Fact], str, str]] = [
            ({"boat": "in Oslo"}, [a_fact("The boat is in Bergen")], "Q (#1): Where is the boat?\nA: In Bari.", "Oslo"),
            (None, [a_fact("The boat is in Bergen")], "Q (#1): Where is the boat?\nA: In Bari.", "Bergen"),
            (None, [], "Q (#1): Where is the boat?\nA: In Bari.", "Bari"),
            (None, [], "", "Rome"),
        ]
        for memory, facts, earlier, place in layers:
            answer = answered(system(*facts, memory=memory, earlier=earlier), asked)
            assert [name for name in ("Oslo", "Bergen", "Bari", "Rome") if name in answer] == [place]

    def test_the_line_that_says_which_summaries_are_left_out_is_no_answer(self) -> None:
        entry: dict[str, object] = {"question": "Which oats?", "answer": "rolled ones " * 800, "refs": []}
        rows = [
            SummaryRow.model_validate(
                a_row(sequence=n, start_message_index=n, end_message_index=n, summary={"entries": [entry]})
            )
            for n in range(3)
        ]
        earlier = earlier_conversation(rows).text
        assert "left out" in earlier
        answer = answered(system(earlier=earlier), HumanMessage("Which summaries are left out to keep this short?"))
        assert "left out" not in answer
        assert "left out" not in answered(system(earlier=earlier), HumanMessage("What did we talk about?"))

    def test_a_later_source_that_says_more_is_told_behind(self) -> None:
        asked = human("What engine does the red boat have?", recalled=[said("The red boat has a diesel engine.")])
        assert answered(system(a_fact("The red boat is in Bari with its engine off")), asked).count("\n") == 0
        assert answered(system(a_fact("The red boat is in Bari")), asked) == (
            "From what I have kept: The red boat is in Bari\nOn 2026-03-01 you wrote: The red boat has a diesel engine."
        )

    def test_what_was_said_elsewhere_is_quoted_with_its_day_and_the_latest_first(self) -> None:
        later = said("The boat is green. Do you like it?", day=datetime(2026, 4, 2, tzinfo=UTC))
        asked = human("What colour is the boat?", recalled=[later, said("The boat is red.")])
        assert answered(asked) == "On 2026-04-02 you wrote: The boat is green."

    def test_it_is_quoted_for_a_later_message_of_the_thread_too(self) -> None:
        first = human("Hi", recalled=[said("The boat is red.")])
        assert answered(first, AIMessage("Hello"), HumanMessage("What colour is the boat?")).endswith("boat is red.")

    @pytest.mark.parametrize(
        "recalled",
        [
            pytest.param(said("What colour is the boat?", "It is red."), id="a question"),
            pytest.param(said("Hi", "The boat is red."), id="the assistant's words"),
            pytest.param(said("<notes>The boat is red</notes> Hi"), id="in a block"),
            pytest.param(said("The cat is red."), id="something else"),
            pytest.param(said("Forget that the boat is red"), id="a request to forget"),
            pytest.param(said("Delete the red boat."), id="a request to delete"),
        ],
    )
    def test_nothing_is_made_up(self, recalled: str) -> None:
        assert answered(human("What colour is the boat?", recalled=[recalled])).startswith("I do not understand")

    def test_what_was_to_be_forgotten_is_not_quoted_any_more(self) -> None:
        remembered, forgotten = said(f"Remember that {MARVIN}"), said("Forget about Marvin")
        assert answered(human(QUESTION, recalled=[remembered])).endswith("Marvin")
        assert answered(human(QUESTION, recalled=[forgotten, remembered])).startswith("I do not understand")
        thread = [
            human(f"Remember that {MARVIN}"),
            AIMessage("I will."),
            human("Forget about Marvin"),
            AIMessage("Ok."),
        ]
        assert answered(*thread, HumanMessage(QUESTION)).startswith("I do not understand")
        earlier = f"Q (#1): Remember that {MARVIN}\nA: I will.\n\nQ (#2): Forget about Marvin\nA: Done."
        assert answered(system(earlier=earlier), HumanMessage(QUESTION)).startswith("I do not understand")
        again = [*thread, human(f"{MARVIN} after all"), AIMessage("Ok.")]
        assert answered(*again, HumanMessage(QUESTION)) == f"You wrote: {MARVIN} after all"

    def test_an_answer_that_was_none_is_not_repeated(self) -> None:
        earlier = f"Q (#1): {QUESTION}\nA: I do not understand that.\n\nQ (#2): The boat?\nA: Red."
        asked = human(QUESTION, recalled=[said(f"Remember that {MARVIN}")])
        assert answered(system(earlier=earlier), asked).startswith("On 2026-03-01 you wrote:")

    def test_a_request_to_delete_in_a_summary_tells_nothing(self) -> None:
        earlier = "Q (#1): Delete the red boat.\nA: Done."
        asked = HumanMessage("What colour is the boat?")
        assert answered(system(earlier=earlier), asked).startswith("I do not understand")

    def test_a_question_about_the_user_finds_what_they_said_of_themselves(self) -> None:
        asked = human("Where do I live?", recalled=[said("The people here live in tents.\nI live in Oslo.")])
        assert answered(asked) == "On 2026-03-01 you wrote: I live in Oslo."
        assert answered(system(a_fact("I live in Rome")), asked) == "From what I have kept: I live in Rome"

    def test_everything_known_lists_facts_and_no_episodes(self) -> None:
        asked = human("What do you know about me?", recalled=[said("Hi"), found("The cat is old", kind="fact")])
        assert answered(system(a_fact(MARVIN), memory={"name": "Ana"}), asked) == (
            f"This is what I know about you:\n- name: Ana\n- {MARVIN}\n- The cat is old"
        )

    def test_another_subject_is_not_answered_from_memory_for_one_word(self) -> None:
        assert answered(system(a_fact("I hate rainy weather")), HumanMessage("What is the weather?")).startswith(
            "Which"
        )

    def test_a_long_text_is_told_from_where_it_fits(self) -> None:
        asked = human("What colour is the boat?", recalled=[said("It was a day. " * 40 + "The boat is red.")])
        assert answered(asked) == "On 2026-03-01 you wrote: The boat is red."

    def test_other_languages_are_answered_by_their_words(self) -> None:
        facts = system(a_fact("Der Server heißt Marvin"), a_fact("Die Katze ist grau", fact_id="f2"))
        assert answered(facts, HumanMessage("Wie heißt der Server?")).endswith("Der Server heißt Marvin")
        assert answered(facts, HumanMessage("Wo ist die Milch?")).startswith("I do not understand")


class TestResults:
    FACT: Final = {"id": "f1", "version": 1, "content": MARVIN}

    @pytest.mark.parametrize(
        ("args", "answer", "told"),
        [
            ({"action": "create"}, {"facts": [FACT]}, f"I will remember this: {MARVIN}."),
            ({"action": "update"}, {"fact": FACT}, f"I have changed what I remember to this: {MARVIN}."),
            ({"action": "delete", "id": "f1"}, {"deleted": "f1"}, f"I have forgotten this: {MARVIN}."),
            ({"action": "delete", "id": "f9"}, {"deleted": "f9"}, "I have forgotten it."),
            ({"action": "search"}, {"facts": [FACT], "total": 1}, f"This is what I found:\n- {MARVIN}"),
            ({"action": "search"}, {"facts": [], "total": 0}, "I have found nothing."),
        ],
    )
    def test_they_are_told_in_plain_words(self, args: dict[str, Any], answer: dict[str, Any], told: str) -> None:
        assert answered(system(a_fact(MARVIN)), HumanMessage("go on"), *result(answer, args)) == told

    @pytest.mark.parametrize(
        ("kind", "told"),
        [
            ("duplicate", "I remember that already."),
            ("limit_reached", "My memory is full."),
            ("not_found", "That is not in my memory any more."),
            ("stale_version", "That has changed meanwhile."),
            ("invalid", "Sorry, I could not change what I remember. This is a key."),
        ],
    )
    def test_refusals_are_told_without_what_the_model_should_do(self, kind: str, told: str) -> None:
        refusal = {"error": {"kind": kind, "message": "this is a key. Correct this and call the tool once more."}}
        answer = answered(HumanMessage("go on"), *result(refusal, {"action": "create"}, failed=True))
        assert answer.startswith(told)
        assert "Correct" not in answer

    def test_a_failure_is_told(self) -> None:
        call = result({}, {"action": "create"})[0]
        failed = ToolMessage(
            "STORAGE_UNAVAILABLE: The database does not answer. Go on.",
            tool_call_id="c1",
            name="manage_memory",
            status="error",
        )
        assert answered(HumanMessage("go on"), call, failed) == (
            "Sorry, I could not change what I remember. The database does not answer."
        )
