"""Provenance: the task, else the conversation, that each write came from.

Every commit passes through here. Event headers name the task and the conversation, and one more event joins the task or
the conversation to what was made (PRODUCED). The joins are separate events, so that a repeated request is recognised by
its content, not by its provenance.

Only wholes are joined: a document without its sections, a source file without its symbols. Weft's own records and mere
mentions are not joined.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from weft.append.append import Fence
from weft.core.errors import Away, Busy, Conflict, Invalid, NotFound, Unproven
from weft.core.kinds import DERIVED_FROM, GATED_KINDS, UNSEARCHED_KINDS
from weft.core.types import MAX_LIMIT, NOW, Find, Guard, NodeVersion
from weft.graph.folds import guard_of
from weft.log.draft import Draft
from weft.log.kinds import code, conversation, document, graph, memory
from weft.runtime.call_context import CallContext
from weft.writing.build.references import named, resolve_reference

TASK: Final = "Task"
SESSION: Final = "Session"
PRODUCED: Final = "PRODUCED"
RAISED_DURING: Final = "RAISED_DURING"
DONE: Final = frozenset({"succeeded", "failed", "cancelled"})
EDGES_OF_ONE_EVENT: Final = 1_000
CANDIDATES_SHOWN: Final = 5
CANDIDATES_READ: Final = 50

NEXT_STEP: Final = (
    "give produced_by_task_id (`weft work-create` makes a task), or name the conversation as WEFT_CONVERSATION"
)
UNPROVEN: Final = f"this write has no provenance, and some of its kinds should: {NEXT_STEP}"


class TaskClosed(Conflict):
    """The task is completed and accepts nothing more."""


class Stamped(Struct, frozen=True, kw_only=True):
    """Drafts with provenance, what that depends on, and warnings for the caller."""

    drafts: tuple[Draft, ...]
    fence: Fence | None = None
    warnings: tuple[str, ...] = ()


class _Made(Struct, frozen=True, kw_only=True):
    """A node that a draft asserts. `told` is False if it was extracted from something else."""

    id: str
    kind: str
    guard: Guard
    told: bool = True


def stamped(ctx: CallContext, drafts: Sequence[Draft]) -> Stamped:
    """Adds provenance to drafts.

    Raises NotFound for a task that does not exist, is hidden from the caller or belongs to another project (the same
    error); TaskClosed for a completed one; Unproven if provenance is required and missing.
    """
    made, warnings = _made(drafts), _warnings(ctx, drafts, ask=True)
    headed = _headed(ctx, drafts)
    if ctx.task is not None:
        pos = ctx.store.head(ctx.viewer).pos
        task = _open_task(ctx, ctx.task, {each.guard.project for each in made})
        fence = Fence(pos=pos, slots=(task.slot,))
        joins = _joins(ctx, task.id, task.guard.project, _unjoined(ctx, task.id, made))
        return Stamped(drafts=(*headed, *joins), fence=fence)
    gated = [each for each in made if is_gated(ctx, each.kind)]
    source = conversation_named(ctx, ctx.settings.conversation) if gated and ctx.settings.conversation else None
    if source is None:
        return Stamped(drafts=headed, warnings=warnings)
    joins = _joins(ctx, source.id, source.guard.project, _unjoined(ctx, source.id, gated))
    return Stamped(drafts=(*headed, *joins), warnings=warnings)


def stamped_unseen(ctx: CallContext, drafts: Sequence[Draft]) -> Stamped:
    """Adds provenance without reading the store: the task is not checked until delivery."""
    warnings = _warnings(ctx, drafts, ask=False)
    joins = () if ctx.task is None else _joins(ctx, ctx.task, None, _made(drafts))
    return Stamped(drafts=(*_headed(ctx, drafts), *joins), warnings=warnings)


def both(one: Fence | None, other: Fence | None) -> Fence | None:
    """Both fences combined; `other` names slots only."""
    if one is None or other is None:
        return one or other

    def concerns(node: NodeVersion) -> bool:
        if node.slot in other.slots:
            return True
        return one.concerns(node) if one.concerns is not None else node.kind in one.kinds or node.slot in one.slots

    return Fence(pos=min(one.pos, other.pos), kinds=one.kinds, slots=(*one.slots, *other.slots), concerns=concerns)


def is_gated(ctx: CallContext, kind: str) -> bool:
    """Whether writes of this kind should have provenance; case is ignored."""
    return kind.casefold() in {each.casefold() for each in GATED_KINDS.union(ctx.settings.gated_kinds)}


def status_of(task: NodeVersion) -> str:
    """The status of a task; `open` if it has none."""
    return str(task.props.get("status") or "open")


def still_open(tasks: Sequence[NodeVersion]) -> tuple[NodeVersion, ...]:
    """Those that are not completed; all of them, if all are."""
    return tuple(task for task in tasks if status_of(task) not in DONE) or tuple(tasks)


def conversation_key(ctx: CallContext, written: str) -> str:
    """The id of a conversation, whether it exists yet or not. An id is returned as it is."""
    project = ctx.settings.project
    return written if written.startswith(f"{project}/") else f"{project}/{written}"


def conversation_named(ctx: CallContext, written: str) -> NodeVersion | None:
    """The node of a conversation, by its name in this project or by id; None if the caller sees none."""
    ids = dict.fromkeys((conversation_key(ctx, written), written))
    found = [node for node in ctx.store.nodes(ctx.viewer, NOW, list(ids)) if node.kind == SESSION]
    return found[0] if found else None


def no_task(ctx: CallContext, written: str) -> NotFound:
    """The error for a task that does not exist or is hidden from the caller, with a few open ones."""
    here = Find(kinds=(TASK,), projects=(ctx.settings.project, None))
    found = ctx.store.find(ctx.viewer, NOW, here, limit=CANDIDATES_READ).nodes
    going = [node for node in found if status_of(node) not in DONE][:CANDIDATES_SHOWN]
    shown = ", ".join(f"{node.id} ({(node.name or node.text)[:60]})" for node in going)
    hint = f"open tasks: {shown}; `weft work-list` lists all" if going else "`weft work-create` opens one"
    return NotFound(f"there is no task {written[:80]!r} that you may see here", hint=hint)


def task_closed(task: NodeVersion, *, cannot: str) -> TaskClosed:
    """The error for a completed task, and what it prevents."""
    return TaskClosed(
        f"the task {task.id} ({(task.name or task.text)[:60]}) is completed ({status_of(task)}): it cannot {cannot}",
        hint="`weft work-create` opens a new task",
    )


def belongs(ctx: CallContext, task: NodeVersion, projects: Collection[str | None]) -> bool:
    """Whether a task is of this project, of no project, or of one of these."""
    return task.kind == TASK and task.guard.project in {None, ctx.settings.project, *projects}


def _open_task(ctx: CallContext, task_id: str, projects: Collection[str | None]) -> NodeVersion:
    found = ctx.store.nodes(ctx.viewer, NOW, [task_id])
    if not found or not belongs(ctx, found[0], projects):
        raise no_task(ctx, task_id)
    if status_of(found[0]) in DONE:
        raise task_closed(found[0], cannot="have made this")
    return found[0]


def _headed(ctx: CallContext, drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """Drafts with provenance headers; headers that a draft already has are kept."""
    named = ctx.settings.conversation
    during = conversation_key(ctx, named) if named else None
    if ctx.task is None and during is None:
        return tuple(drafts)
    return tuple(
        replace(draft, task=draft.task or ctx.task, conversation=draft.conversation or during) for draft in drafts
    )


def _warnings(ctx: CallContext, drafts: Sequence[Draft], *, ask: bool) -> tuple[str, ...]:
    """Warnings for an agent that writes a gated kind without provenance. Raises Unproven if it is required.

    A conversation that does not exist is no provenance; without `ask` the store is not read and the name is trusted.
    """
    settings = ctx.settings
    if ctx.task is not None or settings.provenance == "off" or ctx.writer.actor.role != "agent":
        return ()
    kinds = sorted({each.kind for each in _made(drafts) if each.told and is_gated(ctx, each.kind)})
    named = settings.conversation
    if not kinds or (named and (not ask or _is_there(ctx, named, drafts))):
        return ()
    missing = f"there is no conversation {named[:80]!r} here that you may see; record_turns creates it" if named else ""
    if settings.provenance == "required":
        why = f"; {missing}" if missing else ""
        raise Unproven(f"nothing was written: {', '.join(kinds)} needs provenance{why}", hint=NEXT_STEP)
    return (UNPROVEN, missing) if missing else (UNPROVEN,)


def _is_there(ctx: CallContext, named: str, drafts: Sequence[Draft]) -> bool:
    """Whether a conversation was recorded, or is recorded by these drafts."""
    key = conversation_key(ctx, named)
    now = (each.payload for each in drafts if isinstance(each.payload, conversation.Recorded))
    return any(payload.id == key for payload in now) or conversation_named(ctx, named) is not None


def _unjoined(ctx: CallContext, source: str, made: Sequence[_Made]) -> list[_Made]:
    """Nodes that the source is not joined to yet."""

    def is_joined(node_id: str) -> bool:
        edges = ctx.store.edges(ctx.viewer, NOW, node_id, rel=PRODUCED, direction="in", before=None, limit=MAX_LIMIT)
        return any(edge.src == source for edge in edges)

    return [each for each in made if not is_joined(each.id)]


def _joins(ctx: CallContext, source: str, project: str | None, made: Sequence[_Made]) -> Iterator[Draft]:
    """The events that join a source to what it made, visible to all who see both, in the source's project."""
    home = project or ctx.settings.project
    edges = [
        graph.EdgeAssertion(src=source, rel=PRODUCED, dst=each.id, **asdict(replace(each.guard, project=home)))
        for each in made
        if each.id != source
    ]
    for start in range(0, len(edges), EDGES_OF_ONE_EVENT):
        payload = graph.Asserted(edges=tuple(edges[start : start + EDGES_OF_ONE_EVENT]))
        yield from _headed(ctx, [Draft(kind="graph.asserted", payload=payload)])


def _made(drafts: Sequence[Draft]) -> tuple[_Made, ...]:
    """The nodes that drafts assert, each once, without weft's own records and mere mentions."""
    found = {each.id: each for draft in drafts for each in _made_by(draft.payload) if each.kind not in UNSEARCHED_KINDS}
    return tuple(found.values())


def _made_by(payload: Struct) -> Iterator[_Made]:
    match payload:
        case memory.Remembered():
            yield from (_of_node(node, node.kind) for node in payload.entities)
            yield _of_node(payload, payload.node_kind)
        case graph.Asserted():
            yield from (_of_node(node, node.kind) for node in payload.nodes)
        case document.Ingested():
            yield _Made(id=payload.id, kind="Document", guard=guard_of(payload))
        case code.Indexed():
            yield _Made(id=payload.id, kind="File", guard=guard_of(payload))
        case conversation.Recorded():
            if payload.opens:
                yield _Made(id=payload.id, kind=SESSION, guard=guard_of(payload))
            yield from (_Made(id=said.id, kind="Message", guard=guard_of(payload)) for said in payload.messages)
        case _:
            return


def _of_node(node: Any, kind: str) -> _Made:
    return _Made(id=node.id, kind=kind, guard=guard_of(node), told=DERIVED_FROM not in node.props)


def for_task(ctx: CallContext, given: Struct) -> CallContext:
    """The context of a call that writes for the task it names; unchanged if it names none.

    Raises what `task_named` raises, also for a task of another project. If the store cannot be read, the task is
    accepted as written: the write that follows goes to the outbox or fails.
    """
    written: str | None = getattr(given, "produced_by_task_id", None)
    if written is None:
        return ctx
    try:
        task = task_named(ctx, written)
        if not belongs(ctx, task, {getattr(given, "project", None)}):
            raise no_task(ctx, written)
        return replace(ctx, task=task.id)
    except (Busy, Away):
        return replace(ctx, task=written)


def task_named(ctx: CallContext, written: str) -> NodeVersion:
    """The task of an id, a citation, or a title in this project.

    Of several with the title it is the one that is not completed. Raises NotFound for one that does not exist, is
    deleted or hidden from the caller (the same error); Invalid for a node of another kind or an ambiguous title.
    """
    try:
        found = resolve_reference(ctx, written, kinds={TASK})
    except Invalid:
        going = still_open(named(ctx, written, {TASK}.__contains__))
        if len(going) != 1:
            raise
        return going[0]
    if found is None:
        raise no_task(ctx, written)
    return found
