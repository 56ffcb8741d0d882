"""The smallest write that goes the way of all writes, and how tests call operations by name."""

from __future__ import annotations

from typing import Any

import weft
from weft.log.draft import Draft
from weft.log.kinds import memory as memory_kinds
from weft.loom import Loom
from weft.operations import OPERATIONS
from weft.operations.committing import commit
from weft.operations.registry import Operation
from weft.operations.remembered import Remembered
from weft.operations.write_options import WriteOptions, focus_of, guard_of


class Noted(WriteOptions, frozen=True, kw_only=True):
    """Input of `note`."""

    text: str
    id: str | None = None
    kind: str = "Memory"
    supersedes: tuple[str, ...] = ()
    expected_head: int | None = None


def _note(loom: Loom, given: Noted) -> Remembered:
    """Keeps a text under the options that every write has."""
    node = given.id or loom.new_id(given.request_id)
    guard = guard_of(loom, given)
    payload = memory_kinds.Remembered(
        id=node,
        text=given.text,
        node_kind=given.kind,
        focus=focus_of(loom, given),
        project=guard.project,
        scope=guard.scope,
        agents=guard.agents,
        sensitive=guard.sensitive,
        supersedes=given.supersedes,
    )
    draft = Draft(kind="memory.remembered", payload=payload)
    done = commit(loom, [draft], request_id=given.request_id, expected_head=given.expected_head)
    return Remembered(status=done.status, id=node, citation=done.citation, notes=done.notes)


_NOTE = Operation(
    name="note", summary="a note", input=Noted, output=Remembered, effect="write", toolset="memory", run=_note
)


def note(memory: weft.Memory, text: str, **given: Any) -> Remembered:
    answer = memory.run(_NOTE, {"text": text, **given})
    assert isinstance(answer, Remembered)
    return answer


def call(memory: weft.Memory, named: str, /, **given: Any) -> Any:
    operation = next(each for each in OPERATIONS if each.name == named)
    return memory.run(operation, given)
