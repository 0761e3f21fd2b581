"""Which sub-agent answers: chosen by words."""

import re
from typing import Final

from backend.llm.offline.blocks import without_quotations
from backend.llm.offline.places import is_bare_name, place_in
from backend.llm.offline.words import any_of

DEFAULT: Final = "chat_agent"
CODE: Final = "code_agent"
CRYPTO: Final = "crypto_agent"
WEATHER: Final = "weather_agent"
MAX_FOLLOW_UP_WORDS: Final = 6
FENCE_WEIGHT: Final = 3

SUBAGENT_WORDS: Final = {
    CODE: any_of(
        r"code|coding|function|functions|bug|bugs|debug|debugging|refactor|regex|regexp|script|unit tests?|"
        r"stack ?trace|traceback|exception|compiler?|python|javascript|typescript|rust|golang|java|kotlin|sql|html|css|"
        r"bash|programmiere?n?|quellcode|программ\w*|код\w{0,2}|функци\w+",
        r"代码|函数|编程|コード|関数|코드",
    ),
    CRYPTO: any_of(
        r"bitcoins?|btc|ethereum|ether|eth|dogecoin|doge|solana|litecoin|ltc|cardano|xrp|ripple|monero|xmr|polkadot|"
        r"crypto|cryptos|cryptocurrency|cryptocurrencies|kryptowährung\w*|altcoins?|stablecoins?|"
        r"биткоин\w*|биткойн\w*|эфириум\w*|криптовалют\w*",
        r"比特币|比特幣|以太坊|加密货币|ビットコイン|비트코인|이더리움",
    ),
    WEATHER: any_of(
        r"weather|forecast|forecasts|rain|rains|raining|rainy|snow|snowing|snowy|sunny|umbrella|temperature|humid|"
        r"humidity|windy|thunderstorm|wetter|wettervorhersage|regnet|regen|schneit|météo|clima|pronóstico|"
        r"погод\w*|дожд\w*|прогноз\w*|pogoda",
        r"天气|天氣|气温|下雨|天気|날씨",
    ),
}
"""In the order in which they win when a message has as many words of each."""

NOT_MEANT: Final = any_of(
    r"(?:zip|post|postal|area|dress|promo|discount|qr|country|morse|building|penal)[ -]?code|code of conduct|"
    r"functions? of the (?:liver|kidneys?|heart|lungs?|brain|spleen)|(?:bed|stomach) ?bugs?|"
    r"(?:sales|budget|revenue|earnings|economic) forecasts?"
)
FOLLOW_UP: Final = re.compile(
    r"\s*(?:and|also|what about|how about|or|und|et|y|а|и|in|for|on|at|tomorrow|today|tonight|next|this|"
    r"(?:the )?day after)(?!\w)|\s*那",
    re.IGNORECASE,
)

PERSONAL: Final = any_of(r"i|i'm|me|my|mine|you|your|we|our|name|remember")
"""A follow-up with one of these starts something of its own: "and what is my name?"."""


def choose_subagent(said: str, before: str = "") -> str:
    """The name of the sub-agent for a message; a short follow-up goes where the message before it went."""
    chosen = _by_words(said)
    return _by_words(before) if chosen == DEFAULT and continues(said, before) else chosen


def continues(said: str, before: str) -> bool:
    """Whether a message only makes sense after the one before: "and tomorrow?", or a place where one was missing."""
    if not before or not said.strip() or len(said.split()) > MAX_FOLLOW_UP_WORDS:
        return False
    if FOLLOW_UP.match(said):
        return PERSONAL.search(said) is None
    return _by_words(before) == WEATHER and place_in(before) is None and is_bare_name(said)


def _by_words(said: str) -> str:
    plain = NOT_MEANT.sub(" ", without_quotations(said))
    counts = {name: len({hit.casefold() for hit in named.findall(plain)}) for name, named in SUBAGENT_WORDS.items()}
    counts[CODE] += FENCE_WEIGHT if "```" in said else 0
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else DEFAULT
