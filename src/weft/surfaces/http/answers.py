"""What goes back over HTTP: an operation's output as it is, or a problem with its code, in the words of the error."""

from __future__ import annotations

from typing import Final

import msgspec
from starlette.responses import Response

from weft.errors import StoreError, WeftError
from weft.surfaces.outward import outward

# The status of an error, by its code; those of the store are 503. What is not here is weft's own fault.
STATUS: Final = {
    "invalid": 400,
    "blocked_scope": 400,
    "unproven": 400,
    "forbidden": 403,
    "needs_approval": 403,
    "not_found": 404,
    "conflict": 409,
    "too_large": 413,
    "model_error": 503,
}
RETRY_SECONDS: Final = 1
MAX_CHARACTERS: Final = 2_000  # of what is said of a problem
_PRIVATE: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Why there is no answer: a code for programs, what happened, and what to do next."""

    ok: bool
    error_code: str
    error: str
    hint: str


def whole(output: msgspec.Struct) -> bytes:
    """An operation's output as JSON: what `--json` prints, in one line."""
    return msgspec.json.encode(output)


def done(body: bytes) -> Response:
    """An answer. Never kept by a cache: it is for who asked."""
    return Response(body, media_type="application/json", headers=_PRIVATE)


def refusal(status: int, code: str, error: str, hint: str = "", **headers: str) -> Response:
    """A problem that HTTP itself has. Names of headers are written with underscores."""
    body = msgspec.json.encode(Problem(ok=False, error_code=code, error=error, hint=hint))
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(body, status_code=status, media_type="application/json", headers=_PRIVATE | named)


def failure(problem: WeftError) -> Response:
    """An error of an operation, as it is told to who is elsewhere."""
    problem = outward(problem)
    status = 503 if isinstance(problem, StoreError) else STATUS.get(problem.code, 500)
    more = {"retry_after": str(RETRY_SECONDS)} if status == 503 else {}
    return refusal(status, problem.code, _text(problem.message), _text(problem.hint), **more)


def internal() -> Response:
    """Something that is weft's own fault; what exactly is on the server's standard error."""
    return refusal(
        500, "internal", "weft failed inside", "the server's standard error says how; the call may be repeated"
    )


def overloaded(error: str = "more calls wait than can be served", seconds: int = RETRY_SECONDS) -> Response:
    """Too much waits already."""
    hint = "repeat it after the seconds that Retry-After says; wait twice as long each time it is refused again"
    return refusal(503, "overloaded", error, hint, retry_after=str(seconds))


def draining() -> Response:
    """The server ends: it finishes what it has begun, and begins nothing."""
    return refusal(
        503,
        "draining",
        "the server is shutting down",
        "repeat it in a while, or elsewhere",
        retry_after=str(RETRY_SECONDS),
        connection="close",
    )


def _text(words: str) -> str:
    """Not too long, and without halves of characters, which JSON cannot hold: a message may repeat what was sent."""
    kept = words if len(words) <= MAX_CHARACTERS else f"{words[:MAX_CHARACTERS]}…"
    return kept.encode("utf-8", "replace").decode()
