"""`manage_memory`: the model keeps, changes, finds and, when the user asks for it, deletes facts (S0, S4)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Self, assert_never, cast

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt import ToolRuntime
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from backend.accounts.run_context import ReadContext
from backend.errors import CallerError, Duplicate, InvalidInput, LimitReached, MissingUserId, NotFound, StaleVersion
from backend.ids import Json, MemoryId, ThreadId
from backend.llm.content import parts_of
from backend.llm.messages import human_positions
from backend.llm.strict_schema import strict_schema
from backend.memory.facts.dedupe import folded
from backend.memory.facts.limits import MAX_IN_ONE_CALL
from backend.memory.facts.record import Fact, FactChanges, FactDraft, Origin
from backend.memory.recall_items import FACT_TOOL
from backend.memory.redaction import guard_json
from backend.memory.user_memory import MemoryOf, UserMemory
from backend.tools.deletion_request import asks_to_forget

NAME: Final = FACT_TOOL
MAX_FOUND: Final = 10
MAX_RANKED: Final = 30
MAX_PROBLEMS: Final = 5
DESCRIPTION: Final = (
    "Keep, change, find or delete facts: single sentences that will still matter in weeks, such as rules for how to "
    "answer, preferences, decisions and plans of the user. Attributes of the person, such as name, city or job, belong "
    "to `save_memory` instead. Never keep a short-lived request, a password or other secret, or what a tool returned. "
    "`create` keeps new facts; `update` changes one and `delete` deletes one, by the id and version that `search` and "
    "earlier results give. Prefer `update` to a second fact that contradicts the first. Delete only when the user asks "
    "for it in their newest message. Arguments that an action does not need are null."
)
NEXT_STEPS: Final[Mapping[type[CallerError], str]] = {
    InvalidInput: "Correct this and call the tool once more, or answer without it.",
    Duplicate: "Go on without saving it again.",
    LimitReached: "Tell the user that memory is full and ask what may go, or shorten a fact with update.",
    NotFound: "Find it with search and repeat with the id and version given there.",
    StaleVersion: "Find it with search and repeat with the version given there.",
}
NOT_ASKED_FOR: Final = (
    "facts are deleted only when the user asks for it in their newest message. Keep it for now, and tell the user that "
    "they can ask you to forget it, or delete it themselves on the memory page"
)

Action = Literal["create", "update", "delete", "search"]


class NewFact(BaseModel):
    """A fact as the schema shows it; it is read as a `FactDraft`."""

    content: str = Field(description="One sentence that can be understood on its own, in the user's language")
    categories: list[str] = Field(description="0 to 3 short topics, such as food or work")
    key: str | None = Field(
        description="A stable name, such as ui.theme, for what has one value at a time: saving under it again replaces "
        "the value. Otherwise null"
    )
    importance: float | None = Field(description="0 to 1; null for an ordinary one")


class ManageMemorySchema(BaseModel):
    """What a model is shown: one flat object, because strict providers take no union at the root."""

    action: Action
    facts: list[NewFact] | None = Field(description=f"For create: 1 to {MAX_IN_ONE_CALL} facts")
    id: str | None = Field(description="For update and delete: the fact's id")
    version: int | None = Field(description="For update and delete: the version in which you know the fact")
    content: str | None = Field(description="For update: the whole new sentence; null leaves it")
    categories: list[str] | None = Field(description="For update: all categories; null leaves them")
    key: str | None = Field(description="For update: the new key; null leaves it")
    importance: float | None = Field(description="For update: the new importance; null leaves it")
    query: str | None = Field(description=f"For search: words to look for; at most {MAX_FOUND} facts are found")


class _Arguments(BaseModel):
    """The arguments of one action; those of the others are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Create(_Arguments):
    facts: list[FactDraft]


class Update(_Arguments):
    id: str
    version: int
    content: str | None = None
    categories: list[str] | None = None
    key: str | None = None
    importance: float | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if not self.changes.model_dump(exclude_none=True):
            raise ValueError("name what changes: content, categories, key or importance")
        return self

    @property
    def changes(self) -> FactChanges:
        return FactChanges.model_validate(self.model_dump(include=set(FactChanges.model_fields), exclude_none=True))


class Delete(_Arguments):
    id: str
    version: int


class Search(_Arguments):
    query: str = Field(pattern=r"\S")


ARGUMENTS: Final[Mapping[object, type[Create | Update | Delete | Search]]] = {
    "create": Create,
    "update": Update,
    "delete": Delete,
    "search": Search,
}
NEEDED: Final[Mapping[object, str]] = {
    "create": f"facts, 1 to {MAX_IN_ONE_CALL} of {{content, categories, key, importance}}",
    "update": "id, version, and what changes of content, categories, key, importance",
    "delete": "id and version",
    "search": "query, with words to look for",
}


def make_manage_memory_tool(*, memory_of: MemoryOf, read_context: ReadContext) -> BaseTool:
    """The tool `manage_memory(action, ...)`; its result is JSON text.

    `{facts}` of create, `{fact}` of update, `{deleted: id}`, `{facts, total}` of search; a fact is `{id, version,
    content, categories, key}`. What cannot be done is a result too, in a message of status `error`: `{error: {kind,
    message}}` of kind `invalid`, `duplicate`, `limit_reached`, `not_found` or `stale_version`, with what to do next.

    Raises (when it runs): MissingUserId, StorageUnavailable.
    """

    async def manage_memory(runtime: ToolRuntime[Any, Any], **arguments: object) -> ToolMessage:
        context = read_context(runtime.config)
        memory = memory_of(context.user_id, runtime.store)
        if memory is None:
            raise MissingUserId
        messages: Sequence[BaseMessage] = runtime.state["messages"]
        try:
            result = await _carried_out(
                parsed(arguments), memory, said=said_now(messages), origin=origin_of(messages, context.thread_id)
            )
        except (InvalidInput, NotFound, Duplicate, LimitReached, StaleVersion) as error:
            return _result(runtime, error_json(error), status="error")
        return _result(runtime, result, status="success")

    # The schema is a plain document, so that arguments arrive here unread, and whatever is wrong with them ends in a
    # result of the form above.
    return StructuredTool.from_function(
        coroutine=manage_memory, name=NAME, description=DESCRIPTION, args_schema=strict_schema(ManageMemorySchema)
    )


def _result(
    runtime: ToolRuntime[Any, Any], result: Mapping[str, Json], *, status: Literal["success", "error"]
) -> ToolMessage:
    return ToolMessage(guard_json(result), tool_call_id=runtime.tool_call_id or "", name=NAME, status=status)


async def _carried_out(
    asked: Create | Update | Delete | Search, memory: UserMemory, *, said: str, origin: Origin
) -> dict[str, Json]:
    match asked:
        case Create():
            return {"facts": [fact_json(fact) for fact in await memory.facts.create(asked.facts, origin=origin)]}
        case Update():
            fact_id = _fact_id(asked.id)
            changed = await memory.facts.change(fact_id, asked.changes, version=asked.version, origin=origin)
            return {"fact": fact_json(changed)}
        case Delete():
            if not asks_to_forget(said):
                raise InvalidInput(NOT_ASKED_FOR)
            await memory.facts.delete(_fact_id(asked.id), version=asked.version)
            return {"deleted": _fact_id(asked.id)}
        case Search():
            found = await _found(memory, asked.query)
            return {"facts": [fact_json(fact) for fact in found[:MAX_FOUND]], "total": len(found)}
        case _:
            assert_never(asked)


async def _found(memory: UserMemory, query: str) -> Sequence[Fact]:
    """What recall ranks first, then what holds words of the query, in its key or categories perhaps."""
    facts = await memory.facts.all()
    by_id = {fact.id: fact for fact in facts}
    ranked = [
        by_id[one.id] for one in await memory.search.find(query, limit=MAX_RANKED, kinds=["fact"]) if one.id in by_id
    ]
    return [*ranked, *(fact for fact in matching(facts, query) if fact not in ranked)]


def matching(facts: Sequence[Fact], query: str) -> Sequence[Fact]:
    """The facts that hold words of the query, those with the most of them first, in the order given otherwise."""
    words = set(folded(query).split())
    hits = [(sum(word in _searchable(fact) for word in words), fact) for fact in facts]
    return [fact for count, fact in sorted(hits, key=lambda hit: -hit[0]) if count]


def _searchable(fact: Fact) -> str:
    return folded(" ".join([fact.content, *fact.categories, fact.key or ""]))


def parsed(arguments: Mapping[str, object]) -> Create | Update | Delete | Search:
    """What the model asks for. Null counts as left out, and one category need not be a list.

    Raises:
        InvalidInput: what is missing or wrong, and what this action needs.
    """
    action = arguments.get("action")
    if not isinstance(action, str) or action not in ARGUMENTS:
        raise InvalidInput(f"action must be one of {', '.join(map(str, ARGUMENTS))}")
    try:
        return ARGUMENTS[action].model_validate(_given(arguments))
    except ValidationError as error:
        raise InvalidInput(f"{_problems(error)}; {action} needs {NEEDED[action]}") from None


def _given(value: object) -> object:
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value)
        kept = {key: _given(member) for key, member in members.items() if member is not None}
        if isinstance(kept.get("categories"), str):
            kept["categories"] = [kept["categories"]]
        return kept
    return [_given(item) for item in cast("list[object]", value)] if isinstance(value, list) else value


def _problems(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False)[:MAX_PROBLEMS]
    return "; ".join(
        f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg'].removeprefix('Value error, ')}" for one in found
    )


def _fact_id(text: str) -> MemoryId:
    return MemoryId(text.strip().lower())


def said_now(messages: Sequence[BaseMessage]) -> str:
    """The words of the current turn's human message, without the names of files that came with it."""
    positions = human_positions(messages)
    parts = parts_of(messages[positions[-1]].content) if positions else []
    return "\n".join(text for spoken, text in parts if spoken)


def origin_of(messages: Sequence[BaseMessage], thread_id: ThreadId | None) -> Origin:
    """The model says it, in the current turn of this thread."""
    positions = human_positions(messages)
    message_id = messages[positions[-1]].id if positions else None
    return Origin(
        said_by="assistant",
        thread_id=thread_id,
        turn=len(positions) - 1 if positions else None,
        message_ids=(message_id,) if message_id else (),
    )


def fact_json(fact: Fact) -> dict[str, Json]:
    return {
        "id": fact.id,
        "version": fact.version,
        "content": fact.content,
        "categories": list(fact.categories),
        "key": fact.key,
    }


def error_json(error: CallerError) -> dict[str, Json]:
    """`{error: {kind, message}}`; the message says what is wrong, and then what to do next."""
    return {"error": {"kind": error.code, "message": f"{error.message.rstrip('.')}. {NEXT_STEPS[type(error)]}"}}
