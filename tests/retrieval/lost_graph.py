"""A store whose graph is damaged or gone, and what its log still answers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import weft
from tests.retrieval.small_worlds import WordEmbedder
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.models.embedding import Embedding
from weft.recall.recall import Recalled
from weft.retrieval.fallback.from_log import MARK
from weft.testing.clock import ManualClock
from weft.testing.scribe import deleted
from weft.text.encryption import new_key

QUESTION = "when does the ferry leave?"


LEAVES = "The ferry leaves at nine."


MARTA = "Marta Okonro captains the ferry Velmora."


SAID = "ann: I take the ferry to work."


NOTES = [f"Note {n}: contexts and threads." for n in range(70)]


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
            memory.ctx = replace(memory.ctx, embedding=Embedding(WordEmbedder(), clock))
        yield memory


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with memories, a named one, turns of a talk and relations; one deleted, one sensitive. Closed."""
    store = tmp_path_factory.mktemp("pristine") / "store"
    with memory_at(store, by_meaning=True, WEFT_SENSITIVE="true") as memory:
        memory.remember(LEAVES)
        memory.remember(MARTA, name="Marta Okonro")
        memory.record_turns("talk", [SAID, "bob: The harbour master waves."])
        memory.ctx.append([deleted(memory.remember(GONE).id)])
        memory.remember(SECRET, sensitive=True)
        notes = [memory.remember(note).id for note in NOTES]
        edges = tuple(graph.EdgeAssertion(src=one, rel="NEXT", dst=other) for one, other in pairwise(notes))
        memory.ctx.append([Draft(kind="graph.asserted", payload=graph.Asserted(edges=edges))])
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
    assert any(note.startswith(f"the graph could not be read ({answer.degraded})") for note in answer.notes)
