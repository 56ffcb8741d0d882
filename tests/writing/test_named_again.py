"""A memory is joined to what its present words name."""

from __future__ import annotations

import pytest

import weft


def named(memory: weft.Memory, node: str) -> set[str]:
    return {edge.name for edge in memory.call("show", id=node).edges if edge.rel == "INVOLVES"}


@pytest.mark.parametrize(
    ("operation", "field"), [("correct", "text"), ("memory_edit", "text"), ("remember", "corrects")]
)
def test_changed_words_are_joined_to_what_they_name(memory: weft.Memory, operation: str, field: str) -> None:
    wrong = memory.remember("My brother is called Rui. He works with Ana Prates.")
    assert {"Rui", "Ana Prates"} <= named(memory, wrong.id)
    right = "My brother is called Raul. He works with Ana Prates."
    done = memory.call(operation, text=right, **{"id" if field == "text" else field: wrong.id})
    assert named(memory, wrong.id) >= {"Raul", "Ana Prates"}
    assert "Rui" not in named(memory, wrong.id)
    (shown,) = [node for node in memory.cite(done.citation).nodes if node.kind == "Memory"]
    assert shown.text == right
    memory.call("correct", id=done.citation, text="My brother is called Rui.")
    assert "Rui" in named(memory, wrong.id)
    assert not {"Raul", "Ana Prates"} & named(memory, wrong.id)
