"""Topics an agent follows: what is tagged for nobody is found through them, what is tagged for others never is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from weft.backends.memory import MemoryStore
from weft.backends.sqlite.store import SqliteStore
from weft.config import load_settings
from weft.errors import Misconfigured
from weft.log.chain import commit_genesis
from weft.loom import Loom
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, memory_of
from weft.testing.viewers import ANN

from .small_worlds import PROJECT, SETTINGS, WordEmbedder, loom_over
from .views_world import call

QUESTION = "when does the ferry sail to Ysolde"


@pytest.fixture(params=["memory", "sqlite"])
def loom(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    clock = ManualClock()
    store: Any = (
        MemoryStore(commit_genesis, clock=clock)
        if request.param == "memory"
        else SqliteStore(tmp_path / "store", commit_genesis, clock=clock)
    )
    writer = loom_over(store, clock, embedder=WordEmbedder())
    scribe = Scribe(store, clock)
    for node_id, text, guard in (
        ("mine", "the bakery opens at six", {"agents": ("ann",)}),
        ("open", "the ferry sails to Ysolde at nine", {}),
        ("tagged", "the boat to Ysolde sails when the bell rings", {"props": {"keywords": ["Ferries"]}}),
        (
            "bobs",
            "the ferry sails to Ysolde at midnight, for Bob",
            {"agents": ("bob",), "props": {"keywords": ["ferry"]}},
        ),
        ("secret", "the ferry sails to Ysolde with gold", {"scope": "admin", "props": {"keywords": ["ferry"]}}),
        ("apart", "the ferry museum was painted green", {"props": {"keywords": ["ferries"]}}),
    ):
        writer.append([memory_of(node_id, text, **{"project": PROJECT, **guard})])
    assert scribe.store is store
    viewer = replace(ANN, scopes=frozenset({"public", "shared"}))
    yield replace(writer, viewer=viewer)
    store.close()


def following(loom: Loom, *keywords: str) -> Loom:
    return replace(loom, settings=replace(SETTINGS, keywords=keywords))


def found(loom: Loom, operation: str = "recall") -> list[str]:
    answer = call(loom, operation, query=QUESTION)
    assert all(hit["node"]["citation"] for hit in answer["hits"])
    return [hit["node"]["id"] for hit in answer["hits"]]


def test_untagged_memories_are_found_through_keywords_only(loom: Loom) -> None:
    assert found(following(loom)) == []
    assert found(following(loom, "bakery")) == []
    through = found(following(loom, "ferry", "Ferries"))
    assert through[0] == "open"
    assert {"open", "tagged"} <= set(through) <= {"open", "tagged", "apart"}
    assert found(following(loom, "FERRIES"))[0] in ("tagged", "open")


def test_the_part_is_named_in_the_explanation(loom: Loom) -> None:
    answer = call(following(loom, "ferry"), "recall", query=QUESTION, explain=True)
    assert [part for part in answer["hits"][0]["why"] if part["name"] == "subscription"]


def test_at_most_five_are_read_and_long_ones_refused(tmp_path: Path) -> None:
    def settings(value: str) -> Any:
        return load_settings(tmp_path, {"HOME": str(tmp_path), "WEFT_KEYWORDS": value})

    assert settings("ferries, tides ,ferries").keywords == ("ferries", "tides")
    for bad in ("a,b,c,d,e,f", "x" * 65):
        with pytest.raises(Misconfigured, match="keywords"):
            settings(bad)
