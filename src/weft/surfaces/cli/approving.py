"""`weft approve` on a terminal: shows what would be written and by whom, then asks."""

from __future__ import annotations

import sys
from typing import Any, Final

import click
from msgspec import Struct

from weft.errors import Invalid
from weft.memory import Memory
from weft.operations import approving
from weft.operations.approvals import ApprovalShown
from weft.operations.registry import Operation
from weft.surfaces.cli.approval_lines import approval_lines, decided_lines

MOST: Final = 100


def approve_asking(memory: Memory, operation: Operation, given: dict[str, Any], *, yes: bool, plain: bool) -> Struct:
    """Approves one request, or goes through all that wait. With `yes` nobody is asked; then it must be said which.

    Raises Invalid where nobody can be asked: there is no terminal, or the answer is to be `plain` data.
    """
    memory.loom.operator("approve requests")
    name = given.get("id")
    if name is not None and yes:
        return memory.run(operation, given, surface="cli")
    waiting = _waiting(memory, name)
    if not waiting and name is not None:
        return memory.run(operation, given, surface="cli")  # which says what is wrong with it
    if not waiting:
        return approving.ApprovalList(approvals=(), notes=("nothing waits for an approval",))
    if plain or yes or not sys.stdin.isatty():
        if not plain:
            for shown in waiting:
                approval_lines(shown)
        raise Invalid("nothing was approved: nobody could be asked", hint=f"`weft approve {waiting[0].id} --yes`")
    done = [_asked(memory, shown) for shown in waiting]
    told = ", ".join(f"{done.count(each)} {each}" for each in ("approved", "denied", "left"))
    return approving.ApprovalList(approvals=(), notes=(told,))


def _waiting(memory: Memory, name: str | None) -> list[ApprovalShown]:
    listed = memory.run(_operation("approval_list"), {"limit": MOST}, surface="cli")
    assert isinstance(listed, approving.ApprovalList)
    return [each for each in listed.approvals if name in (None, each.id)]


def _asked(memory: Memory, shown: ApprovalShown) -> str:
    """Shows a request and does as the operator says."""
    approval_lines(shown)
    said = click.prompt("approve? (y)es, (n)o, (l)eave it", type=click.Choice(["y", "n", "l"]), default="l")
    if said == "l":
        return "left"
    reason = click.prompt("why not", default="", show_default=False) if said == "n" else ""
    verdict = "approve" if said == "y" else "deny"
    told = {"id": shown.id} | ({"reason": reason} if reason else {})
    answer = memory.run(_operation(verdict), told, surface="cli")
    assert isinstance(answer, approving.ApprovalDecided)
    decided_lines(answer)
    return answer.approval.status


def _operation(name: str) -> Operation:
    return next(each for each in approving.OPERATIONS if each.name == name)
