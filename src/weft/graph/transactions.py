"""The transaction of a commit."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from weft.core.commits import LockedView
from weft.core.errors import Conflict, NotFound
from weft.core.types import Event, Tx
from weft.log.kinds import payload_of, transaction


def transaction_of(view: LockedView, events: Sequence[Event]) -> Tx:
    """The transaction of one commit: a new one named by its first event's hash, or the open one it continues."""
    first, last = events[0], events[-1]
    tx = Tx(
        id=f"tx-{first.hash.hex()[:16]}",
        kind="memory_write",
        agent=first.actor.agent,
        session=first.session,
        at=first.known_at,
        opened_pos=first.pos,
        closed_pos=last.pos,
    )
    for event in events:
        if not event.kind.startswith("tx."):
            continue
        payload = payload_of(event)
        match payload:
            case transaction.Noted():
                tx = replace(
                    tx,
                    kind=payload.tx_kind,
                    git_commit=payload.git_commit,
                    files=payload.files,
                    duration_ms=payload.duration_ms,
                )
            case transaction.Opened():
                tx = replace(
                    tx, kind=payload.tx_kind, git_commit=payload.git_commit, files=payload.files, closed_pos=None
                )
            case transaction.Continued():
                tx = _open(view, payload.tx)
            case transaction.Closed():
                opened = _open(view, payload.tx)
                tx = replace(
                    opened,
                    closed_pos=last.pos,
                    at=last.known_at,
                    files=tuple(dict.fromkeys(opened.files + payload.files)),
                    duration_ms=payload.duration_ms,
                )
    return tx


def spans_commits(tx: Tx, events: Sequence[Event]) -> bool:
    """Whether this commit is one of several of a longer change: its first, a middle one, or its last."""
    return tx.closed_pos is None or tx.opened_pos != events[0].pos


def _open(view: LockedView, tx_id: str) -> Tx:
    found = view.transaction(tx_id)
    if found is None:
        raise NotFound(f"there is no transaction {tx_id!r}", hint="open one first")
    if found.closed_pos is not None:
        raise Conflict(f"transaction {tx_id} is closed already", hint="open a new one")
    return found
