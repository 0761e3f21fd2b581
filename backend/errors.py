"""Every error of the project, grouped by who has to act.

    AfterthoughtError
    ├── SettingsError            the operator corrects the environment and starts again
    ├── CallerError              the client sends something else; goes out as {"error": {"kind", "message"}}
    │   ├── InvalidInput
    │   ├── NotFound
    │   ├── Duplicate
    │   ├── LimitReached
    │   ├── StaleVersion
    │   ├── TooLarge
    │   ├── Unauthenticated
    │   └── Forbidden
    ├── PromptError              who writes prompts corrects the template or the call that renders it
    ├── ToolRefusal              the model is told, in a ToolMessage, and may try again
    │   ├── MissingUserId
    │   ├── PatchFailed
    │   └── ProfileTooLarge
    └── OutsideFailure           a part outside of this process failed; a later try may succeed
        ├── StorageUnavailable
        ├── ModelUnavailable
        ├── BadModelOutput
        ├── ServiceUnavailable
        └── ServerUnavailable

The docstring of a class is its message when it is raised without one. `code` is stable and safe to match on.
Errors of libraries are translated where they arise and never pass above the package that calls the library.
The root is a RuntimeError because a LangGraph server tells its clients the messages of Python's own kinds only, and
of every other error that "an internal error occurred".
"""

import inspect
from typing import ClassVar


class AfterthoughtError(RuntimeError):
    """Something went wrong."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or inspect.cleandoc(type(self).__doc__ or "").splitlines()[0])

    @property
    def message(self) -> str:
        return str(self)


class SettingsError(AfterthoughtError):
    """A setting has a value that cannot be used."""

    code = "settings"

    def __init__(self, *problems: str) -> None:
        """Each problem names its variable and says why; together they are one line."""
        super().__init__("; ".join(problems))
        self.problems = problems or (self.message,)


class CallerError(AfterthoughtError):
    """The request cannot be carried out as it was sent."""

    code = "invalid"
    status = 400


class InvalidInput(CallerError):
    """The request has a value that is not allowed here."""


class NotFound(CallerError):
    """There is nothing with this id."""

    code = "not_found"
    status = 404


class Duplicate(CallerError):
    """The same thing is already stored."""

    code = "duplicate"
    status = 409


class LimitReached(CallerError):
    """There is no room for more; remove something first."""

    code = "limit_reached"
    status = 409


class StaleVersion(CallerError):
    """It has changed since it was read; read it again and repeat."""

    code = "stale_version"
    status = 409


class TooLarge(CallerError):
    """The request is larger than what is accepted."""

    code = "too_large"
    status = 413


class Unauthenticated(CallerError):
    """Sign in first: the request carries no valid token."""

    code = "unauthenticated"
    status = 401


class Forbidden(CallerError):
    """The token does not permit this."""

    code = "forbidden"
    status = 403


class PromptError(AfterthoughtError):
    """A prompt template cannot be used as it is."""

    code = "prompt"


class ToolRefusal(AfterthoughtError):
    """The tool could not do this; say so, or call it again with other arguments."""

    code = "TOOL_FAILED"


class MissingUserId(ToolRefusal):
    """Nobody is signed in, so there is nobody to remember this for; answer without saving."""

    code = "MISSING_USER_ID"


class PatchFailed(ToolRefusal):
    """A patch does not fit the profile, so nothing was changed."""

    code = "PATCH_FAILED"


class ProfileTooLarge(ToolRefusal):
    """The profile would be too large, so nothing was changed; save less, or remove keys in the same call."""

    code = "PROFILE_TOO_LARGE"

    def __init__(self, message: str | None = None, *, attempted_bytes: int = 0, maximum_bytes: int = 0) -> None:
        super().__init__(message)
        self.attempted_bytes = attempted_bytes
        self.maximum_bytes = maximum_bytes


class OutsideFailure(AfterthoughtError):
    """A part outside of this program did not answer."""

    code = "unavailable"
    status = 503


class StorageUnavailable(OutsideFailure):
    """The database does not answer; try again in a moment."""

    code = "storage_unavailable"


class ModelUnavailable(OutsideFailure):
    """The language model does not answer; try again in a moment."""

    code = "model_unavailable"


class BadModelOutput(OutsideFailure):
    """The language model answered something that does not fit what was asked for."""

    code = "bad_model_output"


class ServiceUnavailable(OutsideFailure):
    """An outside service that a tool needs does not answer."""

    code = "service_unavailable"


class ServerUnavailable(OutsideFailure):
    """The server that runs the graphs did not take a request from inside a run."""

    code = "server_unavailable"
