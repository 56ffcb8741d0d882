"""A citation is taken without the start of its hash wherever a memory is named."""

from __future__ import annotations

import weft


def test_a_short_citation_names_a_memory_also_when_it_comes_back(memory: weft.Memory) -> None:
    kept = memory.remember("Ida's birthday is a surprise.")
    short = kept.citation.partition("#")[0]
    assert memory.call("forget", id=short).id == kept.id
    assert memory.recall("birthday").hits == ()
    assert memory.call("forget", id=short, undo=True).status == "saved"
    assert [hit.node.id for hit in memory.recall("birthday").hits] == [kept.id]
    assert memory.call("memory_feedback", id=short, outcome="confirmed").status == "saved"
    assert memory.call("memory_feedback", id=kept.citation, outcome="surfaced").status == "saved"
