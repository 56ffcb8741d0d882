"""Many texts in one call: as if each had been kept by itself, in far fewer commits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import weft
from weft.core.types import Find, NodeVersion, When

TEXTS = (
    "We chose Redis for sessions because Postgres locks were slow.",
    "Mira Okafor looks after the ferry timetable of Harwich.",
    "The ferry timetable of Harwich changes every spring, says Mira Okafor.",
    "Ana lives in Rome.",
    "Ana lives in Oslo.",
    "We chose Redis for sessions because Postgres locks were slow.",
    "We chose Redis for the sessions because the locks of Postgres were slow.",
    "The harbour office closes at four on Fridays.",
    "Nobody knows where the spare keys of the shed went.",
    "Thick fog held up two crossings this week.",
    "A new ladder was bought for the pilot boat.",
)


@pytest.fixture
def memory_in(tmp_path: Path) -> Callable[[str], weft.Memory]:
    def opened(name: str) -> weft.Memory:
        environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "none", "WEFT_PROJECT": "ferry", "WEFT_AUDIT": "off"}
        return weft.open(f"sqlite://{tmp_path / name}", directory=tmp_path, environment=environment)

    return opened


def kept(memory: weft.Memory) -> list[tuple[str, str, str, str]]:
    """What is there: kinds, names and texts, and what each memory was told to be."""

    def told(node: NodeVersion) -> str:
        return str(node.props.get("value", ""))

    found = memory.ctx.store.find(memory.ctx.viewer, When(), Find(), limit=500).nodes
    return sorted((node.kind, node.name, node.text, told(node)) for node in found)


def links(memory: weft.Memory) -> list[tuple[str, str, str]]:
    store, viewer = memory.ctx.store, memory.ctx.viewer
    found = store.find(viewer, When(), Find(), limit=500).nodes
    names = {node.id: node.name or node.text for node in found}
    steps = store.neighbours(viewer, When(), tuple(names), direction="out", limit=500)
    return sorted((names[step.start], step.edge.rel, step.node.name or step.node.text) for step in steps)


def test_as_if_each_had_been_kept_by_itself(memory_in: Callable[[str], weft.Memory]) -> None:
    with memory_in("one") as one, memory_in("many") as many:
        single = [one.remember(text) for text in TEXTS]
        told = many.remember_many(items=[{"text": text} for text in TEXTS])
        assert (told.status, told.written) == ("saved", len(TEXTS))
        assert [item.status for item in told.items] == [each.status for each in single]
        assert [bool(item.citation) for item in told.items] == [True] * len(TEXTS)
        assert len({item.citation for item in told.items}) == len(TEXTS)
        assert [[without_ids(note) for note in item.notes] for item in told.items] == [
            [without_ids(note) for note in each.notes] for each in single
        ]
        assert kept(many) == kept(one)
        assert links(many) == links(one)
        commits = [
            len(memory.ctx.store.log(memory.ctx.operator("count"), after=0, limit=999)) for memory in (one, many)
        ]
        assert commits[1] < commits[0]
        assert [many.cite(item.citation).matches for item in told.items] == [True] * len(TEXTS)


def without_ids(note: str) -> str:
    """A note without the ids and citations in it, which differ between stores."""
    return " ".join(word for word in note.split() if word.count("-") != 4 and "weft://" not in word)


def test_a_bad_one_costs_only_itself(memory_in: Callable[[str], weft.Memory]) -> None:
    with memory_in("store") as memory:
        told = memory.remember_many(
            items=[{"text": "One."}, {"text": " "}, {"text": "Two.", "kind": "Proposal"}, {"text": "Three."}]
        )
        assert (told.status, told.failed) == ("partial", (1, 2))
        assert {text for kind, _, text, _ in kept(memory) if kind == "Memory"} == {"One.", "Three."}
