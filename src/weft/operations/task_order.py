"""Which of several open tasks comes first."""

from __future__ import annotations

from typing import Any, Final

from weft.operations.stamping import status_of
from weft.types import NodeVersion

PRIORITIES: Final = {"critical": 4.0, "urgent": 4.0, "high": 3.0, "medium": 2.0, "normal": 2.0, "low": 1.0}
STATES: Final = ("blocked", "running", "open")  # of one priority, in this order


def by_priority(task: NodeVersion) -> tuple[float, int, int]:
    """To sort by. The most urgent first: by its priority, else by its importance; then by how it stands; then the
    newest.
    """
    state = status_of(task)
    place = STATES.index(state) if state in STATES else len(STATES)
    return (-_priority(task.props), place, -task.row)


def _priority(props: Any) -> float:
    said = props.get("priority", props.get("importance", 1.0))
    if isinstance(said, str):
        return PRIORITIES.get(said.casefold(), 1.0)
    return float(said) if isinstance(said, int | float) and not isinstance(said, bool) else 1.0
