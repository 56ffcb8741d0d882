"""Names with the signs that ids are made of: no document is taken for a part of another."""

from __future__ import annotations

from typing import Any

import weft
from tests.places import Place


def give(memory: weft.Memory, source: str, text: str) -> Any:
    return memory.call("memory_ingest", source=source, text=text)


def found(memory: weft.Memory, query: str) -> list[str]:
    return [hit.node.text for hit in memory.recall(query, kinds=["Chunk"]).hits]


def test_a_text_leaves_alone_one_whose_name_begins_like_a_part_of_it(memory: weft.Memory) -> None:
    give(memory, "a", "# X\n\nAlpha words about ropes.\n")
    give(memory, "a#b", "# Y\n\nBeta words about bells.\n")
    give(memory, "a", "# X\n\nAlpha words about pumps.\n")
    assert found(memory, "beta bells") == ["Beta words about bells."]
    assert found(memory, "ropes") == []
    assert give(memory, "a#b", "# Y\n\nBeta words about lamps.\n").status == "superseded"
    assert found(memory, "beta lamps") == ["Beta words about lamps."]
    assert found(memory, "alpha pumps") == ["Alpha words about pumps."]


def test_a_text_may_be_called_like_a_section_of_another(memory: weft.Memory) -> None:
    give(memory, "guide", "# b\n\nOtters swim.\n")
    kept = give(memory, "guide#b", "# Z\n\nWalruses rest.\n")
    give(memory, "guide¶1", "# Z\n\nSeals dive.\n")
    assert kept.status == "saved"
    assert [found(memory, word) for word in ("otters", "walruses", "seals")] == [
        ["Otters swim."],
        ["Walruses rest."],
        ["Seals dive."],
    ]
    memory.delete("ferry/text://guide")
    assert [found(memory, word) for word in ("otters", "walruses")] == [[], ["Walruses rest."]]
    assert memory.delete(kept.id).kinds == {"Chunk": 1, "Document": 1, "Section": 1}


def test_names_that_are_escaped_do_not_meet_others(memory: weft.Memory) -> None:
    ids = {give(memory, name, f"# T\n\nWords of {name}.\n").id for name in ("a#", "a%23", "a%2523", "a%", "a¶")}
    assert len(ids) == 5
    assert "ferry/text://a%" in ids


def test_a_file_may_be_called_like_a_section_of_another(place: Place, memory: weft.Memory) -> None:
    (place.root / "c.md").write_text("# b.md\n\nBeavers live here.\n")
    (place.root / "c.md#b.md").write_text("# Q\n\nLynxes live there.\n")
    done = memory.ingest(place.root)
    assert (done.documents, done.skipped) == (2, ())
    (place.root / "c.md").write_text("# b.md\n\nBeavers live here no more.\n")
    memory.ingest(place.root)
    assert found(memory, "beavers") == ["Beavers live here no more."]
    assert found(memory, "lynxes") == ["Lynxes live there."]
    assert memory.cite("file://c.md#b.md:3").lines == ("Lynxes live there.",)
    assert memory.ingest(place.root).unchanged == 2
    (place.root / "c.md#b.md").unlink()
    assert memory.ingest(place.root, gone=True).ended == 1
    assert found(memory, "lynxes") == []
    assert found(memory, "beavers") == ["Beavers live here no more."]


def test_a_file_is_deleted_by_its_path_whatever_is_in_it(place: Place, memory: weft.Memory) -> None:
    file = place.root / "c#.md"
    file.write_text("# Q\n\nLynxes live there.\n")
    memory.ingest(place.root)
    assert memory.delete(str(file)).kinds == {"Chunk": 1, "Document": 1, "Section": 1}
    assert found(memory, "lynxes") == []
    memory.restore(str(file))
    assert found(memory, "lynxes") == ["Lynxes live there."]


def test_a_section_holds_no_part_of_one_whose_heading_only_begins_alike(place: Place, memory: weft.Memory) -> None:
    (place.root / "l.md").write_text("# C\n\nPlain and small language.\n\n# C#\n\nManaged language of a vendor.\n")
    memory.ingest(place.root)
    hit = memory.recall("managed vendor", kinds=["Section"]).hits[0]
    assert hit.node.name == "C#"
    assert [part.text for part in hit.parts] == ["Managed language of a vendor."]
    other = memory.recall("plain small", kinds=["Section"]).hits[0]
    assert [part.text for part in other.parts] == ["Plain and small language."]
