"""Chunks where sections used to have the words: deleting, bringing back, publishing, reading out."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from tests.places import Place
from weft.core.types import Find, When
from weft.log.draft import Draft
from weft.log.kinds import document
from weft.testing.clock import ManualClock

GUIDE = """# Guide

How the ferry is run.

## Install

Unpack the tarball into the boat.

### Linux

Start the daemon. Odile Fenn wrote it.

## Install#ed

Nothing here belongs to the section before.

## Tides

High tide is printed every morning.
"""


@pytest.fixture
def guide(place: Place, memory: weft.Memory) -> Path:
    file = place.root / "guide.md"
    file.write_text(GUIDE)
    memory.ingest(file)
    return file


def standing(memory: weft.Memory) -> set[str]:
    """What can be seen of the document: its sections and chunks, without their common beginning."""
    ctx = memory.ctx
    found = ctx.store.find(ctx.viewer, When(), Find(id_prefix="ferry/guide.md"), limit=999).nodes
    return {node.id.removeprefix("ferry/guide.md") for node in found}


ALL = {
    "",
    "#Guide",
    "#Guide¶1",
    "#Guide#Install",
    "#Guide#Install¶1",
    "#Guide#Install#Linux",
    "#Guide#Install#Linux¶1",
    "#Guide#Install#ed",
    "#Guide#Install#ed¶1",
    "#Guide#Tides",
    "#Guide#Tides¶1",
}


def test_a_document_goes_with_its_chunks_and_comes_back_when_it_is_read(memory: weft.Memory, guide: Path) -> None:
    assert standing(memory) == ALL
    memory.delete("guide.md")
    assert standing(memory) == set()
    assert memory.recall("tarball").hits == ()
    memory.ingest(guide)
    assert standing(memory) == ALL
    assert memory.recall("tarball").hits[0].node.kind == "Chunk"


def test_a_changed_file_comes_back_with_the_chunks_it_has_now(
    memory: weft.Memory, guide: Path, clock: ManualClock
) -> None:
    memory.delete("guide.md")
    clock.step()
    guide.write_text(GUIDE.replace("High tide is", "Spring tide is"))
    memory.ingest(guide)
    assert standing(memory) == ALL
    assert "Spring tide" in memory.recall("which tide is printed?").hits[0].node.text


def test_a_section_goes_with_its_chunks_and_what_stands_under_it_only(memory: weft.Memory, guide: Path) -> None:
    gone = memory.delete("ferry/guide.md#Guide#Install")
    assert gone.nodes == 4
    under = {"#Guide#Install", "#Guide#Install¶1", "#Guide#Install#Linux", "#Guide#Install#Linux¶1"}
    assert standing(memory) == ALL - under
    memory.restore("ferry/guide.md#Guide#Install")
    assert standing(memory) == ALL


def test_a_section_of_very_many_chunks_goes_whole(memory: weft.Memory) -> None:
    chunks = tuple(
        document.ChunkText(id=f"ferry/long.txt#text¶{n}", line=n, end_line=n, text=f"line {n}") for n in range(1, 251)
    )
    section = document.SectionText(id="ferry/long.txt#text", title="", level=0, line=1, end_line=250, chunks=chunks)
    payload = document.Ingested(
        id="ferry/long.txt", source="long.txt", title="long", sha256="0" * 64, sections=(section,), project="ferry"
    )
    memory.ctx.append([Draft(kind="document.ingested", payload=payload)])
    assert memory.delete("ferry/long.txt#text").nodes == 251


def test_a_chunk_alone_may_go(memory: weft.Memory, guide: Path) -> None:
    memory.delete("ferry/guide.md#Guide#Tides¶1")
    assert standing(memory) == ALL - {"#Guide#Tides¶1"}
    assert memory.recall("is high tide printed every morning?").hits[0].parts == ()


def test_what_was_read_out_of_a_chunk_goes_and_comes_back_with_it(memory: weft.Memory, guide: Path) -> None:
    told = memory.call("extract_memories")
    assert told.things > 0
    (person,) = memory.ctx.store.find(memory.ctx.viewer, When(), Find(names=("Odile Fenn",)), limit=9).nodes
    linked = {edge.id for edge in memory.show(person.id).edges}
    assert linked == {"ferry/guide.md#Guide#Install#Linux¶1"}, "the chunk is read, not its section"
    again = memory.call("extract_memories")
    assert again.things == 0
    memory.delete("guide.md")
    assert {edge.id for edge in memory.show(person.id).edges} == set()


def test_a_published_document_is_its_chunks_under_their_headings(place: Place, tmp_path: Path) -> None:
    memory = place.open()
    (place.root / "guide.md").write_text(GUIDE)
    memory.ingest(place.root / "guide.md", scope="public")
    done = memory.call("publish", name="docs", documents=["guide.md"], directory=str(tmp_path / "sites"))
    (page,) = done.pages
    html = (Path(done.directory) / page.file).read_text()
    words = [
        "Guide</h1>",
        "How the ferry",
        "Install</h2>",
        "Unpack the",
        "Linux</h3>",
        "Start the daemon",
        "Tides</h2>",
    ]
    places = [html.find(word) for word in words]
    assert -1 not in places
    assert places == sorted(places)
    assert html.count("Unpack the tarball") == 1


def test_a_sensitive_document_is_sealed_chunk_by_chunk(place: Place) -> None:
    memory = place.open(sensitive="true")
    payload = document.Ingested(
        id="ferry/secret.md",
        source="secret.md",
        title="Secret",
        sha256="0" * 64,
        summary="of the vault",
        sections=(
            document.SectionText(
                id="ferry/secret.md#1",
                title="Vault",
                level=1,
                line=1,
                end_line=3,
                summary="where the periwinkle is",
                chunks=(
                    document.ChunkText(
                        id="ferry/secret.md#1¶1",
                        line=3,
                        end_line=3,
                        text="The periwinkle is under the stairs.",
                        summary="Secret › Vault",
                        props={"mentions": ["periwinkle_key"]},
                    ),
                ),
            ),
        ),
        project="ferry",
        sensitive=True,
    )
    memory.ctx.append([Draft(kind="document.ingested", payload=payload)])
    shown = memory.show("ferry/secret.md#1¶1").node
    assert shown is not None
    assert shown.text == "The periwinkle is under the stairs."
    assert memory.recall("where is the periwinkle?").hits
    assert place.open().recall("where is the periwinkle?").hits == ()
    store = b"".join(file.read_bytes() for file in (place.scratch / "store").rglob("*") if file.is_file())
    for word in (b"periwinkle", b"stairs", b"Vault"):
        assert word not in store


def test_what_is_like_a_chunk_is_neither_its_section_nor_its_document(memory: weft.Memory, guide: Path) -> None:
    similar = memory.find_similar("ferry/guide.md#Guide#Install#Linux¶1")
    ids = {hit.node.id for hit in similar.hits}
    assert not ids & {"ferry/guide.md#Guide#Install#Linux", "ferry/guide.md#Guide#Install", "ferry/guide.md"}
