"""What an agent says that a thing is: kept for its own project, as a memory about the thing.

Things belong to no project, and what stands in one is read in all: that is the operator's to say, or needs approval.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from weft.log.kinds.graph import Asserted, NodeAssertion
from weft.log.kinds.memory import Remembered as MemoryRemembered
from weft.operations.making import Making
from weft.operations.write_options import WriteOptions, focus_of, guard_of, props_of
from weft.retrieval.derived import DESCRIBES, description_id


def describe(making: Making, given: WriteOptions, thing: NodeAssertion, words: str) -> tuple[str, ...]:
    """Adds the description to what the write makes. The same project's next one is a new version of it.

    The ids of what describes the thing.
    """
    loom = making.loom
    guard = guard_of(loom, given)
    node_id = making.id_of(description_id(loom, guard.project, thing.id))
    node = NodeAssertion(
        id=node_id,
        kind="Memory",
        name=thing.name,
        text=words,
        props={**props_of(given), DESCRIBES: thing.id},
        focus=focus_of(loom, given),
        **asdict(guard),
    )
    before = making.standing(node_id)
    if before is None or (before.text, dict(before.props)) != (node.text, node.props):
        making.nodes[node_id] = node
    making.edge(node_id, "INVOLVES", thing.id, project=guard.project)
    making.notes.append(
        f"the description is kept for project {guard.project} as {node_id}; for all projects it needs approval"
        " (request_global_write_approval)"
    )
    return (node_id,)


def described(payload: Any, words: str) -> str | None:
    """The id of the thing that a payload describes in these words; None if it describes none."""
    nodes = payload.nodes if isinstance(payload, Asserted) else ()
    nodes = payload.entities if isinstance(payload, MemoryRemembered) else nodes
    return next((node.props[DESCRIBES] for node in nodes if DESCRIBES in node.props and node.text == words), None)
