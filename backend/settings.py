"""The one reader of the environment: `load_settings()` gives a frozen, validated `Settings`.

Values come from the process environment, then from a file `.env` in the working directory. `.env.example` lists
every variable with its default; a test holds the two together.
"""

import json
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from backend.errors import SettingsError
from backend.ids import MAX_USER_ID_CHARS

AuthMode = Literal["none", "jwt", "tokens"]
Role = Literal["chat", "router", "title", "summary"]
"""What a model is used for; each has a setting `MODEL_<ROLE>` that overrides `MODEL`."""


def _web_address(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("is no address that begins with http:// or https://")
    return url


def _embeddings(name: str) -> str:
    """The two words in any case, off for an empty one; the name of a model as it is."""
    word = name.strip() or "off"
    return word.lower() if word.lower() in {"off", "local"} else word


Seconds = Annotated[float, Field(gt=0, le=3600)]
WebAddress = Annotated[str, AfterValidator(_web_address)]
MIN_SECRET_CHARS = 32
DEFAULT_MODEL = "gpt-4.1-mini"


class TokenOwner(BaseModel):
    """Whom a static token of `AUTH_TOKENS` stands for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    user_id: str = Field(min_length=1, max_length=MAX_USER_ID_CHARS)
    name: str | None = None
    email: str | None = None
    avatar: str | None = None
    permissions: tuple[str, ...] = ()


class Settings(BaseSettings):
    """Everything that can be configured. Field names are the variables' names in lower case."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", frozen=True, env_ignore_empty=False)

    port: int = Field(2024, ge=1, le=65535)
    """Where `make dev` serves; the next free port is used when the default is taken."""
    self_url: str = Field("", validation_alias=AliasChoices("self_url", "langgraph_api_url"))
    """Where this server reaches itself, to start background runs; the dev server fills it in."""
    max_body_bytes: int = Field(20_000_000, ge=10_000)
    """Larger request bodies are answered with 413; images travel inside messages as base64."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    database_url: str = ""
    """A PostgreSQL DSN; empty starts the embedded server in `<data_dir>/postgres`."""
    data_dir: Path = Path(".data")
    database_pool_size: int = Field(20, ge=2, le=500)
    database_timeout_seconds: Seconds = 3.0
    """How long a connection, or a place in the pool, is waited for."""

    auth_mode: AuthMode = "none"
    auth_default_user: str = Field("local", max_length=MAX_USER_ID_CHARS)
    """With `AUTH_MODE=none`: who speaks when a run names no user; empty means nobody, hence no memory."""
    auth_tokens: Annotated[dict[str, TokenOwner], NoDecode] = Field(default_factory=dict[str, TokenOwner], repr=False)
    auth_jwt_secret: SecretStr = SecretStr("")
    auth_jwks_url: str = ""
    auth_jwt_audience: str = ""
    auth_jwt_issuer: str = ""
    service_secret: SecretStr = SecretStr("")
    """Signs the tokens with which background runs authenticate; the same on every instance."""

    openai_api_key: SecretStr = SecretStr("")
    openai_base_url: str = ""
    model: str = ""
    model_chat: str = ""
    model_router: str = ""
    model_title: str = ""
    model_summary: str = ""
    model_timeout_seconds: Seconds = 120.0
    model_max_retries: int = Field(2, ge=0, le=10)

    memory_profile_max_bytes: int = Field(8192, ge=256)
    """The profile as stored, in UTF-8 bytes of compact JSON."""
    memory_thread_summary_keep_recent: int = Field(10, ge=0)
    """So many uncompressed human turns make a pass due; 0 turns thread summaries off."""
    memory_thread_messages_buffer_recent_turns: int = Field(5, ge=0)
    """So many of the newest human turns are sent as they are, even when summaries cover them."""
    memory_facts_max: int = Field(200, ge=1)
    memory_facts_max_chars: int = Field(48_000, ge=100)
    """The contents of all facts of a user together, in characters."""
    memory_episodes_max: int = Field(5_000, ge=1)
    """So many of a user's newest turns are kept."""
    memory_episodes_max_total: int = Field(1_000_000, ge=1)
    """So many of the newest turns of all users together are kept."""
    memory_episodes_max_days: int = Field(90, ge=1)
    memory_embeddings: Annotated[str, Field(max_length=200), AfterValidator(_embeddings)] = "off"
    """`off`, `local`, or the name of an embedding model that the provider of the language model offers."""

    weather_geocoding_url: WebAddress = "https://geocoding-api.open-meteo.com/v1/search"
    weather_forecast_url: WebAddress = "https://api.open-meteo.com/v1/forecast"
    crypto_url: WebAddress = "https://api.coingecko.com/api/v3"
    tool_timeout_seconds: Seconds = 10.0

    server_timeout_seconds: Seconds = 2.0
    """How long a run waits for the server to take a request: to start a background run, to set a title."""
    title_timeout_seconds: Seconds = 10.0
    router_timeout_seconds: Seconds = 20.0

    @property
    def offline(self) -> bool:
        """Whether no provider is configured, so that the offline model serves."""
        return not (self.openai_api_key.get_secret_value() or self.openai_base_url)

    def model_for(self, role: Role) -> str:
        """The model name for a role; empty when the offline model serves."""
        if self.offline:
            return ""
        names: dict[Role, str] = {
            "chat": self.model_chat,
            "router": self.model_router,
            "title": self.model_title,
            "summary": self.model_summary,
        }
        return names[role] or self.model or DEFAULT_MODEL

    @property
    def embedded_data(self) -> Path | None:
        """Where the embedded PostgreSQL keeps its data, or None when `DATABASE_URL` names another server."""
        return None if self.database_url else (self.data_dir / "postgres").resolve()

    @model_validator(mode="before")
    @classmethod
    def _parse_tokens(cls, values: dict[str, object]) -> dict[str, object]:
        """`AUTH_TOKENS` is JSON; an empty value stands for the default, except where empty means nobody."""
        tokens = values.get("auth_tokens")
        if isinstance(tokens, str):
            values = {**values, "auth_tokens": _parse_json_object(tokens)}
        return {name: value for name, value in values.items() if value != "" or name == "auth_default_user"}

    @model_validator(mode="after")
    def _auth_is_complete(self) -> Self:
        if self.auth_mode == "jwt" and bool(self.auth_jwt_secret.get_secret_value()) == bool(self.auth_jwks_url):
            raise ValueError("AUTH_MODE=jwt needs either AUTH_JWT_SECRET or AUTH_JWKS_URL")
        if self.auth_mode == "jwt" and self.auth_jwt_secret.get_secret_value():
            _require_length("AUTH_JWT_SECRET", self.auth_jwt_secret)
        if self.auth_mode == "tokens" and not self.auth_tokens:
            raise ValueError('AUTH_MODE=tokens needs AUTH_TOKENS, for example {"<token>": {"user_id": "ana"}}')
        if self.auth_mode != "none":
            _require_length("SERVICE_SECRET", self.service_secret)
        return self

    @model_validator(mode="after")
    def _model_is_named(self) -> Self:
        named = self.model or all((self.model_chat, self.model_router, self.model_title, self.model_summary))
        if self.openai_base_url and not named:
            raise ValueError("OPENAI_BASE_URL needs MODEL, the name of a model that this server offers")
        return self

    @model_validator(mode="after")
    def _embeddings_have_a_provider(self) -> Self:
        if self.offline and self.memory_embeddings not in {"off", "local"}:
            raise ValueError(
                "MEMORY_EMBEDDINGS is neither off nor local; a model's name needs OPENAI_API_KEY, or the "
                "OPENAI_BASE_URL of the server that offers the model"
            )
        return self


def _require_length(variable: str, secret: SecretStr) -> None:
    if len(secret.get_secret_value()) < MIN_SECRET_CHARS:
        raise ValueError(
            f"{variable} must be at least {MIN_SECRET_CHARS} characters; "
            "make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"
        )


def _parse_json_object(text: str) -> object:
    try:
        return json.loads(text) if text.strip() else {}
    except ValueError:
        raise ValueError('AUTH_TOKENS is not JSON; write {"<token>": {"user_id": "ana"}}') from None


def load_settings() -> Settings:
    """Read the environment once.

    Raises:
        SettingsError: one line that names each variable that is wrong and says why, without its value.
    """
    try:
        return Settings()  # pyright: ignore[reportCallIssue]
    except ValidationError as error:
        raise SettingsError(*(_describe(problem["loc"], problem["msg"]) for problem in error.errors())) from None


def _describe(location: tuple[int | str, ...], message: str) -> str:
    name = str(location[0]).upper() if location else ""
    reason = message.removeprefix("Value error, ")
    return f"{name}: {reason}" if name else reason
