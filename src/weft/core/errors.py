"""Every error weft raises on purpose, as one tree.

    WeftError                     base: `message`, `hint` (the next step), `code` (stable, for machines)
    ├── Invalid                   the caller's input is wrong; nothing was written
    │   ├── TooLarge              the input exceeds a stated limit
    │   ├── BlockedScope          the project or focus area to write to does not exist
    │   └── Unproven              the write must name the task or conversation it came from
    ├── Conflict                  the log moved, or a request id was used for something else
    ├── OverBudget                required content does not fit the caller's token budget
    ├── NotFound                  no such session, node, citation or file that the viewer may see
    ├── Forbidden                 the viewer may not do this
    ├── NeedsApproval             the write changes content for all projects and lacks the operator's approval
    ├── Misconfigured             settings or identity are wrong; nothing was started
    ├── ModelError                an embedder or model is missing, unreachable or answered wrongly
    └── StoreError                the store cannot serve
        ├── NotAStore             the path holds something that weft did not write
        ├── SchemaMismatch        written by a newer (or not yet upgraded) weft
        ├── Busy                  another process held the write lock too long; nothing was written
        ├── Away                  the store is temporarily unreachable; nothing was written
        ├── ReadOnly              the disk or the file cannot be written
        ├── DiskFull              no space left; nothing was written
        └── Corrupt               the chain or a file does not match its hashes

A driver's own exceptions never leave a backend: they arrive here, chained.
"""

from __future__ import annotations

from typing import ClassVar


class WeftError(Exception):
    """Base of all errors: what happened, and the next step."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class Invalid(WeftError):
    """The input breaks a rule. Nothing was written."""

    code = "invalid"


class TooLarge(Invalid):
    """The input exceeds a stated limit. Nothing was written."""

    code = "too_large"


class BlockedScope(Invalid):
    """The project or focus area to write to does not exist. Nothing was written."""

    code = "blocked_scope"


class Unproven(Invalid):
    """The write must name the task or conversation it came from. Nothing was written."""

    code = "unproven"


class Conflict(WeftError):
    """The log is not in the state that the caller assumed. Nothing was written."""

    code = "conflict"


class OverBudget(WeftError):
    """Content that an answer must include costs more tokens than the caller's profile allows."""

    code = "over_budget"


class NotFound(WeftError):
    """Nothing of that name exists that this viewer may see."""

    code = "not_found"


class Forbidden(WeftError):
    """The viewer lacks the right."""

    code = "forbidden"


class NeedsApproval(WeftError):
    """The write changes content for all projects, and the operator has not approved it. Nothing was written."""

    code = "needs_approval"


class Misconfigured(WeftError):
    """A setting or the identity is wrong: weft does not start."""

    code = "misconfigured"


class ModelError(WeftError):
    """A model cannot serve: its files, its server or its answer are wrong. Stored data is never affected."""

    code = "model_error"


class StoreError(WeftError):
    """The store cannot serve this."""

    code = "store_error"


class NotAStore(StoreError):
    """The path holds something that weft did not write."""

    code = "not_a_store"


class SchemaMismatch(StoreError):
    """The store's schema is newer than this program."""

    code = "schema_mismatch"


class Busy(StoreError):
    """The write lock was not free in time. Nothing was written; repeat the call."""

    code = "busy"


class Away(StoreError):
    """The store is temporarily unreachable. Nothing was written; repeat the call once it is back."""

    code = "away"


class ReadOnly(StoreError):
    """The store cannot be written."""

    code = "read_only"


class DiskFull(StoreError):
    """No space left. Nothing was written."""

    code = "disk_full"


class Corrupt(StoreError):
    """Bytes do not match their hashes, or the database file is damaged."""

    code = "corrupt"
