"""One call of an operation, watched: timed and counted, recorded in the audit and told in the log of operations."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.audit import INPUT_CHARACTERS, OUTPUT_CHARACTERS, Called, Said, beginning
from weft.errors import WeftError
from weft.instants import to_iso
from weft.loom import Loom
from weft.operations.registry import Operation
from weft.tally import MAX_WRITTEN, Tally
from weft.types import SCOPES, Guard

Surface = Literal["python", "cli", "mcp", "http"]
FAILED: Final = frozenset({"failed", "blocked_scope"})  # answers that say that nothing was done
# What is erased must not stay behind as the question that erased it; what was recorded is not recorded again.
NAMELESS: Final = frozenset({"erase"})
ECHOES: Final = frozenset({"tool_calls", "config", "log_export"})
# Answers that are secrets, and arguments that are.
SECRET_ANSWERS: Final = frozenset({"key_new", "key_rotate", "request_global_write_approval", "token_create"})
# Answers in words that no id stands beside: what is erased could not be found in them.
WORDS_ALONE: Final = frozenset({"agent_knowledge", "context"})
SECRET_ARGUMENTS: Final = frozenset({"governance_token"})
FOUND: Final = ("hits", "results", "nodes", "messages", "matches", "merged", "events", "calls")
NOTHING: Final = Said(size=0, beginning=None)
MAX_DEPTH: Final = 64
_log = logging.getLogger("weft.audit")


class Call:
    """A call that begins when this is made. `audited` is False for one that its caller keeps a record of itself."""

    def __init__(
        self, loom: Loom, operation: Operation, given: Mapping[str, Any], *, surface: Surface, audited: bool = True
    ) -> None:
        self._loom, self._operation, self._given, self._surface = loom, operation, given, surface
        self._audit = loom.audit if audited and loom.audit is not None and loom.audit.recording else None
        self._lines = loom.lines if loom.lines is not None and loom.lines.wanted else None
        self._tally = Tally()
        self._started, self._began_s = loom.clock.now_us(), time.perf_counter()

    def run(self, work: Callable[[Loom], Struct]) -> Struct:
        """Does the work and returns or raises what it does; then records and tells it. Who writes in a directory takes
        the project's name for it.

        The answer waits for no writing, but that of a destructive call: it is in the audit before its answer is told.
        """
        try:
            answer = work(replace(self._loom, tally=self._tally))
        except BaseException as problem:
            self._over(None, problem)
            raise
        self._over(answer, None)
        if self._operation.effect == "write" and self._operation.toolset != "admin" and self._surface in ("cli", "mcp"):
            from weft.operations.project_roots import settle

            settle(self._loom.settings)
        return answer

    def refused(self, problem: WeftError) -> None:
        """Records and tells that it was turned away before it could be run."""
        self._over(None, problem)

    def _over(self, answer: Struct | None, problem: BaseException | None) -> None:
        milliseconds = round((time.perf_counter() - self._began_s) * 1000, 3)
        status = str(getattr(answer, "status", "")) or ("error" if problem is not None else "ok")
        code = _code(problem) if problem is not None else status if status in FAILED else ""
        try:
            if self._audit is not None:
                self._audit.note(self._called(answer, problem, milliseconds, code=code, status=status))
                if self._operation.effect == "destructive":
                    self._audit.flush()
            if self._lines is not None:
                self._lines.tell(self._line(answer, milliseconds, code=code, status=status))
        except Exception:  # noqa: BLE001 - what watches a call must not cost its answer; it is told in the log
            _log.exception("%s could not be recorded", self._operation.name)

    def _called(
        self, answer: Struct | None, problem: BaseException | None, milliseconds: float, *, code: str, status: str
    ) -> Called:
        loom, operation = self._loom, self._operation
        silent = self._is_sensitive()
        words = not silent and operation.name not in NAMELESS
        told = words and operation.name not in ECHOES | SECRET_ANSWERS | WORDS_ALONE
        given = {name: value for name, value in self._given.items() if name not in SECRET_ARGUMENTS}
        if "session" in given:  # first, so that it is not cut off: an erasure looks for it
            given = {"session": given["session"], **given}
        outcome: Any = answer if problem is None else _message(problem)
        return Called(
            writer=loom.writer,
            guard=_guard(loom),
            operation=operation.name,
            toolset=operation.toolset,
            effect=operation.effect,
            surface=self._surface,
            started=self._started,
            ended=loom.clock.now_us(),
            milliseconds=milliseconds,
            given=_said(given, INPUT_CHARACTERS, words=words),
            answer=_said(outcome, OUTPUT_CHARACTERS, words=told),
            code=code,
            status=status,
            conversation=loom.settings.conversation or None,
            wrote=self._wrote(answer) if words else (),
        )

    def _wrote(self, answer: Struct | None) -> tuple[str, ...]:
        """The nodes that it wrote, and those that were there already in the same words."""
        items = getattr(answer, "items", ()) if self._operation.effect != "read" else ()
        ids = (str(getattr(each, "id", "")) for each in items)
        return tuple(dict.fromkeys(each for each in (*ids, *self._tally.written) if each))[:MAX_WRITTEN]

    def _is_sensitive(self) -> bool:
        """One that is marked so, that touched what is, or that comes from who may see what is.

        A question about what is sensitive tells of it as its answer does.
        """
        return self._tally.sensitive or _marked(self._given) or self._loom.viewer.sensitive

    def _line(self, answer: Struct | None, milliseconds: float, *, code: str, status: str) -> dict[str, Any]:
        loom, tally = self._loom, self._tally
        found = next((listed for name in FOUND if isinstance(listed := getattr(answer, name, None), tuple)), ())
        line: dict[str, Any] = {
            "at": to_iso(self._started),
            "op": self._operation.name,
            "surface": self._surface,
            "account": loom.writer.account,
            "agent": loom.writer.actor.agent,
            "session": loom.writer.session,
            "ms": milliseconds,
            "stages": tally.stages,
            "counts": {"hits": len(found), "events": tally.events, "notes": len(getattr(answer, "notes", ()))},
            "status": status,
            "error_code": code,
        }
        if loom.audit is not None and loom.audit.problem:
            line["audit"] = loom.audit.problem
        return line


def _code(problem: BaseException) -> str:
    if isinstance(problem, WeftError):
        return problem.code
    return "internal" if isinstance(problem, Exception) else "interrupted"


def _message(problem: BaseException) -> str:
    return problem.message if isinstance(problem, WeftError) else type(problem).__name__


def _guard(loom: Loom) -> Guard:
    """Who may find the record of a call: who may see what the caller may, and where agents see what is theirs, it."""
    held = [each for each in reversed(SCOPES) if each in loom.viewer.scopes]
    own = (loom.viewer.agent,) if loom.viewer.tagged_only and loom.viewer.agent else ()
    return Guard(project=loom.settings.project, scope=held[0] if held else "admin", agents=own)


def _said(value: Any, most: int, *, words: bool) -> Said:
    if value is None:
        return NOTHING
    try:
        raw = msgspec.json.encode(value, enc_hook=str)
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):  # no text: the call was refused for it
        return NOTHING
    return Said(size=len(raw), beginning=beginning(raw, most) if words else None)


def _marked(value: Any, depth: int = 0) -> bool:
    """Whether anything in what was given is called sensitive; what is nested too deeply to tell counts as such."""
    if depth > MAX_DEPTH:
        return True
    match value:
        case Mapping():
            return bool(value.get("sensitive")) or any(_marked(each, depth + 1) for each in value.values())
        case list() | tuple():
            return any(_marked(each, depth + 1) for each in value)
        case _:
            return False
