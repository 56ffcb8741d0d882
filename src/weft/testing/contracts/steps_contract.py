"""Steps from a node with very many edges: the heaviest are found whatever lies between, as from any other node."""

from __future__ import annotations

from weft.core.types import NOW, Viewer, When
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.testing.case import StoreCase
from weft.testing.clock import day
from weft.testing.scribe import Scribe, deleted, edge, edge_ended, ended, node
from weft.testing.viewers import OPERATOR

PUBLIC = Viewer(account=OPERATOR.account, scopes=frozenset({"public"}))
MANY = 700
LIMIT = 10


def hub(scribe: Scribe) -> None:
    """`hub` with MANY nodes that point at it: every third is hidden, later ones are heavier, four at a time."""
    nodes = [
        graph.NodeAssertion(id=f"n{n:03}", kind="Note", scope="admin" if n % 3 == 0 else "public") for n in range(MANY)
    ]
    edges = [
        graph.EdgeAssertion(
            src=f"n{n:03}", rel="LIKES" if n % 2 else "KNOWS", dst="hub", weight=1 + n // 4, scope="public"
        )
        for n in range(MANY)
    ]
    scribe.write(node("hub"), Draft(kind="graph.asserted", payload=graph.Asserted(nodes=tuple(nodes))))
    scribe.write(Draft(kind="graph.asserted", payload=graph.Asserted(edges=tuple(edges))))


def steps(
    scribe: Scribe, viewer: Viewer = OPERATOR, rel: str = "LIKES", when: When = NOW, limit: int = LIMIT
) -> list[str]:
    """The nodes that point at the hub. Links and neighbours have to be the same."""
    store = scribe.store
    found = store.neighbours(viewer, when, ("hub", "nobody"), rels=(rel,), direction="in", limit=limit)
    links = store.links(viewer, when, ("hub", "nobody"), rels=(rel,), direction="in", limit=limit)
    assert [each.id for each in links] == [each.node.id for each in found]
    for link, step in zip(links, found, strict=True):
        interval = step.node.interval
        assert (link.start, link.rel, link.inward, link.kind) == ("hub", rel, True, step.node.kind)
        assert (link.guard, link.edge_project) == (step.node.guard, step.edge.guard.project)
        assert (link.valid_from, link.valid_to) == (interval.valid_from, interval.valid_to)
    return [each.node.id for each in found]


def expected(*, but: tuple[str, ...] = (), visible: bool = False, limit: int = LIMIT) -> list[str]:
    """The heaviest of the odd ones; of equally heavy ones the oldest."""
    odd = [n for n in range(1, MANY, 2) if f"n{n:03}" not in but and not (visible and n % 3 == 0)]
    return [f"n{n:03}" for n in sorted(odd, key=lambda n: (-(n // 4), n))[:limit]]


class StepsContract(StoreCase):
    """neighbours and links of a node with very many edges; one_state."""

    def test_the_heaviest_of_very_many(self, scribe: Scribe) -> None:
        hub(scribe)
        assert steps(scribe) == expected()
        assert steps(scribe, PUBLIC) == expected(visible=True)
        assert steps(scribe, PUBLIC, limit=300) == expected(visible=True, limit=300), "also far below"
        assert steps(scribe, rel="HATES") == []

    def test_what_changed_since(self, scribe: Scribe) -> None:
        hub(scribe)
        assert steps(scribe) == expected()
        scribe.write(edge_ended("n699", "LIKES", "hub"), deleted("n697"), ended("n695"))
        scribe.write(node("late"), edge("late", "LIKES", "hub", weight=0.5))
        scribe.write(node("new"), edge("new", "LIKES", "hub", weight=10_000.0))
        gone = ("n699", "n697", "n695")
        assert steps(scribe) == ["new", *expected(but=gone, limit=LIMIT - 1)]
        assert steps(scribe, limit=1_000)[-3:] == ["n001", "n003", "late"]
        scribe.one(edge("n693", "LIKES", "hub", weight=20_000.0))
        assert steps(scribe)[:2] == ["n693", "new"]

    def test_as_it_was_and_will_be(self, scribe: Scribe) -> None:
        hub(scribe)
        known = scribe.store.head(OPERATOR).at
        scribe.clock.step()
        scribe.write(node("new"), edge("new", "LIKES", "hub", weight=10_000.0))
        scribe.write(node("soon", at=day(5)), edge("soon", "LIKES", "hub", at=day(5), weight=20_000.0))
        assert steps(scribe)[0] == "new"
        assert steps(scribe, when=When(known_at=known)) == expected()
        assert steps(scribe, when=When(valid_at=day(9)))[:2] == ["soon", "new"]

    def test_reads_together_and_a_write_among_them(self, scribe: Scribe) -> None:
        scribe.one(node("a", "one"))
        with scribe.store.one_state(OPERATOR):
            when = scribe.store.pin(OPERATOR, NOW)
            assert [each.text for each in scribe.store.nodes(OPERATOR, when, ("a",))] == ["one"]
            with scribe.store.one_state(OPERATOR):
                assert scribe.texts("a") == {"a": "one"}
            scribe.one(node("b", "two"))
            assert scribe.texts("a", "b") == {"a": "one", "b": "two"}
            assert scribe.store.nodes(OPERATOR, when, ("b",)) == ()
        assert scribe.texts("b") == {"b": "two"}
