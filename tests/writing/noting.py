"""The smallest write that goes the way of all writes, and how tests call operations by name."""

from __future__ import annotations

from typing import Any

import weft
from weft.log.draft import Draft
from weft.log.kinds import memory as memory_kinds
from weft.runtime.call_context import CallContext
from weft.runtime.operation import Operation
from weft.writing.build.commit import commit
from weft.writing.write_contract import WriteOptions, WriteResult, focus_of, guard_of


class Noted(WriteOptions, frozen=True, kw_only=True):
    """Input of `note`."""

    text: str
    id: str | None = None
    kind: str = "Memory"
    supersedes: tuple[str, ...] = ()
    expected_head: int | None = None


def _note(ctx: CallContext, given: Noted) -> WriteResult:
    """Keeps a text under the options that every write has."""
    node = given.id or ctx.new_id(given.request_id)
    guard = guard_of(ctx, given)
    payload = memory_kinds.Remembered(
        id=node,
        text=given.text,
        node_kind=given.kind,
        focus=focus_of(ctx, given),
        project=guard.project,
        scope=guard.scope,
        agents=guard.agents,
        sensitive=guard.sensitive,
        supersedes=given.supersedes,
    )
    draft = Draft(kind="memory.remembered", payload=payload)
    done = commit(ctx, [draft], request_id=given.request_id, expected_head=given.expected_head)
    return WriteResult(status=done.status, id=node, citation=done.citation, notes=done.notes)


_NOTE = Operation(
    name="note", summary="a note", input=Noted, output=WriteResult, effect="write", toolset="memory", run=_note
)


def note(memory: weft.Memory, text: str, **given: Any) -> WriteResult:
    answer = memory.run(_NOTE, {"text": text, **given})
    assert isinstance(answer, WriteResult)
    return answer
