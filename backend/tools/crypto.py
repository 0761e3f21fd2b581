"""`get_crypto_price`: what a cryptocurrency costs, from CoinGecko."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final, cast

import httpx
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, RootModel, model_validator

from backend.errors import ToolRefusal
from backend.tools.json_client import JsonClient, Label, one_line

COINGECKO: Final = "The price service"
MAX_COIN_CHARS: Final = 60
LATEST_TIMESTAMP: Final = 4_102_444_800
"""2100-01-01; a later one is no time at which a price was taken."""


def _a_coin(text: str) -> str:
    coin = one_line(text).lstrip("$")
    if not 0 < len(coin) <= MAX_COIN_CHARS:
        raise ValueError(f"must have 1 to {MAX_COIN_CHARS} characters")
    return coin


def _a_currency(text: str) -> str:
    currency = text.strip().lower()
    if not re.fullmatch(r"[a-z]{2,10}", currency):
        raise ValueError("must be a code such as usd, eur or btc")
    return currency


class CryptoArguments(BaseModel):
    """Limits are checked by functions: strict providers refuse schemas with `maxLength`, `default` or optional keys."""

    coin: Annotated[str, AfterValidator(_a_coin)] = Field(description="Name or symbol of one coin: Bitcoin, ETH")
    currency: Annotated[str, AfterValidator(_a_currency)] = Field(
        description="Code of the currency to price it in: usd"
    )

    @model_validator(mode="before")
    @classmethod
    def _dollars_unless_said(cls, arguments: object) -> object:
        return {"currency": "usd", **cast("dict[str, object]", arguments)} if isinstance(arguments, dict) else arguments


class Coin(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str
    name: Label
    symbol: Label

    def is_called(self, word: str) -> bool:
        return word.casefold() in {self.id.casefold(), self.name.casefold(), self.symbol.casefold()}


class Found(BaseModel):
    coins: list[Coin]


class Prices(RootModel[dict[str, dict[str, FiniteFloat | None]]]):
    """By coin id: `<currency>`, `<currency>_24h_change` in percent, `last_updated_at` in seconds since 1970."""


def make_crypto_tool(*, client: JsonClient, base_url: str) -> BaseTool:
    """The tool `get_crypto_price(coin, currency)`; it returns JSON text.

    Raises (when it runs): ToolRefusal, ServiceUnavailable.
    """
    base = httpx.URL(base_url)

    async def get_crypto_price(coin: str, currency: str) -> str:
        found = await client.get(_under(base, "search"), {"query": coin}, shape=Found, service=COINGECKO)
        chosen = choose(found.coins, coin)
        asked = {
            "ids": chosen.id,
            "vs_currencies": currency,
            "include_24hr_change": "true",
            "include_last_updated_at": "true",
        }
        prices = await client.get(_under(base, "simple/price"), asked, shape=Prices, service=COINGECKO)
        return json.dumps(describe(chosen, prices.root.get(chosen.id, {}), currency), ensure_ascii=False)

    return StructuredTool.from_function(
        coroutine=get_crypto_price,
        name="get_crypto_price",
        description="The current price of one cryptocurrency and its change over 24 hours.",
        args_schema=CryptoArguments,
    )


def choose(coins: Sequence[Coin], word: str) -> Coin:
    """The first coin that is called so, else the first that was found: CoinGecko sorts by market value.

    Raises:
        ToolRefusal: there is none.
    """
    if not coins:
        raise ToolRefusal(f"No cryptocurrency called {word} was found.")
    return next((coin for coin in coins if coin.is_called(word)), coins[0])


def describe(coin: Coin, prices: dict[str, float | None], currency: str) -> dict[str, Any]:
    """What the model reads: `{coin, symbol, price, currency, change_24h_percent?, updated?}`.

    Raises:
        ToolRefusal: there is no price in this currency.
    """
    price = prices.get(currency)
    if price is None:
        raise ToolRefusal(
            f"There is no price of {coin.name} in {currency.upper()}. Use a code such as usd, eur, gbp or btc."
        )
    text: dict[str, Any] = {"coin": coin.name, "symbol": coin.symbol, "price": price, "currency": currency.upper()}
    if (change := prices.get(f"{currency}_24h_change")) is not None:
        text["change_24h_percent"] = round(change, 2)
    if (updated := prices.get("last_updated_at")) is not None and 0 <= updated < LATEST_TIMESTAMP:
        text["updated"] = datetime.fromtimestamp(updated, tz=UTC).isoformat(timespec="seconds")
    return text


def _under(base: httpx.URL, path: str) -> httpx.URL:
    """A path below the base, whose own query (a key, for one) is kept."""
    return base.copy_with(path=f"{base.path.rstrip('/')}/{path}")
