"""Requests to our own API: as its description says they should be, as it says they should not, and with real ids."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import httpx
import schemathesis
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from backend.app import build
from backend.bootstrap import assemble
from backend.settings import Settings
from backend.storage.database import Database
from tests.fuzz.hostile import texts
from tests.fuzz.older_draws import allow_more

STREAMS: Final = "/api/memory/events"
"""Answers without end, so it is asked for in tests of its own."""
CHECKS: Final[Sequence[Any]] = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)


def description() -> dict[str, Any]:
    """Our OpenAPI, without the stream."""
    settings: dict[str, Any] = {"database_url": "postgresql://127.0.0.1:1/nowhere"}
    chosen = Settings(**settings)
    described = build(assemble(chosen, database=Database(chosen))).openapi()
    return {**described, "paths": {path: at for path, at in described["paths"].items() if path != STREAMS}}


def operations(described: Mapping[str, Any]) -> dict[str, Any]:
    """Each operation by its label, such as `GET /api/memory/facts`."""
    allow_more()
    schema = schemathesis.openapi.from_dict(dict(described))
    every: Any = schema
    results: list[Any] = list(every.get_all_operations())
    return {result.ok().label: result.ok() for result in results}


@dataclass(frozen=True)
class Named:
    """An id in a path: whose it is, and how it is spelled."""

    whose: str
    spelled: Callable[[str], str]


SPELLINGS: Final[Sequence[Callable[[str], str]]] = (
    str,
    str,
    str,
    str,
    str.upper,
    lambda text: text.replace("-", ""),
    lambda text: f" {text}",
    lambda text: f"{{{text}}}",
    lambda text: f"{text}\0",
)


@dataclass(frozen=True)
class Planned:
    """A request, and which of the ids in its path are to be ones that somebody has."""

    case: Case
    ids: Mapping[str, Named | str]

    def with_ids(self, known: Mapping[str, Mapping[str, str]]) -> Case:
        """The request, with the ids of `known[whose][parameter]`."""
        path = dict(self.case.path_parameters or {})
        for name in path.keys() & self.ids.keys():
            wanted = self.ids[name]
            text = wanted if isinstance(wanted, str) else wanted.spelled(known[wanted.whose][name])
            path[name] = quote(text.encode("utf-8", "replace"), safe="") or "%20"
        self.case.path_parameters = path
        return self.case


def planned(operation: Any, *, whose: Sequence[str]) -> st.SearchStrategy[Planned]:
    """Good and bad requests; an id in the path is mostly one that somebody has, a version one that is kept."""
    made: st.SearchStrategy[Case] = st.one_of(
        operation.as_strategy(generation_mode=GenerationMode.POSITIVE),
        operation.as_strategy(generation_mode=GenerationMode.NEGATIVE),
    )
    named = st.builds(Named, st.sampled_from(whose), st.sampled_from(SPELLINGS))
    id_ = st.one_of(named, named, named, texts, st.just(None))
    ids = st.fixed_dictionaries({parameter.name: id_ for parameter in operation.path_parameters})
    return st.builds(_planned, made, ids, st.sampled_from([None, 1, 1]))


def _planned(case: Case, ids: Mapping[str, Named | str | None], version: int | None) -> Planned:
    parts: list[Any] = [case.query, case.body]
    for part in parts:
        if version is not None and isinstance(part, dict) and "version" in part:
            part["version"] = version
    return Planned(case, {name: wanted for name, wanted in ids.items() if wanted is not None})


async def answer(client: httpx.AsyncClient, case: Case) -> httpx.Response | None:
    """What the app says in the end, as a browser reads it; None for a request that no HTTP client sends."""
    sent = case.as_transport_kwargs(base_url="http://127.0.0.1")
    sent.pop("allow_redirects", None)
    if isinstance(sent.get("data"), str | bytes):
        sent["content"] = sent.pop("data")
    try:
        request = client.build_request(**{name: value for name, value in sent.items() if value is not None})
    except (UnicodeError, httpx.InvalidURL, ValueError, TypeError):
        return None
    return await client.send(request, follow_redirects=True)


def judge(case: Case, response: httpx.Response) -> None:
    """Raises what the answer has against its description."""
    case.validate_response(response, checks=list(CHECKS))
