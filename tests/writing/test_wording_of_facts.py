"""An extracted fact reads as a person would say it."""

from __future__ import annotations

import pytest

import weft


@pytest.mark.parametrize(
    ("said", "speaker", "fact"),
    [
        ("Our phone provider is Orange.", None, "our phone provider is Orange"),
        ("Stripe is our new payment provider.", None, "our payment provider is Stripe"),
        ("My dentist is Dr. Costa.", None, "my dentist is Costa"),
        ("My dentist is Dr. Costa.", "Ana", "Ana's dentist is Costa"),
        ("Ana's dentist is Pedro.", None, "Ana's dentist is Pedro"),
        ("I live in Oslo.", None, "I live in Oslo"),
        ("Ana lives in Oslo.", None, "Ana lives in Oslo"),
    ],
)
def test_a_property_of_somebody_is_named_as_theirs(
    memory: weft.Memory, said: str, speaker: str | None, fact: str
) -> None:
    memory.remember(said, speaker=speaker)
    assert [node.text for node in memory.call("recent", kinds=["Fact"]).nodes] == [fact]


def test_another_value_is_another_value_of_the_same_property(memory: weft.Memory) -> None:
    memory.remember("Our phone provider is Orange.")
    (kept,) = memory.call("recent", kinds=["Fact"]).nodes
    memory.call("correct", id=kept.id, text="Vodafone")
    assert memory.call("show", id=kept.id).node.text == "our phone provider is Vodafone"
    (proposed,) = memory.remember("Our phone provider is Meo.").notes
    assert "'our phone provider is Meo' contradicts 'our phone provider is Vodafone'" in proposed
    (proposal,) = memory.call("proposal_list").proposals
    memory.call("proposal_review", id=proposal.id, decision="accept")
    assert "our phone provider is Meo" in [node.text for node in memory.call("recent", kinds=["Fact"]).nodes]
