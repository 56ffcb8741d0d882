"""Every operation, in the order in which help lists them: the visible list from which all surfaces are derived."""

from __future__ import annotations

from typing import Final

from weft.operations import indexing, ingesting, logbook, reading, recalling, recording, remembering, setting_up, upkeep
from weft.operations.registry import Operation

OPERATIONS: Final[tuple[Operation, ...]] = (
    *remembering.OPERATIONS,
    *recalling.OPERATIONS,
    *reading.OPERATIONS,
    *ingesting.OPERATIONS,
    *recording.OPERATIONS,
    *logbook.OPERATIONS,
    *upkeep.OPERATIONS,
    *indexing.OPERATIONS,
    *setting_up.OPERATIONS,
)
