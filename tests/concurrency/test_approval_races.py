"""One token, used by two processes at the same moment: one of them writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import weft
from tests.concurrency.racer import opened
from tests.concurrency.racing import Pair, pair
from weft.core.types import NOW, Find
from weft.log.verify import verify

ROUNDS = 40
MOST_ROUNDS = 100
AGENT = "racer"


def approved(boss: weft.Memory, ann: weft.Memory, operation: str, given: dict[str, Any]) -> str:
    request = ann.call("request_global_write_approval", operation=operation, arguments=given)
    boss.call("approve", id=request.id)
    token: str = request.token
    return token


def written(memory: weft.Memory) -> int:
    find = Find(kinds=("Memory", "Context"), projects=(None,))
    return len(memory.ctx.store.find(memory.ctx.viewer, NOW, find, limit=1000).nodes)


def race(two: Pair, boss: weft.Memory, ann: weft.Memory, operation: str, given: dict[str, Any]) -> None:
    """Exactly one is written, and the other is told why it was not."""
    token = approved(boss, ann, operation, given)
    before = written(boss)
    call = {**given, "governance_token": token}
    first, second = two.race(operation, call, call)
    assert (first["status"], second["status"]) == ("saved", "failed"), (first, second)
    told = " ".join([*second.get("notes", ()), *(each["error"] for each in second.get("items", ()))])
    assert "already used" in told, second
    assert written(boss) == before + len(given.get("items", (1,)))


def test_of_two_that_use_one_token_at_once_one_writes(tmp_path: Path) -> None:
    with pair(tmp_path, agent=AGENT) as two, opened(tmp_path) as boss, opened(tmp_path, "ann", agent=AGENT) as ann:
        while two.rounds < ROUNDS or (two.at_once <= ROUNDS // 2 and two.rounds < MOST_ROUNDS):
            number = two.rounds
            text, title = two.words(9), two.words(3)
            match number % 3:
                case 0:
                    race(two, boss, ann, "remember", {"text": text, "level": "global"})
                case 1:
                    race(two, boss, ann, "save_context", {"title": title, "body": text, "level": "global"})
                case _:
                    items = [{"text": f"{text} {each}", "level": "global"} for each in range(3)]
                    race(two, boss, ann, "remember_many", {"items": items})
        assert two.at_once > ROUNDS // 2
        assert len(boss.call("approval_list", status="used", limit=100).approvals) == two.rounds
        assert verify(boss.ctx.store, boss.ctx.operator("check the log")).problem is None


def test_approving_and_denying_at_once_is_one_decision(tmp_path: Path) -> None:
    with pair(tmp_path) as two, opened(tmp_path, "ann", agent=AGENT) as ann:
        for _ in range(10):
            given = {"text": two.words(), "level": "global"}
            request = ann.call("request_global_write_approval", operation="remember", arguments=given)
            told = two.race_apart(("approve", {"id": request.id}), ("deny", {"id": request.id}))
            assert sorted("status" in each for each in told) == [False, True], told
            (won,) = [each for each in told if "approval" in each]
            (lost,) = [each for each in told if "status" in each]
            assert lost["status"] == "conflict", lost
            (stands,) = [each for each in ann.call("approval_list", status="all").approvals if each.id == request.id]
            assert stands.status == won["approval"]["status"]
