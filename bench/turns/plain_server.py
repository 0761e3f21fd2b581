"""The plain graph as `langgraph dev` loads it, beside ours and from the same services."""

from backend.bootstrap import services
from bench.turns.plain import build_plain

graph = build_plain(services(), router=services().chat.router).compile(name="plain")
