"""The offline model: fixed rules behind the interface of a chat model, so that everything works without a provider."""

from backend.llm.offline.model import OfflineModel
from backend.llm.offline.replies import OFFLINE_NOTICE

__all__ = ["OFFLINE_NOTICE", "OfflineModel"]
