"""Family `tx`: the kind of a commit, and changes that span several commits."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

TxKind = Literal["memory_write", "full_rebuild", "incremental", "file_change", "agent_edit", "maintenance"]


class Noted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Describes its commit."""

    tx_kind: TxKind
    git_commit: str | None = None
    files: tuple[str, ...] = ()
    duration_ms: int | None = None


class Opened(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The first commit of a longer change; its event's hash names the transaction."""

    tx_kind: TxKind
    git_commit: str | None = None
    files: tuple[str, ...] = ()


class Continued(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One more commit; `cursor` is where the writer would resume."""

    tx: str
    cursor: str = ""


class Closed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The last commit: the change becomes visible."""

    tx: str
    duration_ms: int | None = None
    files: tuple[str, ...] = ()
