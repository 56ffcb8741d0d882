"""What the audit keeps of conversations and of what agents were told goes with what is erased."""

from __future__ import annotations

from tests.baking.test_profiles import written
from tests.unit.conftest import Place
from tests.unit.test_governance import run

import weft
from weft.operations.contexts import CONTEXT


def audited(memory: weft.Memory) -> str:
    return "\n".join(f"{call.operation} {call.input} {call.output}" for call in run(memory, "tool_calls").calls)


def test_what_an_agent_is_told_is_not_kept_again(place: Place) -> None:
    written(place.root, "desk", "")
    boss = place.open(audit="on")
    boss.remember("The desk closes at six.", agents=["desk"], scope="public")
    run(boss, "bake", slug="desk")
    run(boss, "agent_knowledge", slug="desk")
    boss.run(CONTEXT, {"query": "when does it close?"})
    assert {"agent_knowledge", "context"} <= {call.operation for call in run(boss, "tool_calls").calls}
    told = [call.output for call in run(boss, "tool_calls").calls if call.operation in ("agent_knowledge", "context")]
    assert told == ["", ""]


def test_erasing_a_session_takes_the_calls_that_named_it(place: Place) -> None:
    boss = place.open(audit="on", conversations="lazy")
    boss.remember("The winch needs grease.")
    held = run(boss, "record_turns", turns=["ana: my code is heron"], session='the "blue" one')
    assert held.status == "held"
    run(boss, "record_turns", turns=["ana: my code is egret"], session="another")
    assert "heron" in audited(boss)
    boss.erase(session='the "blue" one', yes=True, confirm="default")
    assert "heron" not in audited(boss)
    assert "egret" in audited(boss)
