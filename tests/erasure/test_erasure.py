"""Erasing, and everything that may come between."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace

from tests.erasure.conftest import MakeStore
from tests.older_schema import as_schema_2
from weft.append.append import AppendOptions, append
from weft.append.import_log import import_log
from weft.backends.memory import MemoryStore
from weft.backends.sqlite.store import SqliteStore
from weft.core.commits import Batch, Plan
from weft.core.errors import Conflict, Corrupt, NotFound, SchemaMismatch
from weft.core.ports import Store
from weft.core.types import NOW
from weft.erasure import erase_log as erasure
from weft.erasure.affected import Affected
from weft.graph.apply_moves import apply_events
from weft.graph.digest import graph_digest
from weft.log.chain import commit_genesis
from weft.log.draft import Draft
from weft.log.kinds import conversation, graph
from weft.log.kinds.rewriting import Rewritten
from weft.log.verify import verify
from weft.testing.clock import ManualClock
from weft.testing.contracts.erasure_contract import WRITER, erased, everything, rewriting
from weft.testing.scribe import Scribe, edge, ended, memory_of, node
from weft.testing.viewers import OPERATOR


def is_one(scribe: Scribe) -> bool:
    """The graph is what a fold of the exported log makes, and every hash fits."""
    assert verify(scribe.store, OPERATOR).problem is None
    lines = scribe.export()
    copy = MemoryStore(commit_genesis)
    import_log(copy, OPERATOR, lambda: lines, clock=scribe.clock)
    return graph_digest(copy.graph_rows(OPERATOR)) == scribe.digest()


def a_hub(scribe: Scribe, memories: int = 40) -> list[str]:
    """A person whom many memories name."""
    scribe.one(node("person:zelda", "Zelda keeps bees", name="Zelda", kind="Person"))
    ids = [f"memory:{n}" for n in range(memories)]
    for each in ids:
        scribe.write(memory_of(each, f"{each} of honey"), edge(each, "MENTIONS", "person:zelda"))
    return ["person:zelda", *ids]


class Stopped(Exception):
    """What a test stops a store with."""


class Stopping:
    """A store that fails before the Nth commit that replaces something."""

    def __init__(self, store: Store, after: int) -> None:
        self._store, self.left = store, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def commit(self, account: str, plan: Plan) -> Batch:
        def stopping(view: Any) -> Batch:
            batch = plan(view)
            if batch.scrub is not None:
                self.left -= 1
                if self.left < 0:
                    raise Stopped
            return batch

        return self._store.commit(account, stopping)


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_a_stopped_erasure_is_finished_by_the_next(scribe: Scribe, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    monkeypatch.setattr(erasure, "MAX_EVENTS", 15)
    ids = a_hub(scribe)
    unstopped, scribe.store = scribe.store, Stopping(scribe.store, after)  # type: ignore[assignment]
    with pytest.raises(Stopped):
        erased(scribe, *ids, names=("honey",))
    scribe.store = unstopped
    assert is_one(scribe), "what was done until then is whole"
    erased(scribe, *ids, names=("honey",))
    assert is_one(scribe)
    left = everything(scribe)
    assert not any(word in left for word in ("honey", "zelda", "Zelda", "memory:"))
    assert erased(scribe, *ids, names=("honey",)).commits == 0


def test_a_name_that_only_words_brought_in_is_found_again(scribe: Scribe, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node that many speak of, and that nobody asked for by its id, keeps its words until it goes itself."""
    monkeypatch.setattr(erasure, "MAX_EVENTS", 10)
    a_hub(scribe, memories=30)
    unstopped, scribe.store = scribe.store, Stopping(scribe.store, 2)  # type: ignore[assignment]
    with pytest.raises(Stopped):
        erased(scribe, names=("Zelda", "honey"))
    scribe.store = unstopped
    erased(scribe, names=("Zelda", "honey"))
    assert not any(word in everything(scribe) for word in ("honey", "zelda", "Zelda"))
    assert scribe.store.stats(OPERATOR).nodes == 0


def test_what_others_write_meanwhile_goes_too(scribe: Scribe) -> None:
    a_hub(scribe, memories=3)
    wrote: list[int] = []

    class Meanwhile(Stopping):
        def commit(self, account: str, plan: Plan) -> Batch:
            def late(view: Any) -> Batch:
                if not wrote and view.next_rows()[0] > 1:
                    wrote.append(1)
                return plan(view)

            if len(wrote) == 1:
                wrote.append(2)
                Scribe(self._store, scribe.clock).write(
                    memory_of("late", "more honey"), edge("late", "MENTIONS", "person:zelda")
                )
            return self._store.commit(account, late)

    unwatched, scribe.store = scribe.store, Meanwhile(scribe.store, 0)  # type: ignore[assignment]
    erased(scribe, "person:zelda", names=("honey",))
    scribe.store = unwatched
    assert wrote == [1, 2]
    assert "honey" not in everything(scribe)
    assert is_one(scribe)


def test_writers_and_an_erasure_at_once(scribe: Scribe) -> None:
    """Agents write about the same person all the while; at the end nothing that was said before is left."""
    ids = a_hub(scribe, memories=30)
    failures: list[Exception] = []

    def write_on() -> None:
        for n in range(30):
            try:
                scribe.write(node(f"new:{n}", f"boats {n}"), session="agent")
                scribe.write(node("person:boris", f"seen {n} times", slot="seen"), session="agent")
            except Exception as problem:
                failures.append(problem)

    thread = threading.Thread(target=write_on)
    thread.start()
    erased(scribe, *ids, names=("honey",))
    thread.join()
    assert failures == []
    assert is_one(scribe)
    assert "honey" not in everything(scribe)
    assert scribe.texts("new:29", "person:boris") == {"new:29": "boats 29", "person:boris": "seen 29 times"}


def test_a_preview_says_what_would_go_and_touches_nothing(scribe: Scribe) -> None:
    scribe.one(node("person:zelda", "keeps bees", name="Zelda"))
    scribe.one(memory_of("m", "ZELDA came by"))
    scribe.one(memory_of("kept", "nobody came by", props={"of": "person:zelda"}))
    scribe.one(ended("kept"))
    before = scribe.export()
    found = erasure.Erasing(rewriting(scribe), Affected(["person:zelda"], ["Zelda"])).preview()
    assert (found.nodes, found.joined) == (("m", "person:zelda"), ("m",))
    assert [each.split("#")[0] for each in found.events] == [f"weft://main/events/{n}" for n in (1, 2, 3)]
    assert scribe.export() == before
    assert erasure.Erasing(rewriting(scribe), Affected(["nobody"])).preview().events == ()


def test_a_kept_node_with_a_longer_name_is_left_alone(scribe: Scribe) -> None:
    scribe.one(node("person:zelda", "the first"))
    scribe.one(node("person:zelda fitz", "the second", props={"is": "person:zelda fitz", "not": "person:zelda"}))
    scribe.one(node("fact:1", "see person:zelda fitz, not person:zelda here", slot="fact:/person:zelda fitz/age"))
    (token,) = erased(scribe, "person:zelda").tokens
    (kept,) = scribe.store.nodes(OPERATOR, NOW, ("person:zelda fitz",))
    assert kept.props == {"is": "person:zelda fitz", "not": token}
    assert scribe.texts("fact:1") == {"fact:1": f"see person:zelda fitz, not {token} here"}
    scribe.one(node("fact:2", "another age", slot="fact:/person:zelda fitz/age"))
    assert scribe.texts("fact:1", "fact:2") == {"fact:2": "another age"}, "they still take turns"


def test_nobody_writes_to_a_tombstone(scribe: Scribe) -> None:
    scribe.one(node("a", "words"))
    (token,) = erased(scribe, "a").tokens
    for draft in (
        node(token, "again", kind="Note"),
        Draft(kind="graph.restored", payload=graph.Restored(nodes=(token,))),
    ):
        with pytest.raises(NotFound, match="was erased"):
            append(scribe.store, WRITER, [draft], clock=scribe.clock, options=AppendOptions(viewer=OPERATOR))


# ---- what the chain shows


def replaced(store: Store, pos: int, **fields: Any) -> Store:
    """A store whose log was changed behind its back."""
    log = store._accounts[OPERATOR.account].log  # type: ignore[attr-defined]
    log[pos - 1] = replace(log[pos - 1], **fields)
    return store


def an_erased_log() -> Scribe:
    scribe = Scribe(MemoryStore(commit_genesis), ManualClock())
    scribe.one(node("a", "bees"))
    scribe.one(node("b", "goats"))
    erased(scribe, "a")
    return scribe


@pytest.mark.parametrize(
    ("pos", "fields", "problem"),
    [
        (1, {"payload": b'{"nodes":[{"id":"erased:x","kind":"Note"}]}'}, "what is left of the payload was changed"),
        (1, {"salt": b"0" * 16}, "what is left of the payload was changed"),
        (1, {"payload": None, "salt": None}, "the payload is missing"),
        (1, {"rewritten": False}, "the payload was changed"),
        (2, {"payload": None, "salt": None}, "the payload is missing"),
        (2, {"payload": b"{}", "rewritten": True}, "the payload was replaced, and no event says so"),
        (3, {"rewritten": True}, "cannot be replaced itself"),
    ],
)
def test_verify_names_what_was_done_to_a_residue(pos: int, fields: dict[str, Any], problem: str) -> None:
    scribe = an_erased_log()
    assert verify(scribe.store, OPERATOR).problem is None
    replaced(scribe.store, pos, **fields)
    assert problem in (verify(scribe.store, OPERATOR).problem or "")
    lines = scribe.export()
    with pytest.raises(Corrupt):
        import_log(MemoryStore(commit_genesis), OPERATOR, lambda: lines, clock=scribe.clock)


def test_verify_notices_a_payload_that_came_back() -> None:
    scribe = Scribe(MemoryStore(commit_genesis), ManualClock())
    first = scribe.one(node("a", "bees"))
    erased(scribe, "a")
    replaced(scribe.store, 1, payload=first.payload, salt=first.salt, rewritten=False)
    assert "its first payload is there again" in (verify(scribe.store, OPERATOR).problem or "")


def test_other_lines_of_an_export_are_as_they_were(scribe: Scribe) -> None:
    scribe.one(node("a", "bees"))
    scribe.one(node("b", "goats"))
    before = scribe.export()
    erased(scribe, "a")
    after = scribe.export()
    assert [line for line in before[:-1] if line not in after] == [before[2]], "only the event itself, and the end"
    assert b'"rewritten":true' in after[2]


# ---- carried elsewhere


def test_an_older_copy_loses_the_words_when_the_log_is_imported_again(make_store: MakeStore, scribe: Scribe) -> None:
    a_hub(scribe, memories=5)
    older = scribe.export()
    copy = make_store()
    import_log(copy, OPERATOR, lambda: older, clock=scribe.clock)
    erased(scribe, "person:zelda", names=("honey",))
    scribe.one(node("person:zelda", "somebody else"))
    erased(scribe, "person:zelda")
    scribe.one(node("person:zelda", "a third"))
    newer = scribe.export()
    done = import_log(copy, OPERATOR, lambda: newer, clock=scribe.clock)
    assert done.exact
    other = Scribe(copy, scribe.clock)
    assert other.digest() == scribe.digest()
    assert other.export() == newer
    assert "honey" not in everything(other)
    assert is_one(other)
    assert import_log(copy, OPERATOR, lambda: newer, clock=scribe.clock).events == 0


def test_a_store_of_its_own_must_erase_for_itself(make_store: MakeStore, scribe: Scribe) -> None:
    scribe.one(node("a", "bees"))
    older = scribe.export()
    copy = make_store()
    Scribe(copy, scribe.clock).one(node("own", "words"), session="own")
    import_log(copy, OPERATOR, lambda: older, clock=scribe.clock)
    erased(scribe, "a")
    newer = scribe.export()
    with pytest.raises(Conflict, match="was erased in the file and not in this store"):
        import_log(copy, OPERATOR, lambda: newer, clock=scribe.clock)
    fresh = make_store()
    Scribe(fresh, scribe.clock).one(node("own", "words"), session="own")
    import_log(fresh, OPERATOR, lambda: newer, clock=scribe.clock)
    assert verify(fresh, OPERATOR).problem is None
    assert Scribe(fresh, scribe.clock).texts("a", "own") == {"own": "words"}


@pytest.mark.parametrize("named", [("victim", 1), ("victim", 9), ("evil", 2), ("evil", 0)])
def test_a_file_that_says_others_were_rewritten_is_refused(make_store: MakeStore, named: tuple[str, int]) -> None:
    """What it names is not in it: here it would stand for ever as a payload that came back."""
    evil, here = Scribe(make_store(), ManualClock(), session="evil"), Scribe(make_store(), ManualClock())
    here.one(node("a", "honest words"), session="victim")
    telling = Rewritten(why="erased", what="subject", events=((*named, "00" * 32),))
    evil.one(Draft(kind="log.rewritten", payload=telling))
    assert "there is none" in (verify(evil.store, OPERATOR).problem or "")
    lines = evil.export()
    with pytest.raises(Corrupt, match="there is none"):
        import_log(here.store, OPERATOR, lambda: lines, clock=here.clock)
    assert verify(here.store, OPERATOR).problem is None
    assert is_one(here)


# ---- on disk


def test_a_file_of_the_schema_before_is_brought_up_to_date(tmp_path: Path) -> None:
    first = Scribe(SqliteStore(tmp_path, commit_genesis), ManualClock())
    a_hub(first, memories=5)
    before = first.digest()
    first.store.close()
    file = tmp_path / "accounts" / f"{OPERATOR.account}.db"
    as_schema_2(file)
    scribe = Scribe(SqliteStore(tmp_path, commit_genesis), first.clock)
    assert scribe.digest() == before
    assert scribe.texts("memory:1") == {"memory:1": "memory:1 of honey"}
    scribe.one(node("new", "written after"))
    erased(scribe, "person:zelda", names=("honey",))
    assert "honey" not in everything(scribe)
    assert is_one(scribe)
    assert scribe.store.check(OPERATOR) == ()
    scribe.store.close()
    again = Scribe(SqliteStore(tmp_path, commit_genesis), first.clock)
    assert again.texts("new") == {"new": "written after"}
    again.store.close()


def test_a_file_that_is_neither_old_enough_nor_new_is_refused(tmp_path: Path) -> None:
    scribe = Scribe(SqliteStore(tmp_path, commit_genesis), ManualClock())
    scribe.one(node("a"))
    scribe.store.close()
    db = apsw.Connection(str(tmp_path / "accounts" / f"{OPERATOR.account}.db"))
    db.pragma("user_version", 1)
    db.close()
    with pytest.raises(SchemaMismatch, match="export the log with the older weft"):
        SqliteStore(tmp_path, commit_genesis).head(OPERATOR)


def test_a_rebuild_under_way_is_stopped(tmp_path: Path) -> None:
    """It has folded words that are gone since: it must not put them in place."""
    scribe = Scribe(SqliteStore(tmp_path, commit_genesis), ManualClock())
    scribe.write(*(node(f"n{n}", f"bees {n}") for n in range(400)))
    scribe.write(*(node(f"m{n}", f"goats {n}") for n in range(400)))
    done: list[int] = []

    def erase_once(_done: int, _total: int) -> None:
        if not done:
            done.append(1)
            erased(Scribe(SqliteStore(tmp_path, commit_genesis), scribe.clock), "n1")

    with pytest.raises(Conflict, match="erased something meanwhile"):
        scribe.store.rebuild(OPERATOR, apply_events, progress=erase_once)
    assert done == [1]
    assert is_one(scribe)
    scribe.store.close()


def test_a_conversation_goes_with_its_turns(scribe: Scribe) -> None:
    turns = tuple(conversation.MessageText(id=f"talk#{n}", seq=n, text=f"turn {n}", speaker="Zelda") for n in (1, 2))
    recorded = conversation.Recorded(id="talk", messages=turns, opens=True, title="bees", scope="public")
    scribe.one(Draft(kind="conversation.recorded", payload=recorded))
    more = conversation.Recorded(
        id="talk", messages=(conversation.MessageText(id="talk#3", seq=3, text="turn 3"),), scope="public"
    )
    scribe.one(Draft(kind="conversation.recorded", payload=more))
    assert erased(scribe, "talk").nodes == 4
    assert not any(word in everything(scribe) for word in ("talk", "turn", "Zelda", "bees"))
    assert is_one(scribe)
