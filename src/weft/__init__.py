"""weft: the long-term memory and context engine for LLM agents.

import weft
with weft.open() as memory:
    memory.remember("Deploys freeze on Fridays.")
    print(memory.recall("when do deploys freeze?").hits[0].node.text)
"""

from weft.errors import (
    Away,
    BlockedScope,
    Busy,
    Conflict,
    Corrupt,
    DiskFull,
    Forbidden,
    Invalid,
    Misconfigured,
    ModelError,
    NeedsApproval,
    NotAStore,
    NotFound,
    ReadOnly,
    SchemaMismatch,
    StoreError,
    TooLarge,
    Unproven,
    WeftError,
)
from weft.memory import Memory, open  # noqa: A004 - weft.open() is the front door
from weft.types import Actor, Event, Viewer, When
from weft.version import __version__

__all__ = [
    "Actor",
    "Away",
    "BlockedScope",
    "Busy",
    "Conflict",
    "Corrupt",
    "DiskFull",
    "Event",
    "Forbidden",
    "Invalid",
    "Memory",
    "Misconfigured",
    "ModelError",
    "NeedsApproval",
    "NotAStore",
    "NotFound",
    "ReadOnly",
    "SchemaMismatch",
    "StoreError",
    "TooLarge",
    "Unproven",
    "Viewer",
    "WeftError",
    "When",
    "__version__",
    "open",
]
