"""The hygiene checks. Each reads with the rights of its caller; none writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.append.outbox import OutboxEntry
from weft.core.clock import parse_instant, to_iso
from weft.core.errors import Invalid
from weft.core.kinds import DERIVED_FROM, RECORD_KINDS, STRUCTURAL_KINDS, VIEWS
from weft.core.slices import in_slices
from weft.core.types import MAX_IDS_PER_READ, Find, NodeVersion, When
from weft.runtime.call_context import CallContext
from weft.text.lexical import name_key
from weft.upkeep.hygiene import findings
from weft.upkeep.hygiene.findings import CheckName, Finding, stamp_of
from weft.upkeep.hygiene.near_duplicates import NOT_COMPARED, Pair, Texts, is_compared
from weft.upkeep.pending import stuck_writes
from weft.writing.build.entity_builder import IN_PASSING, UNSPECIFIED
from weft.writing.build.references import MERGES_INTO, entity_id

DAY_US: Final = 86_400_000_000
DECISION_DAYS: Final = 180
PATTERN_DAYS: Final = 90
PAGE: Final = 5_000
MAX_LOOKED_AT: Final = 1_000_000  # nodes, the newest
DECISION: Final = "Decision"
PATTERN: Final = "Pattern"
SUPERSEDES: Final = "SUPERSEDES"
VALIDATED: Final = "last_validated_at"
PEOPLE: Final = frozenset(
    {"Person", "UserProfile", "AdminUser"}
)  # a person and a service of the same name are different
# All built-in kinds except entities; custom kinds may be entities.
NO_THINGS: Final = tuple(
    sorted((frozenset().union(*VIEWS.values()) | STRUCTURAL_KINDS | RECORD_KINDS) - VIEWS["entity"])
)

Projects = tuple[str | None, ...]


# ---- reading


class HygieneRun(Struct, frozen=True, kw_only=True):
    """One run of hygiene: who asks, the pinned time that is read, the time now, and how many findings a check shows."""

    ctx: CallContext
    when: When
    now: int
    limit: int


class Aged(Struct, frozen=True, order=True):
    """A node, ordered by the time that its age counts from."""

    since: int
    id: str


class ProjectReading(Struct, frozen=True, kw_only=True):
    """The result of reading a project once: texts to compare, and old decisions and patterns."""

    texts: Texts
    decisions: tuple[Aged, ...]
    patterns: tuple[Aged, ...]
    nodes: int
    whole: bool


def read_project(run: HygieneRun, projects: Projects) -> ProjectReading:
    """Reads the nodes of these projects once."""
    texts = Texts()
    decisions: list[Aged] = []
    patterns: list[Aged] = []
    seen: set[str] = set()
    for node in pages(run.ctx, run.when, Find(projects=projects, without_kinds=NOT_COMPARED), "reading"):
        if node.id in seen:
            continue
        seen.add(node.id)
        if is_compared(node):
            texts.add(node)
        if is_outdated(node, run.now):
            decisions.append(Aged(since_of(node), node.id))
        if is_unvalidated(node, run.now):
            patterns.append(Aged(since_of(node), node.id))
    return ProjectReading(
        texts=texts,
        decisions=tuple(sorted(decisions)),
        patterns=tuple(sorted(patterns)),
        nodes=len(seen),
        whole=len(seen) < MAX_LOOKED_AT,
    )


def pages(ctx: CallContext, when: When, find: Find, what: str) -> Iterator[NodeVersion]:
    """The nodes of a query, newest first, read in pages; at most MAX_LOOKED_AT."""
    first = 0
    for _ in range(MAX_LOOKED_AT // PAGE):
        nodes = ctx.store.find(ctx.viewer, when, find, limit=PAGE).nodes
        yield from nodes
        if len(nodes) < PAGE:
            ctx.progress(what, first, first)
            return
        first = first or nodes[0].row
        ctx.progress(what, first - nodes[-1].row, first)
        find = replace(find, before=nodes[-1].row)


def not_superseded(ctx: CallContext, when: When, ids: Sequence[str]) -> set[str]:
    """The nodes that nothing visible to the caller has superseded."""
    left = set(ids)
    for some in in_slices(ids, MAX_IDS_PER_READ):
        steps = ctx.store.neighbours(ctx.viewer, when, some, rels=(SUPERSEDES,), direction="in")
        left -= {step.start for step in steps if step.node.id != step.start}
    return left


# ---- ages


def since_of(node: NodeVersion) -> int:
    """The time that a node's age counts from: its last validation, else its beginning."""
    told = node.props.get(VALIDATED)
    begin = node.interval.valid_from
    try:
        return max(begin, parse_instant(told)) if isinstance(told, str) else begin
    except Invalid:
        return begin


def is_outdated(node: NodeVersion, now: int) -> bool:
    """Whether a node is a decision that is old and was not confirmed since."""
    return _is_old(node, DECISION, DECISION_DAYS, now)


def is_unvalidated(node: NodeVersion, now: int) -> bool:
    """Whether a node is a pattern that nobody confirmed for a long time."""
    return _is_old(node, PATTERN, PATTERN_DAYS, now)


def _is_old(node: NodeVersion, kind: str, days: int, now: int) -> bool:
    return node.kind == kind and DERIVED_FROM not in node.props and now - since_of(node) > days * DAY_US


def check_age(run: HygieneRun, check: CheckName, found: Sequence[Aged]) -> CheckResult:
    """Old decisions or patterns that nothing superseded, oldest first."""
    current = not_superseded(run.ctx, run.when, [each.id for each in found])
    kept = [each for each in found if each.id in current]
    nodes = run.ctx.store.nodes(run.ctx.viewer, run.when, [each.id for each in kept[: run.limit]])
    shown = tuple(age_finding(check, node, run.now) for node in nodes)
    return CheckResult(check=check, found=len(kept), findings=shown)


def age_finding(check: CheckName, node: NodeVersion, now: int) -> Finding:
    """A finding for an old decision or pattern."""
    since = since_of(node)
    days, validated = (now - since) // DAY_US, since != node.interval.valid_from
    last = f"last validated on {to_iso(since)[:10]}" if validated else f"valid since {to_iso(since)[:10]}"
    lacks = "nothing superseded it" if check == "decision" else "nobody confirmed it since"
    why = f"{last}, {days} days ago, and {lacks}"
    return findings.make(check, (node.id,), stamp_of(node), why, shows=(findings.words(node),))


# ---- pairs


def pair_finding(pair: Pair) -> Finding:
    """A finding for two nodes that say the same."""
    by = "of their words are the same" if pair.measure == "words" else "is the cosine of their vectors"
    return findings.make(
        "duplicate",
        (pair.older.id, pair.newer.id),
        stamp_of(pair.older, pair.newer),
        f"two of kind {pair.older.kind} say the same: {pair.similarity:.3f} {by}; the older would be superseded",
        shows=(findings.words(pair.older), findings.words(pair.newer)),
        similarity=pair.similarity,
        measure=pair.measure,
    )


# ---- entities


class _Thing(Struct, frozen=True):
    """An entity as far as names are compared."""

    id: str
    kind: str
    row: int


def check_same_names(run: HygieneRun, projects: Projects) -> CheckResult:
    """Entities with the same name and guard, each with the one it would be merged into."""
    called: dict[tuple[object, str], dict[str, _Thing]] = {}
    ctx, when = run.ctx, run.when
    for node in pages(ctx, when, Find(projects=projects, without_kinds=NO_THINGS), "entities"):
        if _is_thing(node) and (key := name_key(node.name)):
            called.setdefault((node.guard, key), {}).setdefault(node.id, _Thing(node.id, node.kind, node.row))
    several = [tuple(each.values()) for each in called.values() if len(each) > 1]
    merged = _merged(ctx, when, [thing.id for group in several for thing in group])
    left = ([thing for thing in group if thing.id not in merged] for group in several)
    pairs = sorted(pair for group in left for pair in _to_merge(group))
    shown = list(dict.fromkeys(each for pair in pairs[: run.limit] for each in pair))
    nodes = {node.id: node for node in ctx.store.nodes(ctx.viewer, when, shown)}
    there = [(nodes[one], nodes[other]) for one, other in pairs[: run.limit] if one in nodes and other in nodes]
    return CheckResult(check="entity", found=len(pairs), findings=tuple(name_finding(*each) for each in there))


def _is_thing(node: NodeVersion) -> bool:
    """Whether a node is an entity under its own name; of a custom kind only if it was created as an entity."""
    if node.props.get("alias"):
        return False
    return node.kind in VIEWS["entity"] or node.id == entity_id(node.kind, name_key(node.name), node.guard)


def _to_merge(group: Sequence[_Thing]) -> Iterator[tuple[str, str]]:
    """Pairs (duplicate, into): people with people, other entities of known kinds with each other.

    Mere mentions are merged only if there is exactly one known kind.
    """
    known = [thing for thing in group if thing.kind not in IN_PASSING]
    families = [[thing for thing in known if (thing.kind in PEOPLE) is people] for people in (True, False)]
    if len({thing.kind for thing in known}) <= 1:
        families = [list(group)]
    for family in families:
        ordered = sorted(family, key=_goes_before)
        yield from ((other.id, ordered[0].id) for other in ordered[1:])


def _goes_before(thing: _Thing) -> tuple[bool, bool, int]:
    """The order of merge targets: known kinds, then entities of unspecified kind, then mentions; older first."""
    return thing.kind in IN_PASSING, thing.kind != UNSPECIFIED, thing.row


def _merged(ctx: CallContext, when: When, ids: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for some in in_slices(ids, MAX_IDS_PER_READ):
        steps = ctx.store.neighbours(ctx.viewer, when, some, rels=(MERGES_INTO,), direction="out")
        found |= {step.start for step in steps if step.edge.src == step.start}
    return found


def are_one(ctx: CallContext, when: When, duplicate: NodeVersion, into: NodeVersion) -> bool:
    """Whether these two would be found: same name, guard and family, and neither is merged into another."""
    keys = {(node.guard, name_key(node.name)) for node in (duplicate, into)}
    if len(keys) > 1 or not (_is_thing(duplicate) and _is_thing(into)) or duplicate.id == into.id:
        return False
    find = Find(names=(duplicate.name,), projects=(duplicate.guard.project,), without_kinds=NO_THINGS)
    others = ctx.store.find(ctx.viewer, when, find, limit=MAX_IDS_PER_READ).nodes
    group = {node.id: _Thing(node.id, node.kind, node.row) for node in others if node.guard == into.guard}
    things = [group[node.id] for node in others if node.id in group and _is_thing(node)]
    merged = _merged(ctx, when, [thing.id for thing in things])
    distinct = {thing.id: thing for thing in things if thing.id not in merged}
    return (duplicate.id, into.id) in set(_to_merge(tuple(distinct.values())))


def name_finding(duplicate: NodeVersion, into: NodeVersion) -> Finding:
    """A finding for two nodes of one entity."""
    why = f"{duplicate.kind} and {into.kind} have the same name, {into.name!r}: merge into {into.id}"
    return findings.make("entity", (duplicate.id, into.id), stamp_of(duplicate, into), why, shows=(into.name,))


# ---- writes


def check_stuck_writes(run: HygieneRun) -> CheckResult:
    """Writes in this machine's outbox that wait or were refused."""
    waiting, refused = stuck_writes(run.ctx)
    both = [*(("pending_retry", each) for each in waiting), *(("failed", each) for each in refused)]
    shown = tuple(write_finding(state, each) for state, each in both[: run.limit])
    return CheckResult(check="write", found=len(both), findings=shown)


def write_finding(state: str, entry: OutboxEntry) -> Finding:
    """A finding for a write in the outbox, without its words."""
    kept = entry.waiting
    since = "" if kept is None else f" since {to_iso(kept.since)[:16].replace('T', ' ')}"
    told = entry.reason or ("the file is damaged" if kept is None else kept.problem)
    who = "" if kept is None else f"{', '.join(dict.fromkeys(each.kind for each in kept.drafts))} by {kept.agent}"
    return findings.make("write", (entry.name,), state, f"{state}{since}: {told}"[:300], shows=(who,) if who else ())


class CheckResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one check: how many findings, and those shown. `problem` is why it failed; `at_least` is set if not
    everything could be checked.
    """

    check: CheckName
    found: int
    findings: tuple[Finding, ...] = ()
    left_out: int = 0
    at_least: bool = False
    problem: str = ""


Check = Callable[[], CheckResult]
