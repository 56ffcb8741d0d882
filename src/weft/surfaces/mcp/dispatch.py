"""Dispatch of tool calls: runs each on a thread for its caller and answers it, over any transport."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from msgspec import Struct

from weft.core.errors import NeedsApproval, NotFound, WeftError
from weft.operations import operation as operation_of
from weft.runtime.call_context import Progress, no_progress
from weft.runtime.operation import Operation
from weft.runtime.priorities import Profile
from weft.runtime.settings.load import Settings, load_settings
from weft.surfaces.arguments import read_arguments
from weft.surfaces.fair_threads import FairThreads
from weft.surfaces.mcp import asking
from weft.surfaces.mcp.answer import ToolAnswer, failure, internal_failure, success
from weft.surfaces.mcp.asking import ApprovalQuestion, ApprovalWatch, BlockedCall
from weft.surfaces.mcp.find_tool import find_tool, settle, tools_of
from weft.surfaces.mcp.profiles import take_profile, with_budget
from weft.surfaces.mcp.progress import progress_to
from weft.surfaces.mcp.tools import in_tool_words
from weft.surfaces.outward import is_own, outward
from weft.surfaces.toolsets import FIND_TOOL, Offer, lines, offer_of, offer_of_token, unknown_tool

if TYPE_CHECKING:
    from weft.memory.facade import Memory

THREADS: Final = 4
NETWORK_THREADS: Final = 8  # of which one caller has half at most
MAX_ASKED: Final = 256  # questions that wait for a call to be sent again
MAX_ASKED_EACH: Final = 4  # questions that wait for the person of one caller over the network
TOKEN: Final = "weft.token"  # noqa: S105 - where the gate of HTTP puts it into the scope of a request
_log = logging.getLogger("weft.mcp")

Context = ServerRequestContext[Any, Any]
Whose = Callable[[Context], "Memory"]
Ready = Callable[[Context], Awaitable[None]]
Result = TypeVar("Result")


class CallOutcome(Struct, frozen=True, kw_only=True):
    """An answer; and the question for it, where only an approval of the client's user is missing."""

    answer: ToolAnswer
    question: ApprovalQuestion | None = None


class Dispatcher:
    """Answers calls. `whose` opens the memory of a request's caller, on a thread; `ready`, which may ask the client, is
    awaited before.

    Its threads live as long as the server, because the store keeps a connection per thread: workers of the SDK come and
    go, and each would leave a connection behind.

    The tools of a caller are known without opening the store: from `settings` (those of the directory if unset), and
    over the network from the token in the scope of the request. Raises Misconfigured for settings with unknown tools.
    """

    def __init__(
        self, whose: Whose, *, network: bool, settings: Settings | None = None, ready: Ready | None = None
    ) -> None:
        self.whose, self.network, self._ready = whose, network, ready
        self._settings = load_settings(Path()) if settings is None else settings
        threads, share = (NETWORK_THREADS, NETWORK_THREADS // 2) if network else (THREADS, THREADS)
        self._threads = FairThreads(threads, share=share, name="weft")
        self._running: set[Future[Any]] = set()
        # To whom a question was put and what a yes is good for, by the question's state.
        self._asked: OrderedDict[str, tuple[str, str]] = OrderedDict()
        self._asking: Counter[str] = Counter()  # questions that are open while their call waits
        offer_of(self._settings, network=network)

    # ---- who is asking, and for what

    @property
    def is_live(self) -> bool:
        """False if the server's own settings turn live memory off."""
        return self._settings.live_memory

    def offered(self, context: Context) -> Offer:
        """The tools that this caller is shown and may call."""
        if not self.network:
            return offer_of(self._settings, network=False)
        token = context.request.scope[TOKEN] if context.request is not None else None
        if token is None:
            raise MCPError(INTERNAL_ERROR, "weft failed inside: the request came in without its token")
        try:
            return offer_of_token(self._settings, token)
        except WeftError as problem:
            raise MCPError(INTERNAL_ERROR, problem.message) from problem

    def principal(self, context: Context) -> str:
        """The identity that a question is bound to: a yes counts only from there."""
        return context.request.scope[TOKEN].id if self.network and context.request is not None else "stdio"

    def open_questions(self, whose: str) -> int:
        """The number of calls of a caller that wait for its user."""
        return self._asking[whose]

    async def list_tools(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        """Every tool that this caller is shown, on one page."""
        return ListToolsResult(tools=tools_of(self.offered(context)))

    # ---- calls

    async def call(self, context: Context, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        """Runs a tool. Errors inside are answers for the model; an unknown tool is an error of the protocol.

        Where only the operator's approval is missing and the client's user may give it, that user is asked.
        """
        offered = self.offered(context)
        if params.name not in offered.listed and not (offered.finds and params.name == FIND_TOOL):
            await self.turn_away(context, params.name)
            raise MCPError(INVALID_PARAMS, unknown_tool(params.name, offered))
        async with progress_to(context) as progress:
            work = partial(self.answer, context, params.name, params.arguments or {}, progress=progress)
            if params.request_state is not None:  # sent again, with the reply to what was asked
                replied = asking.is_yes((params.input_responses or {}).get(asking.KEY))
                _, digest = self._asked.pop(params.request_state, ("", None))
                approved = digest if replied else None
                return _result((await self.threaded(context, partial(work, approved=approved))).answer)
            done = await self.threaded(context, partial(work, asks=asking.can_ask(context)))
            if done.question is None:
                return _result(done.answer)
            if asking.is_modern(context):
                return asking.to_be_asked(done.question, self._remember(context, done.question))
            if await self._says_yes(context, done.question):
                done = await self.threaded(context, partial(work, approved=done.question.digest))
            return _result(done.answer)

    async def use(self, context: Context, name: str, given: dict[str, Any]) -> ToolAnswer:
        """The answer of an operation that this caller may call, for resources and prompts."""
        return (await self.threaded(context, partial(self.answer, context, name, given))).answer

    async def project(self, context: Context) -> str | None:
        """The project of this caller's memory; None if it cannot be opened, as the next call will report."""
        try:
            return (await self.threaded(context, partial(self.whose, context))).ctx.settings.project
        except WeftError:
            return None

    async def turn_away(self, context: Context, name: str) -> None:
        """Records that a caller asked for an operation that exists and that it may not call."""
        if name in lines() and name not in self.offered(context).callable:
            await self.threaded(context, partial(self._refuse, context, name))

    def _refuse(self, context: Context, name: str) -> None:
        problem = NotFound("there is no such tool for this caller")
        try:
            self.whose(context).refuse(operation_of(name), {}, problem, surface="mcp")
        except WeftError:  # the caller is turned away all the same
            _log.exception("%s was refused, and that could not be recorded", name)

    def _remember(self, context: Context, question: ApprovalQuestion) -> str:
        """Keeps a question until its call is sent again: the newest few of each caller over the network."""
        state, whose = secrets.token_hex(16), self.principal(context)
        own = [each for each, (to, _) in self._asked.items() if to == whose] if self.network else []
        if len(own) >= MAX_ASKED_EACH:
            del self._asked[own[0]]
        self._asked[state] = (whose, question.digest)
        if len(self._asked) > MAX_ASKED:
            self._asked.popitem(last=False)
        return state

    async def _says_yes(self, context: Context, question: ApprovalQuestion) -> bool:
        """Asks while the call waits; not if too many calls of this caller wait already."""
        whose = self.principal(context)
        if self.network and self._asking[whose] >= MAX_ASKED_EACH:
            return False
        self._asking[whose] += 1
        try:
            return await asking.says_yes(context, question)
        finally:
            self._asking[whose] -= 1
            if not self._asking[whose]:
                del self._asking[whose]

    async def threaded(self, context: Context, work: Callable[[], Result]) -> Result:
        """Runs work on one of the dispatcher's threads. If the caller leaves, it is not begun, or its result is
        dropped.
        """
        if self._ready is not None:
            await self._ready(context)
        future = self._threads.submit(self.principal(context), work)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return await asyncio.wrap_future(future)

    def answer(
        self,
        context: Context,
        name: str,
        sent: dict[str, Any],
        *,
        progress: Progress = no_progress,
        asks: bool = False,
        approved: str | None = None,
    ) -> CallOutcome:
        """Runs a tool for the caller. Never raises: the server outlives any call.

        With `asks` a call that needs an approval comes with its question. `approved` is the digest that the user said
        yes to: if this call has the same digest, it is made with the approval.
        """
        offered = self.offered(context)
        called = find_tool(offered) if name == FIND_TOOL else offered.callable[name]
        profile = called.profile
        try:
            memory = self.whose(context)
            called, given, profile = _read(memory, called, sent, offered)
            wanted = BlockedCall(memory=memory, operation=called, given=given, client=asking.client_of(context))
            output, question = _run(wanted, progress, asks=asks, approved=approved)
            words = _wording(called, offered)
            return CallOutcome(
                answer=success(output, wording=words, profile=profile, operation=called), question=question
            )
        except _Unapproved as refused:
            answer = failure(refused.problem, wording=_wording(called, offered), profile=profile)
            return CallOutcome(answer=answer, question=refused.question)
        except WeftError as problem:
            words = _wording(called, offered)
            return CallOutcome(answer=failure(self._told(called, problem), wording=words, profile=profile))
        except Exception:  # noqa: BLE001 - told on standard error, and to the model as weft's own fault
            _log.exception("%s failed", called.name)
            return CallOutcome(answer=internal_failure(profile))

    def _told(self, called: Operation, problem: WeftError) -> WeftError:
        """The error as this dispatcher's callers may see it."""
        if not self.network:
            return problem
        if is_own(problem):
            _log.error("%s failed: %s", called.name, problem)
        return outward(problem)

    def close(self, seconds: float | None = None) -> bool:
        """Begins nothing more and waits up to `seconds` for running calls. Returns whether all of them ended.

        The opener of the store closes it.
        """
        self._threads.close(wait=False)
        return not wait(tuple(self._running), timeout=seconds).not_done


class _Unapproved(Exception):
    """A refused call whose answer has no status to say so."""

    def __init__(self, problem: NeedsApproval, question: ApprovalQuestion | None) -> None:
        super().__init__(problem.message)
        self.problem, self.question = problem, question


def _run(
    wanted: BlockedCall, progress: Progress, *, asks: bool, approved: str | None
) -> tuple[Struct, ApprovalQuestion | None]:
    if approved is not None and (question := asking.question_of(wanted, "")) and question.digest == approved:
        return asking.run_approved(wanted, progress), None
    watch = ApprovalWatch(wanted.operation)
    try:
        output = wanted.memory.run(watch.operation, wanted.given, progress=progress, surface="mcp")
    except NeedsApproval as problem:
        raise _Unapproved(problem, _question(wanted, watch, asks=asks)) from problem
    return output, _question(wanted, watch, asks=asks)


def _question(wanted: BlockedCall, watch: ApprovalWatch, *, asks: bool) -> ApprovalQuestion | None:
    return asking.question_of(wanted, watch.problem.message) if asks and watch.problem is not None else None


def _read(
    memory: Memory, called: Operation, sent: dict[str, Any], offered: Offer
) -> tuple[Operation, dict[str, Any], Profile | None]:
    """The operation to call, its arguments, and the profile of its answer.

    A call that is refused for its arguments (such as a claim to be another agent) is recorded too.
    """
    try:
        profile, sent = take_profile(called, sent)
        if called.name == FIND_TOOL:
            called, sent = settle(called, sent, offered)
            own, sent = take_profile(called, sent)
            profile = own or profile
        given = read_arguments(called, sent, memory.ctx.settings)
        return called, with_budget(called, given, profile or called.profile), profile or called.profile
    except WeftError as problem:
        memory.refuse(called, sent, problem, surface="mcp")
        raise


def _wording(operation: Operation, offered: Offer) -> Callable[[str], str]:
    return partial(in_tool_words, operation=operation, offered=offered)


def _result(answer: ToolAnswer) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=answer.text)],
        structured_content=msgspec.to_builtins(answer.envelope),
        is_error=not answer.envelope.ok,
    )
