"""Transactions, changes that span commits, and what changed since."""

from __future__ import annotations

from typing import Any

import pytest

from weft.core.errors import Conflict, Forbidden, NotFound
from weft.core.types import Diff, Viewer, When
from weft.testing.case import StoreCase
from weft.testing.clock import day
from weft.testing.scribe import Scribe, closed, continued, edge, edge_ended, ended, node, noted
from weft.testing.viewers import ANN, OPERATOR, PUBLIC, STAFF, VISITOR

SHA = "0123456789abcdef0123456789abcdef01234567"


def changed(scribe: Scribe, since_pos: int, **options: Any) -> Diff:
    """The operator's diff."""
    asked = {"agent": None, "limit": 50, **options}
    return scribe.store.diff(OPERATOR, since_pos=since_pos, **asked)


class ChangesContract(StoreCase):
    """transactions, transaction, diff, and tx.* events."""

    def test_every_commit_is_a_transaction(self, scribe: Scribe) -> None:
        first = scribe.one(node("a"), agent="ann")
        scribe.write(noted("file_change", git_commit=SHA, files=("a.py",), duration_ms=7), node("b"), node("c"))
        latest, earlier = scribe.store.transactions(OPERATOR, limit=10)
        assert (earlier.kind, earlier.agent, earlier.session) == ("memory_write", "ann", "main")
        assert (earlier.opened_pos, earlier.closed_pos, earlier.at) == (1, 1, first.known_at)
        assert (latest.kind, latest.git_commit, latest.files) == ("file_change", SHA, ("a.py",))
        assert (latest.duration_ms, latest.opened_pos, latest.closed_pos) == (7, 2, 4)
        assert latest.counts["nodes"] == 2
        assert scribe.store.transactions(OPERATOR, limit=1) == (latest,)
        assert scribe.store.transaction(OPERATOR, latest.id) == latest
        assert scribe.store.transaction(OPERATOR, "tx-none") is None
        (row,) = scribe.store.nodes(OPERATOR, When(), ("b",))
        assert row.tx == latest.id

    def test_transactions_by_git_commit(self, scribe: Scribe) -> None:
        scribe.write(noted("file_change", git_commit=SHA))
        scribe.one(node("a"))
        for asked in (SHA, SHA[:7], SHA[:12]):
            assert len(scribe.store.transactions(OPERATOR, limit=10, git_commit=asked)) == 1
        for asked in (SHA[:6], "f" * 7, SHA + "0"):
            assert scribe.store.transactions(OPERATOR, limit=10, git_commit=asked) == ()

    def test_transactions_and_diffs_are_for_internal_admins(self, scribe: Scribe) -> None:
        scribe.one(node("a"))
        assert len(scribe.store.transactions(STAFF, limit=10)) == 1
        for viewer in (PUBLIC, ANN, VISITOR):
            with pytest.raises(Forbidden):
                scribe.store.transactions(viewer, limit=10)
            with pytest.raises(Forbidden):
                scribe.store.transaction(viewer, "tx-none")
            with pytest.raises(Forbidden):
                scribe.store.diff(viewer, since_pos=0, agent=None, limit=10)

    # Changes that span commits

    def test_a_long_change_is_invisible_until_it_closes(self, scribe: Scribe) -> None:
        scribe.one(node("a", "old", at=day(-9)))
        scribe.one(node("x", at=day(-9)))
        before = scribe.store.head(OPERATOR).at
        change = scribe.open_change(node("a", "new", at=day(-5)), node("b", "fresh words"))
        between = scribe.store.head(OPERATOR).at
        scribe.one(continued(change), session="other")
        scribe.write(continued(change), node("c", "more"), edge("x", "KNOWS", "c", at=day(-5)))

        def check(known_at: int | None) -> None:
            when = When(valid_at=day(9), known_at=known_at)
            assert {row.id: row.text for row in scribe.store.nodes(OPERATOR, when, ("a", "b", "c"))} == {"a": "old"}
            assert scribe.reached("x", when=when) == []
            assert scribe.search("fresh", when=when).hits == ()

        for known_at in (None, before, between):
            check(known_at)
        open_one = scribe.store.transaction(OPERATOR, change)
        assert open_one is not None
        assert open_one.closed_pos is None
        scribe.write(closed(change), node("d", "last"))
        closing = scribe.store.head(OPERATOR)
        for known_at in (before, between, closing.at - 1):
            check(known_at)
        ids = ("a", "b", "c", "d")
        assert scribe.texts(*ids) == {"a": "new", "b": "fresh words", "c": "more", "d": "last"}
        assert scribe.texts(*ids, known_at=closing.at) == scribe.texts(*ids)
        assert scribe.texts("a", valid_at=day(-7)) == {"a": "old"}
        assert scribe.reached("x") == ["c"]
        closed_one = scribe.store.transaction(OPERATOR, change)
        assert closed_one is not None
        assert (closed_one.closed_pos, closed_one.at) == (closing.pos, closing.at)
        assert closed_one.counts["nodes"] == 5, "with the cut of the old version"

    def test_others_write_while_a_change_is_open(self, scribe: Scribe) -> None:
        change = scribe.open_change(node("a", "hidden yet"))
        known = scribe.one(node("b", "seen at once")).known_at
        assert scribe.texts("a", "b") == {"b": "seen at once"}
        scribe.one(closed(change))
        assert scribe.texts("a", "b") == {"a": "hidden yet", "b": "seen at once"}
        assert scribe.texts("a", "b", known_at=known) == {"b": "seen at once"}

    def test_what_an_open_change_touched_waits_for_its_close(self, scribe: Scribe) -> None:
        scribe.write(node("n", "old", slot="s", at=day(-9)), node("a", at=day(-9)))
        change = scribe.open_change(
            node("m", "not complete", slot="s", at=day(-5)), edge("a", "KNOWS", "n", at=day(-5))
        )
        head = scribe.store.head(OPERATOR)
        for draft in (node("k", "new", slot="s", at=day(-3)), ended("n"), edge("a", "KNOWS", "n", at=day(-3))):
            with pytest.raises(Conflict):
                scribe.write(draft)
        assert scribe.store.head(OPERATOR) == head
        assert scribe.texts("n", "m", valid_at=day(-4)) == {"n": "old"}
        scribe.one(closed(change))
        scribe.one(node("k", "new", slot="s", at=day(-3)))
        answers = [scribe.texts("n", "m", "k", valid_at=day(at)) for at in (-6, -4, -2)]
        assert answers == [{"n": "old"}, {"m": "not complete"}, {"k": "new"}]

    def test_ending_in_an_open_change_waits_for_its_close(self, scribe: Scribe) -> None:
        scribe.write(node("a", at=day(-9)), node("b", at=day(-9)))
        scribe.one(edge("a", "KNOWS", "b", at=day(-9)))
        change = scribe.open_change(ended("b", at=day(-5)), edge_ended("a", "KNOWS", "b", at=day(-5)))
        assert scribe.reached("a") == ["b"]
        scribe.one(closed(change))
        assert scribe.reached("a") == []
        assert scribe.texts("a", "b") == {"a": ""}
        assert scribe.reached("a", when=When(valid_at=day(-7))) == ["b"]

    def test_no_read_shows_a_change_that_is_open(self, scribe: Scribe) -> None:
        scribe.one(node("a", "old", at=day(-9)))
        change = scribe.open_change(node("b", "new"), node("a", "newer", at=day(-5)))
        made = (3, 4)  # after the first event and the one that opens the change

        def shown(viewer: Viewer) -> dict[str, int]:
            store = scribe.store
            stats = store.stats(viewer)
            return {
                "history": len(store.history(viewer, "b", limit=9)),
                "asserted": sum(len(store.asserted_by(viewer, pos, limit=9)) for pos in made),
                "events": sum(each.pos in made for each in store.events(viewer, session=None, after_seq=0, limit=9)),
                "citations": len(store.citations(viewer, made)),
                "versions": stats.node_versions,
                "texts": stats.texts,
                "counted": stats.events,
            }

        nothing = {"history": 0, "asserted": 0, "events": 0, "citations": 0, "versions": 1, "texts": 1, "counted": 1}
        assert shown(PUBLIC) == shown(STAFF) == nothing
        assert shown(OPERATOR) == nothing | {"events": 2, "counted": 4}, "the log is whole to who verifies it"
        (row,) = scribe.store.history(PUBLIC, "a", limit=9)
        assert (row.retired_at, row.retired_pos, row.retired_tx) == (None, None, None)
        scribe.one(closed(change), session="quiet")
        after = shown(PUBLIC)
        assert (after["history"], after["asserted"], after["events"], after["citations"]) == (1, 2, 2, 2)
        assert (after["versions"], after["texts"], after["counted"]) == (4, 3, 3)
        assert scribe.store.history(PUBLIC, "a", limit=9)[0].retired_pos == made[1]

    def test_a_session_with_nothing_but_an_open_change_is_not_listed(self, scribe: Scribe) -> None:
        scribe.one(node("a"), session="first")
        change = scribe.open_change(node("b"))
        assert [head.session for head in scribe.store.session_heads(PUBLIC, limit=9)] == ["first"]
        assert len(scribe.store.session_heads(OPERATOR, limit=9)) == 2
        scribe.write(closed(change))
        assert [head.session for head in scribe.store.session_heads(PUBLIC, limit=9)] == ["main", "first"]

    def test_a_change_is_continued_only_while_it_is_open(self, scribe: Scribe) -> None:
        with pytest.raises(NotFound):
            scribe.write(continued("tx-none"))
        change = scribe.open_change()
        scribe.write(closed(change))
        for draft in (continued(change), closed(change)):
            with pytest.raises(Conflict):
                scribe.write(draft)
        assert scribe.store.head(OPERATOR).pos == 2

    # What changed since

    def test_diff_tells_added_removed_and_modified(self, scribe: Scribe) -> None:
        scribe.write(node("kept"), node("gone", kind="Gizmo"), node("other", "one"))
        scribe.write(edge("kept", "KNOWS", "other"))
        since = scribe.store.head(OPERATOR).pos
        assert changed(scribe, since) == Diff(
            added=(), removed=(), modified=(), edges_added=(), edges_removed=(), truncated=False
        )
        scribe.one(node("new", kind="Gizmo"))
        scribe.one(ended("gone"))
        scribe.one(node("other", "two"))
        scribe.one(edge("kept", "LIKES", "new"))
        scribe.one(edge_ended("kept", "KNOWS", "other"))
        scribe.write(node("brief"), ended("brief"))
        assert changed(scribe, since) == Diff(
            added=(("Gizmo", "new"),),
            removed=(("Gizmo", "gone"),),
            modified=(("Note", "other"),),
            edges_added=(("kept", "LIKES", "new"),),
            edges_removed=(("kept", "KNOWS", "other"),),
            truncated=False,
        )
        assert changed(scribe, 0).removed == ()
        assert [name for _, name in changed(scribe, 0).added] == ["new", "kept", "other"]

    def test_diff_since_the_middle_of_a_commit_counts_all_of_it(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("b"))
        scribe.write(node("c"), node("d"))
        assert [name for _, name in changed(scribe, 3).added] == ["c", "d"]

    def test_diff_by_agent(self, scribe: Scribe) -> None:
        scribe.one(node("a"), agent="ann")
        scribe.one(node("b"), agent="bob")
        scribe.one(ended("b"), agent="ann")
        scribe.one(node("c"), agent="bob")
        assert changed(scribe, 0, agent="ann").added == (("Note", "a"),)
        assert changed(scribe, 0, agent="bob").added == (("Note", "c"),)
        assert changed(scribe, 2, agent="ann").removed == (("Note", "b"),)
        assert changed(scribe, 2, agent="bob").removed == ()

    def test_diff_by_project(self, scribe: Scribe) -> None:
        scribe.write(*(node(f"a{number}", project="one") for number in range(5)), node("b", project="two"), node("c"))
        scribe.write(edge("b", "CALLS", "a0"), edge("a0", "CALLS", "b"))
        found = changed(scribe, 0, projects=("two", None), limit=2)
        assert [each for _, each in found.added] == ["b", "c"]
        assert (found.edges_added, found.truncated) == ((("b", "CALLS", "a0"),), False)

    def test_diff_is_limited(self, scribe: Scribe) -> None:
        scribe.write(*(node(f"n{n}") for n in range(5)))
        answer = changed(scribe, 0, limit=3)
        assert (len(answer.added), answer.truncated) == (3, True)
        assert not changed(scribe, 0, limit=5).truncated

    def test_diff_dates_a_long_change_by_its_close(self, scribe: Scribe) -> None:
        scribe.one(node("old", at=day(-9)))
        change = scribe.open_change(node("a"), ended("old", at=day(-5)))
        between = scribe.one(node("b")).pos
        waiting = changed(scribe, 1)
        assert (waiting.added, waiting.removed, waiting.modified) == ((("Note", "b"),), (), ())
        closing = scribe.one(closed(change)).pos
        answer = changed(scribe, between)
        assert (answer.added, answer.removed) == ((("Note", "a"),), (("Note", "old"),))
        assert changed(scribe, closing).added == ()
