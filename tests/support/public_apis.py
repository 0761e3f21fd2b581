"""Open-Meteo and CoinGecko on loopback: real HTTP, a few places and coins, and failures on demand."""

import json
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Literal
from urllib.parse import parse_qs, urlsplit

GEOCODING: Final = "/v1/search"
FORECAST: Final = "/v1/forecast"
COIN_SEARCH: Final = "/api/v3/search"
COIN_PRICE: Final = "/api/v3/simple/price"
FIRST_DAY: Final = date(2026, 3, 1)

PLACES: Final[list[dict[str, Any]]] = [
    {
        "name": "Oslo",
        "latitude": 59.91,
        "longitude": 10.75,
        "country_code": "NO",
        "admin1": "Oslo",
        "country": "Norway",
    },
    {
        "name": "Paris",
        "latitude": 48.85,
        "longitude": 2.35,
        "country_code": "FR",
        "admin1": "Île-de-France",
        "country": "France",
    },
    {
        "name": "Paris",
        "latitude": 33.66,
        "longitude": -95.56,
        "country_code": "US",
        "admin1": "Texas",
        "country": "United States",
    },
]
COINS: Final[list[dict[str, Any]]] = [
    {"id": "bitcoin", "name": "Bitcoin", "symbol": "BTC", "market_cap_rank": 1},
    {"id": "ethereum", "name": "Ethereum", "symbol": "ETH", "market_cap_rank": 2},
    {"id": "bitcoin-cash", "name": "Bitcoin Cash", "symbol": "BCH", "market_cap_rank": 20},
    {"id": "ethereum-classic", "name": "Ethereum Classic", "symbol": "ETC", "market_cap_rank": 40},
]
PRICES: Final = {"bitcoin": 64000.5, "ethereum": 3100.25, "bitcoin-cash": 410.0, "ethereum-classic": 26.0}
RATES: Final = {"usd": 1.0, "eur": 0.5}


@dataclass(frozen=True, slots=True)
class Canned:
    """One answer that is not the right one; `hang` sends nothing, `drip` a byte now and then, until the end."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    pace: Literal["at once", "hang", "drip"] = "at once"


@dataclass(frozen=True, slots=True)
class Asked:
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]


class PublicApis:
    """What the stub was asked, and how it shall answer from now on."""

    def __init__(self, base: str) -> None:
        self.geocoding_url = base + GEOCODING
        self.forecast_url = base + FORECAST
        self.crypto_url = base + "/api/v3"
        self.asked: list[Asked] = []
        self.canned: dict[str, Canned] = {}
        self.closing = threading.Event()

    def fail(self, path: str, canned: Canned) -> None:
        """Every later question for this path gets this answer."""
        self.canned[path] = canned

    def asked_for(self, path: str) -> list[Mapping[str, str]]:
        return [asked.query for asked in self.asked if asked.path == path]


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.apis = PublicApis(f"http://127.0.0.1:{self.server_address[1]}")


class Handler(BaseHTTPRequestHandler):
    server: Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        self.server.apis.asked.append(Asked(parts.path, query, dict(self.headers.items())))
        with suppress(ConnectionError):
            self._send(self.server.apis.canned.get(parts.path) or _right_answer(parts.path, query))

    def _send(self, canned: Canned) -> None:
        closing = self.server.apis.closing
        if canned.pace == "hang":
            closing.wait()
            return
        self.send_response(canned.status)
        for name, value in {"Content-Type": "application/json", **canned.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        while canned.pace == "drip" and not closing.wait(0.02):
            self.wfile.write(b" ")
        self.wfile.write(canned.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@contextmanager
def public_apis() -> Generator[PublicApis]:
    """The stub on a free port of 127.0.0.1, in a thread of its own: any event loop can ask it."""
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server.apis
    finally:
        server.apis.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _right_answer(path: str, query: Mapping[str, str]) -> Canned:
    if path not in ANSWERS:
        return Canned(404, b'{"error": "not found"}')
    status, answer = ANSWERS[path](query)
    return Canned(status, json.dumps(answer).encode())


def _geocoding(query: Mapping[str, str]) -> tuple[int, object]:
    name = query.get("name", "").casefold()
    found = [place for place in PLACES if str(place["name"]).casefold() == name]
    return 200, {"results": found[: int(query.get("count", "10"))], "generationtime_ms": 0.5} if found else {
        "generationtime_ms": 0.5
    }


def _forecast(query: Mapping[str, str]) -> tuple[int, object]:
    days = int(query["forecast_days"])
    if not 1 <= days <= 16:
        return 400, {"error": True, "reason": "Parameter 'forecast_days' is out of range."}
    return 200, {
        "latitude": float(query["latitude"]),
        "longitude": float(query["longitude"]),
        "timezone": "Europe/Oslo",
        "current_units": {
            "time": "iso8601",
            "temperature_2m": "°C",
            "weather_code": "wmo code",
            "wind_speed_10m": "km/h",
        },
        "current": {
            "time": f"{FIRST_DAY}T12:00",
            "interval": 900,
            "temperature_2m": 4.1,
            "weather_code": 61,
            "wind_speed_10m": 12.0,
        },
        "daily_units": {"time": "iso8601", "temperature_2m_max": "°C", "precipitation_sum": "mm"},
        "daily": {
            "time": [str(FIRST_DAY + timedelta(days=day)) for day in range(days)],
            "weather_code": [3 + 42 * (day % 2) for day in range(days)],
            "temperature_2m_min": [-1.5 + day for day in range(days)],
            "temperature_2m_max": [5.0 + day for day in range(days)],
            "precipitation_sum": [0.3 * day for day in range(days)],
        },
    }


def _coin_search(query: Mapping[str, str]) -> tuple[int, object]:
    word = query.get("query", "").casefold()
    found = [coin for coin in COINS if word in f"{coin['id']} {coin['name']} {coin['symbol']}".casefold()]
    return 200, {"coins": found, "exchanges": [], "icos": [], "categories": [], "nfts": []}


def _coin_price(query: Mapping[str, str]) -> tuple[int, object]:
    coin, currency = query["ids"], query["vs_currencies"]
    if coin not in PRICES:
        return 200, {}
    if currency not in RATES:
        return 200, {coin: {"last_updated_at": 1772366400}}
    return 200, {
        coin: {
            currency: PRICES[coin] * RATES[currency],
            f"{currency}_24h_change": -1.23456,
            "last_updated_at": 1772366400,
        }
    }


ANSWERS: Final = {GEOCODING: _geocoding, FORECAST: _forecast, COIN_SEARCH: _coin_search, COIN_PRICE: _coin_price}
