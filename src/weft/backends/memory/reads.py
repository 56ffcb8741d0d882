"""Guarded reads of the log and the graph."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from weft.backends.memory.account import Account, Graph
from weft.backends.memory.visible import GuardedAccount, ReadTime, known
from weft.core.commits import rewriting_of
from weft.core.kinds import RECORD_KINDS, STRUCTURAL_KINDS, UNCOUNTED_RELATIONS
from weft.core.queries import LoggedPayload, NodeWords
from weft.core.types import (
    Commit,
    Direction,
    EdgeVersion,
    Ends,
    Event,
    Find,
    FindResult,
    LeanStep,
    Neighbour,
    NodeVersion,
    RewriteRecord,
    SessionHead,
    Way,
)
from weft.text import lexical

# The log


def whole_log(account: Account, after: int, limit: int) -> tuple[tuple[Commit, tuple[Event, ...]], ...]:
    """Whole commits in order, until there are `limit` events or more."""
    found: list[tuple[Commit, tuple[Event, ...]]] = []
    taken = 0
    for commit in account.commits:
        if commit.first_pos > after and taken < limit:
            found.append((commit, account.events_of(commit)))
            taken += commit.count
    return tuple(found)


def payloads(account: Account, after: int, limit: int) -> tuple[LoggedPayload, ...]:
    """Payloads past a position, each with the first position of its commit."""
    firsts = [commit.first_pos for commit in account.commits]
    return tuple(
        LoggedPayload(
            pos=event.pos,
            first_pos=firsts[bisect_right(firsts, event.pos) - 1],
            kind=event.kind,
            payload=event.payload,
        )
        for event in account.log[after : after + limit]
    )


def node_words(graph: Graph, ids: Sequence[str] | None, of_kind: Callable[[str], bool] | None) -> tuple[NodeWords, ...]:
    """The content of every version."""
    wanted = None if ids is None else frozenset(ids)
    return tuple(
        NodeWords(
            id=row.id,
            kind=row.kind,
            name=row.name,
            summary=row.summary,
            text=row.text,
            props=msgspec.json.encode(row.props).decode() if row.props else "",
            event=row.event,
            content_hash=row.content_hash,
            sensitive=row.recorded_guard.sensitive,
            standing=row.retired_at is None and graph.identities[row.id].deleted_at is None,
        )
        for row in graph.nodes.values()
        if (of_kind is None or of_kind(row.kind)) and (wanted is None or row.id in wanted)
    )


def session_heads(sight: GuardedAccount, limit: int) -> tuple[SessionHead, ...]:
    """Sessions with a visible event, the latest first."""
    heads = sight.account.heads
    if sight.viewer.operator:  # every session, even without events: verification looks for those
        return tuple(reversed(heads.values()))[:limit]
    latest = {event.session: event.pos for event in sight.account.log if sight.sees_event(event)}
    order = sorted(latest, key=lambda session: -latest[session])
    return tuple(heads[session] for session in order[:limit])


def events(
    sight: GuardedAccount, ordered: Iterable[Event], session: str | None, after_seq: int, limit: int
) -> tuple[Event, ...]:
    """Visible events, in the order given."""
    wanted = (event for event in ordered if session in (None, event.session) and event.seq > after_seq)
    found = [event for event in wanted if sight.sees_event(event)]
    return tuple(found[:limit])


def rewriting(sight: GuardedAccount, event: Event) -> RewriteRecord | None:
    """The newest rewrite that names the event."""
    log = reversed(sight.account.log) if event.rewritten else iter(())
    named = (rewriting_of(each, event) for each in log if each.kind == "log.rewritten")
    return next((found for found in named if found is not None), None)


def citations(sight: GuardedAccount, positions: Sequence[int]) -> Mapping[int, str]:
    """Citations of the events that made a node the viewer may step on."""
    made = {row.event for row in sight.graph.nodes.values() if sight.steps_on(row) and sight.graph.is_finished(row)}
    return {pos: sight.account.log[pos - 1].citation for pos in positions if pos in made}


# The graph


def nodes(sight: GuardedAccount, moment: ReadTime, ids: Sequence[str]) -> tuple[NodeVersion, ...]:
    """In the order asked for, each once; invisible ones are omitted."""
    found = {row.id: row for row in sight.nodes_at(moment)}
    return tuple(found[each] for each in dict.fromkeys(ids) if each in found)


def versions(sight: GuardedAccount, wanted: Callable[[NodeVersion], bool], limit: int) -> tuple[NodeVersion, ...]:
    """Versions of all times, oldest first. Open changes do not count yet."""
    graph = sight.graph
    rows = [row for row in graph.nodes.values() if wanted(row) and sight.sees(row) and graph.is_finished(row)]
    return tuple(graph.today(graph.without_open_changes(row)) for row in rows[:limit])


def current_in_slot(
    sight: GuardedAccount, moment: ReadTime, slot: str, after: int, limit: int
) -> tuple[NodeVersion, ...]:
    """Versions of all times in a shared slot that hold later than `after`, by start."""
    graph = sight.graph
    rows = [
        row for row in graph.nodes.values() if row.slot == slot and sight.sees(row) and known(graph, row, moment.pos)
    ]
    later = [row for row in rows if row.interval.valid_to is None or row.interval.valid_to > after]
    later.sort(key=lambda row: row.interval.valid_from)
    return tuple(graph.today(graph.without_open_changes(row)) for row in later[:limit])


def find(sight: GuardedAccount, moment: ReadTime, wanted: Find, limit: int) -> FindResult:
    """Nodes that pass the filter, the newest row first."""
    rows = list(sight.nodes_at(moment))
    keys = None if wanted.names is None else {lexical.name_key(name) for name in wanted.names}
    kept = [
        row
        for row in rows
        if (keys is None or lexical.name_key(row.name) in keys)
        and (wanted.kinds is None or row.kind in wanted.kinds)
        and row.kind not in wanted.without_kinds
        and (wanted.begins is None or wanted.begins[0] <= row.interval.valid_from < wanted.begins[1])
        and (wanted.before is None or row.row < wanted.before)
        and (wanted.focuses is None or row.focus in wanted.focuses)
        and (wanted.projects is None or row.guard.project in wanted.projects)
        and (wanted.slots is None or row.slot in wanted.slots)
        and (wanted.id_prefix is None or row.id.startswith(wanted.id_prefix))
        and (wanted.keywords is None or _tagged(row.props.get("keywords"), wanted.keywords))
        and all(key in row.props and _same_json(row.props[key], value) for key, value in wanted.props.items())
    ]
    kept.sort(key=lambda row: -row.row)
    present = {key for row in kept or rows for key in row.props}
    unknown = tuple(sorted(key for key in wanted.props if key not in present))
    return FindResult(nodes=tuple(kept[:limit]), unknown_props=unknown)


def _tagged(listed: object, keywords: tuple[str, ...]) -> bool:
    """Whether one of the keywords is listed; a single word counts as a list of one."""
    words = listed if isinstance(listed, list | tuple) else (listed,)
    wanted = {word.lower() for word in keywords}
    return any(isinstance(word, str) and _lower(word) in wanted for word in words)


def _lower(word: str) -> str:
    """The `lower` of SQLite: ASCII letters only."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in word)


def _same_json(left: object, right: object) -> bool:
    """Equal as JSON: 1 and 1.0 are the same number, true and 1 are different values."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same_json(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_same_json, left, right))
    return left == right


def neighbours(
    sight: GuardedAccount,
    moment: ReadTime,
    ids: Sequence[str],
    rels: tuple[str, ...] | None,
    without: tuple[str, ...],
    direction: Direction,
    limit: int,
) -> tuple[Neighbour, ...]:
    """Up to `limit` steps from each start, the heaviest edge first."""
    stones = sight.stepping_stones_at(moment)
    reached = {row.id: row for row in stones if rels is not None or row.kind not in RECORD_KINDS}
    starts = {row.id for row in sight.nodes_at(moment)}
    starts |= {row.id for row in reached.values() if row.kind in STRUCTURAL_KINDS}
    edges = [edge for edge in sight.edges_at(moment) if (rels is None or edge.rel in rels) and edge.rel not in without]
    edges.sort(key=lambda edge: (-edge.weight, edge.row))
    steps: list[Neighbour] = []
    for start in dict.fromkeys(ids):
        found = []
        for edge in edges:
            other = _other_end(edge, start, direction)
            if start in starts and other in reached:
                found.append(Neighbour(start=start, edge=edge, node=reached[other]))
        steps.extend(found[:limit])
    return tuple(steps)


def link_of(step: Neighbour, direction: Way) -> LeanStep:
    """A step without its words."""
    node = step.node
    return LeanStep(
        start=step.start,
        rel=step.edge.rel,
        inward=direction == "in",
        id=node.id,
        kind=node.kind,
        guard=node.guard,
        edge_project=step.edge.guard.project,
        valid_from=node.interval.valid_from,
        valid_to=node.interval.valid_to,
    )


def _other_end(edge: EdgeVersion, start: str, direction: Direction) -> str | None:
    if edge.src == start and direction in ("out", "both"):
        return edge.dst
    if edge.dst == start and direction in ("in", "both"):
        return edge.src
    return None


def edges(
    sight: GuardedAccount, moment: ReadTime, node_id: str, rel: str, direction: Way, before: int | None, limit: int
) -> tuple[EdgeVersion, ...]:
    """A node's edges of one relation that hold, latest first, whether or not their ends hold."""
    found = [
        edge
        for edge in sight.edges_at(moment)
        if edge.rel == rel
        and node_id == (edge.src if direction == "out" else edge.dst)
        and all(sight.finds(end) for end in (edge.src, edge.dst))
        and (before is None or edge.row < before)
    ]
    return tuple(sorted(found, key=lambda edge: -edge.row)[:limit])


def relations(
    sight: GuardedAccount,
    moment: ReadTime,
    rels: Sequence[str],
    projects: tuple[str | None, ...] | None,
    ends: Ends,
    after: int,
    limit: int,
) -> tuple[EdgeVersion, ...]:
    """Edges of some relations that hold, between nodes that hold or any, by row."""
    there = {row.id for row in sight.nodes_at(moment)} if ends == "held" else None
    found = [
        edge
        for edge in sight.edges_at(moment)
        if edge.rel in rels
        and edge.row > after
        and all(sight.finds(end) if there is None else end in there for end in (edge.src, edge.dst))
        and (projects is None or sight.graph.identities[edge.src].guard.project in projects)
    ]
    return tuple(sorted(found, key=lambda edge: edge.row)[:limit])


def backlinks(sight: GuardedAccount, moment: ReadTime, ids: Sequence[str], most: int) -> dict[str, int]:
    """The number of visible nodes that point at each, itself excluded."""
    there = {row.id for row in sight.nodes_at(moment)}
    pointing = {row.id for row in sight.nodes_at(moment) if row.kind not in RECORD_KINDS}
    found: dict[str, set[str]] = {}
    for edge in sight.edges_at(moment):
        if edge.rel not in UNCOUNTED_RELATIONS and edge.src != edge.dst and edge.src in pointing and edge.dst in there:
            found.setdefault(edge.dst, set()).add(edge.src)
    return {each: min(len(found[each]), most) for each in dict.fromkeys(ids) if each in found}


def header_names(account: Account) -> list[tuple[str, str]]:
    """The kind of each name in a header, and the name, once."""
    told = (
        (sort, name)
        for event in account.log
        for sort, name in (
            ("session", event.session),
            ("agent", event.actor.agent),
            ("role", event.actor.role),
            ("request_id", event.request_id),
            ("conversation", event.conversation),
            ("task", event.task),
        )
        if name is not None
    )
    return list(dict.fromkeys(told))
