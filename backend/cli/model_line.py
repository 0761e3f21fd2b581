"""Which model answers, in a line."""

import re

from backend.settings import Settings

OPENAI_URL = "https://api.openai.com/v1"
OFFLINE = "the offline model, which is not a language model"
HOW_TO_SET_ONE = "set OPENAI_API_KEY, or OPENAI_BASE_URL and MODEL, to chat with a language model"


def provider_url(settings: Settings) -> str:
    """Where the models are asked, without the name and password that the address may carry."""
    return re.sub(r"//[^/]*@", "//", settings.openai_base_url or OPENAI_URL).rstrip("/")


def model_line(settings: Settings) -> str:
    """Who answers in the chat, and where it runs."""
    if settings.offline:
        return f"{OFFLINE}; {HOW_TO_SET_ONE}"
    return f"{settings.model_for('chat')} at {provider_url(settings)}"
