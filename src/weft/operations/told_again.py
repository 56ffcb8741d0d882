"""Things that are erased only for what was compiled of them: they are told again without it.

What is compiled of a thing is a property of it, and holds the words of others. An erasure takes nodes whole, with all
that they ever said. So a company goes because a summary named somebody; what else is known of it need not go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec import Struct
from msgspec.structs import asdict, replace

from weft.instants import to_iso
from weft.kinds import COMPILED_PROPS, COMPILED_TRUTH, ERASED
from weft.log.canonical import decode
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.operations.committing import commit
from weft.operations.compiled import without_truth
from weft.operations.outline import SHARED_KINDS
from weft.operations.references import assertion_of
from weft.operations.selection import Selected
from weft.projection.moves import edge_slot
from weft.projection.tokens import strings
from weft.types import EdgeVersion, NodeVersion, Viewer

EDGES_AT_ONCE = 500


class Again(Struct, frozen=True, kw_only=True):
    """What is to be told again: things as they stand today, without what was compiled, and what joins them."""

    nodes: tuple[graph.NodeAssertion, ...] = ()
    edges: tuple[graph.EdgeAssertion, ...] = ()


def to_tell_again(
    loom: Loom, viewer: Viewer, selected: Selected, going: Collection[str], mentions: Callable[[str], bool]
) -> Again:
    """Things among those that go, but not meant, that hold nothing erased apart from what was compiled of them."""
    gone, meant = frozenset(going), selected.meant
    if not (selected.outline.compiled & gone) - meant:
        return Again()
    standing: dict[str, NodeVersion] = {}
    compiled: set[str] = set()
    edges: list[graph.EdgeAssertion] = []
    for row in loom.store.graph_rows(viewer):
        if isinstance(row, EdgeVersion):
            if compiled & standing.keys() and _stays(row, gone, compiled & standing.keys(), mentions):
                edges.append(_edge(row))
            continue
        if row.id not in gone or row.id in meant or row.kind not in SHARED_KINDS:
            continue
        compiled |= {row.id} if COMPILED_PROPS & row.props.keys() else set()
        if row.retired_at is None and row.deleted_at is None:
            standing[row.id] = row
    nodes = [_bare(row) for node_id, row in standing.items() if node_id in compiled]
    clean = {node.id: node for node in nodes if not any(map(mentions, _words(node)))}
    ends = clean.keys() | {each for edge in edges for each in (edge.src, edge.dst) if each not in gone}
    kept = tuple(edge for edge in edges if edge.src in ends and edge.dst in ends)
    return Again(nodes=tuple(clean.values()), edges=kept)


def tell_again(loom: Loom, again: Again) -> tuple[str, ...]:
    """Writes what is to be told again; says so."""
    if not again.nodes:
        return ()
    commit(loom, [Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(node,))) for node in again.nodes])
    for start in range(0, len(again.edges), EDGES_AT_ONCE):
        some = again.edges[start : start + EDGES_AT_ONCE]
        commit(loom, [Draft(kind="graph.asserted", payload=graph.Asserted(edges=some))])
    names = ", ".join(node.name or node.id for node in again.nodes[:5])
    return (f"told again without what was compiled of it: {len(again.nodes)} ({names})",)


def _bare(row: NodeVersion) -> graph.NodeAssertion:
    changes = without_truth(row) if COMPILED_TRUTH in row.props else {}
    return replace(assertion_of(row), **changes)


def _words(node: graph.NodeAssertion) -> tuple[str, ...]:
    return (node.name, node.summary, node.text, *strings(node.props))


def _stays(row: EdgeVersion, gone: Collection[str], things: Collection[str], mentions: Callable[[str], bool]) -> bool:
    """An edge that holds today between such a thing and what stays."""
    ends = (row.src, row.dst)
    if row.retired_at is not None or any(end.startswith(ERASED) for end in ends):
        return False
    joins = any(end in things for end in ends) and all(end in things or end not in gone for end in ends)
    return joins and not any(map(mentions, (row.rel, *strings(row.props))))


def _edge(row: EdgeVersion) -> graph.EdgeAssertion:
    interval = row.interval
    own = row.slot == edge_slot(row.src, row.rel, row.dst)
    return graph.EdgeAssertion(
        src=row.src,
        rel=row.rel,
        dst=row.dst,
        props=dict(row.props),
        weight=row.weight,
        valid_from=to_iso(interval.valid_from),
        valid_to=None if interval.valid_to is None else to_iso(interval.valid_to),
        slot=None if own else decode(row.slot[1:].encode())[-1],
        **asdict(row.guard),
    )
