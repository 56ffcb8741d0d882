"""Citations that were handed out before a file was read again, and lines of which nothing is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from tests.places import Place
from weft.core.errors import Invalid, NotFound
from weft.testing.clock import ManualClock

OLD = "# O\n\n## G\n\nThe gate opens at six.\n"
NEW = "# O\n\n## F\n\nThe dog is called Rex.\n\n## G\n\nThe gate opens at six.\n"


@pytest.fixture
def gate(place: Place, memory: weft.Memory, clock: ManualClock) -> Path:
    """A file that was read twice: what stood on line 5 stands on line 9 now."""
    file = place.root / "o.md"
    file.write_text(OLD)
    memory.ingest(file)
    clock.step()
    file.write_text(NEW)
    memory.ingest(file)
    clock.step()
    return file


def moment(memory: weft.Memory, node_id: str) -> str:
    """When it was first known."""
    return str(memory.show(node_id).history[0].recorded_at)


def test_a_citation_from_before_says_that_the_line_said_something_else(memory: weft.Memory, gate: Path) -> None:
    cited = memory.cite("file://o.md:5")
    assert (cited.matches, cited.lines) == (True, ("The dog is called Rex.",))
    (note,) = cited.notes
    assert note.startswith("until ")
    assert 'this line was "The gate opens at six.", which is now at file://o.md:9' in note
    assert memory.cite("file://o.md:9").notes == (), "nothing stood there before"
    assert memory.cite("file://o.md:1").notes == (), "it always said so"


def test_what_is_gone_is_told_so(memory: weft.Memory, gate: Path, clock: ManualClock) -> None:
    gate.write_text("# O\n\n## F\n\nThe dog is called Max.\n")
    memory.ingest(gate)
    clock.step()
    (note,) = memory.cite("file://o.md:5").notes
    assert 'this line was "The dog is called Rex.", which is no longer in it' in note
    gone = memory.cite("file://o.md:9")
    assert (gone.matches, gone.lines) == (False, ("The gate opens at six.",))
    assert "which is no longer in it" in gone.notes[0]


def test_several_versions_back_are_looked_at_and_not_all(place: Place, memory: weft.Memory, clock: ManualClock) -> None:
    file = place.root / "o.md"
    for step in range(12):
        first = "The gate opens at six." if step == 0 else "The bell is rung by hand."
        file.write_text(f"# O\n\n{first}\n\n## More\n\nEntry number {step} of the book.\n")
        memory.ingest(file)
        clock.step()
        told = bool(memory.cite("file://o.md:3").notes)
        assert told == (1 <= step <= 8), step


def test_a_line_is_cited_as_it_was_known_at_a_moment(memory: weft.Memory, gate: Path) -> None:
    then = moment(memory, "ferry/o.md#O#G¶1")
    cited = memory.cite("file://o.md:5", known_at=then)
    assert cited.lines == ("The gate opens at six.",)
    assert (cited.matches, cited.now_at) == (False, "file://o.md:9")
    assert memory.cite("file://o.md:5", as_of=then).lines == ("The gate opens at six.",)
    with pytest.raises(NotFound):
        memory.cite("file://o.md:5", known_at="2001")
    with pytest.raises(Invalid, match="an event"):
        memory.cite(memory.remember("Ropes are cut.").citation, known_at=then)


def test_files_in_other_encodings_are_compared_as_they_are_read(place: Place, memory: weft.Memory) -> None:
    file = place.root / "u.txt"
    file.write_bytes("Heron words here on line one.\nSecond.\n".encode("utf-16"))
    memory.ingest(file)
    file.write_bytes("New first line.\nHeron words here on line one.\nSecond.\n".encode("utf-16"))
    cited = memory.cite("file://u.txt:1")
    assert (cited.matches, cited.now_at) == (False, "file://u.txt:2")


def test_lines_of_a_heading_are_as_they_are_written(place: Place, memory: weft.Memory) -> None:
    (place.root / "r.rst").write_text("=====\nTitle\n=====\n\nbody words.\n\nSub\n---\n\nmore.\n")
    (place.root / "s.md").write_text("Setext\n======\n\nbody.\n")
    memory.ingest(place.root)
    lines = {at: memory.cite(f"file://r.rst:{at}").lines for at in (1, 2, 3, 7, 8)}
    assert lines == {
        1: ("=====", "Title", "=====", "", "body words."),
        2: ("Title", "=====", "", "body words."),
        3: ("=====", "", "body words."),
        7: ("Sub", "---", "", "more."),
        8: ("---", "", "more."),
    }
    assert memory.cite("file://s.md:1").lines == ("Setext", "======", "", "body.")


def test_a_line_between_passages_leads_to_the_nearest(place: Place, memory: weft.Memory) -> None:
    (place.root / "b.md").write_text("---\nowner: Tides\n---\n# B\n\nBells ring.\n\n## C\n\nCranes turn.\n")
    memory.ingest(place.root)
    cited = memory.cite("file://b.md:7")
    assert cited.lines == ("Bells ring.",)
    assert cited.notes == ("nothing is kept of line 7; the nearest passage is at file://b.md:6",)
    before = memory.cite("file://b.md:2")
    assert (before.nodes[0].kind, before.notes) == ("Chunk", ())
    assert "owner: Tides" in before.lines


def test_a_deleted_line_is_told_to_be_deleted(place: Place, memory: weft.Memory) -> None:
    (place.root / "d.md").write_text("# D\n\nPelicans eat fish.\n\n## E\n\nHerons wade slowly.\n")
    memory.ingest(place.root)
    memory.delete("ferry/d.md#D#E¶1")
    cited = memory.cite("file://d.md:7")
    assert (cited.matches, cited.lines, cited.nodes) == (False, (), ())
    assert "was deleted" in cited.notes[0]
    assert "weft restore ferry/d.md#D#E¶1" in cited.notes[0]
    around = memory.cite("file://d.md:3-7")
    assert "Herons" not in "".join(around.lines)
    assert any("was deleted" in note for note in around.notes)
    memory.delete("ferry/d.md")
    assert "was deleted" in memory.cite("file://d.md:3").notes[0]
