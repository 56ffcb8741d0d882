"""Real stores, broken for real: the parts that are left answer, the log does where none is, and the answer says so."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace
from tests.retrieval import broken_store as broken
from tests.retrieval.broken_store import Break
from tests.retrieval.small_worlds import WordEmbedder

import weft
from weft.backends.sqlite import adjacency, vectors
from weft.embedding import Embedding
from weft.errors import Corrupt, ReadOnly, StoreError
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.operations import upkeep
from weft.operations.recalling import Recalled
from weft.retrieval import from_log
from weft.retrieval.from_log import MARK
from weft.sealing import new_key
from weft.testing.clock import ManualClock
from weft.testing.scribe import deleted

QUESTION = "when does the ferry leave?"
LEAVES = "The ferry leaves at nine."
MARTA = "Marta Okonro captains the ferry Velmora."
SAID = "ann: I take the ferry to work."
NOTES = [f"Note {n}: looms and threads." for n in range(70)]
GONE = "The ferry leaves at noon."
SECRET = "The ferry leaves at midnight with the gold."


@contextmanager
def memory_at(store: Path, *, by_meaning: bool = False, **settings: str) -> Iterator[weft.Memory]:
    """The memory of a store, asked by words alone or by what they mean too."""
    environment = {
        "HOME": str(store.parent),
        "WEFT_EMBEDDER": "none",
        "WEFT_AUDIT": "off",
        "WEFT_PROJECT": "quay",
        "WEFT_SENSITIVE_KEY": new_key("tests"),
        **settings,
    }
    clock = ManualClock()
    clock.step(10**12)
    with weft.open(f"sqlite://{store}", directory=store.parent, environment=environment, clock=clock) as memory:
        if by_meaning:
            memory.loom = replace(memory.loom, embedding=Embedding(WordEmbedder(), clock))
        yield memory


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with memories, a named one, turns of a talk and relations; one deleted, one sensitive. Closed."""
    store = tmp_path_factory.mktemp("pristine") / "store"
    with memory_at(store, by_meaning=True, WEFT_SENSITIVE="true") as memory:
        memory.remember(LEAVES)
        memory.remember(MARTA, name="Marta Okonro")
        memory.record_turns("talk", [SAID, "bob: The harbour master waves."])
        memory.loom.append([deleted(memory.remember(GONE).id)])
        memory.remember(SECRET, sensitive=True)
        notes = [memory.remember(note).id for note in NOTES]
        edges = tuple(graph.EdgeAssertion(src=one, rel="NEXT", dst=other) for one, other in pairwise(notes))
        memory.loom.append([Draft(kind="graph.asserted", payload=graph.Asserted(edges=edges))])
    return store


@pytest.fixture
def store(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "store"))


def asked(store: Path, query: str = QUESTION, *, by_meaning: bool = False, **more: Any) -> Recalled:
    with memory_at(store, by_meaning=by_meaning) as memory:
        return memory.recall(query, **more)


def texts(answer: Recalled) -> list[str]:
    return [hit.node.text for hit in answer.hits]


def check_from_log(answer: Recalled) -> None:
    """The log answered, said so, and kept to itself what the graph would have."""
    assert answer.status == "succeeded"
    assert texts(answer)[0] == LEAVES
    assert {SAID, MARTA} <= set(texts(answer))
    assert not {GONE, SECRET} & set(texts(answer))
    assert answer.degraded
    for hit in answer.hits:
        assert MARK in hit.marks
        assert hit.node.citation.startswith("weft://")
    assert any(note.startswith(f"the graph cannot answer ({answer.degraded})") for note in answer.notes)


def noted(answer: Recalled, part: str) -> bool:
    return any(note.startswith(f"the store could not serve {part}: ") for note in answer.notes)


# ---- nothing of the graph is left

NODES = ("ward", "node", "text", "node_version", "tx")
WITHOUT_NODES: dict[str, Break] = {
    **{f"{table} dropped": broken.drop(table) for table in NODES},
    **{f"{table} overwritten": broken.overwrite_tables(table) for table in NODES},
    "node_version renamed": broken.rename("node_version"),
    "everything dropped": broken.drop(*NODES, "edge", "edge_version", "alias", "text_index", "term_df", "ward_total"),
}


@pytest.mark.parametrize("by_meaning", [False, True], ids=["words", "words and meaning"])
@pytest.mark.parametrize("broke", WITHOUT_NODES.values(), ids=WITHOUT_NODES.keys())
def test_without_nodes_the_log_answers(store: Path, broke: Break, by_meaning: bool) -> None:
    broke(store)
    answer = asked(store, by_meaning=by_meaning, explain=True)
    check_from_log(answer)
    assert answer.stages[-1].stage == "log"
    for hit in answer.hits:
        (source,) = hit.why
        assert source.name == "log"
        assert hit.score == source.part == source.weight * source.raw
    assert len(answer.notes) <= 4, "one fault is told once, not by every stage"


def test_what_the_log_answers_can_be_cited_once_the_graph_is_back(store: Path, pristine: Path) -> None:
    broken.drop("node_version")(store)
    citation = asked(store).hits[0].node.citation
    with memory_at(pristine) as memory:
        (node,) = memory.cite(citation).nodes
    assert node.text == LEAVES


def test_questions_keep_their_limits_and_filters(store: Path) -> None:
    broken.drop("node_version")(store)
    assert len(asked(store, limit=2).hits) == 2
    assert texts(asked(store, kinds=["Message"])) == [SAID]
    assert asked(store, project="another").hits == ()
    assert set(texts(asked(store, everywhere=True))) >= {LEAVES, SAID}
    assert asked(store, known_at="2000-01-01").hits == ()
    assert asked(store, "zeppelin").status == "empty"
    assert asked(store, "zeppelin").degraded


def test_a_node_is_found_by_its_id(store: Path) -> None:
    hit = asked(store).hits[0]
    broken.drop("node_version")(store)
    (found,) = asked(store, hit.node.id).hits
    assert found.node.text == hit.node.text
    assert found.node.citation == hit.node.citation


def test_only_the_newest_of_a_long_log_are_searched(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken.drop("node_version")(store)
    monkeypatch.setattr(from_log, "MAX_EVENTS", 20)
    monkeypatch.setattr(from_log, "SLICE_EVENTS", 7)
    answer = asked(store, "looms ferry", limit=100)
    assert NOTES[-1] in texts(answer)
    assert NOTES[0] not in texts(answer)
    assert LEAVES not in texts(answer)
    assert any(note.startswith("only the newest ") for note in answer.notes)
    monkeypatch.setattr(from_log, "MAX_BYTES", 1_000)
    assert 0 < len(asked(store, "looms", limit=100).hits) < len(answer.hits)


def test_a_rebuild_brings_the_graph_back(store: Path) -> None:
    whole = asked(store)
    for broke in (broken.drop(*NODES), broken.drop("text_state", "text_index"), broken.drop("edge", "alias", "tx")):
        broke(store)
        with memory_at(store, WEFT_SENSITIVE="true") as memory:
            rebuild = next(each for each in upkeep.OPERATIONS if each.name == "rebuild")
            assert any("`weft rebuild`" in check.hint for check in memory.doctor().checks)
            memory.run(rebuild, {})
            assert memory.doctor().ok
        assert asked(store) == whole


# ---- a damaged log under a missing graph


def damage(store: Path, kind: str, how: str) -> None:
    db = apsw.Connection(str(broken.database(store)))
    db.execute(f"UPDATE event SET {how} WHERE kind = ?", (kind,))
    db.close()


@pytest.mark.parametrize(
    "how",
    ["payload = x'7b7d'", "payload = substr(payload, 1, 20)", "salt = NULL", "payload = zeroblob(8)"],
)
def test_what_is_older_than_damage_in_the_log_is_left_out(store: Path, how: str) -> None:
    """It may have been deleted just there."""
    broken.drop("node_version")(store)
    damage(store, "graph.deleted", how)
    answer = asked(store, "ferry looms", limit=100)
    assert set(texts(answer)) == set(NOTES)
    assert any(note.startswith("what is older than ") for note in answer.notes)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM event WHERE kind = 'graph.deleted'",
        "DELETE FROM commits WHERE first_pos = (SELECT pos FROM event WHERE kind = 'graph.deleted')",
        "UPDATE event SET kind = 'graph.delete' WHERE kind = 'graph.deleted'",
    ],
)
def test_a_gap_in_the_log_is_damage(store: Path, statement: str) -> None:
    broken.drop("node_version")(store)
    db = apsw.Connection(str(broken.database(store)))
    db.execute(statement)
    assert db.changes() == 1
    db.close()
    assert set(texts(asked(store, "ferry looms", limit=100))) == set(NOTES)


@pytest.mark.parametrize("broke", [broken.drop("commits"), broken.overwrite_tables("commits")])
def test_without_graph_and_log_there_is_an_error_and_no_empty_answer(store: Path, broke: Break) -> None:
    broke(store)
    with pytest.raises(Corrupt) as raised:
        asked(store)
    assert "weft doctor" in raised.value.hint


# ---- one part is gone, the others answer

WORDS = ("term_df", "text_journal", "text_state")
WITHOUT_WORDS: dict[str, Break] = {
    **{
        f"{table} dropped": broken.drop(table)
        for table in (*WORDS, "text_index", "text_index_data", "text_index_config")
    },
    **{
        f"{table} overwritten": broken.overwrite_tables(table)
        for table in (*WORDS, "text_index_data", "text_index_idx")
    },
}


@pytest.mark.parametrize("broke", WITHOUT_WORDS.values(), ids=WITHOUT_WORDS.keys())
def test_without_the_text_index_meaning_answers_and_without_both_the_log(store: Path, broke: Break) -> None:
    broke(store)
    answer = asked(store, by_meaning=True)
    assert LEAVES in texts(answer)
    assert not {GONE, SECRET} & set(texts(answer))
    assert noted(answer, "text")
    assert not answer.degraded
    check_from_log(asked(store))


OTHERS: dict[str, tuple[Break, str]] = {
    **{f"{table} dropped": (broken.drop(table), "vector") for table in ("vector", "model")},
    **{f"{table} overwritten": (broken.overwrite_tables(table), "vector") for table in ("vector", "model")},
    "alias dropped": (broken.drop("alias"), "names"),
    "alias overwritten": (broken.overwrite_tables("alias"), "names"),
    **{f"{table} dropped": (broken.drop(table), "walk") for table in ("edge", "edge_version")},
    **{f"{table} overwritten": (broken.overwrite_tables(table), "walk") for table in ("edge", "edge_version")},
}


@pytest.mark.parametrize(("broke", "part"), OTHERS.values(), ids=OTHERS.keys())
def test_without_one_part_the_others_answer(store: Path, broke: Break, part: str) -> None:
    broke(store)
    answer = asked(store, by_meaning=True)
    assert texts(answer)[0] == LEAVES
    assert not {GONE, SECRET} & set(texts(answer))
    assert noted(answer, part)
    assert not answer.degraded
    assert all(hit.node.citation for hit in answer.hits)


@pytest.mark.parametrize("table", ["event", "session"])
@pytest.mark.parametrize("how", [broken.drop, broken.overwrite_tables])
def test_without_the_log_the_graph_answers_uncited(store: Path, table: str, how: Callable[[str], Break]) -> None:
    how(table)(store)
    answer = asked(store)
    assert texts(answer)[0] == LEAVES
    assert noted(answer, "all citations and parts")


@pytest.fixture
def indexed(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store with an index file for vectors and one for relations."""
    monkeypatch.setattr(vectors, "PUBLISH_AT", 20)
    monkeypatch.setattr(vectors, "GATHER_AT_MOST", 2)
    monkeypatch.setattr(vectors, "GATHER_SHARE", 0.0)
    monkeypatch.setattr(adjacency, "PUBLISH_AT", 20)
    with memory_at(store, by_meaning=True, WEFT_SENSITIVE="true") as memory:
        made = memory.loom.store.reindex(memory.loom.viewer, progress=lambda done, total: None)
    assert len(made) == 2
    return store


def test_spoilt_index_files_cost_nothing_and_are_told(indexed: Path) -> None:
    whole = asked(indexed, by_meaning=True)
    spoilt = broken.spoil_indexes(indexed)
    assert len(spoilt) == 2
    answer = asked(indexed, by_meaning=True)
    assert texts(answer) == texts(whole)
    assert not answer.degraded
    for name in spoilt:
        assert any(name in note and "damaged" in note for note in answer.notes)


def test_any_page_may_be_overwritten(store: Path, tmp_path: Path) -> None:
    """Whatever it held: what is left answers, or an error says that nothing can. What is hidden stays hidden."""
    visible = {LEAVES, MARTA, SAID, "bob: The harbour master waves.", *NOTES}
    answered = degraded = 0
    for page in range(2, broken.page_count(store) + 1):
        work = Path(shutil.copytree(store, tmp_path / "work"))
        broken.overwrite(work, [page])
        with memory_at(work, by_meaning=True) as memory:
            for question in (QUESTION, "Marta Okonro", "looms and threads"):
                try:
                    answer = memory.recall(question)
                except StoreError:
                    continue
                answered += 1
                degraded += bool(answer.degraded)
                assert set(texts(answer)) - {""} <= visible
                assert answer.hits or answer.notes
        shutil.rmtree(work)
    assert answered > degraded > 0


@pytest.mark.parametrize("seed", range(4))
def test_bytes_may_be_flipped_anywhere(store: Path, tmp_path: Path, seed: int) -> None:
    """No part meets what it cannot read with an exception of its own: it says that the store is damaged."""
    chance = random.Random(seed)
    for _ in range(12):
        work = Path(shutil.copytree(store, tmp_path / "work"))
        broken.scatter(work, chance)
        with memory_at(work, by_meaning=True) as memory:
            for question in (QUESTION, "Marta Okonro", "looms and threads"):
                with suppress(StoreError):
                    answer = memory.recall(question)
                    assert answer.hits or answer.notes
                    assert not [note for note in answer.notes if "failed inside" in note]
        shutil.rmtree(work)


# ---- the place of the store


def test_a_store_that_vanishes_while_open_is_an_error_and_nothing_is_lost_silently(store: Path) -> None:
    with memory_at(store) as memory:
        assert memory.recall(QUESTION).hits
        shutil.move(store, store.with_name("elsewhere"))
        told: list[str] = []

        def ask() -> None:
            try:
                told.append(memory.recall(QUESTION).status)
            except StoreError as problem:
                told.append(problem.message)

        other = threading.Thread(target=ask)
        other.start()
        other.join()
        ask()
        assert all("deleted, moved or replaced" in each for each in told)
        with pytest.raises(StoreError, match="deleted, moved or replaced"):
            memory.remember("written to nowhere")
        assert not store.exists(), "no second store is begun in its place"
        shutil.move(store.with_name("elsewhere"), store)
        assert texts(memory.recall(QUESTION))[0] == LEAVES
        memory.remember("it is back")
    assert "it is back" in texts(asked(store, "is it back"))


def test_another_store_in_its_place_is_not_taken_for_it(store: Path, pristine: Path) -> None:
    with memory_at(store) as memory:
        assert memory.recall(QUESTION).hits
        shutil.rmtree(store)
        shutil.copytree(pristine, store)
        with pytest.raises(StoreError, match="deleted, moved or replaced"):
            memory.recall(QUESTION)


HOLDER = """
import sys, apsw
db = apsw.Connection(sys.argv[1])
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def test_reads_go_on_while_another_process_holds_the_lock(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.backends.sqlite.connection.BUSY_TIMEOUT_MS", 100)
    with memory_at(store, by_meaning=True) as memory:
        whole = memory.recall(QUESTION)
        arguments = [sys.executable, "-c", HOLDER, str(broken.database(store))]
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            assert memory.recall(QUESTION) == whole
            with memory_at(store) as second:
                assert texts(second.recall(QUESTION))[0] == LEAVES
                assert second.remember("not now").status == "pending_retry"
            holder.communicate()


def as_nobody(work: Callable[[], bytes]) -> bytes:
    """Runs in a child without a superuser's rights, to whom a file's mode says nothing."""
    reader, sender = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            said = work()
        except BaseException as problem:
            said = f"raised {problem!r}".encode()
        os.write(sender, said)
        os._exit(0)
    os.close(sender)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.parametrize("broke", [None, broken.drop("node_version")], ids=["whole", "without nodes"])
def test_a_copy_on_a_read_only_disk_is_asked_as_it_stands(pristine: Path, broke: Break | None) -> None:
    place = Path(tempfile.mkdtemp(prefix="weft-read-only-"))
    try:
        store = Path(shutil.copytree(pristine, place / "store"))
        if broke is not None:
            broke(store)
        for each in (*store.rglob("*"), store, place):
            each.chmod(0o555 if each.is_dir() else 0o444)

        def work() -> bytes:
            with memory_at(store) as memory:
                answer = memory.recall(QUESTION)
                try:
                    memory.remember("cannot be kept")
                except ReadOnly as problem:
                    return "\n".join([str(bool(answer.degraded)), problem.hint, *texts(answer)]).encode()
            return b"it was written"

        degraded, hint, *found = as_nobody(work).decode().split("\n")
        assert degraded == str(broke is not None)
        assert hint
        assert found[0] == LEAVES
        assert not {GONE, SECRET} & set(found)
    finally:
        for each in (place, *place.rglob("*")):
            each.chmod(0o755)
        shutil.rmtree(place)
