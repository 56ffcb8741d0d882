"""Parts of a document that were deleted: out of sight with their words, and not back by themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from tests.places import Place

TEXT = """# D

Pelicans eat fish of any size.

## E

Heronword waded slowly through the reeds.

## Lynxhead

Body number three stands here.
"""
CHUNK = "ferry/d.md#D#E¶1"
SECTION = "ferry/d.md#D#Lynxhead"


@pytest.fixture
def file(place: Place, memory: weft.Memory) -> Path:
    made = place.root / "d.md"
    made.write_text(TEXT)
    memory.ingest(made)
    return made


def words(memory: weft.Memory) -> str:
    """All that there is to see."""
    nodes = memory.recent(kinds=["Document", "Section", "Chunk"], limit=100).nodes
    return "\n".join(f"{node.name} {node.summary} {node.text}" for node in nodes)


def test_nothing_repeats_the_words_of_a_deleted_chunk(memory: weft.Memory, file: Path) -> None:
    before = {node_id: memory.show(node_id).node for node_id in ("ferry/d.md", "ferry/d.md#D#E")}
    memory.delete(CHUNK)
    assert "heronword" not in words(memory).lower()
    assert memory.show("ferry/d.md#D#E").node.summary == ""  # type: ignore[union-attr]
    assert memory.show("ferry/d.md#D").node.summary != "", "others keep theirs"  # type: ignore[union-attr]
    memory.restore(CHUNK)
    assert {node_id: memory.show(node_id).node.summary for node_id in before} == {  # type: ignore[union-attr]
        node_id: node.summary for node_id, node in before.items() if node is not None
    }


def test_nothing_names_a_deleted_section(memory: weft.Memory, file: Path) -> None:
    assert "Lynxhead" in memory.show("ferry/d.md").node.summary  # type: ignore[union-attr]
    done = memory.delete(SECTION)
    assert done.kinds == {"Chunk": 1, "Section": 1}
    assert "lynxhead" not in words(memory).lower()
    memory.restore(SECTION)
    assert "Lynxhead" in memory.show("ferry/d.md").node.summary  # type: ignore[union-attr]


def test_an_edit_elsewhere_leaves_deleted_parts_out(memory: weft.Memory, file: Path) -> None:
    memory.delete(CHUNK)
    memory.delete(SECTION)
    assert memory.ingest(file).unchanged == 1
    file.write_text(TEXT.replace("of any size", "of every size").replace("# D\n", "A line before.\n\n# D\n"))
    done = memory.ingest(file)
    assert done.documents == 1
    assert "3 deleted parts were left out, as their words are the same: `weft restore` brings them back" in done.notes
    said = words(memory).lower()
    assert "every size" in said
    assert "heronword" not in said
    assert "lynxhead" not in said
    memory.restore(CHUNK)
    assert "Heronword" in words(memory)


def test_another_heading_does_not_bring_its_words_back(memory: weft.Memory, file: Path) -> None:
    memory.delete(CHUNK)
    file.write_text(TEXT.replace("## E\n", "## F\n"))
    memory.ingest(file)
    assert "heronword" not in words(memory).lower()


def test_a_part_whose_own_words_change_is_back(memory: weft.Memory, file: Path) -> None:
    memory.delete(CHUNK)
    memory.delete(SECTION)
    file.write_text(TEXT.replace("slowly", "quickly").replace("number three", "number four"))
    done = memory.ingest(file)
    said = words(memory)
    assert "Heronword waded quickly" in said
    assert "Lynxhead" in said
    assert not any("left out" in note for note in done.notes)


def test_a_document_that_was_deleted_as_a_whole_comes_back_without_what_went_before(
    memory: weft.Memory, file: Path
) -> None:
    memory.delete(CHUNK)
    memory.delete("ferry/d.md")
    file.write_text(TEXT.replace("of any size", "of every size"))
    assert memory.ingest(file).revived == 1
    said = words(memory)
    assert "every size" in said
    assert "Body number three" in said
    assert "heronword" not in said.lower()


def test_what_comes_back_after_its_file_moved_on_gets_its_lines_at_the_next_reading(
    memory: weft.Memory, file: Path
) -> None:
    memory.delete(CHUNK)
    file.write_text(TEXT.replace("# D\n", "# D\n\nA new line above.\n"))
    memory.ingest(file)
    assert any("weft ingest" in note for note in memory.restore(CHUNK).notes)
    stale = memory.cite("file://d.md:7")
    assert not (stale.matches and "Heronword" in "".join(stale.lines)), "the file says that on line 9"
    assert memory.ingest(file).documents == 1
    assert memory.cite("file://d.md:9").lines == ("Heronword waded slowly through the reeds.",)
    assert "Heronword" in memory.show("ferry/d.md#D#E").node.summary  # type: ignore[union-attr]
    assert memory.ingest(file).unchanged == 1
