"""Facts in time: what a newer one ends, and above all what it must not end."""

from __future__ import annotations

import pytest

from tests.places import Place
from tests.writing.facts_of_others_and_other_times import OF_OTHERS
from tests.writing.facts_side_by_side import SIDE_BY_SIDE
from tests.writing.facts_that_end_others import ENDING
from tests.writing.told_facts import SUPERSEDED, Case, holding, mira, tell
from weft.core.clock import parse_instant
from weft.core.types import Find, When
from weft.testing.clock import ManualClock

CASES = [*ENDING, *SIDE_BY_SIDE, *OF_OTHERS]


def test_the_table_is_as_long_as_it_should_be() -> None:
    assert len(CASES) >= 80
    assert sum(case.ended == 0 for case in CASES) >= len(CASES) / 2
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_holds_when(place: Place, clock: ManualClock, case: Case) -> None:
    answers = tell(place, clock, case.told)
    all_seeing = place.open(sensitive="yes")
    found = {moment: holding(all_seeing, moment) for moment in case.holds}
    assert found == {moment: sorted(values) for moment, values in case.holds.items()}
    assert sum(answer.status == SUPERSEDED for answer in answers) == case.ended
    assert sum(bool(answer.supersedes) for answer in answers) == case.ended
    if case.statuses is not None:
        assert [answer.status for answer in answers] == case.statuses


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_past_is_not_told_otherwise(place: Place, clock: ManualClock, case: Case) -> None:
    """As it was known before each fact, everything holds as it held then."""
    memory = place.open(sensitive="yes")
    pinned: list[tuple[int, list[tuple[str, str]]]] = []

    def known(at: int) -> list[tuple[str, str]]:
        shown = []
        for moment in ("2012", "2021", "2023", "2025", "2027-06"):
            when = When(valid_at=parse_instant(moment), known_at=at)
            nodes = memory.ctx.store.find(memory.ctx.viewer, when, Find(kinds=("Fact",)), limit=100).nodes
            shown += sorted((moment, str(node.props["object"])) for node in nodes)
        return shown

    for each in case.told:
        tell(place, clock, [each])
        at = memory.ctx.store.head(memory.ctx.viewer).at
        pinned.append((at, known(at)))
    assert [known(at) for at, _ in pinned] == [then for _, then in pinned]


def test_every_assertion_stays_in_the_log(place: Place, clock: ManualClock) -> None:
    """Also the one that was ended and the one that was skipped: the log tells all of them."""
    told = [mira("lives_in", "Paris", "2020"), mira("lives_in", "Oslo", "2023"), mira("lives_in", "oslo")]
    first, second, third = tell(place, clock, told)
    memory = place.open()
    assert third.id == second.id
    assert [node.text for node in memory.cite(first.citation).nodes if node.kind == "Fact"] == ["Mira lives in Paris"]
    history = memory.show(first.id).history
    assert [version.valid_to is None for version in history] == [True, False]
    assert memory.cite(third.citation).nodes[0].props["about"] == second.id
    shown = memory.show(second.id)
    assert ("out", "INVOLVES") in {(edge.direction, edge.rel) for edge in shown.edges}
