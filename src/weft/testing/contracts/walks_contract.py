"""Graph walks: equal results on every backend, never through nodes that the viewer may not see."""

from __future__ import annotations

import pytest

from weft.core.types import DAMPING, NOW, Viewer, WalkResult, When
from weft.testing.case import StoreCase
from weft.testing.clock import day
from weft.testing.scribe import Scribe, closed, deleted, edge, edge_ended, ended, node, restored
from weft.testing.viewers import OPERATOR

PUBLIC = Viewer(account=OPERATOR.account, scopes=frozenset({"public"}))
BOT = Viewer(account=OPERATOR.account, scopes=frozenset({"public"}), agent="bot", audience="public")
CLOSE = 2e-3


def scores(walked: WalkResult) -> dict[str, float]:
    """What stays with each node."""
    return dict(walked.scores)


class WalksContract(StoreCase):
    """walk."""

    def test_what_stays_is_the_random_walk(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("b"), edge("a", "CALLS", "b"))
        found = scores(scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10))
        assert found["a"] == pytest.approx(1 / (1 + DAMPING), abs=CLOSE)
        assert found["b"] == pytest.approx(DAMPING / (1 + DAMPING), abs=CLOSE)

    def test_readier_relations_and_heavier_edges_draw_more(self, scribe: Scribe) -> None:
        scribe.write(
            *(node(name) for name in "abcd"),
            edge("a", "CALLS", "b"),
            edge("a", "INVOLVES", "c"),
            edge("a", "INVOLVES", "d", weight=2.0),
        )
        found = scores(scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10))
        assert found["b"] > found["d"] > found["c"] > 0
        assert [name for name, _ in scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=2).scores] == ["a", "b"]

    def test_a_walk_cannot_cross_what_is_hidden(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("wall", scope="admin"), node("z"), node("side"))
        scribe.write(edge("a", "CALLS", "wall"), edge("wall", "CALLS", "z"), edge("a", "CALLS", "side", scope="admin"))
        assert set(scores(scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10))) == {"a", "wall", "z", "side"}
        assert scores(scribe.store.walk(PUBLIC, NOW, {"a": 1.0}, limit=10)) == {"a": pytest.approx(1.0, abs=CLOSE)}
        assert scribe.store.walk(PUBLIC, NOW, {"wall": 1.0, "nobody": 1.0}, limit=10).scores == ()

    def test_hidden_edges_do_not_thin_out_a_walk(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("b"), edge("a", "CALLS", "b"))
        before = scores(scribe.store.walk(PUBLIC, NOW, {"a": 1.0}, limit=10))
        scribe.write(*(node(f"h{n}", scope="admin") for n in range(5)))
        scribe.write(*(edge("a", "CALLS", f"h{n}", scope="admin") for n in range(5)))
        assert scores(scribe.store.walk(PUBLIC, NOW, {"a": 1.0}, limit=10)) == before

    def test_an_agent_steps_on_its_tags_and_on_untagged_structure(self, scribe: Scribe) -> None:
        scribe.write(
            node("mine", agents=("bot",)),
            node("file", kind="File"),
            node("far", agents=("bot",)),
            node("theirs", agents=("other",)),
            node("plain"),
        )
        scribe.write(
            edge("mine", "CONTAINS", "file"),
            edge("file", "CONTAINS", "far"),
            edge("mine", "CALLS", "theirs"),
            edge("mine", "CALLS", "plain"),
        )
        assert set(scores(scribe.store.walk(BOT, NOW, {"mine": 1.0}, limit=10))) == {"mine", "file", "far"}

    def test_every_change_is_in_the_next_walk(self, scribe: Scribe) -> None:
        def reached() -> set[str]:
            return set(scores(scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10)))

        scribe.one(node("a"))
        assert reached() == {"a"}
        scribe.one(node("b"))
        scribe.one(edge("a", "CALLS", "b"))
        assert reached() == {"a", "b"}
        scribe.one(deleted("b"))
        assert reached() == {"a"}
        scribe.one(restored("b"))
        assert reached() == {"a", "b"}
        scribe.one(edge_ended("a", "CALLS", "b"))
        assert reached() == {"a"}
        scribe.one(edge("a", "CALLS", "b"))
        assert reached() == {"a", "b"}
        scribe.one(ended("b"))
        assert reached() == {"a"}

    def test_a_graph_kept_up_change_by_change_is_the_whole_graph(self, scribe: Scribe) -> None:
        names = [f"n{number}" for number in range(7)]
        scribe.write(*map(node, names))

        def walked() -> dict[str, float]:
            return scores(scribe.store.walk(OPERATOR, NOW, {"n0": 1.0}, limit=10))

        for step in range(42):
            one, other = names[step % 7], names[(3 * step + step // 7 + 1) % 7]
            scribe.one(
                edge_ended(one, "CALLS", other) if step % 4 == 3 else edge(one, "CALLS", other, weight=1.0 + step % 3)
            )
            assert walked()
        kept_up = walked()
        scribe.rebuild()
        assert kept_up == pytest.approx(walked(), abs=1e-9)

    def test_an_edge_that_ends_by_itself_is_gone_when_its_time_comes(self, scribe: Scribe) -> None:
        scribe.one(node("a", at=day(-9)))
        scribe.one(node("b", at=day(-9)))
        scribe.write(edge("a", "CALLS", "b", at=day(-9), until=scribe.clock.now_us() + 1_000_000))
        assert set(scores(scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10))) == {"a", "b"}
        scribe.clock.step()
        assert set(scores(scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10))) == {"a"}

    def test_what_came_after_the_first_walk_ends_by_itself_too(self, scribe: Scribe) -> None:
        scribe.one(node("a", at=day(-9)))
        scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10)
        soon = scribe.clock.now_us() + 1_000_000
        scribe.write(node("b", at=day(-9), until=soon), node("c", at=soon))
        scribe.write(edge("a", "CALLS", "b", at=day(-9)), edge("a", "CALLS", "c", at=day(-9)))
        assert set(scores(scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10))) == {"a", "b"}
        scribe.clock.step()
        assert set(scores(scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10))) == {"a", "c"}

    def test_an_earlier_moment_is_walked_as_it_was(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("b"), edge("a", "CALLS", "b"))
        known = scribe.store.head(OPERATOR).at
        scribe.clock.step()
        scribe.write(ended("b"))
        scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10)
        then = When(known_at=known, valid_at=known)
        assert set(scores(scribe.store.walk(OPERATOR, then, {"a": 1.0}, limit=10))) == {"a", "b"}

    def test_an_unfinished_change_is_not_walked(self, scribe: Scribe) -> None:
        scribe.one(node("a"))
        tx = scribe.open_change(node("b"), edge("a", "CALLS", "b"))
        assert set(scores(scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10))) == {"a"}
        scribe.write(closed(tx))
        assert set(scores(scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10))) == {"a", "b"}

    def test_records_of_wefts_own_are_not_walked(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("call", kind="ToolCall"), edge("a", "RAN", "call"))
        assert set(scores(scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10))) == {"a"}

    def test_what_ended_after_a_moment_is_walked_at_that_moment(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("b"), edge("a", "CALLS", "b"))
        scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10)
        then = When(known_at=scribe.store.head(OPERATOR).at)
        scribe.one(edge_ended("a", "CALLS", "b"))
        assert set(scores(scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10))) == {"a"}
        assert set(scores(scribe.store.walk(OPERATOR, then, {"a": 1.0}, limit=10))) == {"a", "b"}

    def test_an_ending_that_is_not_complete_is_not_walked(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("b"), edge("a", "CALLS", "b"))
        scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10)
        change = scribe.open_change(edge_ended("a", "CALLS", "b"))
        assert set(scores(scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10))) == {"a", "b"}
        scribe.write(closed(change))
        assert set(scores(scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10))) == {"a"}

    def test_the_end_of_an_old_version_leaves_the_present_one(self, scribe: Scribe) -> None:
        scribe.write(node("a", at=day(-30)), node("b", at=day(-30)))
        scribe.one(edge("a", "CALLS", "b", at=day(-20), until=day(-10)))
        scribe.one(edge("a", "CALLS", "b", at=day(-5)))
        scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10)
        scribe.one(edge("a", "CALLS", "b", at=day(-18), until=day(-15), weight=2.0))
        assert scribe.reached("a") == ["b"]
        assert set(scores(scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10))) == {"a", "b"}

    def test_an_edge_whose_guard_alone_changed_is_walked_by_the_new_one(self, scribe: Scribe) -> None:
        scribe.write(node("a", at=day(-30)), node("b", at=day(-30)), edge("a", "CALLS", "b", at=day(-20)))
        scribe.store.walk(PUBLIC, NOW, {"a": 1.0}, limit=10)
        known = scribe.store.head(OPERATOR).at
        scribe.one(edge("a", "CALLS", "b", at=day(-28), until=day(-27), scope="admin"))
        for when in (NOW, When(known_at=known)):
            assert scribe.reached("a", viewer=PUBLIC, when=when) == []
            assert set(scores(scribe.store.walk(PUBLIC, when, {"a": 1.0}, limit=10))) == {"a"}
        scribe.one(edge("a", "CALLS", "b", at=day(-26), until=day(-25)))
        assert scribe.reached("a", viewer=PUBLIC) == ["b"]
        assert set(scores(scribe.store.walk(PUBLIC, NOW, {"a": 1.0}, limit=10))) == {"a", "b"}

    def test_an_earlier_walk_judges_rights_as_they_are_today(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("b"), edge("a", "CALLS", "b"))
        then = When(known_at=scribe.store.head(OPERATOR).at)
        assert set(scores(scribe.store.walk(PUBLIC, then, {"a": 1.0}, limit=10))) == {"a", "b"}
        scribe.one(node("b", scope="admin"))
        assert set(scores(scribe.store.walk(PUBLIC, then, {"a": 1.0}, limit=10))) == {"a"}

    def test_an_earlier_walk_keeps_off_records(self, scribe: Scribe) -> None:
        scribe.write(node("a", at=day(-9)), node("b", at=day(-9)), node("call", kind="ToolCall", at=day(-9)))
        scribe.write(edge("a", "RAN", "call", at=day(-9)))
        scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10)
        then = When(valid_at=day(-5))
        found = scores(scribe.store.walk(OPERATOR, then, {"a": 1.0, "call": 1.0, "b": 0.0}, limit=10))
        assert found == {"a": pytest.approx(1.0, abs=CLOSE)}
