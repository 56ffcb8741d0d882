"""Responses of the HTTP API: an operation's output as JSON, or an error with its code, message and hint."""

from __future__ import annotations

import json
import re
from typing import Final

import msgspec
from msgspec.structs import replace
from starlette.responses import Response

from weft.core.errors import StoreError, WeftError
from weft.surfaces.outward import outward
from weft.surfaces.render.commands import COMMAND, of_a_person, read_command

# HTTP status by error code. Store errors are 503; any other code is an internal error, 500.
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
MAX_CHARACTERS: Final = 2_000  # of a message or a hint
_HELP: Final = re.compile(r"see `weft [\w -]+ --help`")
_SCHEMA: Final = "GET /openapi.json describes its arguments"
_FLAG: Final = re.compile(r"(?<![\w`-])--([a-z][a-z-]+)")
_PRIVATE: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True):
    """An error: a code for programs, what happened, and what to do next."""

    ok: bool
    error_code: str
    error: str
    hint: str


def whole(output: msgspec.Struct) -> bytes:
    """An operation's output as one line of JSON, its notes in the words of a caller over HTTP."""
    if notes := getattr(output, "notes", ()):
        output = replace(output, notes=tuple(map(in_http_words, notes)))
    return msgspec.json.encode(output)


def in_http_words(text: str) -> str:
    """Text of the command line as calls of this API: `weft cite URI` becomes `POST /api/cite` with its arguments."""

    def call(match: re.Match[str]) -> str:
        meant = read_command(match[1])
        if meant is None:
            return of_a_person(text, match.start(), match[1])
        given = f" with {json.dumps(meant.arguments, ensure_ascii=False)}" if meant.arguments else ""
        return f"`POST /api/{meant.name}`{given}"

    text = COMMAND.sub(call, _HELP.sub(_SCHEMA, text))
    return _FLAG.sub(lambda match: match[1].replace("-", "_"), text)


def done(body: bytes) -> Response:
    """An answer. Caches must not store it: it is for this caller alone."""
    return Response(body, media_type="application/json", headers=_PRIVATE)


def refusal(status: int, code: str, error: str, hint: str = "", **headers: str) -> Response:
    """An error response. Header names are given with underscores."""
    body = msgspec.json.encode(ErrorBody(ok=False, error_code=code, error=error, hint=hint))
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(body, status_code=status, media_type="application/json", headers=_PRIVATE | named)


def failure(problem: WeftError) -> Response:
    """The response for an error of an operation, without details of the server's files."""
    problem = outward(problem)
    status = 503 if isinstance(problem, StoreError) else STATUS.get(problem.code, 500)
    more = {"retry_after": str(RETRY_SECONDS)} if status == 503 else {}
    return refusal(status, problem.code, _text(problem.message), _text(in_http_words(problem.hint)), **more)


def internal() -> Response:
    """The response for an internal error, whose trace goes to the server's standard error."""
    return refusal(
        500, "internal", "internal error in weft", "the server's standard error has the trace; retry the call"
    )


def overloaded(error: str = "too many calls are waiting", seconds: int = RETRY_SECONDS) -> Response:
    """The response when the queue is full."""
    hint = "retry after the seconds in Retry-After; double the wait each time"
    return refusal(503, "overloaded", error, hint, retry_after=str(seconds))


def draining() -> Response:
    """The response while the server shuts down: it finishes the calls in flight and takes no new ones."""
    return refusal(
        503,
        "draining",
        "the server is shutting down",
        "retry later, or on another server",
        retry_after=str(RETRY_SECONDS),
        connection="close",
    )


def _text(words: str) -> str:
    """The text, shortened and without lone surrogates: a message may quote what the client sent."""
    kept = words if len(words) <= MAX_CHARACTERS else f"{words[:MAX_CHARACTERS]}…"
    return kept.encode("utf-8", "replace").decode()
