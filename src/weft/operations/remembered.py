"""What every write answers with."""

from __future__ import annotations

from msgspec import Struct

from weft.operations.committing import REPEATED, WriteStatus
from weft.operations.dedup import Alike

__all__ = ["REPEATED", "Remembered"]


class Remembered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a write. Where nothing was written for now (`manual_review`), `candidates` are what it is like.

    `linked` are the ids of what it was joined to, in the order given.
    """

    status: WriteStatus
    id: str = ""
    citation: str = ""
    supersedes: tuple[str, ...] = ()
    candidates: tuple[Alike, ...] = ()
    linked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
