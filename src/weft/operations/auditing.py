"""The audit, read: which operations were called, when, by whom, and how they ended."""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.audit import BATCH, KIND
from weft.errors import Forbidden, NotFound
from weft.instants import parse_instant
from weft.log.verify import verify
from weft.loom import Loom
from weft.operations.bounds import bounded
from weft.operations.fields import Label, Limit, Moment
from weft.operations.registry import Operation
from weft.ports import Store
from weft.types import SCOPES, Find, NodeVersion, Viewer, When

DAY_US: Final = 86_400_000_000
MAX_PAGES: Final = 50  # read at most for one answer, where most calls do not fit
MAX_SESSIONS: Final = 100  # looked at for the last one
OFF: Final = "calls are not recorded: the setting `audit` is off"


class ToolCalls(Struct, frozen=True, kw_only=True):
    """Input of `tool_calls`."""

    operation: Annotated[Label | None, Meta(description="only calls of this operation")] = None
    session: Annotated[Label | None, Meta(description="only calls of this session")] = None
    last_session: Annotated[bool, Meta(description="only calls of the last session before this one")] = False
    conversation: (
        Annotated[str, Meta(min_length=1, max_length=1024, description="only calls of this conversation")] | None
    ) = None
    agent: Annotated[Label | None, Meta(description="only calls of this agent; others' are for the operator")] = None
    errors: Annotated[bool, Meta(description="only calls that failed")] = False
    since: Annotated[Moment | None, Meta(description="only calls that began then or later")] = None
    until: Annotated[Moment | None, Meta(description="only calls that began then or earlier")] = None
    before: Annotated[str, Meta(max_length=128, description="the next page: the last call of this one, by its id")] = ""
    limit: Limit = 20


class ToolCallShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call. Of what went in and came out there is the beginning, without secrets; of what is sensitive the size.

    `code` says how it failed. `dropped` is how many calls before it are not recorded, because too many came at once.
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
    """Calls, newest first. `before` asks for the next page; none if this is the last."""

    calls: tuple[ToolCallShown, ...]
    session: str = ""
    before: str = ""
    notes: tuple[str, ...] = ()


def tool_calls(loom: Loom, given: ToolCalls) -> ToolCallsShown:
    """Shows which operations were called, newest first: when, by whom, with what, how long it took, how it ended.

    --last-session answers what ran in the session before this one. An agent sees its own calls, without the words of
    their answers; the operator sees all. Calls older than `audit_days` are not shown.
    """
    notes: tuple[str, ...] = (OFF,) if loom.audit is None or not loom.audit.recording else ()
    asking = _Asking(loom, given)
    if loom.audit is not None:
        loom.audit.flush()
        notes += (f"the latest calls are not recorded yet: {loom.audit.problem}",) if loom.audit.problem else ()
    store = None if loom.audit is None else loom.audit.store()
    if store is None:
        return ToolCallsShown(calls=(), notes=(*notes, "no call is recorded"))
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
        notes=notes if found else (*notes, "no such call is recorded"),
    )
    told = bounded(shown, "calls")
    return told if len(told.calls) == len(shown.calls) else replace(told, before=told.calls[-1].id)


class _Asking:
    """Who asks for which calls: what is not theirs is left out by the query itself."""

    def __init__(self, loom: Loom, given: ToolCalls) -> None:
        actor = loom.writer.actor
        self.operator = is_operator(loom)
        if not self.operator and given.agent not in (None, actor.agent):
            raise Forbidden("an agent sees its own calls only", hint="leave `agent` out, or ask the operator")
        self._loom, self._given = loom, given
        self._viewer = loom.operator("see all calls") if self.operator else loom.viewer
        self._props: dict[str, Any] = {} if self.operator else {"agent": actor.agent, "role": actor.role}
        if given.agent is not None:
            self._props["agent"] = given.agent
        shown_from = loom.clock.now_us() - round(loom.settings.audit_days * DAY_US)
        asked_from = shown_from if given.since is None else parse_instant(given.since, field="since")
        self._since = max(shown_from, asked_from)
        self._until = None if given.until is None else parse_instant(given.until, field="until")

    def last_session(self, store: Store) -> str | None:
        """The latest session but the caller's own, of those that it may see a call of."""
        heads = store.session_heads(self._viewer, limit=MAX_SESSIONS)
        others = [head.session for head in heads if head.session != self._loom.writer.session]
        when = When(valid_at=self._until)
        return next((name for name in others if self._find(store, when, {"session": name}, limit=1)), None)

    def page(self, store: Store, session: str | None) -> tuple[list[NodeVersion], bool]:
        """The calls asked for, and whether there are more."""
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
        """The newest, or those that come after one: what was known when it came, without what stands before it.

        Calls that were written together were known at the same moment: there are BATCH of them at most.
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
            raise NotFound(f"there is no call {call_id!r} that you may see", hint="`before` is the id of a call")
        return found[0]


def is_operator(loom: Loom) -> bool:
    """Whether all calls are theirs to see."""
    viewer = loom.viewer
    return loom.writer.actor.role == "operator" and viewer.audience == "internal" and viewer.scopes >= set(SCOPES)


def _started(node: NodeVersion) -> int:
    return node.interval.asserted_from


def _shown(node: NodeVersion, *, words: bool) -> ToolCallShown:
    names = ToolCallShown.__struct_fields__
    told = {name: value for name, value in node.props.items() if name in names and (words or name != "output")}
    return ToolCallShown(id=node.id, **told)


# For those who keep the store well


def audit_store(loom: Loom) -> Store | None:
    """The store of the audit, with all in it that this process noted; None where no call is recorded yet."""
    if loom.audit is None:
        return None
    loom.audit.flush()
    return loom.audit.store()


def log_store(loom: Loom, *, audit: bool) -> Store:
    """The store whose log is meant: that of the memories, or that of the audit. Raises NotFound if there is none."""
    if not audit:
        return loom.store
    if (store := audit_store(loom)) is None:
        raise NotFound("no call is recorded yet", hint=OFF if loom.audit is None else "make one, with `audit` on")
    return store


def audit_line(loom: Loom, viewer: Viewer) -> tuple[bool, str, str]:
    """Whether all is well with the audit, in a line, and what to do if not: for the self-test."""
    store = audit_store(loom)
    recording = loom.audit is not None and loom.audit.recording
    problem = "" if loom.audit is None else loom.audit.problem
    if store is None:
        return not problem, problem or ("no call is recorded yet" if recording else OFF), ""
    found = verify(store, viewer)
    if found.problem:
        return False, found.problem, "restore a backup of the audit, or move its directory away: a new one begins"
    size = store.stats(viewer).bytes_on_disk
    detail = f"{found.events} calls, every hash fits, {size / 1e6:.1f} MB" + ("" if recording else f"; {OFF}")
    if problem:
        return False, f"{detail}; it cannot be written: {problem}", "check the disk and the directory's permissions"
    return True, detail, ""


def outdated(loom: Loom, *, limit: int) -> tuple[str, ...]:
    """Calls that are older than `audit_days` and not shown any more, at most so many: hard deletion may remove them."""
    viewer = loom.operator("remove old calls")
    if (store := audit_store(loom)) is None:
        return ()
    when = When(valid_at=loom.clock.now_us() - round(loom.settings.audit_days * DAY_US))
    return tuple(node.id for node in store.find(viewer, when, Find(kinds=(KIND,)), limit=limit).nodes)


OPERATIONS = (
    Operation(
        name="tool_calls",
        summary="show which operations were called, when, by whom and how they ended",
        input=ToolCalls,
        output=ToolCallsShown,
        effect="read",
        toolset="memory",
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
