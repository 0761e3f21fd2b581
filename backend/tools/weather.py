"""`get_weather`: the weather of a place, from Open-Meteo's geocoding and forecast services."""

import json
from typing import Annotated, Any, Final, cast

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from backend.errors import ToolRefusal
from backend.tools.json_client import JsonClient, Label, one_line

GEOCODING: Final = "The service that finds places"
FORECAST: Final = "The weather service"
MAX_DAYS: Final = 7
MAX_PLACE_CHARS: Final = 100
CANDIDATES: Final = 10
CURRENT: Final = "temperature_2m,weather_code,wind_speed_10m"
DAILY: Final = "weather_code,temperature_2m_min,temperature_2m_max,precipitation_sum"

SKY: Final = {
    0: "clear sky",
    1: "mainly clear",
    2: "partly cloudy",
    3: "overcast",
    45: "fog",
    48: "freezing fog",
    51: "light drizzle",
    53: "drizzle",
    55: "heavy drizzle",
    56: "light freezing drizzle",
    57: "freezing drizzle",
    61: "light rain",
    63: "rain",
    65: "heavy rain",
    66: "light freezing rain",
    67: "freezing rain",
    71: "light snow",
    73: "snow",
    75: "heavy snow",
    77: "snow grains",
    80: "light showers",
    81: "showers",
    82: "violent showers",
    85: "light snow showers",
    86: "snow showers",
    95: "thunderstorm",
    96: "thunderstorm with light hail",
    99: "thunderstorm with hail",
}
"""The WMO codes that Open-Meteo uses."""


def _a_place(text: str) -> str:
    place = one_line(text)
    if not 0 < len(place) <= MAX_PLACE_CHARS:
        raise ValueError(f"must have 1 to {MAX_PLACE_CHARS} characters")
    return place


def _some_days(days: int) -> int:
    if not 1 <= days <= MAX_DAYS:
        raise ValueError(f"must be from 1 to {MAX_DAYS}")
    return days


class WeatherArguments(BaseModel):
    """Limits are checked by functions: strict providers refuse schemas with `maxLength`, `default` or optional keys."""

    place: Annotated[str, AfterValidator(_a_place)] = Field(
        description="City or town in any language; with its country after a comma where the name is ambiguous"
    )
    days: Annotated[int, AfterValidator(_some_days)] = Field(
        description=f"Days to forecast, today included: 1 for today, 2 for tomorrow as well, at most {MAX_DAYS}"
    )

    @model_validator(mode="before")
    @classmethod
    def _today_unless_said(cls, arguments: object) -> object:
        return {"days": 1, **cast("dict[str, object]", arguments)} if isinstance(arguments, dict) else arguments


class Place(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: Label
    latitude: FiniteFloat
    longitude: FiniteFloat
    country: Label = ""
    country_code: Label = ""
    admin1: Label = ""

    @property
    def label(self) -> str:
        return ", ".join(part for part in dict.fromkeys((self.name, self.admin1, self.country)) if part)

    def lies_in(self, region: str) -> bool:
        return region.casefold() in {part.casefold() for part in (self.country, self.country_code, self.admin1)}


class Places(BaseModel):
    results: list[Place] = []


class CurrentUnits(BaseModel):
    temperature_2m: Label = "°C"
    wind_speed_10m: Label = "km/h"


class Current(BaseModel):
    time: Label
    temperature_2m: FiniteFloat | None
    weather_code: int | None
    wind_speed_10m: FiniteFloat | None


class DailyUnits(BaseModel):
    temperature_2m_max: Label = "°C"
    precipitation_sum: Label = "mm"


class Daily(BaseModel):
    time: list[Label]
    weather_code: list[int | None]
    temperature_2m_min: list[FiniteFloat | None]
    temperature_2m_max: list[FiniteFloat | None]
    precipitation_sum: list[FiniteFloat | None]


class Forecast(BaseModel):
    timezone: Label = ""
    current: Current
    current_units: CurrentUnits = CurrentUnits()
    daily: Daily
    daily_units: DailyUnits = DailyUnits()


def make_weather_tool(*, client: JsonClient, geocoding_url: str, forecast_url: str) -> BaseTool:
    """The tool `get_weather(place, days)`; it returns JSON text with units in the values.

    Raises (when it runs): ToolRefusal, ServiceUnavailable.
    """

    async def get_weather(place: str, days: int) -> str:
        found = await _find(place)
        forecast = await client.get(
            forecast_url,
            {
                "latitude": found.latitude,
                "longitude": found.longitude,
                "current": CURRENT,
                "daily": DAILY,
                "timezone": "auto",
                "forecast_days": days,
            },
            shape=Forecast,
            service=FORECAST,
        )
        return json.dumps(describe(found, forecast, days), ensure_ascii=False)

    async def _find(place: str) -> Place:
        name, _, region = (part.strip() for part in place.partition(","))
        asked = {"name": name, "count": CANDIDATES if region else 1, "language": "en", "format": "json"}
        places = (await client.get(geocoding_url, asked, shape=Places, service=GEOCODING)).results
        if not places:
            raise ToolRefusal(f"No place called {place} was found.")
        return next((candidate for candidate in places if candidate.lies_in(region)), places[0])

    return StructuredTool.from_function(
        coroutine=get_weather,
        name="get_weather",
        description="The current weather of a place and its forecast for up to 7 days.",
        args_schema=WeatherArguments,
    )


def describe(place: Place, forecast: Forecast, days: int) -> dict[str, Any]:
    """What the model reads: `{place, timezone, now: {time, sky, temperature, wind}, days: [{date, sky, min, max,
    precipitation}]}`; a value that the service does not know is left out.
    """
    now, units, daily, day_units = forecast.current, forecast.current_units, forecast.daily, forecast.daily_units
    rows = zip(
        daily.time,
        daily.weather_code,
        daily.temperature_2m_min,
        daily.temperature_2m_max,
        daily.precipitation_sum,
        strict=False,
    )
    return {
        "place": place.label,
        "timezone": forecast.timezone,
        "now": _known(
            time=now.time,
            sky=_sky(now.weather_code),
            temperature=_with_unit(now.temperature_2m, units.temperature_2m),
            wind=_with_unit(now.wind_speed_10m, units.wind_speed_10m),
        ),
        "days": [
            _known(
                date=date,
                sky=_sky(code),
                min=_with_unit(low, day_units.temperature_2m_max),
                max=_with_unit(high, day_units.temperature_2m_max),
                precipitation=_with_unit(wet, day_units.precipitation_sum),
            )
            for date, code, low, high, wet in rows
        ][:days],
    }


def _known(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def _sky(code: int | None) -> str | None:
    return None if code is None else SKY.get(code, "unknown sky")


def _with_unit(value: float | None, unit: str) -> str | None:
    return None if value is None else f"{value:g} {unit}"
