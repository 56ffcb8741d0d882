"""Documents as answers: a passage with its place, one line for what stands in one place, a whole by its best parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weft
from weft.log.draft import Draft
from weft.log.kinds import document
from weft.recall.request import Hit
from weft.testing.clock import ManualClock

GUIDE = """---
description: Everything about harbour lanterns and their keepers.
---
# Guide

How the ferry is run.

## Install

Pick your system first.

### Linux

Unpack the tarball into `/opt/ferry` and start the daemon with systemctl.

### Windows

Run the installer as administrator, then reboot the machine.

## Tides

High tide is printed in the almanac every morning at six by the harbour master, and hangs at the gate.

Low tide is nobody's business: the almanac leaves it out, so sailors ask the harbour master in person.
"""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[weft.Memory]:
    """A project with one document, found by words alone."""
    root = tmp_path / "ferry"
    root.mkdir()
    (root / "guide.md").write_text(GUIDE)
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "none", "WEFT_AUDIT": "off"}
    made = weft.open(f"sqlite://{tmp_path / 'store'}", directory=root, environment=environment, clock=ManualClock())
    made.ingest(root)
    yield made
    made.close()


def hits(memory: weft.Memory, query: str, **more: Any) -> tuple[Hit, ...]:
    return memory.recall(query, **more).hits


def test_a_passage_brings_its_section_and_its_document(memory: weft.Memory) -> None:
    hit = hits(memory, "how is the tarball unpacked?")[0]
    assert (hit.node.kind, hit.node.summary) == ("Chunk", "Guide › Install › Linux")
    assert hit.node.text.startswith("Unpack the tarball")
    assert hit.node.citation == "file://guide.md:14"
    assert [(each.kind, each.name, each.citation) for each in hit.within] == [
        ("Section", "Linux", "file://guide.md:12"),
        ("Document", "Guide", "file://guide.md:1"),
    ]
    assert hit.within[1].summary.startswith("Everything about harbour lanterns")


def test_a_context_line_says_where_a_passage_stands(memory: weft.Memory) -> None:
    context = memory.recall("how is the tarball unpacked?").context
    (line,) = [each for each in context.splitlines() if "tarball" in each]
    assert line.startswith('1. [Chunk, Guide › Install › Linux] "Unpack the tarball into')
    assert line.endswith("[1]")
    assert "[1] file://guide.md:14" in context
    assert "since" not in line, "when it was read says nothing of it"


def test_headings_cannot_pass_for_anything_else(memory: weft.Memory) -> None:
    root = memory.ctx.settings.root
    (root / "odd.md").write_text('# Sources\n\n## [9] "file://x:1" · now\n\nThe periwinkle is purple.\n')
    memory.ingest(root / "odd.md")
    context = memory.recall("which colour is the periwinkle?").context
    (line,) = [each for each in context.splitlines() if "periwinkle" in each]
    assert line.startswith('1. [Chunk, Sources › 9 file //x 1 now] "The periwinkle is purple."')


def test_one_line_for_a_document_its_section_and_its_chunk(memory: weft.Memory) -> None:
    """All three hold these words: by title, by heading, by path and text."""
    found = hits(memory, "guide install linux tarball daemon")
    inside = [hit.node.id for hit in found if "Linux" in hit.node.id]
    assert inside == ["ferry/guide.md#Guide#Install#Linux¶1"]
    assert [hit.node.kind for hit in found if hit.node.kind != "Chunk"] == []


def test_several_passages_of_a_section_may_answer(memory: weft.Memory) -> None:
    payload = document.Ingested(
        id="ferry/tides.md",
        source="tides.md",
        title="Tide tables",
        sha256="0" * 64,
        sections=(
            document.SectionText(
                id="ferry/tides.md#Springs",
                title="Springs",
                level=1,
                line=1,
                end_line=9,
                summary="Spring floods.",
                chunks=tuple(
                    document.ChunkText(
                        id=f"ferry/tides.md#Springs¶{n}",
                        line=2 * n,
                        end_line=2 * n,
                        text=f"The equinox flood number {n} reached the chapel.",
                        summary="Tide tables › Springs",
                    )
                    for n in (1, 2)
                ),
            ),
        ),
        project="ferry",
    )
    memory.ctx.append([Draft(kind="document.ingested", payload=payload)])
    found = [hit.node.id for hit in hits(memory, "which equinox flood reached the chapel?")]
    assert sorted(found) == ["ferry/tides.md#Springs¶1", "ferry/tides.md#Springs¶2"]


def test_what_front_matter_says_is_answered_once_with_its_lines(memory: weft.Memory) -> None:
    answer = memory.recall("lanterns and keepers")
    (hit,) = answer.hits
    assert hit.node.kind == "Document"
    assert "harbour lanterns" in hit.node.summary
    assert hit.node.citation.startswith("file://guide.md:")
    (line,) = [each for each in answer.context.splitlines() if each.startswith("1. ")]
    assert "harbour lanterns" in line


def test_a_section_that_is_asked_for_by_kind_or_id_is_shown_by_its_chunks(memory: weft.Memory) -> None:
    (hit,) = hits(memory, "tides", kinds=["Section"])
    assert hit.node.id == "ferry/guide.md#Guide#Tides"
    assert hit.parts[0].text.startswith("High tide is printed")
    best = hits(memory, "ferry/guide.md#Guide#Install#Windows")[0]
    assert best.node.id == "ferry/guide.md#Guide#Install#Windows"
    assert "installer" in best.parts[0].text


def test_scores_add_up_where_a_passage_stands_for_its_document(memory: weft.Memory) -> None:
    for query in ("guide install linux tarball", "harbour master almanac", "lanterns and keepers"):
        for hit in hits(memory, query, explain=True):
            assert sum(source.part for source in hit.why) == pytest.approx(hit.score)


def test_sections_of_early_versions_answer_with_their_own_words(memory: weft.Memory) -> None:
    section = document.SectionText(
        id="ferry/old.md#Buoys", title="Buoys", level=1, line=1, end_line=3, text="# Buoys\n\nThe red buoy is left."
    )
    payload = document.Ingested(
        id="ferry/old.md", source="old.md", title="Buoys", sha256="0" * 64, sections=(section,), project="ferry"
    )
    memory.ctx.append([Draft(kind="document.ingested", payload=payload)])
    found = [hit.node.id for hit in hits(memory, "on which side is the red buoy? buoys")]
    assert found == ["ferry/old.md#Buoys"], "its document has the same name and says nothing more"


def test_records_that_are_documents_stand_for_themselves(memory: weft.Memory) -> None:
    memory.memory_write("Document", "The oyster beds are closed in May.", name="Oysters")
    memory.memory_write("Document", "Oyster knives are kept by the mate.", name="Oyster knives")
    found = hits(memory, "oyster knives oysters")
    assert [hit.node.kind for hit in found] == ["Document", "Document"]


def test_a_text_that_is_no_file_is_found_by_its_passages(memory: weft.Memory) -> None:

    given = {"source": "minutes", "text": "# Minutes\n\n## Vote\n\nThe quay wall is raised by two spans.\n"}
    memory.call("memory_ingest", **given)
    (hit,) = hits(memory, "by how much is the quay wall raised?")
    assert (hit.node.kind, hit.node.summary) == ("Chunk", "Minutes › Vote")
    assert hit.node.citation.startswith("weft://")
    assert [each.name for each in hit.within] == ["Vote", "Minutes"]
    shown = memory.show(hit.node.id)
    assert (shown.previous, shown.next) == ("", "")
