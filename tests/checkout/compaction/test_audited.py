"""What the audit keeps of conversations and of what agents were told goes with what is erased."""

from __future__ import annotations

import weft
from tests.checkout.agent_files.test_profiles import written
from tests.places import Place
from weft.checkout.prompt_context import CONTEXT


def audited(memory: weft.Memory) -> str:
    return "\n".join(f"{call.operation} {call.input} {call.output}" for call in memory.call("tool_calls").calls)


def test_what_an_agent_is_told_is_not_kept_again(place: Place) -> None:
    written(place.root, "desk", "")
    boss = place.open(audit="on")
    boss.remember("The desk closes at six.", agents=["desk"], scope="public")
    boss.call("bake", slug="desk")
    boss.call("agent_knowledge", slug="desk")
    boss.run(CONTEXT, {"query": "when does it close?"})
    assert {"agent_knowledge", "context"} <= {call.operation for call in boss.call("tool_calls").calls}
    told = [call.output for call in boss.call("tool_calls").calls if call.operation in ("agent_knowledge", "context")]
    assert told == ["", ""]


def test_erasing_a_session_takes_the_calls_that_named_it(place: Place) -> None:
    boss = place.open(audit="on", conversations="lazy")
    boss.remember("The winch needs grease.")
    held = boss.call("record_turns", turns=["ana: my code is heron"], session='the "blue" one')
    assert held.status == "held"
    boss.call("record_turns", turns=["ana: my code is egret"], session="another")
    assert "heron" in audited(boss)
    boss.erase(session='the "blue" one', yes=True, confirm="default")
    assert "heron" not in audited(boss)
    assert "egret" in audited(boss)
