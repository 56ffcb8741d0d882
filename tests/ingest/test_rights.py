"""Who may see what is read again: nothing changes of that unless it is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weft
from tests.places import Place

TEXT = "# Harbour\n\nThe tunnel is under pier nine.\n\n## Ropes\n\nRopes are checked on Mondays.\n"


@pytest.fixture
def file(place: Place) -> Path:
    made = place.root / "a.md"
    made.write_text(TEXT)
    return made


def rights(memory: weft.Memory, node_id: str) -> tuple[str, tuple[str, ...]]:
    node = memory.show(node_id).node
    assert node is not None
    return node.scope, tuple(node.agents)


def found(memory: weft.Memory, query: str) -> list[str]:
    return [hit.node.text for hit in memory.recall(query, kinds=["Chunk"]).hits]


def test_reading_again_without_flags_keeps_scope_and_tags(place: Place, memory: weft.Memory, file: Path) -> None:
    memory.ingest(file, scope="public", agents=["alice"])
    again = memory.ingest(place.root)
    assert (again.documents, again.unchanged) == (0, 1)
    file.write_text(TEXT.replace("Mondays", "Fridays") + "\n## New\n\nWhales pass by.\n")
    assert memory.ingest(place.root).notes == ()
    for part in ("", "#Harbour#Ropes¶1", "#Harbour#New", "#Harbour#New¶1"):
        assert rights(memory, f"ferry/a.md{part}") == ("public", ("alice",))


def test_a_flag_changes_rights_of_all_parts_and_is_told(memory: weft.Memory, file: Path) -> None:
    memory.ingest(file)
    before = rights(memory, "ferry/a.md")
    done = memory.ingest(file, scope="public")
    assert before == ("admin", ())
    assert any("rights changed" in note and "admin to public" in note for note in done.notes)
    assert rights(memory, "ferry/a.md#Harbour#Ropes¶1") == ("public", ())
    tagged = memory.ingest(file, agents=["bob"])
    assert any("rights changed" in note and "bob" in note for note in tagged.notes)
    assert rights(memory, "ferry/a.md#Harbour¶1") == ("public", ("bob",))


def test_an_agent_that_reads_an_operators_file_leaves_its_rights(place: Place, memory: weft.Memory, file: Path) -> None:
    memory.ingest(file, scope="public")
    bob = place.open(role="agent", agent="bob", scopes="public")
    eve = place.open(role="agent", agent="eve", scopes="public,shared")
    assert eve.ingest(file).unchanged == 1
    file.write_text(TEXT.replace("Mondays", "Fridays"))
    assert eve.ingest(file).documents == 1
    assert found(bob, "ropes checked") == ["Ropes are checked on Fridays."]
    assert rights(memory, "ferry/a.md") == ("public", ())


def test_code_and_given_texts_keep_theirs(place: Place, memory: weft.Memory) -> None:
    code = place.root / "s.py"
    code.write_text("def moor():\n    return 1\n")
    memory.ingest(code, scope="public")
    code.write_text("def moor():\n    return 2\n")
    memory.ingest(place.root)
    assert rights(memory, "ferry/s.py::moor") == ("public", ())

    def give(**more: Any) -> Any:
        return memory.call("memory_ingest", source="g", **more)

    give(text="# G\n\nOne.\n", scope="public")
    assert give(text="# G\n\nOne.\n").status == "duplicate_skip"
    give(text="# G\n\nTwo.\n")
    assert rights(memory, "ferry/text://g#G¶1") == ("public", ())
    assert any("rights changed" in note for note in give(text="# G\n\nTwo.\n", scope="shared").notes)


def test_what_was_deleted_comes_back_with_its_rights(memory: weft.Memory, file: Path) -> None:
    memory.ingest(file, scope="public")
    memory.delete("ferry/a.md")
    assert memory.ingest(file).revived == 1
    assert rights(memory, "ferry/a.md#Harbour¶1") == ("public", ())
