"""Every error weft raises on purpose, as one tree.

    WeftError                     base: `message`, `hint` (the next step), `code` (stable, for machines)
    ├── Invalid                   the caller's input is wrong; nothing was written
    │   ├── TooLarge              a bound was passed
    │   ├── BlockedScope          the project or focus area to write to is not known
    │   └── Unproven              it says neither of which task nor of which conversation it came, and must
    ├── Conflict                  the log moved, or a request id was used for something else
    ├── OverBudget                what must be told has no room in the tokens that the caller gave
    ├── NotFound                  no such session, node, citation or file, as far as the viewer may know
    ├── Forbidden                 the viewer may not do this
    ├── NeedsApproval             it would change what is kept for all projects: the operator has not approved it
    ├── Misconfigured             settings or identity are wrong; nothing was started
    ├── ModelError                an embedder or model is missing, unreachable or answered wrongly
    └── StoreError                the store cannot serve
        ├── NotAStore             the directory or file is something else
        ├── SchemaMismatch        written by a newer (or not yet upgraded) weft
        ├── Busy                  another process held the lock too long; nothing was written
        ├── Away                  the store cannot be reached for now; nothing was written
        ├── ReadOnly              the disk or the file cannot be written
        ├── DiskFull              no space left; nothing was written
        └── Corrupt               the chain or a file does not match its hashes

A driver's own exceptions never leave a backend: they arrive here, chained.
"""

from __future__ import annotations

from typing import ClassVar


class WeftError(Exception):
    """Base of all errors: says what happened and what to do next."""

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
    """The input passes a stated bound. Nothing was written."""

    code = "too_large"


class BlockedScope(Invalid):
    """What is written has no place: its project or focus area is not known. Nothing was written."""

    code = "blocked_scope"


class Unproven(Invalid):
    """What is written must say of which task or conversation it came. Nothing was written."""

    code = "unproven"


class Conflict(WeftError):
    """The log is not where the caller believed. Nothing was written."""

    code = "conflict"


class OverBudget(WeftError):
    """What an answer must not leave out costs more tokens than the caller's profile has."""

    code = "over_budget"


class NotFound(WeftError):
    """Nothing of that name that this viewer may know of."""

    code = "not_found"


class Forbidden(WeftError):
    """The viewer lacks the right."""

    code = "forbidden"


class NeedsApproval(WeftError):
    """It would change what is kept for all projects, and the operator has not approved that. Nothing was written."""

    code = "needs_approval"


class Misconfigured(WeftError):
    """A setting or the identity is wrong: start-up stops here."""

    code = "misconfigured"


class ModelError(WeftError):
    """A model cannot serve: its files, its server or its answer are wrong. Costs quality, never stored data."""

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
    """The write lock was not had in time. Nothing was written; the call may be repeated."""

    code = "busy"


class Away(StoreError):
    """The store cannot be reached for now. Nothing was written; the call may be repeated when it is back."""

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
