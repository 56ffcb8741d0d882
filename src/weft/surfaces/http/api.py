"""`POST /api/<operation>`: every operation that a caller may call, with its arguments as JSON."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from msgspec import Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from weft.config import Settings
from weft.errors import NotFound, WeftError
from weft.memory import Memory
from weft.operations import operation as operation_of
from weft.operations.registry import Operation
from weft.surfaces.arguments import read_arguments
from weft.surfaces.callers import Callers
from weft.surfaces.http import answers
from weft.surfaces.http.bodies import read_body
from weft.surfaces.http.crew import Crew, Crowded
from weft.surfaces.http.gate import TOKEN
from weft.surfaces.outward import is_own
from weft.surfaces.toolsets import lines, offer_of_token
from weft.tokens import Token

_log = logging.getLogger("weft.http")


class Offered(Struct, frozen=True, kw_only=True):
    """An operation that may be called."""

    name: str
    summary: str
    effect: str
    toolset: str


class Index(Struct, frozen=True, kw_only=True):
    """What a caller may call: each is called by POST to /api/ and its name."""

    operations: tuple[Offered, ...]


class Api:
    """Answers calls. The loop only carries bytes; reading, running and writing happen on a thread."""

    def __init__(self, settings: Settings, callers: Callers, crew: Crew) -> None:
        self._settings, self._callers, self._crew = settings, callers, crew

    async def call(self, request: Request) -> Response:
        """Runs an operation. Never raises for what a caller sent, or for what goes wrong inside."""
        if not _is_json(request.headers.get("content-type", "")):
            return answers.refusal(
                415, "wrong_type", "the body must be application/json", "send Content-Type: application/json"
            )
        try:
            body = await request.body()
            token = request.scope[TOKEN]
            return await self._crew.run(token.id, partial(self._answer, token, request.path_params["operation"], body))
        except ClientDisconnect:
            return answers.refusal(400, "invalid", "the body was not sent to its end")
        except Crowded:
            return answers.overloaded()

    async def index(self, request: Request) -> Response:
        """What this caller may call."""
        token = request.scope[TOKEN]
        try:
            return await self._crew.run(token.id, partial(self._index, token))
        except Crowded:
            return answers.overloaded()

    def _index(self, token: Token) -> Response:
        try:
            offered = offer_of_token(self._settings, token)
        except WeftError as problem:
            return answers.failure(problem)
        known = [lines()[name] for name in offered.callable]
        told = (
            Offered(name=each.name, summary=each.summary, effect=each.effect, toolset=each.toolset) for each in known
        )
        return answers.done(answers.whole(Index(operations=tuple(told))))

    def _answer(self, token: Token, name: str, body: bytes) -> Response:
        try:
            memory = self._callers.bearer(token)
            operation = offer_of_token(self._settings, token).callable.get(name)
            if operation is None:
                return _turned_away(memory, name)
            output = memory.run(operation, _arguments(memory, operation, body), surface="http")
            return answers.done(answers.whole(output))
        except WeftError as problem:
            if is_own(problem):
                _log.error("%s failed: %s", name if name in lines() else "a call", problem)
            return answers.failure(problem)
        except Exception:  # noqa: BLE001 - a server must outlive what it serves; told on standard error
            _log.exception("%s failed", name if name in lines() else "a call")
            return answers.internal()


def nothing_there() -> Response:
    """The same words for what there is not and for what this caller may not know of."""
    return answers.refusal(404, "not_found", "there is no such operation for you", "GET /api lists those there are")


def _turned_away(memory: Memory, name: str) -> Response:
    """What there is and this caller may not call is on record."""
    if name in lines():
        memory.refuse(operation_of(name), {}, NotFound("there is no such operation for this caller"), surface="http")
    return nothing_there()


def _arguments(memory: Memory, operation: Operation, body: bytes) -> dict[str, Any]:
    """What was sent, by its own names; a call that is refused for it is on record too."""
    sent: dict[str, Any] = {}
    try:
        sent = read_body(body)
        return read_arguments(operation, sent, memory.loom.settings)
    except WeftError as problem:
        memory.refuse(operation, sent, problem, surface="http")
        raise


def _is_json(content_type: str) -> bool:
    kind, _, parameters = content_type.partition(";")
    charset = parameters.strip().lower()
    return kind.strip().lower() == "application/json" and charset in ("", "charset=utf-8", 'charset="utf-8"')
