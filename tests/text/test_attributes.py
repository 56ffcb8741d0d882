"""Attributes: a question and a sentence that share one are about the same property, whatever words either uses."""

from __future__ import annotations

import pytest

from weft.text.extract.attributes import answering, asked_attributes, subjects

ME = frozenset({"me"})


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("where do I live?", "We moved to Nijmegen last weekend."),
        ("who is my employer?", "I now work for the city archive."),
        ("where did I work?", "Started at Belden Labs as a data analyst."),
        ("who leads the billing team?", "Anders takes over the billing team."),
        ("where is staging hosted?", "Staging runs on Fly for now."),
        ("what does the flat cost?", "The flat is 1,240 euros a month."),
        ("who supplies our beans?", "Changed supplier: beans now come from Mokador."),
        ("which database do we use?", "We chose PostgreSQL as the database."),
        ("when is the launch?", "Launch moved to January 20."),
        ("is the pump working?", "The pump was replaced."),
        ("what does Mara like?", "Mara can't stand olives."),
        ("what is Tom's phone number?", "Tom: +31 6 1234 5678."),
    ],
)
def test_a_note_that_answers_tells_the_attribute_asked_for(question: str, note: str) -> None:
    assert answering(note, asked_attributes(question), subjects(question))


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("where do I live?", "Staging moved to a Hetzner box."),  # another subject
        ("who leads marketing?", "Priya leads the billing team."),
        ("what does the boiler cost?", "The boiler was serviced by Harm."),  # another attribute
        ("where do I live?", "Oat milk sells twice as well as soy milk."),
    ],
)
def test_another_subject_or_attribute_does_not(question: str, note: str) -> None:
    assert not answering(note, asked_attributes(question), subjects(question))


def test_the_first_person_is_a_subject_where_nothing_else_is_named() -> None:
    assert subjects("where do I live now?") == ME
    assert subjects("where does Ana live?") == {"ana"}
