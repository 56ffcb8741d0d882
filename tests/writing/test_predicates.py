"""The registry of properties, and when two values of one are the same."""

from __future__ import annotations

import pytest

from weft.writing.checks.predicates import HAPPENINGS, MANY_VALUED, SINGLE_VALUED, is_single, predicate_of
from weft.writing.checks.values import Relation, is_denied, is_hedged, relation


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("lives_in", "lives_in"),
        ("Lives in", "lives_in"),
        ("livesIn", "lives_in"),
        ("lives-in", "lives_in"),
        ("  currently   resides in ", "lives_in"),
        ("is based in", "is_based_in"),
        ("deployed to", "deployed_to"),
        ("deployed on", "deployed_on"),
        ("hosted on", "hosted_on"),
        ("located at", "located_at"),
        ("headquartered in", "headquartered_in"),
        ("position", "position"),
        ("works for", "works_for"),
        ("date of birth", "date_of_birth"),
        ("employed by", "works_at"),
        ("employer", "works_at"),
        ("Working At", "works_at"),
        ("has status", "status"),
        ("owned by", "owner"),
        ("owner of", "owns"),
        ("married to", "spouse"),
        ("due date", "deadline"),
        ("lived in", "lived_in"),
        ("no longer lives in", "no_longer_lives_in"),
        ("does not live in", "does_not_live_in"),
        ("was based in", "was_based_in"),
        ("favourite colour", "favourite_colour"),
        ("?!", ""),
    ],
)
def test_a_property_goes_by_several_names(written: str, kept: str) -> None:
    assert predicate_of(written) == kept


def test_a_name_belongs_to_one_property() -> None:
    families = {**SINGLE_VALUED, **MANY_VALUED}
    names = [name for kept, others in families.items() for name in (kept, *others)]
    assert len(names) == len(set(names))
    assert not set(SINGLE_VALUED) & set(MANY_VALUED)
    assert not HAPPENINGS & set(names)
    assert all(predicate_of(name) == kept for kept, others in families.items() for name in (kept, *others))


def test_what_is_unknown_has_many_values() -> None:
    assert is_single("lives_in")
    assert not is_single("likes")
    assert not is_single("visited")
    assert not is_single("anything else")
    assert not any(map(is_single, ("deployed_to", "hosted_on", "located_at", "position")))
    assert is_single("mood", cardinality="one")
    assert not is_single("lives_in", cardinality="many")
    assert is_single("mood", extra=("Mood",))
    assert is_single("favourite_colour", extra=("favourite colour",))
    assert not is_single("mood", cardinality="many", extra=("mood",))


@pytest.mark.parametrize(
    ("predicate", "old", "new", "expected"),
    [
        ("lives_in", "Paris", "paris", "same"),
        ("lives_in", "New York", "  NEW   york. ", "same"),
        ("lives_in", "Zürich", "Zurich", "same"),
        ("role", "co-founder", "co founder", "same"),
        ("role", "the lead", "lead", "same"),
        ("lives_in", "Paris", "Paris, France", "finer"),
        ("lives_in", "France", "Paris, France", "finer"),
        ("lives_in", "Paris, France", "Paris", "coarser"),
        ("lives_in", "Oslo", "Oslo (Norway)", "finer"),
        ("lives_in", "Oslo, Norway", "Oslo (Norway)", "same"),
        ("lives_in", "Paris, France", "Paris, Texas", "other"),
        ("lives_in", "York", "New York", "other"),
        ("role", "engineer", "senior engineer", "other"),
        ("uses_database", "Postgres", "MySQL", "other"),
        ("price", "1,000", "1000", "same"),
        ("price", "1000", "1000.00", "same"),
        ("price", "10", "100", "other"),
        ("price", "5 EUR", "5 NOK", "other"),
        ("price", "5", "5 EUR", "finer"),
        ("price", "5 EUR", "5", "coarser"),
        ("price", "5 EUR", "5.00 eur", "same"),
        ("price", "$5", "5", "coarser"),
        ("price", "$5", "€5", "other"),
        ("owner", "Ana, Bob", "Bob", "other"),
        ("owner", "Ana", "Ana, Bob", "other"),
        ("located_in", "Oslo", "Oslo, Norway", "finer"),
        ("born_in", "Oslo, Norway", "Norway", "coarser"),
        ("age", "34", "34 years", "finer"),
        ("age", "34", "35", "other"),
        ("version", "3.1", "3.10", "other"),
        ("version", "2", "2.0", "other"),
        ("version", "v2.0", "V2.0", "same"),
        ("version", "v3.1", "3.1", "same"),
        ("version", "3.1", "version 3.1", "same"),
        ("version", "v3.1", "3.10", "other"),
        ("deadline", "2026-05-01", "2026-05-02", "other"),
        ("deadline", "2026-05-01", "2026", "other"),
        ("status", "down", "up", "other"),
        ("status", "東京", "東京", "same"),
        ("status", "!", "?", "other"),
    ],
)
def test_values_are_compared_by_what_they_say(predicate: str, old: str, new: str, expected: Relation) -> None:
    assert relation(predicate, old, new) == expected


@pytest.mark.parametrize(
    ("value", "denied", "hedged"),
    [
        ("Paris", False, False),
        ("not Paris", True, False),
        ("No longer Paris", True, False),
        ("isn’t Paris", True, False),
        ("unknown", True, False),
        ("n/a", True, False),
        ("Nottingham", False, False),
        ("nobody", False, False),
        ("none", False, False),
        ("Notting Hill", False, False),
        ("maybe Oslo", False, True),
        ("Oslo?", False, True),
        ("Maybe Island", False, True),
        ("Maybeck", False, False),
        ("I think Rome", False, True),
        ("I guess it's probably Rome", False, True),
        ("Rome, I think", False, True),
        ("either Rome or Bonn", False, True),
        ("Either Street", False, False),
        ("I think not Rome", True, True),
        ("Thinkers Lane", False, False),
    ],
)
def test_what_is_no_plain_value(value: str, denied: bool, hedged: bool) -> None:
    assert (is_denied(value), is_hedged(value)) == (denied, hedged)
