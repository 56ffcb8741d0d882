"""Tasks: which one a caller means, and the calls that write on behalf of one."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.errors import Away, Busy
from weft.loom import Loom
from weft.operations.references import resolve_reference
from weft.operations.stamping import TASK, belongs, no_task
from weft.types import NodeVersion


def for_task(loom: Loom, given: Struct) -> Loom:
    """The loom of a call that writes on behalf of the task it names; unchanged where it names none.

    Raises what `task_named` raises, for a task of another project as well. Where the store cannot be asked the task is
    taken as it is written: the write that follows waits in the outbox, or fails.
    """
    written: str | None = getattr(given, "produced_by_task_id", None)
    if written is None:
        return loom
    try:
        task = task_named(loom, written)
        if not belongs(loom, task, {getattr(given, "project", None)}):
            raise no_task(loom, written)
        return replace(loom, task=task.id)
    except (Busy, Away):
        return replace(loom, task=written)


def task_named(loom: Loom, written: str) -> NodeVersion:
    """The task of an id or a citation, or of a title in this project.

    Raises NotFound for one that is not there, is deleted or is not for the caller to see, which are told alike; Invalid
    for what is no task, and for a title that several have.
    """
    found = resolve_reference(loom, written, kinds={TASK})
    if found is None:
        raise no_task(loom, written)
    return found
