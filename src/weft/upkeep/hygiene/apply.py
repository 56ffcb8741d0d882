"""`hygiene_apply`: fixes for chosen hygiene findings, each checked again before it is applied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict

from weft.append.append import Fence
from weft.append.outbox import Outbox
from weft.core.clock import to_iso
from weft.core.errors import Invalid, Misconfigured, WeftError
from weft.core.types import NodeVersion, When
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.runtime.call_context import CallContext
from weft.runtime.fields import GovernanceToken, Reason
from weft.runtime.operation import Operation
from weft.upkeep.hygiene import checks, findings
from weft.upkeep.hygiene.checks import DECISION, PATTERN, SUPERSEDES
from weft.upkeep.hygiene.findings import ACTIONS, Action, CheckName, FindingKey, stamp_of
from weft.upkeep.hygiene.near_duplicates import weigh
from weft.upkeep.pending import may_see, show_write, stuck_writes
from weft.writing.build.commit import WriteDecision, decide_and_commit
from weft.writing.build.references import ALWAYS, assertion_of
from weft.writing.build.versions import current_node, node_fence, result_of, version_draft
from weft.writing.entities import MergeEntities, SplitEntities, merge_entities, split_entities
from weft.writing.feedback import MemoryFeedback, memory_feedback
from weft.writing.revise import Invalidate, memory_invalidate
from weft.writing.write_contract import WriteResult

BY: Final = {"found_by": "hygiene"}  # marks relations made here: only those are undone

FindingId = Annotated[str, Meta(min_length=1, max_length=5_000)]


class HygieneApply(Struct, frozen=True, kw_only=True):
    """Input of `hygiene_apply`."""

    action: Annotated[Action, Meta(description="merge, end, invalidate, confirm, retry, drop, or undo")]
    ids: Annotated[
        tuple[FindingId, ...],
        Meta(min_length=1, max_length=100, description="ids of findings, as run_hygiene shows them"),
    ]
    reason: Reason = ""
    governance_token: GovernanceToken = None


class FindingApplied(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome for one finding. `stale`: hygiene would not find it now. `undo` is the command that undoes it."""

    id: str
    status: Literal["saved", "stale", "failed"]
    why: str = ""
    undo: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()


class HygieneApplied(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcomes: all findings applied (`saved`), some (`partial`) or none (`failed`)."""

    status: Literal["saved", "partial", "failed"]
    done: int
    findings: tuple[FindingApplied, ...]
    notes: tuple[str, ...] = ()


class _Stale(Exception):
    """Hygiene would not find this now, and why. Never leaves this module."""


def hygiene_apply(ctx: CallContext, given: HygieneApply) -> HygieneApplied:
    """Applies fixes to chosen findings of `weft hygiene`, by their ids, and returns how to undo each.

    merge: of two that say the same, the newer supersedes the older; a duplicate entity is merged into the other. end,
    invalidate: an old decision or pattern stops being true now. confirm: it is still right, and counts as validated
    today. retry, drop: a write in the outbox is delivered or removed. undo reverses any of these. Findings that are out
    of date are reported and left alone; the others are applied.
    """
    told = tuple(_applied(ctx, given, name) for name in dict.fromkeys(given.ids))
    done = sum(each.status == "saved" for each in told)
    status: Literal["saved", "partial", "failed"] = "saved" if done == len(told) else "partial" if done else "failed"
    return HygieneApplied(status=status, done=done, findings=told)


def _applied(ctx: CallContext, given: HygieneApply, name: str) -> FindingApplied:
    try:
        found = findings.read(name)
        if given.action not in ACTIONS[found.check]:
            raise Invalid(
                f"{given.action} does not apply to a {found.check} finding",
                hint=f"choose one of {', '.join(ACTIONS[found.check])}",
            )
        told, undo = _UNDO[found.check](ctx, found) if given.action == "undo" else _do(ctx, found, name, given)
    except _Stale as problem:
        return FindingApplied(id=name, status="stale", why=str(problem))
    except WeftError as problem:
        return FindingApplied(id=name, status="failed", why=str(problem))
    if told.status in ("saved", "superseded", "pending_retry"):
        return FindingApplied(id=name, status="saved", undo=undo, citation=told.citation, notes=told.notes)
    return FindingApplied(id=name, status="stale", why="; ".join(told.notes) or told.status)


Told = tuple[WriteResult, str]


def _do(ctx: CallContext, found: FindingKey, name: str, given: HygieneApply) -> Told:
    undo = findings.undo_of(name)
    match found.check:
        case "duplicate":
            return _superseded(ctx, found, given.reason), undo
        case "entity":
            return _merged(ctx, found, given.reason)
        case "write":
            return _delivered(ctx, found) if given.action == "retry" else (_dropped(ctx, found), undo)
        case _:
            return _aged(ctx, found, given, undo)


# ---- checking again


def _nodes(ctx: CallContext, when: When, found: FindingKey) -> list[NodeVersion]:
    """The nodes of a finding. Raises _Stale if one is gone or has changed."""
    nodes = ctx.store.nodes(ctx.viewer, when, found.ids)
    if len(nodes) != len(found.ids):
        gone = sorted(set(found.ids) - {node.id for node in nodes})
        raise _Stale(f"{', '.join(gone)} no longer holds, or does not exist")
    if stamp_of(*nodes) != found.stamp:
        raise _Stale("it has changed since")
    return list(nodes)


def _must_stand(ctx: CallContext, when: When, nodes: list[NodeVersion]) -> None:
    stands = checks.not_superseded(ctx, when, [node.id for node in nodes])
    if gone := [node.id for node in nodes if node.id not in stands]:
        raise _Stale(f"{', '.join(gone)} is already superseded")


# ---- two that say the same


def _superseded(ctx: CallContext, found: FindingKey, reason: str) -> WriteResult:
    def choose(pos: int) -> WriteDecision[WriteResult]:
        when = ctx.store.pin(ctx.viewer, When())
        older, newer = nodes = _nodes(ctx, when, found)
        _must_stand(ctx, when, nodes)
        pair = next(iter(weigh(ctx, [(older, newer)])), None)
        if pair is None or (pair.older.id, pair.newer.id) != found.ids:
            raise _Stale("the two are no longer similar enough")
        edge = graph.EdgeAssertion(
            src=newer.id,
            rel=SUPERSEDES,
            dst=older.id,
            props={**BY, "similarity": pair.similarity},
            valid_from=to_iso(newer.interval.valid_from),
            **asdict(newer.guard),
        )
        payload = graph.Asserted(edges=(edge,), reason=reason or "say the same")
        told = WriteResult(status="superseded", id=newer.id, supersedes=(older.id,))
        draft = Draft(kind="graph.asserted", payload=payload)
        return WriteDecision(answer=told, drafts=(draft,), fence=_around(pos, *nodes))

    return result_of(*decide_and_commit(ctx, choose))


def _around(pos: int, *nodes: NodeVersion) -> Fence:
    return Fence(pos=pos, slots=tuple({slot for node in nodes for slot in (node.slot, node.id)}))


def _apart(ctx: CallContext, found: FindingKey) -> Told:
    older, newer = found.ids

    def choose(pos: int) -> WriteDecision[WriteResult]:
        steps = ctx.store.neighbours(ctx.viewer, When(), [newer], rels=(SUPERSEDES,), direction="out", limit=1_000)
        made = [step.edge for step in steps if step.edge.dst == older and step.edge.props.items() >= BY.items()]
        if not made:
            raise _Stale("hygiene did not merge these two, or the merge was undone already")
        name = graph.EdgeName(src=newer, rel=SUPERSEDES, dst=older)
        payload = graph.Ended(edges=(name,), at=ALWAYS, reason="hygiene is undone")
        drafts = (Draft(kind="graph.ended", payload=payload),)
        return WriteDecision(
            answer=WriteResult(status="saved", id=older), drafts=drafts, fence=Fence(pos=pos, slots=found.ids)
        )

    return result_of(*decide_and_commit(ctx, choose)), ""


# ---- old decisions and patterns


def _aged(ctx: CallContext, found: FindingKey, given: HygieneApply, undo: str) -> Told:
    when = ctx.store.pin(ctx.viewer, When())
    (node,) = nodes = _nodes(ctx, when, found)
    old = checks.is_outdated if found.check == "decision" else checks.is_unvalidated
    if node.kind != (DECISION if found.check == "decision" else PATTERN) or not old(node, ctx.clock.now_us()):
        raise _Stale("it is not that old, or was confirmed since")
    _must_stand(ctx, when, nodes)
    if given.action == "confirm":
        told = memory_feedback(ctx, MemoryFeedback(id=node.id, outcome="confirmed", note=given.reason))
        before = node.props.get(checks.VALIDATED)
        value = before if isinstance(before, str) else "null"
        return told, f"weft memory-edit {findings.quoted(node.id)} --props {checks.VALIDATED}={value}"
    return memory_invalidate(ctx, Invalidate(id=node.id, reason=given.reason or "out of date")), undo


def _revived(ctx: CallContext, found: FindingKey) -> Told:
    """Restores what was ended, for its original valid time."""

    def choose(pos: int) -> WriteDecision[WriteResult]:
        if ctx.store.nodes(ctx.viewer, When(), found.ids):
            raise _Stale("it holds now: there is nothing to undo")
        node = current_node(ctx, found.ids[0])
        if stamp_of(node) != found.stamp:
            raise _Stale("it has changed since")
        draft = version_draft(ctx, node, (assertion_of(node),), reason="hygiene is undone")
        return WriteDecision(
            answer=WriteResult(status="saved", id=node.id), drafts=(draft,), fence=node_fence(node, pos)
        )

    return result_of(*decide_and_commit(ctx, choose)), ""


# ---- entities


def _merged(ctx: CallContext, found: FindingKey, reason: str) -> Told:
    when = ctx.store.pin(ctx.viewer, When())
    duplicate, into = _nodes(ctx, when, found)
    if not checks.are_one(ctx, when, duplicate, into):
        raise _Stale("they are merged already, or are no longer clearly the same entity")
    asked = MergeEntities(duplicate=duplicate.id, into=into.id, reason=reason or "one name")
    return merge_entities(ctx, asked), f"weft split-entities {findings.quoted(duplicate.id)}"


def _split(ctx: CallContext, found: FindingKey) -> Told:
    return split_entities(ctx, SplitEntities(duplicate=found.ids[0])), ""


# ---- writes in the outbox


def _outbox(ctx: CallContext) -> Outbox:
    if ctx.outbox is None:
        raise Misconfigured("no outbox is configured", hint="set `outbox` to a directory; a store in memory has none")
    return ctx.outbox


def _entry(ctx: CallContext, found: FindingKey) -> str:
    """The name of an outbox entry in the state that was found. Raises _Stale otherwise."""
    waiting, refused = stuck_writes(ctx)
    for state, entries in (("pending_retry", waiting), ("failed", refused)):
        if any(entry.name == found.ids[0] for entry in entries):
            if state != found.stamp:
                raise _Stale(f"it is {state} now")
            return found.ids[0]
    raise _Stale("it was delivered or dropped, or does not exist")


def _delivered(ctx: CallContext, found: FindingKey) -> Told:
    """Delivers a write, and all that wait before it."""
    box, name = _outbox(ctx), _entry(ctx, found)
    made = next((show_write(entry).ids for entry in (*box.entries(), *box.refused()) if entry.name == name), ())
    if found.stamp == "failed":
        ctx.operator("retry refused writes")
        box.retry(only=name)
    token = name.partition("-")[2]
    done = box.deliver(ctx.store, clock=ctx.clock, embedding=ctx.embedding, privacy=ctx.privacy)
    if any(each.partition("-")[2] == token for each in done.refused):
        raise Invalid("the store refused the write", hint="`weft pending-list` shows why")
    if done.problem is not None and any(entry.name.partition("-")[2] == token for entry in box.entries()):
        raise done.problem
    undo = "; ".join(f"weft forget {findings.quoted(each)}" for each in made)
    return WriteResult(status="saved", id=name), undo


def _dropped(ctx: CallContext, found: FindingKey) -> WriteResult:
    if not _outbox(ctx).drop(_entry(ctx, found)):
        raise _Stale("it was delivered or dropped meanwhile")
    return WriteResult(status="saved", id=found.ids[0])


def _brought_back(ctx: CallContext, found: FindingKey) -> Told:
    box = _outbox(ctx)
    if not any(entry.name == found.ids[0] and may_see(ctx, entry) for entry in box.dropped()):
        raise _Stale("it was not dropped, or was restored already")
    box.bring_back(found.ids[0])
    return WriteResult(status="saved", id=found.ids[0], notes=("it is in the outbox again",)), ""


_UNDO: Final[dict[CheckName, Callable[[CallContext, FindingKey], Told]]] = {
    "duplicate": _apart,
    "decision": _revived,
    "pattern": _revived,
    "entity": _split,
    "write": _brought_back,
}

OPERATIONS = (
    Operation(
        name="hygiene_apply",
        summary="apply fixes to chosen hygiene findings, or undo them",
        input=HygieneApply,
        output=HygieneApplied,
        effect="write",
        toolset="hygiene",
        run=hygiene_apply,
        arguments=("action",),
    ),
)
