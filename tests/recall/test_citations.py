"""Citations of memories and of lines of files: what they show, and what is said when something changed."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from tests.places import Place
from weft.core.errors import Invalid, NotFound


def test_a_citation_with_a_wrong_hash_says_so(memory: weft.Memory) -> None:
    written = memory.remember("words")
    right = memory.cite(written.citation)
    assert (right.matches, right.notes) == (True, ())
    wrong = memory.cite(written.citation.split("#")[0] + "#00000000")
    assert wrong.matches is False
    assert written.citation in wrong.notes[0]
    assert wrong.nodes[0].text == "words"
    assert memory.cite("weft://operator/events/1").matches


def test_a_citation_of_nothing_is_not_found(memory: weft.Memory) -> None:
    memory.remember("words")
    for missing in ("weft://operator/events/2", "weft://other/events/1", "file://none.md:1"):
        with pytest.raises(NotFound):
            memory.cite(missing)
    with pytest.raises(Invalid, match="not a citation"):
        memory.cite("somewhere")


def test_a_file_citation_prints_the_lines(place: Place, memory: weft.Memory) -> None:
    (place.root / "a.md").write_text("# One\n\nfirst\n\n# Two\n\nsecond\nthird\n")
    memory.ingest(place.root)
    hit = memory.recall("second").hits[0]
    assert hit.node.citation == "file://a.md:7"
    assert hit.node.source is not None
    assert hit.node.source.startswith("weft://")
    cited = memory.cite(hit.node.citation)
    assert (cited.matches, cited.lines) == (True, ("second", "third"))
    assert memory.cite("file://a.md:5").lines == ("# Two", "", "second", "third")
    assert memory.cite("file://a.md:7-7").lines == ("second",)
    assert memory.cite(hit.node.source).matches


def test_a_file_that_changed_or_vanished_is_told(place: Place, memory: weft.Memory) -> None:
    file = place.root / "a.md"
    file.write_text("# One\n\nfirst\n\n# Two\n\nsecond\n")
    memory.ingest(place.root)
    file.write_text("# One\n\nfirst\n\n# Two\n\nsecond, rewritten\n")
    assert memory.cite("file://a.md:1").matches, "the section cited is as it was"
    changed = memory.cite("file://a.md:5")
    assert changed.matches is False
    assert "changed since it was ingested on 2026-01-01" in changed.notes[0]
    assert changed.nodes[0].name == "Two"
    assert changed.lines == ("# Two", "", "second"), "what was never ingested is not printed"
    file.unlink()
    gone = memory.cite("file://a.md:5")
    assert gone.matches is False
    assert "is missing" in gone.notes[0]
    assert gone.lines == ("# Two", "", "second")


def test_a_file_of_the_same_name_in_another_project_is_another_file(place: Place, tmp_path: Path) -> None:
    here = place.open()
    (place.root / "a.md").write_text("# Ours\n\nferry\n")
    here.ingest(place.root)
    barge = tmp_path / "barge"
    barge.mkdir()
    (barge / "a.md").write_text("# Theirs\n\nbarge\n")
    there = place.open(barge)
    there.ingest(barge)
    for memory, title in ((here, "Ours"), (there, "Theirs")):
        cited = memory.cite("file://a.md:1")
        assert (cited.matches, cited.nodes[0].name) == (True, title)


def test_every_section_of_a_long_document_can_be_cited(place: Place, memory: weft.Memory) -> None:
    (place.root / "long.md").write_text("".join(f"# Part {n}\n\nbody {n}\n\n" for n in range(150)))
    assert memory.ingest(place.root).sections == 150
    for number in (0, 75, 149):
        assert memory.cite(f"file://long.md:{4 * number + 1}").nodes[0].name == f"Part {number}"


def test_a_citation_cannot_climb_out_of_the_project(place: Place, memory: weft.Memory, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("secret")
    (place.root / "a.md").write_text("# One\n")
    memory.ingest(place.root)
    for path in ("../outside.md", str(tmp_path / "outside.md")):
        with pytest.raises(NotFound):
            memory.cite(f"file://{path}:1")
    (place.root / "a.md").unlink()
    (place.root / "a.md").symlink_to(tmp_path / "outside.md")
    assert "secret" not in repr(memory.cite("file://a.md:1"))
