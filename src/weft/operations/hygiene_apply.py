"""Mending what hygiene found: chosen findings only, each looked at again before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict

from weft.append import Fence
from weft.errors import Invalid, Misconfigured, WeftError
from weft.instants import to_iso
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.operations import findings
from weft.operations import hygiene_checks as checks
from weft.operations.committing import Choice, decided
from weft.operations.entities import MergeEntities, SplitEntities, merge_entities, split_entities
from weft.operations.feedback import MemoryFeedback, memory_feedback
from weft.operations.fields import GovernanceToken
from weft.operations.findings import ACTIONS, Action, CheckName, Named, stamp_of
from weft.operations.hygiene_checks import DECISION, PATTERN, SUPERSEDES
from weft.operations.near_duplicates import weigh
from weft.operations.pending import may_see, show_write, stuck
from weft.operations.references import ALWAYS, assertion_of
from weft.operations.registry import Operation
from weft.operations.remembered import Remembered
from weft.operations.revising import Invalidate, memory_invalidate
from weft.operations.versions import answer_of, node_fence, standing_node, version_draft
from weft.outbox import Outbox
from weft.types import NodeVersion, When

BY: Final = {"found_by": "hygiene"}  # on relations that this makes: only those are taken back by it

FindingId = Annotated[str, Meta(min_length=1, max_length=5_000)]


class HygieneApply(Struct, frozen=True, kw_only=True):
    """Input of `hygiene_apply`."""

    action: Annotated[Action, Meta(description="what to do: merge, end, invalidate, confirm, retry, drop, or undo")]
    ids: Annotated[
        tuple[FindingId, ...], Meta(min_length=1, max_length=100, description="ids of findings, as run_hygiene gives")
    ]
    reason: Annotated[str, Meta(max_length=2_000, description="why, in a few words")] = ""
    governance_token: GovernanceToken = None


class FindingApplied(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one finding. `stale`: it is not what hygiene would find now. `undo` is the command that undoes."""

    id: str
    status: Literal["saved", "stale", "failed"]
    why: str = ""
    undo: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()


class HygieneApplied(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was done about the chosen findings: all (`saved`), some (`partial`) or none (`failed`)."""

    status: Literal["saved", "partial", "failed"]
    done: int
    findings: tuple[FindingApplied, ...]
    notes: tuple[str, ...] = ()


class _Stale(Exception):
    """The finding is not what hygiene would find now, and why. Never leaves this module."""


def hygiene_apply(loom: Loom, given: HygieneApply) -> HygieneApplied:
    """Mends chosen findings of `weft hygiene`, by their ids, and says how to undo each.

    merge: the older of two that say the same is superseded by the newer, or a thing is merged into the other of its
    name. end, invalidate: an old decision or pattern stops being true now. confirm: it is still right, and counts as
    validated today. retry, drop: a write that is stuck is delivered, or taken out. undo takes any of these back. A
    finding that is out of date is left alone and said to be so; the others are done.
    """
    told = tuple(_applied(loom, given, name) for name in dict.fromkeys(given.ids))
    done = sum(each.status == "saved" for each in told)
    status: Literal["saved", "partial", "failed"] = "saved" if done == len(told) else "partial" if done else "failed"
    return HygieneApplied(status=status, done=done, findings=told)


def _applied(loom: Loom, given: HygieneApply, name: str) -> FindingApplied:
    try:
        found = findings.read(name)
        if given.action not in ACTIONS[found.check]:
            raise Invalid(
                f"{given.action} is nothing to do about a {found.check}",
                hint=f"choose one of {', '.join(ACTIONS[found.check])}",
            )
        told, undo = _UNDO[found.check](loom, found) if given.action == "undo" else _do(loom, found, name, given)
    except _Stale as problem:
        return FindingApplied(id=name, status="stale", why=str(problem))
    except WeftError as problem:
        return FindingApplied(id=name, status="failed", why=str(problem))
    if told.status in ("saved", "superseded", "pending_retry"):
        return FindingApplied(id=name, status="saved", undo=undo, citation=told.citation, notes=told.notes)
    return FindingApplied(id=name, status="stale", why="; ".join(told.notes) or told.status)


Told = tuple[Remembered, str]


def _do(loom: Loom, found: Named, name: str, given: HygieneApply) -> Told:
    undo = findings.undo_of(name)
    match found.check:
        case "duplicate":
            return _superseded(loom, found, given.reason), undo
        case "entity":
            return _merged(loom, found, given.reason)
        case "write":
            return _delivered(loom, found) if given.action == "retry" else (_dropped(loom, found), undo)
        case _:
            return _aged(loom, found, given, undo)


# ---- looking again


def _nodes(loom: Loom, when: When, found: Named) -> list[NodeVersion]:
    """The nodes of a finding, as they were when it was found. Raises _Stale for any that is gone or says otherwise."""
    nodes = loom.store.nodes(loom.viewer, when, found.ids)
    if len(nodes) != len(found.ids):
        gone = sorted(set(found.ids) - {node.id for node in nodes})
        raise _Stale(f"{', '.join(gone)} does not hold any more, or is not there")
    if stamp_of(*nodes) != found.stamp:
        raise _Stale("it was changed since")
    return list(nodes)


def _must_stand(loom: Loom, when: When, nodes: list[NodeVersion]) -> None:
    stands = checks.standing(loom, when, [node.id for node in nodes])
    if gone := [node.id for node in nodes if node.id not in stands]:
        raise _Stale(f"{', '.join(gone)} is superseded already")


# ---- two that say the same


def _superseded(loom: Loom, found: Named, reason: str) -> Remembered:
    def choose(pos: int) -> Choice[Remembered]:
        when = loom.store.pin(loom.viewer, When())
        older, newer = nodes = _nodes(loom, when, found)
        _must_stand(loom, when, nodes)
        pair = next(iter(weigh(loom, [(older, newer)])), None)
        if pair is None or (pair.older.id, pair.newer.id) != found.ids:
            raise _Stale("the two are not alike enough now")
        edge = graph.EdgeAssertion(
            src=newer.id,
            rel=SUPERSEDES,
            dst=older.id,
            props={**BY, "similarity": pair.similarity},
            valid_from=to_iso(newer.interval.valid_from),
            **asdict(newer.guard),
        )
        payload = graph.Asserted(edges=(edge,), reason=reason or "say the same")
        told = Remembered(status="superseded", id=newer.id, supersedes=(older.id,))
        draft = Draft(kind="graph.asserted", payload=payload)
        return Choice(told=told, drafts=(draft,), fence=_around(pos, *nodes))

    return answer_of(*decided(loom, choose))


def _around(pos: int, *nodes: NodeVersion) -> Fence:
    return Fence(pos=pos, slots=tuple({slot for node in nodes for slot in (node.slot, node.id)}))


def _apart(loom: Loom, found: Named) -> Told:
    older, newer = found.ids

    def choose(pos: int) -> Choice[Remembered]:
        steps = loom.store.neighbours(loom.viewer, When(), [newer], rels=(SUPERSEDES,), direction="out", limit=1_000)
        made = [step.edge for step in steps if step.edge.dst == older and step.edge.props.items() >= BY.items()]
        if not made:
            raise _Stale("hygiene did not merge these two, or they are apart again")
        name = graph.EdgeName(src=newer, rel=SUPERSEDES, dst=older)
        payload = graph.Ended(edges=(name,), at=ALWAYS, reason="hygiene is undone")
        drafts = (Draft(kind="graph.ended", payload=payload),)
        return Choice(told=Remembered(status="saved", id=older), drafts=drafts, fence=Fence(pos=pos, slots=found.ids))

    return answer_of(*decided(loom, choose)), ""


# ---- what is old


def _aged(loom: Loom, found: Named, given: HygieneApply, undo: str) -> Told:
    when = loom.store.pin(loom.viewer, When())
    (node,) = nodes = _nodes(loom, when, found)
    old = checks.is_outdated if found.check == "decision" else checks.is_unvalidated
    if node.kind != (DECISION if found.check == "decision" else PATTERN) or not old(node, loom.clock.now_us()):
        raise _Stale("it is not so old, or was confirmed since")
    _must_stand(loom, when, nodes)
    if given.action == "confirm":
        told = memory_feedback(loom, MemoryFeedback(id=node.id, outcome="confirmed", note=given.reason))
        before = node.props.get(checks.VALIDATED)
        value = before if isinstance(before, str) else "null"
        return told, f"weft memory-edit {findings.quoted(node.id)} --props {checks.VALIDATED}={value}"
    return memory_invalidate(loom, Invalidate(id=node.id, reason=given.reason or "out of date")), undo


def _revived(loom: Loom, found: Named) -> Told:
    """Brings back what was ended, for as long as it was said to hold."""

    def choose(pos: int) -> Choice[Remembered]:
        if loom.store.nodes(loom.viewer, When(), found.ids):
            raise _Stale("it holds: there is nothing to undo")
        node = standing_node(loom, found.ids[0])
        if stamp_of(node) != found.stamp:
            raise _Stale("it was changed since")
        draft = version_draft(loom, node, (assertion_of(node),), reason="hygiene is undone")
        return Choice(told=Remembered(status="saved", id=node.id), drafts=(draft,), fence=node_fence(node, pos))

    return answer_of(*decided(loom, choose)), ""


# ---- things


def _merged(loom: Loom, found: Named, reason: str) -> Told:
    when = loom.store.pin(loom.viewer, When())
    duplicate, into = _nodes(loom, when, found)
    if not checks.are_one(loom, when, duplicate, into):
        raise _Stale("they are merged already, or cannot be told to be one any more")
    asked = MergeEntities(duplicate=duplicate.id, into=into.id, reason=reason or "one name")
    return merge_entities(loom, asked), f"weft split-entities {findings.quoted(duplicate.id)}"


def _split(loom: Loom, found: Named) -> Told:
    return split_entities(loom, SplitEntities(duplicate=found.ids[0])), ""


# ---- writes


def _outbox(loom: Loom) -> Outbox:
    if loom.outbox is None:
        raise Misconfigured("there is no outbox", hint="set `outbox` to a directory; a store in memory has none")
    return loom.outbox


def _entry(loom: Loom, found: Named) -> str:
    """The name of an entry that is stuck as it was found. Raises _Stale for one that is not."""
    waiting, refused = stuck(loom)
    for state, entries in (("pending_retry", waiting), ("failed", refused)):
        if any(entry.name == found.ids[0] for entry in entries):
            if state != found.stamp:
                raise _Stale(f"it is {state} now")
            return found.ids[0]
    raise _Stale("it was delivered or dropped, or is not there")


def _delivered(loom: Loom, found: Named) -> Told:
    """Delivers up to a write, as all that wait before it go first."""
    box, name = _outbox(loom), _entry(loom, found)
    made = next((show_write(entry).ids for entry in (*box.entries(), *box.refused()) if entry.name == name), ())
    if found.stamp == "failed":
        loom.operator("try writes again that the store refused")
        box.retry(only=name)
    token = name.partition("-")[2]
    done = box.deliver(loom.store, clock=loom.clock, embedding=loom.embedding, screen=loom.screen)
    if any(each.partition("-")[2] == token for each in done.refused):
        raise Invalid("the store refused it", hint="`weft pending-list` says why")
    if done.problem is not None and any(entry.name.partition("-")[2] == token for entry in box.entries()):
        raise done.problem
    undo = "; ".join(f"weft forget {findings.quoted(each)}" for each in made)
    return Remembered(status="saved", id=name), undo


def _dropped(loom: Loom, found: Named) -> Remembered:
    if not _outbox(loom).drop(_entry(loom, found)):
        raise _Stale("it was delivered or dropped meanwhile")
    return Remembered(status="saved", id=found.ids[0])


def _brought_back(loom: Loom, found: Named) -> Told:
    box = _outbox(loom)
    if not any(entry.name == found.ids[0] and may_see(loom, entry) for entry in box.dropped()):
        raise _Stale("it was not dropped, or was brought back")
    box.bring_back(found.ids[0])
    return Remembered(status="saved", id=found.ids[0], notes=("it waits again",)), ""


_UNDO: Final[dict[CheckName, Callable[[Loom, Named], Told]]] = {
    "duplicate": _apart,
    "decision": _revived,
    "pattern": _revived,
    "entity": _split,
    "write": _brought_back,
}

OPERATIONS = (
    Operation(
        name="hygiene_apply",
        summary="mend chosen findings of hygiene, or undo that",
        input=HygieneApply,
        output=HygieneApplied,
        effect="write",
        toolset="hygiene",
        run=hygiene_apply,
        arguments=("action",),
    ),
)
