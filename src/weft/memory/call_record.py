"""The record of one call: counted and timed, then written to the audit and to the log of operations."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from weft.core.clock import to_iso
from weft.core.errors import WeftError
from weft.core.types import SCOPES, Guard
from weft.runtime.audit_log import INPUT_CHARACTERS, OUTPUT_CHARACTERS, AuditedCall, AuditExcerpt, beginning
from weft.runtime.call_context import CallContext
from weft.runtime.call_stats import MAX_WRITTEN, CallStats
from weft.runtime.operation import TOKEN, Operation

Surface = Literal["python", "cli", "mcp", "http"]
FAILED: Final = frozenset({"failed", "blocked_scope"})  # statuses of answers that report that nothing was done
LISTS: Final = ("hits", "results", "nodes", "messages", "matches", "merged", "events", "calls")
NO_EXCERPT: Final = AuditExcerpt(size=0, beginning=None)
MAX_DEPTH: Final = 64
_log = logging.getLogger("weft.audit")


class CallRecord:
    """Starts when it is made. `audited=False` keeps the call out of the audit: its caller keeps a record itself."""

    def __init__(
        self,
        ctx: CallContext,
        operation: Operation,
        given: Mapping[str, Any],
        *,
        surface: Surface,
        audited: bool = True,
    ) -> None:
        self._ctx, self._operation, self._given, self._surface = ctx, operation, given, surface
        self._audit = ctx.audit if audited and ctx.audit is not None and ctx.audit.recording else None
        self._lines = ctx.lines if ctx.lines is not None and ctx.lines.wanted else None
        self.stats = CallStats()
        self._started, self._began_s = ctx.clock.now_us(), time.perf_counter()

    def end(self, answer: Struct | None, problem: BaseException | None = None) -> None:
        """Records the answer, or the error. A destructive call is in the audit when this returns, others soon after.

        Never raises: a failure to record is logged and does not cost the answer.
        """
        milliseconds = round((time.perf_counter() - self._began_s) * 1000, 3)
        status = str(getattr(answer, "status", "")) or ("error" if problem is not None else "ok")
        code = _code(problem) if problem is not None else status if status in FAILED else ""
        try:
            if self._audit is not None:
                self._audit.note(self._audited(answer, problem, milliseconds, code=code, status=status))
                if self._operation.effect == "destructive":
                    self._audit.flush()
            if self._lines is not None:
                self._lines.write(self._line(answer, milliseconds, code=code, status=status))
        except Exception:  # noqa: BLE001 - see above
            _log.exception("%s could not be recorded", self._operation.name)

    def _audited(
        self, answer: Struct | None, problem: BaseException | None, milliseconds: float, *, code: str, status: str
    ) -> AuditedCall:
        ctx, operation = self._ctx, self._operation
        keeps_arguments = operation.audited_words != "none" and not self._is_sensitive()
        keeps_answer = keeps_arguments and operation.audited_words == "all"
        given = {name: value for name, value in self._given.items() if name != TOKEN}
        if "session" in given:  # first, so that it is not cut off: an erasure searches for it
            given = {"session": given["session"], **given}
        outcome: Any = answer if problem is None else _message(problem)
        return AuditedCall(
            writer=ctx.writer,
            guard=_guard(ctx),
            operation=operation.name,
            toolset=operation.toolset,
            effect=operation.effect,
            surface=self._surface,
            started=self._started,
            ended=ctx.clock.now_us(),
            milliseconds=milliseconds,
            given=_excerpt(given, INPUT_CHARACTERS, keeps_words=keeps_arguments),
            answer=_excerpt(outcome, OUTPUT_CHARACTERS, keeps_words=keeps_answer),
            code=code,
            status=status,
            conversation=ctx.settings.conversation or None,
            wrote=self._wrote(answer) if keeps_arguments else (),
        )

    def _wrote(self, answer: Struct | None) -> tuple[str, ...]:
        """Ids of the nodes it wrote, and of those that existed already with the same words."""
        items = getattr(answer, "items", ()) if self._operation.effect != "read" else ()
        ids = (str(getattr(each, "id", "")) for each in items)
        return tuple(dict.fromkeys(each for each in (*ids, *self.stats.written) if each))[:MAX_WRITTEN]

    def _is_sensitive(self) -> bool:
        """Whether it is marked sensitive, touched sensitive nodes, or comes from a viewer who may see them."""
        return self.stats.sensitive or _marked(self._given) or self._ctx.viewer.sensitive

    def _line(self, answer: Struct | None, milliseconds: float, *, code: str, status: str) -> dict[str, Any]:
        ctx, stats = self._ctx, self.stats
        hits = next((listed for name in LISTS if isinstance(listed := getattr(answer, name, None), tuple)), ())
        line: dict[str, Any] = {
            "at": to_iso(self._started),
            "op": self._operation.name,
            "surface": self._surface,
            "account": ctx.writer.account,
            "agent": ctx.writer.actor.agent,
            "session": ctx.writer.session,
            "ms": milliseconds,
            "stages": stats.stages,
            "counts": {"hits": len(hits), "events": stats.events, "notes": len(getattr(answer, "notes", ()))},
            "status": status,
            "error_code": code,
        }
        if ctx.audit is not None and ctx.audit.problem:
            line["audit"] = ctx.audit.problem
        return line


def _code(problem: BaseException) -> str:
    if isinstance(problem, WeftError):
        return problem.code
    return "internal" if isinstance(problem, Exception) else "interrupted"


def _message(problem: BaseException) -> str:
    return problem.message if isinstance(problem, WeftError) else type(problem).__name__


def _guard(ctx: CallContext) -> Guard:
    """Who may find the record: viewers with the caller's widest scope; only the caller's agent if it sees no others."""
    held = [each for each in reversed(SCOPES) if each in ctx.viewer.scopes]
    own = (ctx.viewer.agent,) if ctx.viewer.tagged_only and ctx.viewer.agent else ()
    return Guard(project=ctx.settings.project, scope=held[0] if held else "admin", agents=own)


def _excerpt(value: Any, most: int, *, keeps_words: bool) -> AuditExcerpt:
    if value is None:
        return NO_EXCERPT
    try:
        raw = msgspec.json.encode(value, enc_hook=str)
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):  # not text: the call was refused for it
        return NO_EXCERPT
    return AuditExcerpt(size=len(raw), beginning=beginning(raw, most) if keeps_words else None)


def _marked(value: Any, depth: int = 0) -> bool:
    """Whether anything in the arguments is marked sensitive; values nested too deeply to check count as marked."""
    if depth > MAX_DEPTH:
        return True
    match value:
        case Mapping():
            return bool(value.get("sensitive")) or any(_marked(each, depth + 1) for each in value.values())
        case list() | tuple():
            return any(_marked(each, depth + 1) for each in value)
        case _:
            return False
