"""The sub-agents: alike in everything but the values of these rows."""

from dataclasses import dataclass
from typing import Final

MEMORY_TOOLS: Final = ("save_memory", "manage_memory", "lookup_thread_messages")


@dataclass(frozen=True, slots=True)
class Subagent:
    """One way of answering: which instructions and which tools the model gets."""

    name: str
    """Name of the node, and the value by which the router chooses it."""
    description: str
    """For the router: which messages belong here."""
    prompt: str
    """Template of the base prompt, under `prompts/`."""
    own_tools: tuple[str, ...] = ()
    """Names in the tool registry, beside those of memory, which every sub-agent has."""

    @property
    def tools(self) -> tuple[str, ...]:
        return (*self.own_tools, *MEMORY_TOOLS)


CHAT_AGENT: Final = Subagent(
    name="chat_agent",
    description="everything else: conversation, questions, advice, writing, and what the user says about themselves",
    prompt="chat/chat_agent",
)
WEATHER_AGENT: Final = Subagent(
    name="weather_agent",
    description="current weather or a forecast for a place",
    prompt="chat/weather_agent",
    own_tools=("get_weather",),
)
CRYPTO_AGENT: Final = Subagent(
    name="crypto_agent",
    description="prices of cryptocurrencies and questions about them",
    prompt="chat/crypto_agent",
    own_tools=("get_crypto_price",),
)
CODE_AGENT: Final = Subagent(
    name="code_agent",
    description="writing, explaining, reviewing or debugging program code",
    prompt="chat/code_agent",
)

SUBAGENTS: Final = (WEATHER_AGENT, CHAT_AGENT, CRYPTO_AGENT, CODE_AGENT)
DEFAULT_SUBAGENT: Final = CHAT_AGENT
"""Answers when the router does not decide."""
