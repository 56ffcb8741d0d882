"""Documents that are given as text."""

from __future__ import annotations

from typing import Any

import pytest

import weft
from tests.places import Place
from weft.core.errors import Forbidden, Invalid, TooLarge

GUIDE = "# Guide\n\nThe office opens at nine.\n\n## Pumps\n\nPumps run in pairs.\n"


def give(memory: weft.Memory, **given: Any) -> Any:
    return memory.call("memory_ingest", **given)


def test_a_text_is_kept_by_section_and_chunk_and_cited_by_its_event(memory: weft.Memory) -> None:
    kept = give(memory, source="guide", text=GUIDE)
    assert (kept.status, kept.id) == ("saved", "ferry/text://guide")
    hit = memory.recall("how do pumps run?", kinds=["Chunk"]).hits[0].node
    assert hit.text == "Pumps run in pairs."
    assert hit.citation == kept.citation
    assert memory.cite(kept.citation).matches
    assert memory.show(kept.id).node.name == "Guide"  # type: ignore[union-attr]


def test_the_same_text_is_written_once_and_another_is_a_new_version(memory: weft.Memory) -> None:
    give(memory, source="guide", text=GUIDE)
    events = memory.stats().store.events
    assert give(memory, source="guide", text=GUIDE).status == "duplicate_skip"
    assert memory.stats().store.events == events
    changed = give(memory, source="guide", text=GUIDE.replace("in pairs", "alone"), title="The guide")
    assert (changed.status, changed.id) == ("superseded", "ferry/text://guide")
    assert [hit.node.text for hit in memory.recall("how do pumps run?", kinds=["Chunk"]).hits][:1] == [
        "Pumps run alone."
    ]
    assert memory.show(changed.id).node.name == "The guide"  # type: ignore[union-attr]


def test_plain_text_has_no_headings(memory: weft.Memory) -> None:
    kept = give(memory, source="log", text="# not a heading\nwords", form="text")
    assert memory.show(kept.id).node.name == "log"  # type: ignore[union-attr]


def test_it_is_deleted_and_comes_back_like_any_document(memory: weft.Memory) -> None:
    kept = give(memory, source="guide", text=GUIDE)
    memory.delete(kept.id)
    assert not memory.recall("pumps", kinds=["Chunk"]).hits
    back = give(memory, source="guide", text=GUIDE)
    assert back.status == "saved"
    assert memory.recall("pumps", kinds=["Chunk"]).hits


def test_files_that_are_gone_are_no_matter_of_texts(place: Place, memory: weft.Memory) -> None:
    give(memory, source="guide", text=GUIDE)
    assert memory.ingest(place.root, gone=True).ended == 0
    assert memory.recall("pumps", kinds=["Chunk"]).hits


def test_what_cannot_be_kept_is_refused(place: Place, memory: weft.Memory) -> None:
    small = place.open(document_bytes="2048")
    with pytest.raises(TooLarge, match="2,048"):
        give(small, source="long", text="x" * 3_000)
    with pytest.raises(Invalid):
        give(memory, source="", text="x")
    with pytest.raises(Forbidden):
        give(place.open(scopes="public"), source="a", text="x", scope="admin")
