"""What workers found: pending until another accepts it, shared once it is promoted, each with its proof."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fleet.crew import Crew
from tests.places import MakeStore
from weft.core.errors import Conflict, Forbidden, NotFound
from weft.testing.clock import ManualClock


@pytest.fixture
def crew(make_store: MakeStore, clock: ManualClock, tmp_path: Path) -> Crew:
    return Crew(make_store(), clock, tmp_path)


def seen(crew: Crew, **more: object) -> str:
    told = crew.agent("boss").call("memory_checkout", query="leaking tap in the harbour office", **more)
    return str(told.prompt)


def test_coordination_sees_a_finding_only_once_it_is_accepted(crew: Crew) -> None:
    worker, boss = crew.agent("worker"), crew.agent("boss")
    source = worker.call("remember", text="Water stood under the tap on Monday.").citation
    told = "The leaking tap in the harbour office drips from the valve."
    found = worker.call("finding_report", text=told, evidence=[source]).id
    assert told not in seen(crew, purpose="coordinate")
    assert told in seen(crew, purpose="coordinate", include_pending=True)
    with pytest.raises(Forbidden, match="your own finding"):
        worker.call("finding_review", id=found, verdict="accept", reason="sure")
    with pytest.raises(Conflict, match="this finding is pending: it cannot be promoted"):
        boss.call("finding_promote", id=found)
    boss.call("finding_review", id=found, verdict="accept", reason="I looked at the valve.")
    assert told in seen(crew, purpose="coordinate")
    boss.call("finding_promote", id=found)
    (shown,) = boss.call("finding_list", status="promoted").findings
    assert shown.proof["evidence"] == [source]
    assert (shown.proof["reviewer"], shown.proof["review"]) == ("boss", "I looked at the valve.")
    for name in ("report", "acceptance"):
        assert boss.call("cite", citation=shown.proof[name])
    assert told in seen(crew, purpose="coordinate")


def test_a_recall_marks_a_finding_until_it_is_accepted(crew: Crew) -> None:
    worker, boss = crew.agent("worker"), crew.agent("boss")
    source = worker.call("remember", text="Water stood under the tap on Monday.").citation
    for verdict, words in (("accept", "drips from the valve"), ("reject", "is a ghost")):
        found = worker.call("finding_report", text=f"The leaking tap {words}.", evidence=[source]).id

        def marks(found: str = found) -> tuple[str, ...]:
            return next(hit.marks for hit in boss.call("recall", query="leaking tap").hits if hit.node.id == found)

        assert marks() == ("pending",)
        boss.call("finding_review", id=found, verdict=verdict, reason="I looked.")
        assert marks() == (() if verdict == "accept" else ("rejected",))


def test_a_rejected_finding_stays_out_and_is_not_reviewed_twice(crew: Crew) -> None:
    worker, boss = crew.agent("worker"), crew.agent("boss")
    source = worker.call("remember", text="Water stood under the tap on Monday.").citation
    told = "The leaking tap in the harbour office is a ghost."
    found = worker.call("finding_report", text=told, evidence=[source]).id
    boss.call("finding_review", id=found, verdict="reject", reason="there are no ghosts")
    assert told not in seen(crew, purpose="coordinate")
    with pytest.raises(Conflict, match="rejected"):
        boss.call("finding_review", id=found, verdict="accept", reason="after all")


def test_a_finding_rests_on_what_exists(crew: Crew) -> None:
    worker = crew.agent("worker")
    with pytest.raises(NotFound, match="cites no event"):
        worker.call("finding_report", text="x is so", evidence=["weft://worker-1/events/99#aaaaaaaa"])
    with pytest.raises(NotFound, match="no finding"):
        crew.agent("boss").call("finding_review", id="nothing", verdict="accept", reason="x")
