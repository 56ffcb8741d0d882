"""One part of the graph, or the place of the store, is gone: the others answer."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.retrieval import broken_store as broken
from tests.retrieval.broken_store import Break
from tests.retrieval.lost_graph import (
    GONE,
    LEAVES,
    MARTA,
    NOTES,
    QUESTION,
    SAID,
    SECRET,
    asked,
    check_from_log,
    memory_at,
    pristine,
    store,
    texts,
)
from weft.backends.sqlite.search import adjacency, vectors
from weft.core.errors import ReadOnly, StoreError
from weft.recall.recall import Recalled

__all__ = ["pristine", "store"]  # fixtures


def noted(answer: Recalled, part: str) -> bool:
    return any(note.startswith(f"the step {part} could not read the store") for note in answer.notes)


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


# ---- one part is gone, the others answer


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
    assert any(note.startswith("citations could not be read") for note in answer.notes)


@pytest.fixture
def indexed(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store with an index file for vectors and one for relations."""
    monkeypatch.setattr(vectors, "PUBLISH_AT", 20)
    monkeypatch.setattr(vectors, "GATHER_AT_MOST", 2)
    monkeypatch.setattr(vectors, "GATHER_SHARE", 0.0)
    monkeypatch.setattr(adjacency, "PUBLISH_AT", 20)
    with memory_at(store, by_meaning=True, WEFT_SENSITIVE="true") as memory:
        made = memory.ctx.store.reindex(memory.ctx.viewer, progress=lambda done, total: None)
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
            for question in (QUESTION, "Marta Okonro", "contexts and threads"):
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
            for question in (QUESTION, "Marta Okonro", "contexts and threads"):
                with suppress(StoreError):
                    answer = memory.recall(question)
                    assert answer.hits or answer.notes
                    assert not [note for note in answer.notes if "by a fault in weft" in note]
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
    monkeypatch.setattr("weft.backends.sqlite.files.connection.BUSY_TIMEOUT_MS", 100)
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
