"""Documents by section and chunk: what is erased of them leaves no byte, and what sums it up does not tell of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.erasure.byte_search import Planted, search
from weft.core.types import NodeVersion
from weft.log.draft import Draft
from weft.log.kinds import document
from weft.log.verify import verify
from weft.testing.clock import DAY_US, ManualClock
from weft.text.lexical import content_hash

DOCUMENT = "ferry/guests.md"
SECTION = f"{DOCUMENT}#Guests"
SUMMARY = "The murgelstoff came at noon."
ARRIVED = "The murgelstoff came at noon. With it came the xylotrachen, in a wicker basket."
WORDS = ("xylotrachen", "murgelstoff")


def chunk(number: int, text: str, **props: Any) -> document.ChunkText:
    place = {"id": f"{SECTION}¶{number}", "line": 2 * number, "end_line": 2 * number}
    return document.ChunkText(**place, text=text, summary="Harbour › Guests", props=props)


def version(*chunks: document.ChunkText) -> Draft:
    """A version of the document that tells some chunks of it, and sums up all of them."""
    section = document.SectionText(
        id=SECTION, title="Guests", level=1, line=1, end_line=9, summary=SUMMARY, chunks=chunks
    )
    payload = document.Ingested(
        id=DOCUMENT,
        source="guests.md",
        title="Harbour",
        sha256=f"{len(chunks)}" * 64,
        summary=SUMMARY,
        sections=(section,),
        project="ferry",
    )
    return Draft(kind="document.ingested", payload=payload)


class World:
    """A project in which a document was read twice: its first chunk stands, its second was changed."""

    def __init__(self, scratch: Path) -> None:
        self.scratch, self.clock = scratch, ManualClock()
        root = scratch / "ferry"
        root.mkdir()
        environment = {"HOME": str(scratch / "home"), "WEFT_AUDIT": "off"}
        self.memory = weft.open(
            f"sqlite://{scratch / 'store'}", directory=root, environment=environment, clock=self.clock
        )
        for number in range(20):
            self.call("remember", text=f"Berth {number} of the harbour was painted on day {number}.")
        (root / "boats.py").write_text("def count_boats():\n    return 9\n")
        self.call("ingest", path=str(root))
        for told in (
            version(chunk(1, ARRIVED, mentions=["count_boats"]), chunk(2, "Later there was tea at the quay.")),
            version(chunk(2, "Later there was coffee at the quay.")),
        ):
            self.clock.step(DAY_US)
            self.memory.ctx.append([told])

    def call(self, name: str, /, **given: Any) -> Any:
        self.clock.step(DAY_US)
        return self.memory.call(name, **given)

    def rows(self) -> list[NodeVersion]:
        ctx = self.memory.ctx
        return [row for row in ctx.store.graph_rows(ctx.operator("look")) if isinstance(row, NodeVersion)]

    def planted(self, *words: str) -> list[Planted]:
        """What the store made of every node that holds one of the words."""
        ctx = self.memory.ctx
        own = [row for row in self.rows() if any(word in str(row) for word in words)]
        keys = [content_hash(row.name, row.summary, row.text) for row in own]
        vectors = ctx.store.vectors(ctx.operator("look"), ctx.embedding.model or "", keys)
        assert vectors
        found = [
            Planted(words=(), name=row.name, summary=row.summary, text=row.text, vector=vectors.get(key, b""))
            for row, key in zip(own, keys, strict=True)
        ]
        return [Planted(words=words, text=" ".join(words)), *found]

    def check(self) -> None:
        """Nothing that stays is lost, and log and graph agree."""
        ctx = self.memory.ctx
        assert ctx.store.check(ctx.operator("look")) == ()
        assert verify(ctx.store, ctx.operator("look")).problem is None
        assert self.memory.recall("when was berth 7 painted?").hits


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.memory.close()


def test_a_chunk_is_erased_with_all_that_sums_it_up(world: World) -> None:
    summing = [row for row in world.rows() if row.summary == SUMMARY]
    assert {row.id for row in summing} == {DOCUMENT, SECTION}
    assert len({row.event for row in summing}) == 2, "the version that does not tell the chunk again sums it up, too"
    planted = world.planted(*WORDS)
    world.call("erase", subject=f"{SECTION}¶1", yes=True)
    assert search(world.scratch / "store", planted) == []
    assert world.memory.recall("was there coffee at the quay?").hits[0].node.id == f"{SECTION}¶2"
    world.check()


def test_a_document_is_erased_with_its_chunks(world: World) -> None:
    planted = world.planted(*WORDS, "coffee", "Guests")
    done = world.call("erase", source="guests.md", yes=True)
    assert done.kinds == {"Document": 1, "Section": 1, "Chunk": 2}
    assert search(world.scratch / "store", planted) == []
    assert [row.id for row in world.rows() if "guests" in row.id] == []
    world.check()


def test_a_name_in_one_chunk_takes_that_chunk_only(world: World) -> None:
    planted = world.planted(*WORDS)
    world.call("erase", subject="xylotrachen", yes=True)
    assert search(world.scratch / "store", planted) == [], "the summary has no such name, and was made of that chunk"
    assert {row.id for row in world.rows() if row.id.startswith(DOCUMENT)} == {DOCUMENT, SECTION, f"{SECTION}¶2"}
    world.check()
