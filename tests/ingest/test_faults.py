"""A file that a parser fails on is skipped and named; the rest goes on."""

from __future__ import annotations

import pytest

import weft
from tests.documents.formats.files import docx, paragraph
from tests.places import Place
from weft.documents.formats import read as reading
from weft.text.markup.outline import ParsedDocument


def test_files_made_to_break_their_parsers_are_skipped(place: Place, memory: weft.Memory) -> None:
    (place.root / "a.html").write_bytes(b"<meta charset=undefined><p>caf\xe9</p>")
    (place.root / "b.docx").write_bytes(docx(paragraph("x"), head='<?xml version="1.0" encoding="x-user-defined"?>'))
    (place.root / "z.md").write_text("# Zebra\n\nGood words.\n")
    done = memory.ingest(place.root)
    assert done.documents == 1
    assert [each.path for each in done.skipped] == ["a.html", "b.docx"]
    assert "declares the encoding undefined" in done.skipped[0].reason
    assert memory.recall("zebra").hits


def test_an_unforeseen_fault_is_told_as_one_of_wefts(
    place: Place, memory: weft.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(lines: object) -> ParsedDocument:
        raise TypeError("no such\nthing " + "x" * 900)

    monkeypatch.setitem(reading.PARSERS, "rst", fail)
    (place.root / "a.rst").write_text("Words.\n")
    (place.root / "z.md").write_text("# Zebra\n\nGood words.\n")
    done = memory.ingest(place.root)
    assert done.documents == 1
    [skipped] = done.skipped
    assert skipped.path == "a.rst"
    assert "because of a bug in weft: TypeError no such thing xxx" in skipped.reason
    assert "(test_faults.py:" in skipped.reason
    assert "report it" in skipped.reason
    assert len(skipped.reason) < 400
    assert sum(done.reasons.values()) == 1


def test_what_front_matter_says_is_found_and_cited(place: Place, memory: weft.Memory) -> None:
    (place.root / "fm.md").write_text("---\ntitle: Ocelot manual\nanimal: jaguar\n---\n# H\n\nBody.\n")
    (place.root / "alone.md").write_text("---\ncaracal: puma\n---\n")
    (place.root / "toml.md").write_text('+++\ntitle = "Serval"\nkind = "margay"\n+++\n\nBody.\n')
    memory.ingest(place.root)
    for word, source in (("jaguar", "fm.md"), ("puma", "alone.md"), ("margay", "toml.md")):
        assert memory.recall(word).hits[0].node.props["source"] == source
    assert memory.show("ferry/toml.md").node.name == "Serval"  # type: ignore[union-attr]
    assert "Ocelot" in str(memory.cite("file://fm.md:2"))
