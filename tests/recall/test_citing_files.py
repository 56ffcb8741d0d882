"""Citations of lines of files: what was ingested of them, whether the file still says so, and where it says so now."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from tests.places import Place
from weft.core.errors import NotFound
from weft.log.draft import Draft
from weft.log.kinds import document
from weft.testing.clock import ManualClock

GUIDE = """# Guide

How the ferry is run.

## Install

Unpack the tarball into the boat.
Then start the engine with a crank.

## Tides

High tide is printed every morning.

Low tide is nobody's business.
"""


@pytest.fixture
def guide(place: Place, memory: weft.Memory) -> Path:
    file = place.root / "guide.md"
    file.write_text(GUIDE)
    memory.ingest(file)
    return file


def test_a_line_resolves_to_the_chunk_that_holds_it(memory: weft.Memory, guide: Path) -> None:
    cited = memory.cite("file://guide.md:8")
    assert cited.matches
    assert cited.notes == ()
    assert [(node.kind, node.id) for node in cited.nodes] == [("Chunk", "ferry/guide.md#Guide#Install¶1")]
    assert cited.lines == ("Then start the engine with a crank.",)
    assert cited.nodes[0].citation == "file://guide.md:7"


def test_a_heading_resolves_to_its_section_with_the_words_under_it(memory: weft.Memory, guide: Path) -> None:
    cited = memory.cite("file://guide.md:5")
    assert cited.matches
    assert [(node.kind, node.name) for node in cited.nodes] == [("Section", "Install")]
    assert cited.lines == ("## Install", "", "Unpack the tarball into the boat.", "Then start the engine with a crank.")


def test_several_lines_may_reach_over_chunks(memory: weft.Memory, guide: Path) -> None:
    cited = memory.cite("file://guide.md:8-12")
    assert cited.matches
    assert [node.id.rpartition("#")[2] for node in cited.nodes] == ["Install¶1", "Tides¶1"]
    assert cited.lines == (
        "Then start the engine with a crank.",
        "",
        "## Tides",
        "",
        "High tide is printed every morning.",
    )


def test_every_citation_that_recall_gives_resolves(memory: weft.Memory, guide: Path) -> None:
    hits = memory.recall("tarball engine tide install guide ferry", limit=50).hits
    assert len(hits) >= 3
    for hit in hits:
        for citation in (hit.node.citation, *(each.citation for each in hit.within)):
            assert citation.startswith("file://guide.md:")
            assert memory.cite(citation).matches


def test_lines_that_moved_are_found_again(memory: weft.Memory, guide: Path) -> None:
    guide.write_text(GUIDE.replace("## Install\n", "## Before\n\nA new beginning.\n\n## Install\n"))
    cited = memory.cite("file://guide.md:8")
    assert not cited.matches
    assert cited.lines == ("Then start the engine with a crank.",), "as it was ingested"
    assert cited.now_at == "file://guide.md:12"
    assert "the file changed since it was ingested" in cited.notes[0]
    assert cited.notes[1] == "now at file://guide.md:12"
    assert memory.cite("file://guide.md:3").matches, "what stands above has not moved"


def test_a_passage_that_changed_is_found_by_its_cited_lines_or_its_beginning(memory: weft.Memory, guide: Path) -> None:
    guide.write_text(GUIDE.replace("Unpack the tarball", "\nUnpack the zip file"))
    assert memory.cite("file://guide.md:8").now_at == "file://guide.md:9"
    cited = memory.cite("file://guide.md:7")
    assert (cited.matches, cited.now_at) == (False, "")
    guide.write_text(GUIDE.replace("with a crank", "by hand").replace("# Guide", "\n\n# Guide"))
    cited = memory.cite("file://guide.md:8")
    assert cited.now_at == "file://guide.md:9"
    assert cited.notes[-1] == "changed; its beginning is now at file://guide.md:9"


def test_of_several_places_the_nearest_is_told(memory: weft.Memory, guide: Path) -> None:
    words = "Unpack the tarball into the boat.\nThen start the engine with a crank.\n"
    guide.write_text(f"{words}\n\n\n\n\n\n{words}\n\n\n\n\n\n\n{words}")
    assert memory.cite("file://guide.md:7").now_at == "file://guide.md:9"


def test_a_file_that_is_gone_is_told_as_it_was(memory: weft.Memory, guide: Path) -> None:
    guide.unlink()
    cited = memory.cite("file://guide.md:7")
    assert not cited.matches
    assert cited.lines[0] == "Unpack the tarball into the boat."
    assert "missing" in cited.notes[0]
    assert cited.now_at == ""


def test_secrets_that_were_taken_out_are_no_change(place: Place, memory: weft.Memory) -> None:
    file = place.root / "keys.md"
    file.write_text("# Keys\n\nAKIAZ7QK3VJ2MN5PLX4R is the key\nof the store room.\n")
    memory.ingest(file)
    assert memory.cite("file://keys.md:4").matches
    file.write_text(file.read_text() + "\nMore words below.\n")
    cited = memory.cite("file://keys.md:3")
    assert cited.matches, "these lines are as they were"
    assert "AKIA" not in "".join(cited.lines)


def test_old_sections_are_cited_by_their_own_lines(place: Place, memory: weft.Memory) -> None:
    text = "# Buoys\n\nThe red buoy is left.\n"
    (place.root / "old.md").write_text(f"\n{text}")
    section = document.SectionText(
        id="ferry/old.md#Buoys", title="Buoys", level=1, line=1, end_line=3, text=text.rstrip()
    )
    payload = document.Ingested(
        id="ferry/old.md", source="old.md", title="Buoys", sha256="0" * 64, sections=(section,), project="ferry"
    )
    memory.ctx.append([Draft(kind="document.ingested", payload=payload)])
    cited = memory.cite("file://old.md:3")
    assert (cited.nodes[0].kind, cited.lines) == ("Section", ("The red buoy is left.",))
    assert (cited.matches, cited.now_at) == (False, "file://old.md:4")


def test_a_line_that_nothing_holds_is_not_found(memory: weft.Memory, guide: Path) -> None:
    with pytest.raises(NotFound, match="points at nothing"):
        memory.cite("file://guide.md:99")


def test_a_long_passage_is_cut_and_says_so(place: Place, memory: weft.Memory) -> None:
    (place.root / "log.txt").write_text("\n".join(f"entry {n} of the log" for n in range(1, 400)))
    memory.ingest(place.root / "log.txt")
    cited = memory.cite("file://log.txt:1-390")
    assert len(cited.lines) == 200
    assert cited.lines[-1] == "entry 200 of the log"
    assert "cut after line 200" in cited.notes[-1]


def test_show_takes_a_file_citation_and_tells_what_stands_beside(memory: weft.Memory, guide: Path) -> None:
    shown = memory.show("file://guide.md:8")
    assert shown.node is not None
    assert shown.node.id == "ferry/guide.md#Guide#Install¶1"
    assert shown.previous == "ferry/guide.md#Guide¶1"
    assert shown.next.startswith("ferry/guide.md#Guide#Tides¶")
    first, last = memory.show("ferry/guide.md#Guide¶1"), memory.show("file://guide.md:14")
    assert (first.previous, first.next) == ("", shown.node.id)
    assert last.next == ""


def test_a_citation_of_what_was_read_again_tells_the_lines_of_now(
    memory: weft.Memory, guide: Path, clock: ManualClock
) -> None:
    clock.step()
    guide.write_text(GUIDE.replace("with a crank", "by hand"))
    memory.ingest(guide)
    cited = memory.cite("file://guide.md:8")
    assert (cited.matches, cited.lines) == (True, ("Then start the engine by hand.",))


def test_a_file_without_lines_of_its_own_is_cited_by_those_of_its_text(place: Place, memory: weft.Memory) -> None:
    pytest.importorskip("selectolax")
    file = place.root / "guide.html"
    words = "<h1>Guide</h1><p>How the ferry is run.</p><h2>Install</h2><p>Unpack the tarball into the boat.</p>"
    file.write_text(f"<html><body>{words}</body></html>")
    memory.ingest(file)
    citation = memory.recall("tarball").hits[0].node.citation
    cited = memory.cite(citation)
    assert cited.matches
    assert cited.lines == ("Unpack the tarball into the boat.",)
    assert cited.notes == ("lines are counted in the text that was taken out of the file",)
    file.write_text(f"<html><body><p>Something new before it all.</p>{words}</body></html>")
    moved = memory.cite(citation)
    assert not moved.matches
    assert moved.now_at == f"file://guide.html:{int(citation.rpartition(':')[2]) + 2}"


def test_a_file_that_cannot_be_compared_any_more_says_so(place: Place, memory: weft.Memory) -> None:
    section = document.SectionText(
        id="ferry/plan.docx#Plan",
        title="Plan",
        level=1,
        line=1,
        end_line=3,
        chunks=(document.ChunkText(id="ferry/plan.docx#Plan¶1", line=3, end_line=3, text="Raise the quay."),),
    )
    payload = document.Ingested(
        id="ferry/plan.docx",
        source="plan.docx",
        title="Plan",
        sha256="0" * 64,
        form="docx",
        sections=(section,),
        project="ferry",
    )
    memory.ctx.append([Draft(kind="document.ingested", payload=payload)])
    (place.root / "plan.docx").write_bytes(b"no archive at all")
    cited = memory.cite("file://plan.docx:3")
    assert (cited.matches, cited.lines) == (False, ("Raise the quay.",))
    assert "cannot be compared" in cited.notes[0]
    assert "as ingested" in cited.notes[0]
