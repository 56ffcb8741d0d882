"""Claims that are held, and whether they still count.

A claim is current until it is released, its task is completed, its lease runs out, or another changes its target or
records an edit of it. All but a release make it stale at once, for every reader; the next claim of what it is on
records its end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from msgspec import Struct

from weft.core.clock import to_iso
from weft.core.types import MAX_IDS_PER_READ, MAX_LIMIT, NOW, Find, NodeVersion, When
from weft.log.citation import EventCitation, parse_citation
from weft.retrieval.citations.resolve import event_of
from weft.runtime.call_context import CallContext
from weft.text.one_line import flat
from weft.writing.checks.provenance import DONE, status_of
from weft.writing.claims.claim import INSIDE, PREFIX, Claim, around, claim_id, claim_of, version_of

MAX_CLAIMS: Final = 1_000  # read for one answer, or at a time
MAX_PAGES: Final = 100  # of them, among which those of a task are looked for
VERSIONS: Final = 1_000  # of a target, newest included, that are compared


class Held(Struct, frozen=True, kw_only=True):
    """A claim that nobody released. `stale` is why it no longer counts; empty while it does."""

    claim: Claim
    target: NodeVersion | None = None
    stale: str = ""


def held_around(ctx: CallContext, target: str, when: When = NOW) -> tuple[Held, ...]:
    """The claims of a target, of what it lies inside and of what lies inside it; stale ones too."""
    ids = [claim_id(each) for each in (target, *around(target))]
    nodes = list(ctx.store.nodes(ctx.viewer, when, ids))
    for mark in INSIDE:
        inside = Find(id_prefix=f"{claim_id(target)}{mark}")
        nodes += ctx.store.find(ctx.viewer, when, inside, limit=MAX_CLAIMS).nodes
    return judged(ctx, nodes, when)


def held_on(ctx: CallContext, targets: Iterable[str], when: When = NOW) -> tuple[Held, ...]:
    """The claims of these targets and of what they lie inside; of source files also those inside them."""
    wanted = list(dict.fromkeys(targets))
    if not ctx.store.find(ctx.viewer, when, Find(id_prefix=PREFIX), limit=1).nodes:
        return ()  # most stores hold no claim, which one look at an index tells
    ids = dict.fromkeys(claim_id(each) for target in wanted for each in (target, *around(target)))
    found = {node.id: node for some in _some(list(ids)) for node in ctx.store.nodes(ctx.viewer, when, some)}
    for target in wanted:
        if not around(target):
            inside = Find(id_prefix=f"{claim_id(target)}{INSIDE[0]}")
            found |= {node.id: node for node in ctx.store.find(ctx.viewer, when, inside, limit=MAX_LIMIT).nodes}
    return judged(ctx, found.values(), when)


def held_in(ctx: CallContext, projects: tuple[str | None, ...] | None, when: When = NOW) -> tuple[Held, ...]:
    """The claims in these projects, oldest first, at most MAX_CLAIMS; stale ones too."""
    found = ctx.store.find(ctx.viewer, when, Find(id_prefix=PREFIX, projects=projects), limit=MAX_CLAIMS)
    return judged(ctx, found.nodes, when)


def held_for(ctx: CallContext, task: str) -> tuple[Held, ...]:
    """The claims for a task, in any project, and the one on it; stale ones too."""
    found: list[NodeVersion] = []
    before: int | None = None
    for _ in range(MAX_PAGES):
        page = ctx.store.find(ctx.viewer, NOW, Find(id_prefix=PREFIX, before=before), limit=MAX_CLAIMS).nodes
        found += [node for node in page if node.props.get("task") == task or node.id == claim_id(task)]
        if len(page) < MAX_CLAIMS:
            break
        before = page[-1].row
    return judged(ctx, found)


def judged(ctx: CallContext, nodes: Iterable[NodeVersion], when: When = NOW) -> tuple[Held, ...]:
    """The claims that these nodes tell, oldest first, each with whether it still counts."""
    claims = [claim for node in nodes if (claim := claim_of(node)) is not None]
    known = _read(ctx, {each.target for each in claims} | {each.task for each in claims if each.task}, when)
    now = ctx.clock.now_us() if when.valid_at is None else when.valid_at
    held = [
        Held(claim=each, target=known.get(each.target), stale=_stale(ctx, each, known, now))
        for each in sorted(claims, key=lambda claim: (claim.since, claim.id))
    ]
    return tuple(held)


def name_beside(target: NodeVersion) -> str:
    """What a target is called, where its id does not say so."""
    name = flat(target.name or target.text)[:120]
    return "" if target.id.endswith(name) or "::" in target.id else name


def _stale(ctx: CallContext, claim: Claim, known: dict[str, NodeVersion], now: int) -> str:
    target = known.get(claim.target)
    if target is None:
        return "its target is gone"
    if claim.overtaken:
        return claim.overtaken
    task = None if claim.task is None else known.get(claim.task)
    if claim.task is not None and (task is None or status_of(task) in DONE):
        return "its task is gone" if task is None else f"its task {status_of(task)}"
    if target.kind == "Task" and status_of(target) in DONE:
        return f"the task {status_of(target)}"
    if claim.lease_until is not None and claim.lease_until <= now:
        return f"its lease ended at {to_iso(claim.lease_until)[:19]}Z"
    if version_of(target) == claim.version or _own_change(ctx, claim, target):
        return ""
    by = _author(ctx, target)
    return f"its target changed at {to_iso(target.recorded_at)[:19]}Z{f', recorded by {by}' if by else ''}"


def _own_change(ctx: CallContext, claim: Claim, target: NodeVersion) -> bool:
    """Whether the target's version is the holder's work: recorded by it, or the one that its recorded edit awaits."""
    if _author(ctx, target) == claim.holder.agent:
        return True
    if not claim.awaits_change:
        return False
    versions = ctx.store.history(ctx.viewer, target.id, limit=VERSIONS)
    since = {version_of(row) for row in versions if row.event > claim.node.event}
    return len(versions) < VERSIONS and len(since) <= 1


def _author(ctx: CallContext, target: NodeVersion) -> str:
    """The agent that recorded this version."""
    cited = ctx.store.citations(ctx.viewer, [target.event]).get(target.event)
    if cited is None:
        return ""
    named = parse_citation(cited)
    event = event_of(ctx, named) if isinstance(named, EventCitation) else None
    return "" if event is None else event.actor.agent


def _read(ctx: CallContext, ids: Collection[str], when: When) -> dict[str, NodeVersion]:
    wanted = sorted(ids)
    return {node.id: node for some in _some(wanted) for node in ctx.store.nodes(ctx.viewer, when, some)}


def _some(ids: Sequence[str]) -> Iterable[Sequence[str]]:
    return (ids[start : start + MAX_IDS_PER_READ] for start in range(0, len(ids), MAX_IDS_PER_READ))
