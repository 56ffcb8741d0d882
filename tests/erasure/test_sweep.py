"""After a sweep nothing of an erased text is left in any file of the store, and nothing else has changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw
import numpy as np
import pytest

from tests.erasure import planting
from tests.erasure.byte_search import Planted, search
from tests.erasure.planting import MODEL, SUBJECT, point_elsewhere, store_at, subject_texts, sweep, vector_of
from weft.backends.memory import MemoryStore
from weft.backends.sqlite.scrub import sweep as sweeping
from weft.backends.sqlite.search import vectors
from weft.backends.sqlite.store import SqliteStore
from weft.backends.sqlite.write.rebuild import SideTableRebuild
from weft.core.errors import Conflict, Forbidden
from weft.core.queries import VectorMatches, VectorQuery
from weft.core.types import NOW
from weft.graph.apply_moves import apply_events
from weft.log.chain import commit_genesis
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, node
from weft.testing.viewers import OPERATOR, PUBLIC, STAFF
from weft.text.lexical import content_hash
from weft.text.names import alias_key


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> SqliteStore:
    shutil.copytree(filled, tmp_path / "store")
    return store_at(tmp_path / "store")


def left(tmp_path: Path) -> list[object]:
    return [*search(tmp_path / "store", subject_texts())]


def near(store: SqliteStore, data: bytes, *, limit: int = 20) -> VectorMatches:
    wanted = np.frombuffer(data, "<f2").astype("<f4").tobytes()
    return store.search_vector(OPERATOR, NOW, VectorQuery(model=MODEL, data=wanted), limit=limit)


def found_by_words(store: SqliteStore, words: str) -> list[str]:
    return [hit.node.id for hit in Scribe(store, ManualClock()).search(words).hits]


def test_everything_is_there_before_and_nothing_after(store: SqliteStore, tmp_path: Path) -> None:
    point_elsewhere(store, SUBJECT)
    assert {finding.form for finding in search(tmp_path / "store", subject_texts())} >= {
        "word",
        "word backwards",
        "word in hexadecimal",
        "content hash",
        "vector",
        "parts of a vector",
        "number of a stem",
        "number of a stem (big end first)",
        "vector in a table",
    }
    assert sweep(store) == ()
    assert left(tmp_path) == []
    assert store.check(OPERATOR) == ()


def test_no_answer_about_anything_else_changes(store: SqliteStore) -> None:
    point_elsewhere(store, SUBJECT)
    others = store.nodes(OPERATOR, NOW, [f"n{n}" for n in range(0, 240, 7)])
    vectors_before = store.vectors(OPERATOR, MODEL, [row.content_hash for row in others])
    assert len(vectors_before) == len(others)
    words = {row.id: " ".join(row.text.split()[:4]) for row in others}
    named = [alias_key(row.name) for row in others]
    before = [found_by_words(store, each) for each in words.values()], store.by_name(OPERATOR, NOW, named)
    nearest = [[hit.node.id for hit in near(store, data).hits] for data in vectors_before.values()]
    pending = near(store, next(iter(vectors_before.values()))).pending
    sweep(store)
    assert ([found_by_words(store, each) for each in words.values()], store.by_name(OPERATOR, NOW, named)) == before
    assert store.vectors(OPERATOR, MODEL, [row.content_hash for row in others]) == vectors_before
    assert [[hit.node.id for hit in near(store, data).hits] for data in vectors_before.values()] == nearest
    assert near(store, next(iter(vectors_before.values()))).pending == pending
    assert before[0][0]
    assert before[1]
    assert nearest[0]


def test_how_many_texts_wait_for_a_vector_stays_right(store: SqliteStore) -> None:
    data = subject_texts()[0].vector
    assert near(store, data).pending == 0
    point_elsewhere(store, SUBJECT)
    sweep(store)
    assert near(store, data).pending == 1  # the empty text
    Scribe(store, ManualClock()).write(node("late", "a text that came later"))
    assert near(store, data).pending == 2


def test_a_second_sweep_has_nothing_to_do(store: SqliteStore, tmp_path: Path) -> None:
    point_elsewhere(store, SUBJECT)
    sweep(store)
    once = (tmp_path / "store" / "accounts" / "acme.db").stat().st_size
    assert sweep(store) == ()
    assert (tmp_path / "store" / "accounts" / "acme.db").stat().st_size == once
    assert left(tmp_path) == []


def test_a_text_that_was_said_again_by_another_stays(store: SqliteStore) -> None:
    one = subject_texts()[1]
    point_elsewhere(store, SUBJECT)
    Scribe(store, ManualClock()).write(node("again", one.text, name=one.name, summary=one.summary))
    sweep(store)
    assert found_by_words(store, one.words[1]) == ["again"]
    assert near(store, one.vector).hits[0].node.id == "again"
    assert [found.node.id for found in store.by_name(OPERATOR, NOW, [alias_key(one.name)])] == ["again"]


def test_what_is_written_last_can_be_erased_and_others_written_after(store: SqliteStore, tmp_path: Path) -> None:
    """Numbers of texts and vectors at the end are given out again: who has them then is found, and nobody else."""
    scribe = Scribe(store, ManualClock())
    last = Planted(words=("Vexlingworths",), text="Vexlingworths came last", vector=subject_texts()[0].vector[::-1])
    scribe.write(*(node(f"l{n}", f"{last.text} {n}") for n in range(70)))  # enough for the index to take them in
    row = planting.unit_row(np.random.default_rng(9))
    made = [vector_of("", "", f"{last.text} {n}", (row + n / 500).astype("<f2").tobytes()) for n in range(70)]
    store.put_vectors(OPERATOR.account, made)
    assert near(store, made[0].data).hits[0].node.id == "l0"
    point_elsewhere(store, [f"l{n}" for n in range(70)])
    sweep(store)
    assert search(tmp_path / "store", [Planted(words=last.words, text=f"{last.text} 69")]) == []
    scribe.write(*(node(f"m{n}", f"Merriweather spoke {n} times") for n in range(70)))
    store.put_vectors(
        OPERATOR.account,
        [vector_of("", "", f"Merriweather spoke {n} times", (-row).astype("<f2").tobytes()) for n in range(70)],
    )
    assert len(scribe.search("Merriweather", limit=100).hits) == 70
    assert {hit.node.id for hit in near(store, (-row).astype("<f2").tobytes(), limit=70).hits} == {
        f"m{n}" for n in range(70)
    }
    assert not {hit.node.id for hit in near(store, made[0].data, limit=300).hits} & {f"l{n}" for n in range(70)}


def test_a_vector_made_of_a_text_that_is_gone_by_then_is_not_kept(store: SqliteStore, tmp_path: Path) -> None:
    one = subject_texts()[2]
    point_elsewhere(store, SUBJECT)
    sweep(store)
    store.put_vectors(OPERATOR.account, [vector_of(one.name, one.summary, one.text, one.vector, one.parts)])
    assert left(tmp_path) == []


def test_only_operators_sweep(store: SqliteStore) -> None:
    for viewer in (STAFF, PUBLIC):
        with pytest.raises(Forbidden):
            store.sweep(viewer, progress=lambda done, total: None)


def test_an_account_that_has_nothing_is_swept_at_once(tmp_path: Path) -> None:
    assert sweep(store_at(tmp_path / "empty")) == ()
    assert not (tmp_path / "empty" / "accounts").exists()


# Index files


@pytest.fixture
def published(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> SqliteStore:
    monkeypatch.setattr(vectors, "PUBLISH_AT", 100)
    monkeypatch.setattr(vectors, "GATHER_AT_MOST", 5)
    assert store.reindex(OPERATOR, progress=lambda done, total: None)
    return store


def test_index_files_that_hold_an_erased_vector_go_and_others_search_on(published: SqliteStore, tmp_path: Path) -> None:
    other = store_at(tmp_path / "store")  # has the file mapped
    erased = subject_texts()[3].vector
    assert near(other, erased).hits[0].node.id == "s3"
    point_elsewhere(published, SUBJECT)
    sweep(published)
    assert left(tmp_path) == []
    for store in (published, other):
        hits = near(store, erased, limit=300).hits
        assert len(hits) == 240
        assert not {hit.node.id for hit in hits} & set(SUBJECT)
        assert near(store, erased).notes == ()


def test_whoever_held_an_erased_vector_does_not_publish_it_again(published: SqliteStore, tmp_path: Path) -> None:
    other = store_at(tmp_path / "store")
    assert near(other, subject_texts()[3].vector).hits[0].node.id == "s3"
    point_elsewhere(published, SUBJECT)
    sweep(published)
    assert other.reindex(OPERATOR, progress=lambda done, total: None)
    assert list((tmp_path / "store" / "accounts" / "acme.index").glob("vectors-*"))
    assert left(tmp_path) == []


def test_an_index_that_was_being_made_meanwhile_goes_too(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "PUBLISH_AT", 100)
    monkeypatch.setattr(sweeping, "PATIENCE_S", 0.1)
    other, notes = store_at(tmp_path / "store"), []

    def in_the_middle(done: int, total: int) -> None:
        point_elsewhere(other, SUBJECT)
        notes.extend(sweep(other))

    store.reindex(OPERATOR, progress=in_the_middle)
    assert any("making index files" in note for note in notes)
    assert not list((tmp_path / "store" / "accounts" / "acme.index").glob("vectors-*"))
    sweep(store)
    assert left(tmp_path) == []


# Others who are in the way


def test_a_long_read_is_said_and_the_next_sweep_ends_it(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "PATIENCE_S", 0.1)
    reader = apsw.Connection(str(tmp_path / "store" / "accounts" / "acme.db"))
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM text").fetchall()
    point_elsewhere(store, SUBJECT)
    (note,) = sweep(store)
    assert "write-ahead log" in note
    assert left(tmp_path)
    reader.execute("COMMIT")
    assert sweep(store) == ()
    assert left(tmp_path) == []
    reader.close()


def test_tables_that_a_rebuild_left_go_and_one_that_goes_on_stops(store: SqliteStore, tmp_path: Path) -> None:
    with store._writing(OPERATOR.account) as db:
        work = SideTableRebuild(db, OPERATOR.account, commit_genesis(OPERATOR.account), apply_events)
        work.begin()
        work.slice()
    point_elsewhere(store, SUBJECT)
    sweep(store)
    assert left(tmp_path) == []
    with store._writing(OPERATOR.account) as db:
        assert db.execute("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'side%'").fetchone() == (0,)
        with pytest.raises(Conflict):
            work.slice()


# In memory


def test_a_store_in_memory_lets_go_of_texts_and_vectors() -> None:
    store = MemoryStore(commit_genesis, clock=ManualClock())
    scribe = Scribe(store, ManualClock())
    scribe.write(node("a", "one"), node("b", "two"))
    store.put_vectors(OPERATOR.account, [vector_of("", "", text, b"\0<" * 4) for text in ("one", "two")])
    graph = store._accounts[OPERATOR.account].graph
    for row, version in list(graph.nodes.items()):
        if version.id == "a":
            del graph.nodes[row]
    with pytest.raises(Forbidden):
        store.sweep(STAFF, progress=lambda done, total: None)
    assert store.sweep(OPERATOR, progress=lambda done, total: None) == ()
    assert not store._accounts[OPERATOR.account].has_text(content_hash("", "", "one"))
    assert [key for _, key in store._accounts[OPERATOR.account].vectors] == [content_hash("", "", "two")]
    assert [hit.node.id for hit in scribe.search("two").hits] == ["b"]
