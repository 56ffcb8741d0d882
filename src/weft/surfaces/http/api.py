"""`POST /api/<operation>`: every operation that a caller may call, with its arguments as JSON."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from msgspec import Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from weft.access.tokens import Token
from weft.core.errors import NotFound, WeftError
from weft.memory.facade import Memory
from weft.operations import operation as operation_of
from weft.runtime.operation import Operation
from weft.runtime.settings.load import Settings
from weft.surfaces.arguments import read_arguments
from weft.surfaces.callers import Callers
from weft.surfaces.http import answers
from weft.surfaces.http.auth import TOKEN
from weft.surfaces.http.body import read_body
from weft.surfaces.http.threads import CallThreads, TooManyCalls
from weft.surfaces.outward import is_own
from weft.surfaces.toolsets import lines, offer_of_token

_log = logging.getLogger("weft.http")


class OfferedOperation(Struct, frozen=True, kw_only=True):
    """One callable operation."""

    name: str
    summary: str
    effect: str
    toolset: str


class OperationList(Struct, frozen=True, kw_only=True):
    """The operations a caller may call, each by POST to /api/<name>."""

    operations: tuple[OfferedOperation, ...]


class Api:
    """Answers calls. The event loop only carries bytes; parsing, running and encoding happen on a thread."""

    def __init__(self, settings: Settings, callers: Callers, crew: CallThreads) -> None:
        self._settings, self._callers, self._crew = settings, callers, crew

    async def call(self, request: Request) -> Response:
        """Runs an operation. Every failure is a response."""
        if not _is_json(request.headers.get("content-type", "")):
            return answers.refusal(
                415, "wrong_type", "the body must be application/json", "send Content-Type: application/json"
            )
        try:
            body = await request.body()
            token = request.scope[TOKEN]
            return await self._crew.run(token.id, partial(self._answer, token, request.path_params["operation"], body))
        except ClientDisconnect:
            return answers.refusal(400, "invalid", "the body is incomplete")
        except TooManyCalls:
            return answers.overloaded()

    async def index(self, request: Request) -> Response:
        """The operations that this caller may call."""
        token = request.scope[TOKEN]
        try:
            return await self._crew.run(token.id, partial(self._index, token))
        except TooManyCalls:
            return answers.overloaded()

    def _index(self, token: Token) -> Response:
        try:
            offered = offer_of_token(self._settings, token)
        except WeftError as problem:
            return answers.failure(problem)
        listed = tuple(
            OfferedOperation(name=each.name, summary=each.summary, effect=each.effect, toolset=each.toolset)
            for each in (lines()[name] for name in offered.callable)
        )
        return answers.done(answers.whole(OperationList(operations=listed)))

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
        except Exception:  # noqa: BLE001 - a call must not end the server; the trace is logged
            _log.exception("%s failed", name if name in lines() else "a call")
            return answers.internal()


def nothing_there() -> Response:
    """The same response for a missing operation and for one that this caller may not know of."""
    return answers.refusal(
        404, "not_found", "no such operation for this token", "GET /api lists the operations you may call"
    )


def _turned_away(memory: Memory, name: str) -> Response:
    """Refuses an unknown or forbidden operation; the latter is recorded."""
    if name in lines():
        memory.refuse(operation_of(name), {}, NotFound("there is no such operation for this caller"), surface="http")
    return nothing_there()


def _arguments(memory: Memory, operation: Operation, body: bytes) -> dict[str, Any]:
    """The call's arguments by their names; a refusal is recorded."""
    sent: dict[str, Any] = {}
    try:
        sent = read_body(body)
        return read_arguments(operation, sent, memory.ctx.settings)
    except WeftError as problem:
        memory.refuse(operation, sent, problem, surface="http")
        raise


def _is_json(content_type: str) -> bool:
    kind, _, parameters = content_type.partition(";")
    charset = parameters.strip().lower()
    return kind.strip().lower() == "application/json" and charset in ("", "charset=utf-8", 'charset="utf-8"')
