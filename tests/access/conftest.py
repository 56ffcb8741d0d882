"""Things that are kept for all projects, the operator and an agent."""

from __future__ import annotations

import pytest

import weft
from tests.access.approvals import TEXT, ann, boss
from tests.access.governed_world import finding, gone
from weft.testing.clock import ManualClock

__all__ = ["ann", "boss"]  # fixtures


@pytest.fixture
def world(boss: weft.Memory, clock: ManualClock) -> dict[str, str]:
    """Things of the operator's that are kept for all projects, by what they are; and one project's own."""
    old = finding(boss, clock)
    boss.add_entity("Mira", kind="Person", description="Runs the harbour.", aliases=["Captain"])
    boss.add_entity("Myra", kind="Person")
    boss.call("add_fact", subject="Mira", predicate="lives_in", object="Oslo", subject_kind="Person", level="global")
    unsure = boss.call(
        "add_fact",
        subject="Mira",
        predicate="lives_in",
        object="Rome",
        subject_kind="Person",
        level="global",
        confidence=0.2,
    )
    return {
        "memory": boss.remember(TEXT, level="global", name="dates").id,
        "decision": boss.call("save_decision", title="Use metric units", level="global").id,
        "gone": gone(boss),
        "person": "person:mira",
        "double": "person:myra",
        "alias": "person:captain",
        "proposal": unsure.id,
        "alert": boss.call("alert_raise", message="The quay is under water.", level="global").id,
        "task": boss.call("work_create", kind="repair", title="Mend the quay", level="global").id,
        "finding": old,
    }
