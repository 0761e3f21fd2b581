"""Afterthought: a LangGraph runtime whose agents remember. Start at `langgraph.json`, or at docs/ARCHITECTURE.md."""

__version__ = "0.1.0"
