"""`POST /api/<operation>`: every operation that a caller may call, with its arguments as JSON."""

from __future__ import annotations

from functools import partial
from typing import Final

from msgspec import Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from weft.access.tokens import Token
from weft.core.errors import WeftError
from weft.runtime.settings.load import Settings
from weft.surfaces.callers import Callers
from weft.surfaces.http import answers
from weft.surfaces.http.answering import CallAnswers
from weft.surfaces.http.auth import TOKEN
from weft.surfaces.http.threads import CallThreads, TooManyCalls
from weft.surfaces.http.workers.pool import WorkerPool
from weft.surfaces.toolsets import lines, offer_of_token

WORKED: Final = frozenset({"core", "memory", "magma"})  # toolsets without watchers, jobs or chosen workspaces


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

    def __init__(
        self, settings: Settings, callers: Callers, crew: CallThreads, workers: WorkerPool | None = None
    ) -> None:
        self._settings, self._crew, self._workers = settings, crew, workers
        self._here = CallAnswers(settings, callers)

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

    def _answer(self, token: Token, name: str, body: bytes) -> Response:
        """In a worker, if there are any and the call touches nothing of this process but the store."""
        line = lines().get(name)
        if self._workers is None or line is None or line.toolset not in WORKED or not self._workers.ready:
            return self._here.answer(token, name, body)
        return self._workers.answer(token, name, body, reads=line.effect == "read")

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


def _is_json(content_type: str) -> bool:
    kind, _, parameters = content_type.partition(";")
    charset = parameters.strip().lower()
    return kind.strip().lower() == "application/json" and charset in ("", "charset=utf-8", 'charset="utf-8"')
