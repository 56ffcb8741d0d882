"""Index files are derived: lost or damaged ones are made again, and no answer is wrong meanwhile."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from weft.backends.sqlite.search import adjacency, vectors
from weft.backends.sqlite.search.index_files import META
from weft.backends.sqlite.store import SqliteStore
from weft.core.queries import TextVector, VectorQuery
from weft.core.types import NOW, SCOPES, Viewer
from weft.log.chain import commit_genesis
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, deleted, edge, node
from weft.testing.viewers import OPERATOR
from weft.text.lexical import content_hash

COUNT = 400
DIMENSIONS = 16
MODEL = "test/16"
PUBLIC = Viewer(account=OPERATOR.account, scopes=frozenset({"public"}))


@pytest.fixture(autouse=True)
def small_generations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "PUBLISH_AT", 100)
    monkeypatch.setattr(adjacency, "PUBLISH_AT", 100)
    monkeypatch.setattr(vectors, "GATHER_AT_MOST", 5)


def directions() -> np.ndarray:
    drawn = np.random.default_rng(5).normal(size=(COUNT, DIMENSIONS)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def store_at(path: Path) -> SqliteStore:
    return SqliteStore(path, commit_genesis, clock=ManualClock())


def vector(number: int, row: np.ndarray) -> TextVector:
    return TextVector(
        model=MODEL, content_hash=content_hash("", "", f"text {number}"), data=row.astype("<f2").tobytes()
    )


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    store = store_at(tmp_path / "store")
    scribe = Scribe(store, ManualClock())
    scribe.write(*(node(f"n{n}", f"text {n}", scope=SCOPES[n % 3]) for n in range(COUNT)))
    scribe.write(*(edge(f"n{n}", "CALLS", f"n{n // 2}") for n in range(1, COUNT)))
    store.put_vectors(OPERATOR.account, [vector(n, row) for n, row in enumerate(directions())])
    store.close()
    return tmp_path / "store"


def asked(store: SqliteStore, viewer: Viewer, number: int) -> tuple[list[str], tuple[str, ...]]:
    query = VectorQuery(model=MODEL, data=directions()[number].tobytes())
    found = store.search_vector(viewer, NOW, query, limit=10)
    return [hit.node.id for hit in found.hits], found.notes


def walked(store: SqliteStore, viewer: Viewer) -> tuple[list[tuple[str, float]], tuple[str, ...]]:
    found = store.walk(viewer, NOW, {"n9": 1.0}, limit=30)
    return [(name, round(score, 6)) for name, score in found.scores], found.notes


def answers(store: SqliteStore) -> tuple[list[set[str]], list[list[tuple[str, float]]]]:
    viewers = (OPERATOR, PUBLIC)
    found = [set(asked(store, viewer, number)[0]) for viewer in viewers for number in range(0, COUNT, 20)]
    return found, [sorted(walked(store, viewer)[0]) for viewer in viewers]


def check_same(store: SqliteStore, exact: tuple[list[set[str]], list[list[tuple[str, float]]]]) -> None:
    """Walks are exact; HNSW may miss one in fifty."""
    found, walks = answers(store)
    assert walks == exact[1]
    shared = sum(len(mine & theirs) for mine, theirs in zip(found, exact[0], strict=True))
    assert shared >= 0.98 * sum(map(len, exact[0]))


def generations(path: Path) -> list[Path]:
    return sorted(p for p in (path / "accounts" / f"{OPERATOR.account}.index").iterdir() if p.is_dir())


def publish(path: Path) -> tuple[str, ...]:
    store = store_at(path)
    made = store.reindex(OPERATOR, progress=lambda done, total: None)
    store.close()
    return made


def test_published_indexes_answer_as_the_tables_do(filled: Path) -> None:
    before = store_at(filled)
    exact = answers(before)
    before.close()
    made = publish(filled)
    assert not [each for each in filled.rglob("*") if each.stat().st_mode & 0o077], "they are their owner's alone"
    assert any(line.startswith("vectors-") for line in made)
    assert any(line.startswith("relations-") for line in made)
    check_same(store_at(filled), exact)


def test_what_is_written_after_publishing_is_in_the_next_answer(filled: Path) -> None:
    publish(filled)
    store = store_at(filled)
    answers(store)
    scribe = Scribe(store, ManualClock())
    scribe.write(node("new", "text 9999"), edge("n9", "CALLS", "new", weight=50.0))
    row = directions()[7]
    store.put_vectors(OPERATOR.account, [vector(9999, row)])
    assert "new" in asked(store, OPERATOR, 7)[0][:2]
    assert walked(store, PUBLIC)[0][1][0] == "new" or dict(walked(store, PUBLIC)[0])["new"] > 0.2
    scribe.write(deleted("new"))
    assert "new" not in asked(store, OPERATOR, 7)[0]
    assert "new" not in dict(walked(store, OPERATOR)[0])


def test_relations_are_published_alone_and_again_when_many_more_came(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_at(filled)
    made = store.publish_relations(OPERATOR)
    assert made is not None
    assert made.startswith("relations-")
    assert [path.name for path in generations(filled)] == [made.partition(":")[0]]
    assert store.publish_relations(OPERATOR) is None, "nothing new"
    scribe = Scribe(store, ManualClock())
    scribe.write(node("few", "text"), *(edge(f"n{n}", "READS", "few") for n in range(5)))
    assert store.publish_relations(OPERATOR) is None, "few are read beside what is published"
    scribe.write(node("hub", "text"), *(edge(f"n{n}", "READS", "hub") for n in range(COUNT)))
    assert (again := store.publish_relations(OPERATOR)) is not None
    assert [path.name for path in generations(filled)] == [again.partition(":")[0]]
    monkeypatch.setattr(adjacency, "build", None)  # whoever comes later maps what is published
    assert "hub" in dict(walked(store_at(filled), OPERATOR)[0])


def flip(file: Path) -> None:
    raw = bytearray(file.read_bytes())
    raw[:64] = bytes(255 - byte for byte in raw[:64])
    file.write_bytes(bytes(raw))


def flip_one(file: Path) -> None:
    raw = bytearray(file.read_bytes())
    raw[len(raw) * 2 // 3] ^= 8
    file.write_bytes(bytes(raw))


DAMAGES = {
    "missing file": lambda path: next(f for f in path.iterdir() if f.name != META).unlink(),
    "no meta": lambda path: (path / META).unlink(),
    "meta is no JSON": lambda path: (path / META).write_text("{"),
    "meta is a list": lambda path: (path / META).write_text("[]"),
    "cut short": lambda path: [f.write_bytes(f.read_bytes()[: f.stat().st_size // 2]) for f in path.iterdir()],
    "header flipped": lambda path: [flip(f) for f in path.iterdir() if f.name != META],
    "one bit flipped": lambda path: [flip_one(f) for f in path.iterdir() if f.name != META],
    "emptied": lambda path: [f.write_bytes(b"") for f in path.iterdir()],
    "foreign": lambda path: [f.write_bytes(b"x" * f.stat().st_size) for f in path.iterdir() if f.name != META],
    "newer format": lambda path: (path / META).write_text(
        json.dumps(json.loads((path / META).read_text()) | {"format": 99})
    ),
    "gone": shutil.rmtree,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_generations_are_passed_over_said_so_and_made_again(filled: Path, damage) -> None:
    before = store_at(filled)
    exact = answers(before)
    before.close()
    publish(filled)
    for path in generations(filled):
        damage(path)
    store = store_at(filled)
    assert answers(store) == exact, "everything is tail now, and exact"
    store.close()
    made = publish(filled)
    assert len(made) == 2
    check_same(store_at(filled), exact)


def test_the_answer_says_that_an_index_was_damaged(filled: Path) -> None:
    publish(filled)
    for path in generations(filled):
        (path / META).write_text("{")
    store = store_at(filled)
    assert "damaged" in " ".join(asked(store, OPERATOR, 1)[1])
    assert "damaged" in " ".join(walked(store, OPERATOR)[1])


def test_a_rebuild_makes_old_snapshots_void(filled: Path) -> None:
    publish(filled)
    store = store_at(filled)
    expected = answers(store)
    Scribe(store, ManualClock()).rebuild()
    check_same(store, expected)


def test_half_written_generations_are_never_seen(filled: Path) -> None:
    """A process killed while it publishes leaves nothing that a reader would take for an index."""
    script = (
        "import sys, os\n"
        "from weft.backends.sqlite.search import adjacency, index_files, vectors\n"
        "from pathlib import Path\n"
        "vectors.PUBLISH_AT = adjacency.PUBLISH_AT = 100\n"
        "index_files.sync_path = lambda path: os.kill(os.getpid(), 9)\n"
        "from tests.backends.test_index_files import publish\n"
        "publish(Path(sys.argv[1]))\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script, str(filled)], cwd=root, capture_output=True, check=False)
    assert done.returncode == -9
    store = store_at(filled)
    assert asked(store, OPERATOR, 3)[0][0] == "n3"
    assert asked(store, OPERATOR, 3)[1] == ()
    assert len(publish(filled)) == 2


def test_one_process_publishes_at_a_time(filled: Path) -> None:
    import fcntl

    directory = filled / "accounts" / f"{OPERATOR.account}.index"
    directory.mkdir(exist_ok=True)
    with (directory / "indexer.lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert publish(filled) == ("another process is making the indexes now",)
    assert len(publish(filled)) == 2


def test_hnsw_finds_what_exact_search_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clustered directions, not uniform noise; recall at 10 of real embeddings is measured in benchmarks."""
    monkeypatch.setattr(vectors, "PUBLISH_AT", 2_000)
    chance = np.random.default_rng(9)
    centres = chance.normal(size=(40, 64))
    rows = (centres[chance.integers(0, 40, 4_000)] + chance.normal(scale=0.6, size=(4_000, 64))).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    store = store_at(tmp_path / "store")
    scribe = Scribe(store, ManualClock())
    for start in range(0, 4_000, 1_000):
        scribe.write(*(node(f"n{n}", f"text {n}") for n in range(start, start + 1_000)))
    store.put_vectors(OPERATOR.account, [vector(n, row) for n, row in enumerate(rows)])
    store.reindex(OPERATOR, progress=lambda done, total: None)
    hits = 0
    for number in range(0, 4_000, 80):
        exact = {f"n{n}" for n in np.argsort(-(rows @ rows[number]))[:10]}
        query = VectorQuery(model=MODEL, data=rows[number].tobytes())
        hits += len(exact & {hit.node.id for hit in store.search_vector(OPERATOR, NOW, query, limit=10).hits})
    assert hits / 500 >= 0.98


def test_index_and_embedder_live_in_one_process_whichever_comes_first() -> None:
    """Versions of the HNSW library are known that crash a process in which the embedder's runtime is loaded later."""
    for order in ("usearch.index, onnxruntime", "onnxruntime, usearch.index"):
        done = subprocess.run([sys.executable, "-c", f"import {order}"], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
