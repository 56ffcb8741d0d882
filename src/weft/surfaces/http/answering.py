"""One call over HTTP, from its bytes to its response: in the server, or in one of its workers."""

from __future__ import annotations

import logging
from typing import Any

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
from weft.surfaces.http.body import read_body
from weft.surfaces.outward import is_own
from weft.surfaces.toolsets import lines, offer_of_token

_log = logging.getLogger("weft.http")


class CallAnswers:
    """Answers calls with the store of these callers. Thread-safe."""

    def __init__(self, settings: Settings, callers: Callers) -> None:
        self._settings, self._callers = settings, callers

    def answer(self, token: Token, name: str, body: bytes) -> Response:
        """Runs an operation for the holder of a token. Every failure is a response."""
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
