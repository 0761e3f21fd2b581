"""Places, days, coins and currencies in questions."""

import pytest

from backend.llm.offline.coins import asks_price, coins_in, currency_in
from backend.llm.offline.places import days_in, place_in, place_in_follow_up


@pytest.mark.parametrize(
    ("said", "place", "days"),
    [
        pytest.param("Will it rain in Oslo tomorrow?", "Oslo", 2, id="in"),
        pytest.param("oslo weather", "oslo", 1, id="before"),
        pytest.param("Weather St. Louis please", "St. Louis", 1, id="after, with a period"),
        pytest.param("What's the weather like in New York right now?", "New York", 1, id="two words"),
        pytest.param("forecast for tomorrow in Rio de Janeiro", "Rio de Janeiro", 2, id="day first"),
        pytest.param("weather in The Hague this weekend", "The Hague", 7, id="article in a name"),
        pytest.param("weather in Paris, Texas for the next 3 days", "Paris, Texas", 3, id="region and days"),
        pytest.param("weather in Oslo for 99 days", "Oslo", 7, id="too many days"),
        pytest.param("Oslo weather the day after tomorrow", "Oslo", 3, id="day after"),
        pytest.param("weather in Nice on Monday", "Nice", 7, id="weekday"),
        pytest.param("I live in Oslo. What's the weather?", "Oslo", 1, id="in another sentence"),
        pytest.param("北京明天的天气", "北京", 2, id="Chinese"),
        pytest.param("Wetter in Köln morgen", "Köln", 2, id="German"),
        pytest.param("How is the weather?", None, 1, id="none"),
        pytest.param("Nice weather today!", None, 1, id="an adjective"),
        pytest.param("Will it rain in the morning?", None, 1, id="a time"),
    ],
)
def test_the_place_and_the_days_of_a_question(said: str, place: str | None, days: int) -> None:
    assert (place_in(said), days_in(said)) == (place, days)


@pytest.mark.parametrize(
    ("said", "place"),
    [
        pytest.param("and in Bergen?", "Bergen", id="with a preposition"),
        pytest.param("what about Bergen tomorrow?", "Bergen", id="about"),
        pytest.param("Bergen", "Bergen", id="bare"),
        pytest.param("and tomorrow?", None, id="only a day"),
    ],
)
def test_the_place_of_a_follow_up(said: str, place: str | None) -> None:
    assert place_in_follow_up(said) == place


@pytest.mark.parametrize(
    ("said", "coins", "currency", "price"),
    [
        pytest.param("What is the price of BTC?", ["bitcoin"], "usd", True, id="symbol"),
        pytest.param("ETH and BTC price in euros", ["ethereum", "bitcoin"], "eur", True, id="two, in order"),
        pytest.param("how much is one dogecoin in £", ["dogecoin"], "gbp", True, id="sign"),
        pytest.param("price of pepe", ["pepe"], "usd", True, id="unknown coin"),
        pytest.param("What is the price?", [], "usd", True, id="no coin"),
        pytest.param("eth?", ["ethereum"], "usd", True, id="nothing but the coin"),
        pytest.param("what is a bitcoin wallet?", ["bitcoin"], "usd", False, id="no question of price"),
    ],
)
def test_the_coins_and_the_currency_of_a_question(said: str, coins: list[str], currency: str, price: bool) -> None:
    assert (coins_in(said), currency_in(said), asks_price(said)) == (coins, currency, price)
