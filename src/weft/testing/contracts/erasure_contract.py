"""Erasure: rows, names, counts and the log change together when payloads are replaced, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from weft.core.commits import Batch, Changes, LockedView
from weft.core.errors import Forbidden
from weft.core.kinds import ERASED
from weft.core.types import Actor, Guard, NodeVersion, Viewer, Writer
from weft.erasure.erase_log import ErasureCounts, erase
from weft.erasure.rewrite_log import RewriteAccess
from weft.erasure.rotate_keys import reencrypt
from weft.graph.moves import shared_slot
from weft.log.verify import verify
from weft.testing.case import StoreCase
from weft.testing.clock import day
from weft.testing.scribe import Scribe, closed, deleted, edge, memory_of, node, noted
from weft.testing.viewers import OPERATOR
from weft.text.encryption import PREFIX

WRITER = Writer(account=OPERATOR.account, session="operator", actor=Actor(agent="ops", role="operator"))
Item = TypeVar("Item")


def erased(scribe: Scribe, *ids: str, names: tuple[str, ...] = ()) -> ErasureCounts:
    """Erases, as the operator."""
    scribe.clock.step()
    return erase(rewriting(scribe), ids=ids, names=names, what="subject")


def rewriting(scribe: Scribe) -> RewriteAccess:
    """What the operator rewrites a log with."""
    return RewriteAccess(
        store=scribe.store, writer=WRITER, viewer=OPERATOR, clock=scribe.clock, progress=lambda *_: None
    )


def looked(scribe: Scribe, look: Callable[[LockedView], Item]) -> Item:
    """What a plan sees."""
    found: list[Item] = []

    def plan(view: LockedView) -> Batch:
        found.append(look(view))
        return Batch(commit=None, events=(), changes=Changes())

    scribe.store.commit(OPERATOR.account, plan)
    return found[0]


def everything(scribe: Scribe) -> str:
    """Every word of the log and of the graph."""
    lines = b"".join(scribe.export()).decode()
    return lines + repr(list(scribe.store.graph_rows(OPERATOR)))


class ErasureContract(StoreCase):
    """`Batch.scrub`, the views it needs, `rewriting`, and what readers see afterwards."""

    def test_nothing_is_left_and_the_graph_is_still_the_logs(self, scribe: Scribe) -> None:
        scribe.one(node("person:zelda", "Zelda keeps bees", name="Zelda", kind="Person"))
        scribe.one(node("person:boris", "Boris keeps goats", name="Boris", kind="Person", props={"of": "person:zelda"}))
        scribe.one(edge("person:zelda", "adores", "person:boris", props={"since": "the fair"}))
        done = erased(scribe, "person:zelda")
        assert (done.nodes, done.commits) == (1, 1)
        left = everything(scribe)
        assert not any(word in left for word in ("zelda", "Zelda", "bees", "adores", "the fair"))
        assert scribe.texts("person:boris") == {"person:boris": "Boris keeps goats"}
        assert verify(scribe.store, OPERATOR).problem is None
        before = scribe.digest()
        scribe.rebuild()
        assert scribe.digest() == before

    def test_tombstones_are_seen_by_nobody_at_any_moment(self, scribe: Scribe) -> None:
        scribe.one(node("a", "the bees of Zelda", at=day(-3)))
        known_at = scribe.clock.now_us()
        (token,) = erased(scribe, "a").tokens
        assert token.startswith(ERASED)
        for moment in ({}, {"known_at": known_at}, {"valid_at": day(-2)}):
            assert scribe.texts(token, "a", **moment) == {}
        assert scribe.store.history(OPERATOR, token, limit=9) == ()
        assert scribe.search("bees Zelda").hits == ()

    def test_words_are_counted_as_if_it_had_never_been_there(self, scribe: Scribe, other: Scribe) -> None:
        kept = [node(f"kept {n}", f"a kettle on the quay {n}") for n in range(70)]
        scribe.write(*kept, node("gone", "a kettle in the garden"), node("went", "the kettle again"))
        other.write(*kept)
        erased(scribe, "gone", "went")
        ours, theirs = scribe.search("kettle garden"), other.search("kettle garden")
        assert (ours.population, ours.mean_length, ours.used) == (theirs.population, theirs.mean_length, theirs.used)

    def test_a_name_may_be_used_again(self, scribe: Scribe) -> None:
        scribe.one(node("person:zelda", "keeps bees"))
        erased(scribe, "person:zelda")
        scribe.one(node("person:zelda", "is somebody else"))
        assert scribe.texts("person:zelda") == {"person:zelda": "is somebody else"}
        assert len(scribe.store.history(OPERATOR, "person:zelda", limit=9)) == 1
        before = scribe.digest()
        scribe.rebuild()
        assert scribe.digest() == before

    def test_closed_facts_stay_closed(self, scribe: Scribe) -> None:
        scribe.one(node("first", "lives in Bath", at=day(-9), slot="home"))
        scribe.one(node("second", "lives in York", at=day(-5), slot="home"))
        erased(scribe, "second")
        assert scribe.texts("first", valid_at=day(-6)) == {"first": "lives in Bath"}
        assert scribe.texts("first", valid_at=day(-1)) == {}, "what ended it is gone, and it stays ended"
        scribe.one(node("third", "lives in Hull", at=day(-7), slot="home"))
        slot = shared_slot("home", Guard(scope="public"))
        standing = scribe.store.current_in_slot(OPERATOR, slot, after=day(-8), limit=9)
        assert [(row.id, row.interval.valid_to) for row in standing] == [("first", day(-7)), ("third", day(-5))]

    def test_every_version_is_found_for_replacing(self, scribe: Scribe) -> None:
        scribe.one(node("a", "one", at=day(-9)))
        scribe.one(node("a", "two", at=day(-5)))
        scribe.one(node("b", "other"))
        scribe.one(edge("a", "KNOWS", "b", at=day(-9)))
        scribe.open_change(node("c", "not yet"))
        rows = looked(scribe, lambda view: view.node_rows(("a", "c", "nobody")))
        assert [(row.id, row.text) for row in rows] == [("a", "one"), ("a", "one"), ("a", "two"), ("c", "not yet")]
        joined = looked(scribe, lambda view: view.edge_rows((("a", "KNOWS", "b"), ("b", "KNOWS", "a"))))
        assert [(row.src, row.dst) for row in joined] == [("a", "b")]
        nodes, edges = looked(scribe, lambda view: view.rows_since(3, 2))
        assert ([row.row for row in nodes], edges) == ([3, 4, 5], ())
        since = looked(scribe, lambda view: view.events_since(1, limit=2))
        assert [event.pos for event in since] == [2, 3]
        assert looked(scribe, lambda view: view.event("main", 2)) == since[0]
        assert looked(scribe, lambda view: view.event("main", 99)) is None

    def test_an_open_change_and_a_deletion_lose_their_words_too(self, scribe: Scribe) -> None:
        scribe.one(node("person:zelda", "keeps bees"))
        scribe.one(deleted("person:zelda"))
        change = scribe.open_change(node("draft", "about bees"), edge("draft", "ABOUT", "person:zelda"))
        erased(scribe, "person:zelda", names=("bees",))
        scribe.one(closed(change))
        assert "bees" not in everything(scribe)
        assert scribe.texts("draft") == {}
        before = scribe.digest()
        scribe.rebuild()
        assert scribe.digest() == before

    def test_a_change_names_its_erased_files_no_more(self, scribe: Scribe) -> None:
        scribe.write(noted("file_change", files=("zelda.md", "kept.md")), node("doc", "bees"))
        erased(scribe, "doc", names=("zelda",))
        (change,) = [tx for tx in scribe.store.transactions(OPERATOR, limit=9) if tx.opened_pos == 1]
        assert change.files == ("kept.md",)

    def test_who_might_have_read_an_event_reads_that_it_was_erased(self, scribe: Scribe) -> None:
        scribe.one(memory_of("m", "bees"))
        scribe.one(memory_of("hidden", "more bees", scope="admin"))
        done = erased(scribe, "m", "hidden")
        guest = Viewer(account=OPERATOR.account, scopes=frozenset({"public"}))
        for viewer, seqs in ((OPERATOR, [1, 2]), (guest, [1])):
            events = scribe.store.events(viewer, session="main", after_seq=0, limit=9)
            assert [event.seq for event in events] == seqs
            told = scribe.store.rewriting(viewer, events[0])
            assert told is not None
            assert (told.why, told.what, told.actor.agent) == ("erased", "subject", "ops")
            assert (told.citation, told.at) == (done.citations[0], scribe.clock.now_us())
        kept = scribe.one(memory_of("kept", "goats"))
        assert scribe.store.rewriting(OPERATOR, kept) is None

    def test_a_repeated_request_is_still_known(self, scribe: Scribe) -> None:
        scribe.write(memory_of("m", "bees"), request_id="once")
        erased(scribe, "m")
        assert scribe.write(memory_of("m", "bees"), request_id="once").repeated

    def test_payloads_sealed_anew_change_rows_in_step(self, scribe: Scribe) -> None:
        old, new = (f"{PREFIX}{name}:{letter * 40}" for name, letter in (("old", "a"), ("new", "b")))
        scribe.one(memory_of("m", old, props={"with": old}))
        scribe.one(node("n", "plain"))
        done = reencrypt(
            RewriteAccess(
                store=scribe.store, writer=WRITER, viewer=OPERATOR, clock=scribe.clock, progress=lambda *_: None
            ),
            lambda raw: raw.replace(old.encode(), new.encode()),
        )
        assert (done.events, done.commits) == (1, 1)
        (row,) = [row for row in scribe.store.graph_rows(OPERATOR) if isinstance(row, NodeVersion) and row.id == "m"]
        assert (row.text, row.props) == (new, {"with": new})
        assert row.deleted_at is None
        assert old not in everything(scribe)
        assert verify(scribe.store, OPERATOR).problem is None
        before = scribe.digest()
        scribe.rebuild()
        assert scribe.digest() == before

    def test_only_an_operator_erases(self, scribe: Scribe) -> None:
        guest = Viewer(account=OPERATOR.account, scopes=frozenset({"public"}))
        with pytest.raises(Forbidden):
            erase(
                RewriteAccess(
                    store=scribe.store, writer=WRITER, viewer=guest, clock=scribe.clock, progress=lambda *_: None
                ),
                ids=("a",),
                what="subject",
            )
