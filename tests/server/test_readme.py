"""The README is true: its conversation happens as printed, and its picture has the graphs' nodes."""

import re
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from langgraph.pregel import Pregel

from backend import agent, background_agent
from tests.support.langgraph_server import REPOSITORY, environment, running_server
from tests.support.product import PRODUCT

pytestmark = [pytest.mark.anyio, pytest.mark.server]

README = (REPOSITORY / "README.md").read_text()
PROMPT = "you> "


def block_after(heading: str) -> list[str]:
    """The lines of the first fenced block under a heading."""
    section = README.split(f"\n## {heading}\n", 1)[1]
    found = re.search(r"^```\w*\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    assert found, heading
    return found[1].splitlines()


async def test_the_first_conversation_works_as_printed(tmp_path: Path) -> None:
    printed = block_after("A first conversation")
    typed = [line.removeprefix(PROMPT) for line in printed if line.startswith(PROMPT)]
    with running_server(tmp_path, files=PRODUCT, env={}) as server:
        done = await anyio.run_process(
            [sys.executable, "-m", "backend.cli", "chat", "--url", server.url],
            input="".join(f"{line}\n" for line in typed).encode(),
            env=environment({}),
            cwd=tmp_path,
            check=False,
        )
    answered = [line for line in done.stdout.decode().splitlines() if line.strip()]
    assert answered == [line for line in printed if line.strip() and not line.startswith(PROMPT)], done.stderr.decode()


@pytest.mark.parametrize("graph", [agent.graph, background_agent.graph], ids=["agent", "background_agent"])
def test_the_picture_shows_every_node(graph: Pregel[Any, Any, Any, Any]) -> None:
    picture = "\n".join(block_after("The graphs"))
    nodes = set(graph.get_graph().nodes) - {"__start__", "__end__"}
    assert {node for node in nodes if node not in picture} == set()
