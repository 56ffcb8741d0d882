"""Hygiene finds what is planted and nothing else, and counts only when all was done."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import weft
from tests.places import Place
from tests.upkeep.planted import (
    DAY_US,
    LONG,
    found,
    hygiene,
    near_duplicates,
    old_decisions,
    old_patterns,
    same_names,
    stuck_writes,
    told,
)
from weft.core.errors import StoreError
from weft.core.types import Find


def near_misses(mem: weft.Memory) -> None:
    """A few hundred that share nearly all of their words with another, and are another matter."""
    base = "the harbour crane lifts containers of tonnes at the north quay when the wind is under knots of force"
    for number in range(60):
        told(mem, f"number{number}", base.replace("containers of", f"containers of {number}"))
        told(
            mem,
            f"version{number}",
            f"crane firmware v{number}.2 must be loaded before any lift at the north quay begins",
        )
        told(
            mem,
            f"name{number}",
            f"ask {chr(65 + number % 26)}{'aeiou'[number % 5]}lva{number % 7} before the ramp moves",
        )
    for person in ("Ada", "Ben", "Cleo"):
        told(
            mem,
            f"who{person}",
            f"before the ferry leaves the ramp is checked by {person} and the result goes in the log",
        )
        told(
            mem,
            f"where{person}",
            f"the spare fuses for the bridge are kept in the {person.lower()} cupboard next to it",
        )
    told(mem, "yes", "passengers may stay on the car deck while the ferry is under way across the sound")
    told(mem, "no", "passengers may not stay on the car deck while the ferry is under way across the sound")
    told(mem, "never", "passengers may never stay on the car deck while the ferry is under way across the sound")
    told(mem, "only", "passengers may stay on the car deck only while the ferry is under way across the sound")
    told(mem, "forth", "the tug Orca tows the barge Lena from the mole to the dry dock every Monday at high water")
    told(mem, "back", "the barge Lena tows the tug Orca from the mole to the dry dock every Monday at high water")
    told(mem, "into", "the tug Orca tows the barge Lena from the dry dock to the mole every Monday at high water")
    told(
        mem,
        "whose",
        "the tug Orca tows the barge Lena for Mr Birk from the mole to the dry dock every Monday at high water",
    )
    told(mem, "more", "gauges reading > 5 bar are reported to the chief at once, whoever is on watch below")
    told(mem, "less", "gauges reading < 5 bar are reported to the chief at once, whoever is on watch below")
    told(mem, "elsewhere", LONG, project="barge")
    told(mem, "everywhere", LONG, project=None)
    told(mem, "other-kind", LONG, kind="Context")
    told(mem, "other-focus", LONG, focus="engines")
    told(mem, "tagged", LONG, agents=("ann",))
    told(mem, "wider", LONG, scope="shared")
    told(mem, "read-out", LONG, props={"derived_from": "dup1a"})
    told(mem, "other-subject", LONG, props={"subject": "person:ann"})
    told(mem, "old-news", LONG)
    told(mem, "old-news-again", "the galley closes for the winter", supersedes=("old-news",))
    told(mem, "forgotten", LONG)
    mem.call("forget", id="forgotten")
    told(mem, "ended", LONG, days=9)
    mem.call("memory_invalidate", id="ended")
    told(
        mem,
        "bell1",
        "the bell on the foredeck rang for no reason that anybody on watch could find",
        kind="Event",
        days=4,
    )
    told(
        mem,
        "bell2",
        "the bell on the foredeck rang for no reason that anybody on watch could find",
        kind="Event",
        days=2,
    )


def test_hygiene_of_what_is_global_looks_at_things(memory: weft.Memory) -> None:
    memory.add_entity("Tidebook", kind="Service")
    memory.add_entity("Tidebook", kind="Organization")
    for level in ("project", "global"):
        report = memory.call("run_hygiene", level=level)
        (found,) = [each for check in report.checks if check.check == "entity" for each in check.findings]
        assert "'Tidebook'" in found.why


def test_what_is_planted_is_found_and_nothing_else(memory: weft.Memory, place: Place) -> None:
    place.clock.step(20_000 * DAY_US)
    near_misses(memory)
    expected = {
        "duplicate": near_duplicates(memory),
        "decision": old_decisions(memory),
        "pattern": old_patterns(memory),
        "entity": same_names(memory),
    }
    stuck_writes(memory, place)
    report = hygiene(memory, limit=100)
    assert report.status == "succeeded"
    assert {check: found(report, check) for check in expected} == expected
    writes = report.checks[-1].findings
    assert [each.id.split("/")[-1] for each in writes] == ["pending_retry", "pending_retry"]
    for check in report.checks:
        for finding in check.findings:
            assert finding.why
            assert finding.fix.startswith("weft hygiene apply ")
            assert finding.id in finding.fix
    pairs = {finding.ids[0]: finding for finding in report.checks[0].findings}
    assert all((pair.similarity or 0) > 0.9 and pair.measure == "words" for pair in pairs.values())
    assert pairs["dup1a"].similarity == 1.0
    assert f"{pairs['dup2a'].similarity:.3f} of their words" in pairs["dup2a"].why


def test_nothing_is_changed_but_when_it_was_done(memory: weft.Memory, place: Place) -> None:
    place.clock.step(20_000 * DAY_US)
    near_duplicates(memory)
    old_decisions(memory)
    same_names(memory)
    stuck_writes(memory, place)
    before = memory.ctx.store.head(memory.ctx.viewer).pos
    report = hygiene(memory)
    viewer = memory.ctx.operator("look")
    events = [event for _, some in memory.ctx.store.log(viewer, after=before, limit=100) for event in some]
    assert [event.kind for event in events] == ["graph.asserted"]
    project = memory.show("project:ferry").node
    assert project is not None
    assert project.props == {"last_hygiene_at": report.last_hygiene_at}
    assert len(memory.call("pending_list").waiting) == 2, "not even what waits was delivered"
    again = hygiene(memory)
    assert [found(again, name) for name in ("duplicate", "decision", "entity")] == [
        found(report, name) for name in ("duplicate", "decision", "entity")
    ]


def test_hygiene_is_due_again_after_thirty_days(memory: weft.Memory, place: Place) -> None:
    memory.call("project_create", name="ferry", description="boats")
    assert memory.call("project_context").hygiene_due
    hygiene(memory)
    assert not memory.call("project_context").hygiene_due
    place.clock.step(30 * DAY_US)
    assert not memory.call("project_context").hygiene_due
    place.clock.step(1)
    assert memory.call("project_context").hygiene_due
    (shown,) = memory.call("project_list").projects
    assert (shown.description, shown.last_hygiene_at != "") == ("boats", True)
    hygiene(memory, level="global")
    assert memory.call("project_context").hygiene_due, "hygiene of what is for all projects is not the project's"


class Troubled:
    """The real store, of which one read fails."""

    def __init__(self, store: Any, fails: str, when: Any = None) -> None:
        self._store, self._fails, self._when = store, fails, when

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._store, name)
        if name != self._fails:
            return real

        def asked(*given: Any, **more: Any) -> Any:
            if self._when is None or self._when(*given, **more):
                raise StoreError("the line is cut")
            return real(*given, **more)

        return asked


def last_hygiene(mem: weft.Memory) -> str:
    (here,) = [project for project in mem.call("project_list").projects if project.here]
    assert here.last_hygiene_at
    return str(here.last_hygiene_at)


def of_things(_viewer: Any, _when: Any, find: Find, **_more: Any) -> bool:
    return "Memory" in find.without_kinds


@pytest.mark.parametrize(
    ("fails", "when", "checks"),
    [
        ("find", None, {"duplicate", "decision", "pattern", "entity"}),
        ("find", of_things, {"entity"}),
        ("neighbours", lambda *_, rels=(), **__: rels == ("SUPERSEDES",), {"duplicate", "decision", "pattern"}),
    ],
)
def test_a_check_that_fails_is_told_and_hygiene_does_not_count(
    memory: weft.Memory, place: Place, fails: str, when: Any, checks: set[str]
) -> None:
    hygiene(memory)
    first = last_hygiene(memory)
    place.clock.step(200 * DAY_US)
    near_duplicates(memory)
    old_decisions(memory)
    old_patterns(memory)
    same_names(memory)
    report = hygiene(weft.Memory(replace(memory.ctx, store=Troubled(memory.ctx.store, fails, when))))
    assert report.status == "failed"
    assert {each.check for each in report.checks if "the line is cut" in each.problem} == checks
    assert report.last_hygiene_at == first
    assert last_hygiene(memory) == first
    assert memory.call("project_context").hygiene_due
    if "entity" not in checks:
        assert found(report, "entity"), "what could be looked at is told"


def test_progress_is_told(memory: weft.Memory) -> None:
    near_duplicates(memory)
    steps: list[str] = []
    operation = next(each for each in weft.operations.OPERATIONS if each.name == "run_hygiene")
    memory.run(operation, {}, progress=lambda what, done, total: steps.append(what))
    assert set(steps) == {"reading", "comparing", "entities"}
