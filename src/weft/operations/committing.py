"""The one way in which operations write: every memory goes through here, whatever it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from weft.append import Appended
from weft.log.draft import Draft
from weft.loom import Loom

WriteStatus = Literal[
    "saved",
    "duplicate_skip",
    "superseded",
    "manual_review",
    "partial",
    "pending_retry",
    "failed",
    "blocked_scope",
]


def commit(
    loom: Loom, drafts: Sequence[Draft], *, request_id: str | None = None, expected_head: int | None = None
) -> Appended:
    """Writes drafts as this caller: all of them or none. Raises what `append` raises."""
    return loom.append(drafts, request_id=request_id, expected_head=expected_head)
