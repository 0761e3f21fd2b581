"""Which sub-agent a message goes to."""

import pytest

from backend.llm.offline.routing import choose_subagent


@pytest.mark.parametrize(
    ("said", "subagent"),
    [
        pytest.param("Will it rain in Oslo tomorrow?", "weather_agent", id="rain"),
        pytest.param("WEATHER IN PARIS", "weather_agent", id="upper case"),
        pytest.param("Wie wird das Wetter in Berlin?", "weather_agent", id="German"),
        pytest.param("какая погода в Москве", "weather_agent", id="Russian"),
        pytest.param("北京今天天气怎么样", "weather_agent", id="Chinese"),
        pytest.param("I wonder whether to go", "chat_agent", id="whether is not weather"),
        pytest.param("Is the train to the terrain delayed?", "chat_agent", id="train is not rain"),
        pytest.param("The sales forecast looks bad", "chat_agent", id="another forecast"),
        pytest.param("What is the price of BTC?", "crypto_agent", id="symbol"),
        pytest.param("is ethereum dead", "crypto_agent", id="coin"),
        pytest.param("比特币多少钱", "crypto_agent", id="Chinese coin"),
        pytest.param("Which ethernet cable?", "chat_agent", id="ethernet is not ether"),
        pytest.param("Tell me about cryptography", "chat_agent", id="cryptography is not crypto"),
        pytest.param("Write a Python function that adds", "code_agent", id="code"),
        pytest.param("```\nprint(1)\n```", "code_agent", id="fence"),
        pytest.param("Why does this fail?\n```\nweather = rain('bitcoin')\n```", "code_agent", id="words inside code"),
        pytest.param("a coder's coat", "chat_agent", id="coder is not code"),
        pytest.param("What is the zip code of Oslo?", "chat_agent", id="zip code"),
        pytest.param("python script that reads the weather", "code_agent", id="most words win"),
        pytest.param('She said "it may rain" and left', "chat_agent", id="quoted"),
        pytest.param("hello", "chat_agent", id="greeting"),
        pytest.param("", "chat_agent", id="empty"),
    ],
)
def test_words_choose_the_subagent(said: str, subagent: str) -> None:
    assert choose_subagent(said) == subagent


@pytest.mark.parametrize(
    ("said", "before", "subagent"),
    [
        pytest.param("and tomorrow?", "Weather in Oslo?", "weather_agent", id="another day"),
        pytest.param("What about Bergen?", "Weather in Oslo?", "weather_agent", id="another place"),
        pytest.param("and in EUR?", "price of bitcoin", "crypto_agent", id="another currency"),
        pytest.param("And the price of ETH?", "Weather in Oslo?", "crypto_agent", id="its own words come first"),
        pytest.param("Oslo", "What is the weather?", "weather_agent", id="the place that was missing"),
        pytest.param("thanks", "What is the weather?", "chat_agent", id="thanks are no place"),
        pytest.param("Oslo", "Weather in Bergen?", "chat_agent", id="no place was missing"),
        pytest.param("and what is my name?", "Weather in Oslo?", "chat_agent", id="a question of its own"),
        pytest.param("and tomorrow?", "", "chat_agent", id="nothing before"),
        pytest.param(
            "and then we all went home and slept for a while",
            "Weather in Oslo?",
            "chat_agent",
            id="too long to follow up",
        ),
    ],
)
def test_a_short_follow_up_goes_where_the_message_before_it_went(said: str, before: str, subagent: str) -> None:
    assert choose_subagent(said, before) == subagent
