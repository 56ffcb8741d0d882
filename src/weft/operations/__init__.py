"""Every operation, in the order in which help lists them: the visible list from which all surfaces are derived."""

from __future__ import annotations

from typing import Final

from weft.operations import (
    answering,
    explaining,
    feedback,
    finding,
    indexing,
    ingesting,
    logbook,
    merging,
    raw,
    reading,
    recalling,
    recording,
    remembering,
    searching,
    setting_up,
    upkeep,
    viewing,
)
from weft.operations.registry import Operation

OPERATIONS: Final[tuple[Operation, ...]] = (
    *remembering.OPERATIONS,
    *recalling.OPERATIONS,
    *raw.OPERATIONS,
    *searching.OPERATIONS,
    *finding.OPERATIONS,
    *explaining.OPERATIONS,
    *answering.OPERATIONS,
    *feedback.OPERATIONS,
    *viewing.OPERATIONS,
    *merging.OPERATIONS,
    *reading.OPERATIONS,
    *ingesting.OPERATIONS,
    *recording.OPERATIONS,
    *logbook.OPERATIONS,
    *upkeep.OPERATIONS,
    *indexing.OPERATIONS,
    *setting_up.OPERATIONS,
)
