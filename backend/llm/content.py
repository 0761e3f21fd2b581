"""Text out of message content: blocks of every provider's shape, with a short marker where something is not text.

Markers are what titles, transcripts and token estimates see of an image or a file; the bytes never get there.
"""

import re
from collections.abc import Mapping, Sequence
from typing import cast

TEXT = frozenset({"text", "input_text", "output_text", "text-plain"})
UNSPOKEN = frozenset(
    {
        "thinking",
        "redacted_thinking",
        "reasoning",
        "reasoning_content",
        "tool_use",
        "tool_call",
        "tool_call_chunk",
        "invalid_tool_call",
        "function_call",
        "input_json_delta",
        "server_tool_use",
        "server_tool_call",
        "server_tool_call_chunk",
        "code_interpreter_call",
    }
)
"""What the model thought or asked for: calls are read from `tool_calls`, thoughts are nobody's words."""
MEDIA = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "image_file": "image",
    "image_generation_call": "image",
    "audio": "audio",
    "input_audio": "audio",
    "audio_url": "audio",
    "video": "video",
    "input_video": "video",
    "video_url": "video",
    "file": "file",
    "input_file": "file",
    "file_url": "file",
    "document": "file",
}
NESTED = frozenset({"tool_result", "server_tool_result"})
MAX_DEPTH = 6
MAX_NAME_CHARS = 80

_DATA_URI = re.compile(r"data:([a-z]+)/[\w.+-]{1,80}(?:;[\w=.-]{1,80})*;base64,[A-Za-z0-9+/=_-]*", re.IGNORECASE)
_PLAIN_TYPE = re.compile(r"[A-Za-z][\w-]{0,39}")
_NAME_KEYS = ("filename", "file_name", "name", "title")

Part = tuple[bool, str]
"""Whether it is spoken text (not a marker), and the text."""


def parts_of(content: object, depth: int = 0) -> list[Part]:
    """The texts and markers of a message's content, in order, without the empty ones."""
    if isinstance(content, str):
        found = [(True, _without_data(content))]
    elif isinstance(content, Mapping):
        found = _block_parts(cast("Mapping[str, object]", content), depth)
    elif isinstance(content, Sequence) and not isinstance(content, bytes | bytearray) and depth < MAX_DEPTH:
        blocks = cast("Sequence[object]", content)
        found = [part for block in blocks for part in parts_of(block, depth + 1)]
    else:
        found = []
    return [part for part in found if part[1]]


def _block_parts(block: Mapping[str, object], depth: int) -> list[Part]:
    kind = kind_of(block)
    if kind in UNSPOKEN:
        return []
    if kind in TEXT or ("type" not in block and "text" in block):
        return [(True, _without_data(_text_in(block.get("text"))))]
    if kind == "refusal":
        return [(True, _text_in(block.get("refusal")))]
    if kind in NESTED:
        return parts_of(block.get("content") or block.get("output"), depth)
    return [(False, _marker(kind, block))]


def _text_in(value: object) -> str:
    if isinstance(value, Mapping):
        value = cast("Mapping[str, object]", value).get("value")
    return value if isinstance(value, str) else ""


def kind_of(block: Mapping[str, object]) -> str:
    """A block's type; empty when it has none that is text."""
    kind = block.get("type")
    return kind if isinstance(kind, str) else ""


def _marker(kind: str, block: Mapping[str, object]) -> str:
    mime = block.get("mime_type")
    if kind == "media" and isinstance(mime, str):
        kind = mime.partition("/")[0].lower()
    word = MEDIA.get(kind)
    if word is None:
        return f"[{kind}]" if _PLAIN_TYPE.fullmatch(kind) else "[content]"
    name = _file_name(block) if word == "file" else ""
    return f"[{word}: {name}]" if name else f"[{word}]"


def _file_name(block: Mapping[str, object]) -> str:
    places = (block, *(block.get(key) for key in ("file", "extras", "metadata")))
    for place in places:
        if isinstance(place, Mapping):
            named = cast("Mapping[str, object]", place)
            for key in _NAME_KEYS:
                name = named.get(key)
                if isinstance(name, str) and name.strip():
                    return re.sub(r"[\s\[\]\x00-\x1f]+", " ", name).strip()[:MAX_NAME_CHARS]
    return ""


def _without_data(text: str) -> str:
    return _DATA_URI.sub(_data_marker, text) if "base64," in text else text


def _data_marker(found: re.Match[str]) -> str:
    word = found[1].lower()
    return f"[{word}]" if word in {"image", "audio", "video"} else "[file]"


def well_formed(text: str) -> str:
    """The text with U+FFFD for halves of surrogate pairs, which no connection can encode."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
