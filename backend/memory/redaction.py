"""What stored and quoted text must not carry into a prompt: credentials, blocks, and tags that open or close one.

Credentials are found by patterns of our own. `detect-secrets` (1.5.0, May 2024, Apache-2.0) reports lines rather than
spans, sees only the first line of a private key, and keeps its settings in a process-wide cache.
"""

import json
import re
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, cast

from backend.ids import Json
from backend.llm.content import well_formed
from backend.llm.messages import shorten

REDACTION_MARGIN: Final = 1_000
"""So many characters beyond a cut credentials are looked for."""

BLOCK_NAMES: Final = (
    "memory",
    "earlier_conversation",
    "facts",
    "standing_facts",
    "fact_changes",
    "recalled",
    "episodes",
    "transcript",
)
"""Every block that a prompt of ours opens. A new block is added here first, so that stored text cannot forge it."""

_BEFORE: Final = r"(?<![A-Za-z0-9+/=_-])"
_AFTER: Final = r"(?![A-Za-z0-9+/_-])"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A credential with a shape of its own; what stands in the group `secret`, or all of it, is replaced."""

    kind: str
    shape: re.Pattern[str]


def _token(kind: str, *shapes: str) -> Pattern:
    return Pattern(kind, re.compile(f"{_BEFORE}(?:{'|'.join(shapes)}){_AFTER}"))


PATTERNS: Final = (
    Pattern(
        "private key",
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?!-----END )[\s\S])*(?:-----END [A-Z0-9 ]{0,60}-----)?"
        ),
    ),
    Pattern("private key", re.compile(r"AGE-SECRET-KEY-1[A-Z0-9]{58}")),
    _token("token", r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?"),
    _token("aws key", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}"),
    _token("github token", r"gh[pousr]_\w{36,255}", r"github_pat_\w{22,255}"),
    _token("gitlab token", r"gl(?:pat|dt|rt|ptt|cbt|ft|oas|soat|imt|agent)-[\w.-]{20,}"),
    _token("slack token", r"xox[abeoprs]-[\w-]{10,}", r"xapp-\d-[\w-]{20,}"),
    _token("stripe key", r"[rs]k_(?:live|test)_\w{16,}", r"whsec_[\w+/=]{24,}"),
    _token(
        "api key",
        r"sk-[A-Za-z0-9]{20,}",
        r"sk-(?:proj|ant|svcacct|admin|None|lf|or-v\d)-[\w-]{16,}",
        r"AIza[\w-]{35}",
        r"ya29\.[\w-]{20,}",
        r"GOCSPX-[\w-]{20,}",
        r"SG\.[\w-]{16,32}\.[\w-]{16,64}",
        r"key-[0-9a-f]{32}",
        r"SK[0-9a-f]{32}",
        r"hf_[A-Za-z0-9]{30,}",
        r"gsk_[A-Za-z0-9]{40,}",
        r"xai-[A-Za-z0-9]{40,}",
        r"pplx-[A-Za-z0-9]{40,}",
        r"r8_[A-Za-z0-9]{30,}",
        r"tvly-[\w-]{20,}",
        r"npm_[A-Za-z0-9]{36}",
        r"pypi-[\w-]{50,}",
        r"do[opr]_v1_[0-9a-f]{64}",
        r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}",
        r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
        r"dapi[0-9a-f]{32}",
        r"hvs\.[\w-]{24,}",
        r"lin_api_[A-Za-z0-9]{32,}",
        r"ntn_[A-Za-z0-9]{40,}",
        r"sb_secret_[\w-]{20,}",
        r"\d{8,10}:AA[\w-]{33}",
        r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}",
    ),
    Pattern("webhook", re.compile(r"(?<=hooks\.slack\.com/services/)[\w/]{20,}|(?<=/api/webhooks/)\d+/[\w-]{40,}")),
    Pattern(
        "token",
        re.compile(
            r"(?i:\bauthorization[\"']?\s{0,5}[:=]\s{0,5}[\"']?(?:basic|bearer|token))\s{1,5}"
            r"(?P<secret>[^\s\"',;\[]{6,})"
        ),
    ),
    Pattern("token", re.compile(r"(?i:\bbearer)\s{1,5}(?P<secret>(?=[A-Za-z._~+/=-]*\d)[\w.~+/=-]{16,})")),
    Pattern("password", re.compile(r"://[^\s/:@\"'<>]{0,100}:(?P<secret>[^\s/\"'<>]{1,200})(?=@)")),
)

_TYPED: Final = (
    "password|passwd|passphrase|passcode|pwd|passwort|kennwort|contraseña|senha|de passe|wachtwoord|пароль|"
    "密码|密碼|パスワード|비밀번호"
)
_ISSUED: Final = (
    "secret|(?:client|access|refresh|auth|api|session)[_ -]?(?:secret|token)|token|"
    "(?:api|access|secret|secret[_ -]?access|account|shared[_ -]?access|private|auth|signing|encryption)[_ -]?key"
)
_HINTS: Final = (
    "pass",
    "pwd",
    "wort",
    "contrase",
    "senha",
    "wachtw",
    "парол",
    "密",
    "パス",
    "비밀",
    "secret",
    "token",
    "key",
)
_ASSIGNED: Final = re.compile(
    rf"(?:(?P<typed>{_TYPED})|{_ISSUED})(?P<close>\\?[\"'`]?)"
    r"(?P<sign>\s{0,5}(?::=|=>|[:=：])\s{0,5}|\s{1,5}(?:is|es)t?\s{0,5}:?\s{1,5})"
    r"(?P<open>\\?[\"'`]?)(?P<value>(?<=[\"'`])[^\"'`\\\n]{1,500}|(?:[^\s\"'`,;&)}\]\\]|&(?![\w-]{1,40}=)){1,500})",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(rf".*(?:(?P<typed>{_TYPED})|(?:{_ISSUED}))", re.IGNORECASE)
_NOT_SECRET: Final = re.compile(
    r"[$<\[{%*].*|x{3,}|\.{3,}|your.*|(?:sha|md|utf|aes|rsa|es|hs|rs|oauth|base|mp|v)[-_]?\d+(?:[-_]\d+)*|"
    r"(?:none|null|nil|true|false|undefined|string|str|required|optional|changeme|example)|"
    r"[a-z_]\w*(?:\.[a-z_]\w*)*[(\[].*|(?:[a-z_]\w*\.)+[a-z_]\w*",
    re.IGNORECASE,
)
_VARIABLE: Final = re.compile(r"\w*(?:pass|pwd|secret|token|key|input|value|field|hash)\w*", re.IGNORECASE)
MIN_PASSWORD_CHARS: Final = 4
MIN_KEY_CHARS: Final = 8
MIN_KEY_CHARS_IN_PROSE: Final = 12


_MARKER: Final = re.compile(r"\[redacted: [a-z ]+\]")
_LONG_WORD: Final = re.compile(r"[^\W_]{4}")
_NAME: Final = re.compile(rf"{_TYPED}|{_ISSUED}|authorization|bearer|basic", re.IGNORECASE)


def storable(text: str) -> str:
    """The text as every database and connection takes it: without NUL, and U+FFFD for halves of surrogate pairs."""
    return well_formed(text.replace("\0", ""))


def is_only_secret(redacted: str) -> bool:
    """Whether a redacted text had a credential and says hardly more than what kind it was: `my password is ...`."""
    rest, markers = _MARKER.subn(" ", redacted)
    return markers > 0 and not _LONG_WORD.search(_NAME.sub(" ", rest))


def redact(text: str) -> str:
    """The text with `[redacted: kind]` for each credential: keys, tokens, passwords in addresses and after their name.

    Hashes, identifiers, encoded images and prose about passwords stay. Redacting twice changes nothing. Time grows
    with the length of the text.
    """
    for pattern in PATTERNS:
        text = pattern.shape.sub(lambda found, kind=pattern.kind: _replaced(found, kind), text)
    # without any of the names there is nothing to find, and looking for them is what takes most of the time
    lower = text.lower()
    return _ASSIGNED.sub(_replaced_assignment, text) if any(hint in lower for hint in _HINTS) else text


def shortened(text: str, limit: int) -> str:
    """The beginning of a text, redacted, in at most `limit` characters; a credential across the cut is seen whole."""
    return shorten(redact(text[: limit + REDACTION_MARGIN]), limit, whole_chars=len(text))


def redact_json(value: Json) -> Json:
    """The value with every text in it redacted; a text under a name such as `wifi_password` is taken for a secret."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(key): _redacted_member(key, member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [redact_json(member) for member in cast("list[Json]", value)]
    return value


def _redacted_member(key: str, member: Json) -> Json:
    named = _NAMED.fullmatch(key)
    if named and isinstance(member, str) and _is_secret(member, typed=bool(named["typed"]), stated=True):
        return _marker("password" if named["typed"] else "secret")
    return redact_json(member)


def _replaced(found: re.Match[str], kind: str) -> str:
    if "secret" not in found.re.groupindex:
        return _marker(kind)
    start, end = found.start("secret") - found.start(), found.end("secret") - found.start()
    return found[0][:start] + _marker(kind) + found[0][end:]


def _replaced_assignment(found: re.Match[str]) -> str:
    typed, value = bool(found["typed"]), found["value"]
    bare = value if found["open"] else value.rstrip(".,:!?")
    stated = bool(found["open"]) or "=" in found["sign"] or _is_whole_line(found)
    if not _is_secret(bare, typed=typed, stated=stated):
        return found[0]
    head = found[0][: len(found[0]) - len(value)]
    return head + _marker("password" if typed else "secret") + value[len(bare) :]


def _is_whole_line(found: re.Match[str]) -> bool:
    """Whether a name, its sign and the value are a line of their own, as people write a login down."""
    before = found.string[max(0, found.start() - 10) : found.start()].rpartition("\n")[2]
    after = found.string[found.end() : found.end() + 1]
    return not before.strip(" -*•\t\r") and after in {"", "\n", "\r"}


def _is_secret(value: str, *, typed: bool, stated: bool) -> bool:
    """Whether what follows a name is the secret itself rather than prose, code or a placeholder.

    `typed` means a password, which a person may have chosen as a plain word; `stated`, that it was quoted or assigned.
    Anything else has to look like no word at all.
    """
    least = MIN_PASSWORD_CHARS if typed else MIN_KEY_CHARS if stated else MIN_KEY_CHARS_IN_PROSE
    if len(value) < least or _NOT_SECRET.fullmatch(value):
        return False
    if value.isdigit():
        return typed
    if any(character.isdigit() for character in value) or (typed and re.search(r"[!@#$%^&*+?]", value)):
        return True
    return typed and stated and not _VARIABLE.fullmatch(value)


def _marker(kind: str) -> str:
    return f"[redacted: {kind}]"


UNSEEN: Final = r"\u00ad\u200b-\u200f\u2060-\u2064\ufeff"
"""Characters that nobody sees, as the inside of a character class."""


def letters_of(name: str) -> list[str]:
    """Patterns of the letters of a block's name, as tags may write them."""
    return [r"[_\s-]?" if character == "_" else character for character in name]


def spelled(name: str) -> str:
    """A pattern of a block's name, with invisible characters between its letters."""
    return f"[{UNSEEN}]{{0,8}}".join(letters_of(name))


_SPELLED: Final = "|".join(map(spelled, BLOCK_NAMES))
_NAME_ENDS: Final = rf"[{UNSEEN}]{{0,8}}(?![A-Za-z0-9_])"
_TAG: Final = re.compile(rf"[<＜﹤](?=[\s/／{UNSEEN}]{{0,40}}(?:{_SPELLED}){_NAME_ENDS})", re.IGNORECASE)
_WHOLE_TAG: Final = re.compile(
    rf"[<＜﹤](?P<lead>[\s/／{UNSEEN}]{{0,40}})(?P<name>{_SPELLED}){_NAME_ENDS}"
    rf"(?P<rest>(?:[\s/／{UNSEEN}][^<＜﹤>＞﹥]{{0,200}})?)[>＞﹥]",
    re.IGNORECASE,
)
_NO_LETTER: Final = re.compile(rf"[{UNSEEN}_\s-]")


def guard_text(text: str) -> str:
    """Prose that can neither open nor close one of our blocks: the bracket of such a tag becomes `&lt;`.

    Upper case, attributes, spaces, full-width brackets and invisible characters make no difference. Every other tag,
    and every comparison, stays as it is. Guarding twice changes nothing.
    """
    return _TAG.sub("&lt;", well_formed(text))


def without_blocks(text: str) -> str:
    """Prose without blocks of ours that it quotes, and without a tag that their removal would have made.

    A block goes up to its first closing tag. One that is never closed counts if its tag is a line of its own, as in a
    prompt, and goes up to the end. A tag that is only spoken of stays. Doing it twice changes nothing. Time grows with
    the length of the text.
    """
    pieces, end = list[str](), 0
    for start, stop in _blocks(text):
        pieces.append(text[end:start].strip())
        end = stop
    if not pieces:
        return text
    pieces.append(text[end:].strip())
    return guard_text(("\n" if "\n" in text else " ").join(filter(None, pieces)))


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    tags = list(_WHOLE_TAG.finditer(text))
    closing: defaultdict[str, deque[re.Match[str]]] = defaultdict(deque)
    for tag in tags:
        if _closes(tag):
            closing[_block_name(tag)].append(tag)
    end = 0
    for tag in tags:
        if tag.start() < end or _closes(tag) or tag["rest"].endswith("/"):
            continue
        later = closing[_block_name(tag)]
        while later and later[0].start() < tag.end():
            later.popleft()
        if later or _fills_its_line(tag):
            end = later[0].end() if later else len(text)
            yield tag.start(), end


def _block_name(tag: re.Match[str]) -> str:
    return _NO_LETTER.sub("", tag["name"]).casefold()


def _closes(tag: re.Match[str]) -> bool:
    return "/" in tag["lead"] or "／" in tag["lead"]


def _fills_its_line(tag: re.Match[str]) -> bool:
    before = tag.string[max(0, tag.start() - 40) : tag.start()].rpartition("\n")[2]
    after = tag.string[tag.end() : tag.end() + 40].partition("\n")[0]
    return not before.strip() and not after.strip()


_ESCAPED: Final = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u0085\u2028\u2029"}


def guard_json(value: Json) -> str:
    """Compact JSON on one line that reads back as the same value and holds no tag at all: `<`, `>`, `&` are escaped.

    Other scripts stay readable.

    Raises:
        ValueError: NaN or an infinity, which no JSON has.
    """
    return compact_json(value).translate(_ESCAPED)


def compact_json(value: Json) -> str:
    """JSON without spaces, other scripts as they are, and so that every connection can encode it.

    Raises:
        ValueError: NaN or an infinity, which no JSON has.
    """
    return well_formed(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
