"""The extraction scorer: what counts as found, and that one finding answers one annotation."""

from __future__ import annotations

from benchmarks.extraction.score import SPEAKER, Sentence, all_same, matched, same_days, score, shared, touching

from weft.core.clock import parse_instant

TEXT = "I live in Oslo because Otto Berg asked."


def test_half_of_the_union_is_enough_unless_equality_is_asked_for() -> None:
    assert shared((0, 4), (2, 6)) == 2 / 6
    assert all_same(((0, 10),), ((0, 8),), exact=False)
    assert not all_same(((0, 10),), ((0, 8),), exact=True)
    assert not all_same(((0, 10),), ((8, 20),), exact=False)


def test_one_finding_answers_one_annotation() -> None:
    assert matched([((0, 4),)], [((0, 4),), ((0, 4),)], all_same, exact=False) == 1


def test_a_date_must_name_the_same_days_and_a_fact_the_same_predicate() -> None:
    assert not same_days(((0, 4), 1, 2), ((0, 4), 1, 3), exact=False)
    assert touching((SPEAKER, "role", (3, 9)), (SPEAKER, "role", (0, 5)), exact=False)
    assert not touching((SPEAKER, "role", (3, 9)), (SPEAKER, "age", (3, 9)), exact=False)


def test_a_sentence_is_scored_by_its_place_in_its_row() -> None:
    gold = {
        "names": [[110, 114], [123, 132]],
        "dates": [{"start": 100, "end": 101, "from": None, "to": None}],
        "quantities": [],
        "identifiers": [],
        "facts": [{"subject": "speaker", "predicate": "lives_in", "object": [110, 114]}],
        "preferences": [],
        "causes": [{"cause": [123, 138], "effect": [100, 114]}],
    }
    tallies = score([Sentence(TEXT, 100, parse_instant("2023-06-14"), gold)])
    counts = {
        kind: (each.found, each.wanted, each.exact) for kind, each in tallies.items() if each.found or each.wanted
    }
    assert counts == {"names": (2, 2, 2), "facts": (1, 1, 1), "causes": (1, 1, 1)}
