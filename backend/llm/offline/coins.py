"""The coins and the currency that a question about prices names."""

import re
from typing import Final

from backend.llm.offline.words import any_of, words

MAX_COINS: Final = 3

_COINS: Final = {
    "bitcoin": any_of(r"bitcoins?|btc|биткоин\w*|биткойн\w*", "比特币|比特幣|ビットコイン|비트코인"),
    "ethereum": any_of(r"ethereum|ether|eth|эфириум\w*", "以太坊|イーサリアム|이더리움"),
    "dogecoin": any_of(r"dogecoins?|doge"),
    "solana": any_of(r"solana"),
    "litecoin": any_of(r"litecoins?|ltc"),
    "cardano": any_of(r"cardano"),
    "ripple": any_of(r"xrp|ripple"),
    "monero": any_of(r"monero|xmr"),
    "polkadot": any_of(r"polkadot"),
}
_GUESSED: Final = re.compile(
    r"(?<!\w)(?:(?:price|value|cost|worth) of|how much (?:is|are|does))\s+(?:(?:an?|one|the)\s+)?"
    r"\$?(?P<after>[^\W_][\w-]{1,30})"
    r"|(?<!\w)\$?(?P<before>[^\W_][\w-]{1,30})(?:'s)? (?:price|kurs)(?!\w)",
    re.IGNORECASE,
)
_NO_COIN: Final = words("the a an it this that current crypto coin coins cryptocurrency token my what market")
_PRICE: Final = any_of(
    r"price|prices|worth|costs?|how much|value|trading|rate|exchange rate|kurs|preis|цена|курс|стоит",
    "价格|多少|値段|가격",
)
_CURRENCIES: Final = {
    "eur": any_of(r"eur|euros?", "€"),
    "gbp": any_of(r"gbp|pounds?|sterling", "£"),
    "jpy": any_of(r"jpy|yen", "¥"),
    "chf": any_of(r"chf|francs?"),
}


def coins_in(text: str) -> list[str]:
    """The coins that a message names, in order, at most three.

    If it names none that is known, the word that stands where a coin belongs: "the price of pepe".
    """
    places = {name: found.start() for name, named in _COINS.items() if (found := named.search(text))}
    guessed = [word for found in _GUESSED.finditer(text) if (word := found["after"] or found["before"])]
    known = sorted(places, key=lambda name: places[name])
    return (known or [word for word in guessed if word.lower() not in _NO_COIN])[:MAX_COINS]


def asks_price(text: str) -> bool:
    """Whether a message about coins asks what they cost; naming a coin and nothing else does too."""
    bare = text.strip(" ?!.$")
    return _PRICE.search(text) is not None or any(named.fullmatch(bare) for named in _COINS.values())


def currency_in(text: str) -> str:
    """The code of the currency that is asked for; US dollars unless said."""
    return next((code for code, named in _CURRENCIES.items() if named.search(text)), "usd")
