"""`tool_calls`: the audit of operations, with their callers, times and outcomes."""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.core.clock import parse_instant
from weft.core.errors import Forbidden, NotFound
from weft.core.ports import Store
from weft.core.types import SCOPES, Find, NodeVersion, Viewer, When
from weft.log.verify import verify
from weft.recall.answer_limits import bounded
from weft.runtime.audit_log import BATCH, KIND
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label, Limit, Moment
from weft.runtime.operation import Operation

DAY_US: Final = 86_400_000_000
MAX_PAGES: Final = 50  # pages read for one answer
MAX_SESSIONS: Final = 100  # sessions searched for the last one
OFF: Final = "calls are not recorded, because the setting `audit` is off"


class ToolCalls(Struct, frozen=True, kw_only=True):
    """Input of `tool_calls`."""

    operation: Annotated[Label | None, Meta(description="only calls of this operation")] = None
    session: Annotated[Label | None, Meta(description="only calls of this session")] = None
    last_session: Annotated[bool, Meta(description="only calls of the last session before this one")] = False
    conversation: (
        Annotated[str, Meta(min_length=1, max_length=1024, description="only calls of this conversation")] | None
    ) = None
    agent: Annotated[Label | None, Meta(description="only calls of this agent; the operator may name any")] = None
    errors: Annotated[bool, Meta(description="only calls that failed")] = False
    since: Annotated[Moment | None, Meta(description="only calls that began at this time or later")] = None
    until: Annotated[Moment | None, Meta(description="only calls that began at this time or earlier")] = None
    before: Annotated[
        str, Meta(max_length=128, description="for the next page: the id of the last call of this one")
    ] = ""
    limit: Limit = 20


class ToolCallShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call. Arguments and answer are truncated and redacted; of sensitive ones only the size is kept.

    `code` is the error. `dropped` is how many earlier calls are not recorded, because too many came at once.
    """

    id: str
    operation: str
    toolset: str
    effect: str
    surface: str
    agent: str
    role: str
    session: str
    started: str
    ended: str
    ms: float
    error: bool
    input_bytes: int = 0
    output_bytes: int = 0
    code: str = ""
    status: str = ""
    conversation: str = ""
    input: str = ""
    output: str = ""
    dropped: int = 0


class ToolCallsShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Calls, newest first. `before` asks for the next page; it is empty on the last one."""

    calls: tuple[ToolCallShown, ...]
    session: str = ""
    before: str = ""
    notes: tuple[str, ...] = ()


def tool_calls(ctx: CallContext, given: ToolCalls) -> ToolCallsShown:
    """Shows which operations were called, newest first: when, by whom, with what, how long, and the outcome.

    --last-session shows the session before this one. An agent sees its own calls, without the texts of answers; the
    operator sees all. Calls older than `audit_days` are not shown.
    """
    notes: tuple[str, ...] = (OFF,) if ctx.audit is None or not ctx.audit.recording else ()
    asking = _Asking(ctx, given)
    if ctx.audit is not None:
        ctx.audit.flush()
        notes += (f"the latest calls could not be recorded yet: {ctx.audit.problem}",) if ctx.audit.problem else ()
    store = None if ctx.audit is None else ctx.audit.store()
    if store is None:
        return ToolCallsShown(calls=(), notes=(*notes, "no calls are recorded"))
    session = given.session
    if given.last_session:
        session = asking.last_session(store)
        if session is None:
            return ToolCallsShown(calls=(), notes=(*notes, "there is no session before this one"))
    found, more = asking.page(store, session)
    newest_first = sorted(found, key=lambda node: (_started(node), node.row), reverse=True)
    shown = ToolCallsShown(
        calls=tuple(_shown(node, words=asking.operator) for node in newest_first),
        session=session or "",
        before=found[-1].id if more else "",
        notes=notes if found else (*notes, "no matching calls are recorded"),
    )
    told = bounded(shown, "calls")
    return told if len(told.calls) == len(shown.calls) else replace(told, before=told.calls[-1].id)


class _Asking:
    """The query of one caller, restricted to the calls that it may see."""

    def __init__(self, ctx: CallContext, given: ToolCalls) -> None:
        actor = ctx.writer.actor
        self.operator = is_operator(ctx)
        if not self.operator and given.agent not in (None, actor.agent):
            raise Forbidden("an agent sees only its own calls", hint="omit `agent`, or ask the operator")
        self._ctx, self._given = ctx, given
        self._viewer = ctx.operator("see all calls") if self.operator else ctx.viewer
        self._props: dict[str, Any] = {} if self.operator else {"agent": actor.agent, "role": actor.role}
        if given.agent is not None:
            self._props["agent"] = given.agent
        shown_from = ctx.clock.now_us() - round(ctx.settings.audit_days * DAY_US)
        asked_from = shown_from if given.since is None else parse_instant(given.since, field="since")
        self._since = max(shown_from, asked_from)
        self._until = None if given.until is None else parse_instant(given.until, field="until")

    def last_session(self, store: Store) -> str | None:
        """The latest session other than the caller's own of which it may see a call."""
        heads = store.session_heads(self._viewer, limit=MAX_SESSIONS)
        others = [head.session for head in heads if head.session != self._ctx.writer.session]
        when = When(valid_at=self._until)
        return next((name for name in others if self._find(store, when, {"session": name}, limit=1)), None)

    def page(self, store: Store, session: str | None) -> tuple[list[NodeVersion], bool]:
        """The matching calls, and whether there are more."""
        given = self._given
        wanted = {"operation": given.operation, "session": session, "conversation": given.conversation}
        props: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
        if given.errors:
            props["error"] = True
        found: list[NodeVersion] = []
        last = self._one(store, given.before) if given.before else None
        for _ in range(MAX_PAGES):
            rows = self._after(store, last, props, limit=given.limit + 1)
            found += [row for row in rows if _started(row) >= self._since]
            ended = len(rows) <= given.limit or rows[-1].recorded_at < self._since
            if ended or len(found) > given.limit:
                break
            last = rows[-1]
        return found[: given.limit], len(found) > given.limit

    def _after(self, store: Store, last: NodeVersion | None, props: dict[str, Any], *, limit: int) -> list[NodeVersion]:
        """The newest calls, or those after a given one in the same order.

        Calls that were written together have the same record time: at most BATCH of them.
        """
        if last is None:
            return self._find(store, When(valid_at=self._until), props, limit=limit)
        when = When(valid_at=self._until, known_at=last.recorded_at)
        rows = self._find(store, when, props, limit=limit + BATCH)
        return [row for row in rows if row.row < last.row][:limit]

    def _find(self, store: Store, when: When, props: dict[str, Any], *, limit: int) -> list[NodeVersion]:
        find = Find(kinds=(KIND,), props={**self._props, **props})
        return list(store.find(self._viewer, when, find, limit=limit).nodes)

    def _one(self, store: Store, call_id: str) -> NodeVersion:
        found = store.nodes(self._viewer, When(), [call_id])
        if not found or any(found[0].props.get(name) != value for name, value in self._props.items()):
            raise NotFound(f"there is no call {call_id!r} that you may see", hint="`before` takes the id of a call")
        return found[0]


def is_operator(ctx: CallContext) -> bool:
    """Whether the caller may see all calls."""
    viewer = ctx.viewer
    return ctx.writer.actor.role == "operator" and viewer.audience == "internal" and viewer.scopes >= set(SCOPES)


def _started(node: NodeVersion) -> int:
    return node.interval.asserted_from


def _shown(node: NodeVersion, *, words: bool) -> ToolCallShown:
    names = ToolCallShown.__struct_fields__
    told = {name: value for name, value in node.props.items() if name in names and (words or name != "output")}
    return ToolCallShown(id=node.id, **told)


# For upkeep


def audit_store(ctx: CallContext) -> Store | None:
    """The audit's store, with all calls of this process recorded; None if there are none yet."""
    if ctx.audit is None:
        return None
    ctx.audit.flush()
    return ctx.audit.store()


def log_store(ctx: CallContext, *, audit: bool) -> Store:
    """The store of the memories' log, or of the audit's. Raises NotFound if there is none."""
    if not audit:
        return ctx.store
    if (store := audit_store(ctx)) is None:
        raise NotFound(
            "no calls are recorded yet", hint=OFF if ctx.audit is None else "set `audit` to on and make a call"
        )
    return store


def check_audit(ctx: CallContext, viewer: Viewer) -> tuple[bool, str, str]:
    """The self-test of the audit: whether it is sound, a line of details, and what to do."""
    store = audit_store(ctx)
    recording = ctx.audit is not None and ctx.audit.recording
    problem = "" if ctx.audit is None else ctx.audit.problem
    if store is None:
        return not problem, problem or ("no calls are recorded yet" if recording else OFF), ""
    found = verify(store, viewer)
    if found.problem:
        return False, found.problem, "restore a backup of the audit, or move its directory away to begin a new one"
    size = store.stats(viewer).bytes_on_disk
    detail = f"{found.events} calls, all hashes match, {size / 1e6:.1f} MB" + ("" if recording else f"; {OFF}")
    if problem:
        return False, f"{detail}; it cannot be written: {problem}", "check the disk and the directory's permissions"
    return True, detail, ""


def outdated(ctx: CallContext, *, limit: int) -> tuple[str, ...]:
    """Calls older than `audit_days`, which are no longer shown and may be erased; at most `limit`."""
    viewer = ctx.operator("remove old calls")
    if (store := audit_store(ctx)) is None:
        return ()
    when = When(valid_at=ctx.clock.now_us() - round(ctx.settings.audit_days * DAY_US))
    return tuple(node.id for node in store.find(viewer, when, Find(kinds=(KIND,)), limit=limit).nodes)


OPERATIONS = (
    Operation(
        name="tool_calls",
        summary="show which operations were called, when, by whom and how they ended",
        input=ToolCalls,
        output=ToolCallsShown,
        effect="read",
        toolset="memory",
        audited_words="arguments",
        run=tool_calls,
        arguments=("operation",),
        priorities={
            "calls.operation": "required",
            "calls.started": "required",
            "calls.ended": "low",
            "calls.toolset": "low",
            "calls.role": "low",
        },
    ),
)
