"""The checks of hygiene: each reads as its caller may see, and says what could be mended. None of them writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.errors import Invalid
from weft.instants import parse_instant, to_iso
from weft.kinds import RECORD_KINDS, STRUCTURAL_KINDS, VIEWS
from weft.lexical import name_key
from weft.loom import Loom
from weft.operations import findings
from weft.operations.findings import CheckName, Finding, stamp_of
from weft.operations.making import IN_PASSING, UNSPECIFIED
from weft.operations.near_duplicates import NOT_COMPARED, Pair, Texts, is_compared
from weft.operations.pending import stuck
from weft.operations.references import MERGES_INTO, entity_id
from weft.outbox import Entry
from weft.retrieval.derived import DERIVED_FROM
from weft.types import MAX_IDS_PER_READ, Find, NodeVersion, When

DAY_US: Final = 86_400_000_000
DECISION_DAYS: Final = 180
PATTERN_DAYS: Final = 90
PAGE: Final = 5_000
MAX_LOOKED_AT: Final = 1_000_000  # nodes, the newest
DECISION: Final = "Decision"
PATTERN: Final = "Pattern"
SUPERSEDES: Final = "SUPERSEDES"
VALIDATED: Final = "last_validated_at"
PEOPLE: Final = frozenset({"Person", "UserProfile", "AdminUser"})  # nobody is a service, whatever its name
# Of all kinds there are, those of things: entities, and kinds of somebody's own making.
NO_THINGS: Final = tuple(
    sorted((frozenset().union(*VIEWS.values()) | STRUCTURAL_KINDS | RECORD_KINDS) - VIEWS["entity"])
)

Projects = tuple[str | None, ...]


# ---- reading


class Aged(Struct, frozen=True, order=True):
    """A node by the moment its age counts from."""

    since: int
    id: str


class LookedThrough(Struct, frozen=True, kw_only=True):
    """What one reading of a project gives the checks: texts to compare, and what is old by its own time."""

    texts: Texts
    decisions: tuple[Aged, ...]
    patterns: tuple[Aged, ...]
    nodes: int
    whole: bool


def look_through(loom: Loom, when: When, projects: Projects, now: int) -> LookedThrough:
    """Reads what was told in these projects, once."""
    texts = Texts()
    decisions: list[Aged] = []
    patterns: list[Aged] = []
    seen: set[str] = set()
    for node in pages(loom, when, Find(projects=projects, without_kinds=NOT_COMPARED), "reading"):
        if node.id in seen:
            continue
        seen.add(node.id)
        if is_compared(node):
            texts.add(node)
        if is_outdated(node, now):
            decisions.append(Aged(since_of(node), node.id))
        if is_unvalidated(node, now):
            patterns.append(Aged(since_of(node), node.id))
    return LookedThrough(
        texts=texts,
        decisions=tuple(sorted(decisions)),
        patterns=tuple(sorted(patterns)),
        nodes=len(seen),
        whole=len(seen) < MAX_LOOKED_AT,
    )


def pages(loom: Loom, when: When, find: Find, what: str) -> Iterator[NodeVersion]:
    """What a filter gives, newest first, read bit by bit; at most MAX_LOOKED_AT."""
    first = 0
    for _ in range(MAX_LOOKED_AT // PAGE):
        nodes = loom.store.find(loom.viewer, when, find, limit=PAGE).nodes
        yield from nodes
        if len(nodes) < PAGE:
            loom.progress(what, first, first)
            return
        first = first or nodes[0].row
        loom.progress(what, first - nodes[-1].row, first)
        find = replace(find, before=nodes[-1].row)


def standing(loom: Loom, when: When, ids: Sequence[str]) -> set[str]:
    """Those that nothing which the caller may see has superseded."""
    left = set(ids)
    for begin in range(0, len(ids), MAX_IDS_PER_READ):
        some = ids[begin : begin + MAX_IDS_PER_READ]
        steps = loom.store.neighbours(loom.viewer, when, some, rels=(SUPERSEDES,), direction="in")
        left -= {step.start for step in steps if step.node.id != step.start}
    return left


# ---- ages


def since_of(node: NodeVersion) -> int:
    """The moment from which the age of a node counts: when it was last validated, else since when it holds."""
    told = node.props.get(VALIDATED)
    begin = node.interval.valid_from
    try:
        return max(begin, parse_instant(told)) if isinstance(told, str) else begin
    except Invalid:
        return begin


def is_outdated(node: NodeVersion, now: int) -> bool:
    """A decision that is old and was not confirmed since. That nothing superseded it is another question."""
    return node.kind == DECISION and DERIVED_FROM not in node.props and now - since_of(node) > DECISION_DAYS * DAY_US


def is_unvalidated(node: NodeVersion, now: int) -> bool:
    """A pattern that nobody confirmed for long."""
    return node.kind == PATTERN and DERIVED_FROM not in node.props and now - since_of(node) > PATTERN_DAYS * DAY_US


def aged(loom: Loom, when: When, check: CheckName, found: Sequence[Aged], now: int, limit: int) -> Checked:
    """Old decisions or patterns that nothing superseded, the oldest first."""
    stands = standing(loom, when, [each.id for each in found])
    kept = [each for each in found if each.id in stands]
    nodes = loom.store.nodes(loom.viewer, when, [each.id for each in kept[:limit]])
    return Checked(check=check, found=len(kept), findings=tuple(age_finding(check, node, now) for node in nodes))


def age_finding(check: CheckName, node: NodeVersion, now: int) -> Finding:
    """An old decision, or a pattern that nobody confirmed."""
    since = since_of(node)
    days, validated = (now - since) // DAY_US, since != node.interval.valid_from
    last = f"last validated on {to_iso(since)[:10]}" if validated else f"holds since {to_iso(since)[:10]}"
    lacks = "nothing superseded it" if check == "decision" else "nobody confirmed it since"
    why = f"{last}, {days} days ago, and {lacks}"
    return findings.make(check, (node.id,), stamp_of(node), why, shows=(findings.words(node),))


# ---- pairs


def pair_finding(pair: Pair) -> Finding:
    """Two nodes that say the same."""
    by = "of their words are the same" if pair.measure == "words" else "is the cosine of what they mean"
    return findings.make(
        "duplicate",
        (pair.older.id, pair.newer.id),
        stamp_of(pair.older, pair.newer),
        f"two of kind {pair.older.kind} say the same: {pair.similarity:.3f} {by}; the older would be superseded",
        shows=(findings.words(pair.older), findings.words(pair.newer)),
        similarity=pair.similarity,
        measure=pair.measure,
    )


# ---- things


class _Thing(Struct, frozen=True):
    """A thing as far as its name is compared."""

    id: str
    kind: str
    row: int


def same_names(loom: Loom, when: When, projects: Projects, limit: int) -> Checked:
    """Things of one name and one guard that are several nodes, each with the one it would be merged into."""
    called: dict[tuple[object, str], dict[str, _Thing]] = {}
    for node in pages(loom, when, Find(projects=projects, without_kinds=NO_THINGS), "things"):
        if _is_thing(node) and (key := name_key(node.name)):
            called.setdefault((node.guard, key), {}).setdefault(node.id, _Thing(node.id, node.kind, node.row))
    several = [tuple(each.values()) for each in called.values() if len(each) > 1]
    merged = _merged(loom, when, [thing.id for group in several for thing in group])
    left = ([thing for thing in group if thing.id not in merged] for group in several)
    pairs = sorted(pair for group in left for pair in _to_merge(group))
    shown = list(dict.fromkeys(each for pair in pairs[:limit] for each in pair))
    nodes = {node.id: node for node in loom.store.nodes(loom.viewer, when, shown)}
    there = [(nodes[one], nodes[other]) for one, other in pairs[:limit] if one in nodes and other in nodes]
    return Checked(check="entity", found=len(pairs), findings=tuple(name_finding(*each) for each in there))


def _is_thing(node: NodeVersion) -> bool:
    """An entity, under its own name; of a kind of somebody's own making only where weft made it as an entity."""
    if node.props.get("alias"):
        return False
    return node.kind in VIEWS["entity"] or node.id == entity_id(node.kind, name_key(node.name), node.guard)


def _to_merge(group: Sequence[_Thing]) -> Iterator[tuple[str, str]]:
    """(duplicate, into): people among themselves, other things whose kind is known, be it the same or not.

    What was only named in passing goes with the one kind that there is; with several nobody can tell.
    """
    known = [thing for thing in group if thing.kind not in IN_PASSING]
    families = [[thing for thing in known if (thing.kind in PEOPLE) is people] for people in (True, False)]
    if len({thing.kind for thing in known}) <= 1:
        families = [list(group)]
    for family in families:
        ordered = sorted(family, key=_goes_before)
        yield from ((other.id, ordered[0].id) for other in ordered[1:])


def _goes_before(thing: _Thing) -> tuple[bool, bool, int]:
    """What is of a known kind before an entity, that before a mere mention; else the older."""
    return thing.kind in IN_PASSING, thing.kind != UNSPECIFIED, thing.row


def _merged(loom: Loom, when: When, ids: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for begin in range(0, len(ids), MAX_IDS_PER_READ):
        some = ids[begin : begin + MAX_IDS_PER_READ]
        steps = loom.store.neighbours(loom.viewer, when, some, rels=(MERGES_INTO,), direction="out")
        found |= {step.start for step in steps if step.edge.src == step.start}
    return found


def are_one(loom: Loom, when: When, duplicate: NodeVersion, into: NodeVersion) -> bool:
    """Whether these two would be found: one name, one guard, one family, and neither is merged into another."""
    keys = {(node.guard, name_key(node.name)) for node in (duplicate, into)}
    if len(keys) > 1 or not (_is_thing(duplicate) and _is_thing(into)) or duplicate.id == into.id:
        return False
    find = Find(names=(duplicate.name,), projects=(duplicate.guard.project,), without_kinds=NO_THINGS)
    others = loom.store.find(loom.viewer, when, find, limit=MAX_IDS_PER_READ).nodes
    group = {node.id: _Thing(node.id, node.kind, node.row) for node in others if node.guard == into.guard}
    things = [group[node.id] for node in others if node.id in group and _is_thing(node)]
    merged = _merged(loom, when, [thing.id for thing in things])
    distinct = {thing.id: thing for thing in things if thing.id not in merged}
    return (duplicate.id, into.id) in set(_to_merge(tuple(distinct.values())))


def name_finding(duplicate: NodeVersion, into: NodeVersion) -> Finding:
    """Two nodes for one thing."""
    why = f"{duplicate.kind} and {into.kind} have one name, {into.name!r}: proposes {MERGES_INTO} {into.id}"
    return findings.make("entity", (duplicate.id, into.id), stamp_of(duplicate, into), why, shows=(into.name,))


# ---- writes


def stuck_writes(loom: Loom, limit: int) -> Checked:
    """Writes on this machine that the store did not take, or refused."""
    waiting, refused = stuck(loom)
    both = [*(("pending_retry", each) for each in waiting), *(("failed", each) for each in refused)]
    shown = tuple(write_finding(state, each) for state, each in both[:limit])
    return Checked(check="write", found=len(both), findings=shown)


def write_finding(state: str, entry: Entry) -> Finding:
    """A write that is stuck, without its words."""
    kept = entry.waiting
    since = "" if kept is None else f" since {to_iso(kept.since)[:16].replace('T', ' ')}"
    told = entry.reason or ("the file is damaged" if kept is None else kept.problem)
    who = "" if kept is None else f"{', '.join(dict.fromkeys(each.kind for each in kept.drafts))} by {kept.agent}"
    return findings.make("write", (entry.name,), state, f"{state}{since}: {told}"[:300], shows=(who,) if who else ())


class Checked(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One check: how many it found, and those shown. `problem` says why it could not be done, `at_least` that there
    was too much to look at all of it.
    """

    check: CheckName
    found: int
    findings: tuple[Finding, ...] = ()
    left_out: int = 0
    at_least: bool = False
    problem: str = ""


Check = Callable[[], Checked]
