"""Where what is written came from: the task that made it, else the conversation in which it was made.

Every commit passes through here. Its events say in their headers which task and which conversation they came of, and
one more event joins the task, or the conversation, to what was made (PRODUCED). The joins are in an event of their own:
a request that is repeated is told apart by what it says, not by where it came from.

What is made of parts is joined as the whole: a document without its sections, a source file without its symbols. What
weft keeps for its own working, and what a text merely named, is nobody's product.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from weft.append import Fence
from weft.errors import Conflict, NotFound, Unproven
from weft.kinds import GATED_KINDS, UNSEARCHED_KINDS
from weft.log.draft import Draft
from weft.log.kinds import code, conversation, document, graph, memory
from weft.loom import Loom
from weft.retrieval.derived import DERIVED_FROM
from weft.types import MAX_LIMIT, NOW, Find, Guard, NodeVersion

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
UNPROVEN: Final = f"nothing says what this came of, and some of it should say so: {NEXT_STEP}"


class TaskClosed(Conflict):
    """The task is completed: it makes nothing more."""


class Stamped(Struct, frozen=True, kw_only=True):
    """Drafts that say where they came from, what that rests on, and what the caller should be told."""

    drafts: tuple[Draft, ...]
    fence: Fence | None = None
    warnings: tuple[str, ...] = ()


class _Made(Struct, frozen=True, kw_only=True):
    """A node that a draft asserts. `told` unless it was only read out of something else."""

    id: str
    kind: str
    guard: Guard
    told: bool = True


def stamped(loom: Loom, drafts: Sequence[Draft]) -> Stamped:
    """Drafts with where they came from.

    Raises NotFound for a task that is not there, is not for the caller to see or is another project's, which are told
    alike; TaskClosed for one that is completed; Unproven where nothing says where they came from, and must.
    """
    made, warnings = _made(drafts), _warnings(loom, drafts, ask=True)
    headed = _headed(loom, drafts)
    if loom.task is not None:
        pos = loom.store.head(loom.viewer).pos
        task = _open_task(loom, loom.task, {each.guard.project for each in made})
        fence = Fence(pos=pos, slots=(task.slot,))
        joins = _joins(loom, task.id, task.guard.project, _unjoined(loom, task.id, made))
        return Stamped(drafts=(*headed, *joins), fence=fence)
    gated = [each for each in made if is_gated(loom, each.kind)]
    source = conversation_named(loom, loom.settings.conversation) if gated and loom.settings.conversation else None
    if source is None:
        return Stamped(drafts=headed, warnings=warnings)
    joins = _joins(loom, source.id, source.guard.project, _unjoined(loom, source.id, gated))
    return Stamped(drafts=(*headed, *joins), warnings=warnings)


def stamped_unseen(loom: Loom, drafts: Sequence[Draft]) -> Stamped:
    """The same where the store cannot be asked: the task is taken at the caller's word, until it is delivered."""
    warnings = _warnings(loom, drafts, ask=False)
    joins = () if loom.task is None else _joins(loom, loom.task, None, _made(drafts))
    return Stamped(drafts=(*_headed(loom, drafts), *joins), warnings=warnings)


def both(one: Fence | None, other: Fence | None) -> Fence | None:
    """What two decisions rest on together; `other` names slots only."""
    if one is None or other is None:
        return one or other

    def concerns(node: NodeVersion) -> bool:
        if node.slot in other.slots:
            return True
        return one.concerns(node) if one.concerns is not None else node.kind in one.kinds or node.slot in one.slots

    return Fence(pos=min(one.pos, other.pos), kinds=one.kinds, slots=(*one.slots, *other.slots), concerns=concerns)


def is_gated(loom: Loom, kind: str) -> bool:
    """Whether a write of this kind, in capitals or not, should say what it came of."""
    return kind.casefold() in {each.casefold() for each in GATED_KINDS.union(loom.settings.gated_kinds)}


def status_of(task: NodeVersion) -> str:
    """The state of a task; one that says none is open."""
    return str(task.props.get("status") or "open")


def conversation_key(loom: Loom, written: str) -> str:
    """The id of the conversation that is meant, be it there or not: record_turns makes it so. An id means itself."""
    project = loom.settings.project
    return written if written.startswith(f"{project}/") else f"{project}/{written}"


def conversation_named(loom: Loom, written: str) -> NodeVersion | None:
    """The node of a conversation, by its name in this project or by its id; None where the caller sees none."""
    ids = dict.fromkeys((conversation_key(loom, written), written))
    found = [node for node in loom.store.nodes(loom.viewer, NOW, list(ids)) if node.kind == SESSION]
    return found[0] if found else None


def no_task(loom: Loom, written: str) -> NotFound:
    """The error for a task that is not there, or not for the caller to know of; it names a few that are."""
    here = Find(kinds=(TASK,), projects=(loom.settings.project, None))
    found = loom.store.find(loom.viewer, NOW, here, limit=CANDIDATES_READ).nodes
    going = [node for node in found if status_of(node) not in DONE][:CANDIDATES_SHOWN]
    shown = ", ".join(f"{node.id} ({(node.name or node.text)[:60]})" for node in going)
    hint = f"not completed are {shown}; `weft work-list` lists all" if going else "`weft work-create` makes one"
    return NotFound(f"there is no task {written[:80]!r} that you may see here", hint=hint)


def task_closed(task: NodeVersion, *, cannot: str) -> TaskClosed:
    """The error for a task that is completed, and what it can therefore not do."""
    return TaskClosed(
        f"the task {task.id} ({(task.name or task.text)[:60]}) is completed ({status_of(task)}): it cannot {cannot}",
        hint="`weft work-create` makes a new task",
    )


def belongs(loom: Loom, task: NodeVersion, projects: Collection[str | None]) -> bool:
    """Whether it is a task of this project, of all, or of one of these."""
    return task.kind == TASK and task.guard.project in {None, loom.settings.project, *projects}


def _open_task(loom: Loom, task_id: str, projects: Collection[str | None]) -> NodeVersion:
    found = loom.store.nodes(loom.viewer, NOW, [task_id])
    if not found or not belongs(loom, found[0], projects):
        raise no_task(loom, task_id)
    if status_of(found[0]) in DONE:
        raise task_closed(found[0], cannot="have made this")
    return found[0]


def _headed(loom: Loom, drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """Headers that say where an event came from; what a draft says itself stands."""
    named = loom.settings.conversation
    during = conversation_key(loom, named) if named else None
    if loom.task is None and during is None:
        return tuple(drafts)
    return tuple(
        replace(draft, task=draft.task or loom.task, conversation=draft.conversation or during) for draft in drafts
    )


def _warnings(loom: Loom, drafts: Sequence[Draft], *, ask: bool) -> tuple[str, ...]:
    """What an agent is told that writes a gated kind out of nowhere. Raises Unproven where that is not allowed.

    A conversation that is not there is nowhere, too; unless the store may be asked, it is taken at the caller's word.
    """
    settings = loom.settings
    if loom.task is not None or settings.provenance == "off" or loom.writer.actor.role != "agent":
        return ()
    kinds = sorted({each.kind for each in _made(drafts) if each.told and is_gated(loom, each.kind)})
    named = settings.conversation
    if not kinds or (named and (not ask or _is_there(loom, named, drafts))):
        return ()
    missing = f"there is no conversation {named[:80]!r} here that you may see: record_turns makes it" if named else ""
    if settings.provenance == "required":
        why = f"; {missing}" if missing else ""
        raise Unproven(f"nothing was written: {', '.join(kinds)} must say what it came of{why}", hint=NEXT_STEP)
    return (UNPROVEN, missing) if missing else (UNPROVEN,)


def _is_there(loom: Loom, named: str, drafts: Sequence[Draft]) -> bool:
    """Whether a conversation was recorded, or is by these very drafts."""
    key = conversation_key(loom, named)
    now = (each.payload for each in drafts if isinstance(each.payload, conversation.Recorded))
    return any(payload.id == key for payload in now) or conversation_named(loom, named) is not None


def _unjoined(loom: Loom, source: str, made: Sequence[_Made]) -> list[_Made]:
    """Those that the source is not joined to yet: who changes what it made has made it once."""

    def is_joined(node_id: str) -> bool:
        edges = loom.store.edges(loom.viewer, NOW, node_id, rel=PRODUCED, direction="in", before=None, limit=MAX_LIMIT)
        return any(edge.src == source for edge in edges)

    return [each for each in made if not is_joined(each.id)]


def _joins(loom: Loom, source: str, project: str | None, made: Sequence[_Made]) -> Iterator[Draft]:
    """The events that join a source to what it made, for all who may see both. They belong to the source's project."""
    home = project or loom.settings.project
    edges = [
        graph.EdgeAssertion(src=source, rel=PRODUCED, dst=each.id, **asdict(replace(each.guard, project=home)))
        for each in made
        if each.id != source
    ]
    for start in range(0, len(edges), EDGES_OF_ONE_EVENT):
        payload = graph.Asserted(edges=tuple(edges[start : start + EDGES_OF_ONE_EVENT]))
        yield from _headed(loom, [Draft(kind="graph.asserted", payload=payload)])


def _made(drafts: Sequence[Draft]) -> tuple[_Made, ...]:
    """What drafts assert, each once, but for weft's own records and what was only named."""
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
            yield _Made(id=payload.id, kind="Document", guard=_guard(payload))
        case code.Indexed():
            yield _Made(id=payload.id, kind="File", guard=_guard(payload))
        case conversation.Recorded():
            if payload.opens:
                yield _Made(id=payload.id, kind=SESSION, guard=_guard(payload))
            yield from (_Made(id=said.id, kind="Message", guard=_guard(payload)) for said in payload.messages)
        case _:
            return


def _of_node(node: Any, kind: str) -> _Made:
    return _Made(id=node.id, kind=kind, guard=_guard(node), told=DERIVED_FROM not in node.props)


def _guard(payload: Any) -> Guard:
    return Guard(
        project=payload.project, scope=payload.scope, agents=tuple(sorted(payload.agents)), sensitive=payload.sensitive
    )
