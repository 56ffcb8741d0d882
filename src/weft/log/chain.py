"""Hashes of the log.

payload_hash = sha256(salt ‖ canonical payload); erasable: without payload and salt it reveals nothing. hash =
sha256(canonical header); the header holds payload_hash and prev_hash. digest = sha256(previous digest ‖ canonical
{first_pos, at, events: hashes}).

A session's first event follows a genesis value of account and session; the first commit one of the account. `pos` and
`known_at` belong to one store, so the commit chain binds them and not the event's own hash: an event keeps its hash,
and its citation, wherever it is copied.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from weft.core.clock import to_iso
from weft.core.types import Commit, Event
from weft.log.canonical import canonical

SALT_BYTES = 16


def payload_digest(salt: bytes, payload: bytes) -> bytes:
    """Commits to a payload without revealing it."""
    return hashlib.sha256(salt + payload).digest()


def session_genesis(account: str, session: str) -> bytes:
    """The predecessor of a session's first event."""
    return hashlib.sha256(canonical({"weft": "session", "account": account, "session": session})).digest()


def commit_genesis(account: str) -> bytes:
    """The predecessor of an account's first commit."""
    return hashlib.sha256(canonical({"weft": "account", "account": account})).digest()


def header_hash(event: Event) -> bytes:
    """The event's hash, over its whole header. Headers hold ids, never words."""
    header = {
        "account": event.account,
        "session": event.session,
        "seq": event.seq,
        "kind": event.kind,
        "agent": event.actor.agent,
        "role": event.actor.role,
        "recorded_at": to_iso(event.recorded_at),
        "occurred_at": None if event.occurred_at is None else to_iso(event.occurred_at),
        "caused_by": list(event.caused_by),
        "task": event.task,
        "conversation": event.conversation,
        "request_id": event.request_id,
        "payload_hash": event.payload_hash.hex(),
        "prev_hash": event.prev_hash.hex(),
    }
    return hashlib.sha256(canonical(header)).digest()


def commit_digest(previous: bytes, first_pos: int, at: int, hashes: Sequence[bytes]) -> bytes:
    """Chains a commit to the one before."""
    body = canonical({"first_pos": first_pos, "at": to_iso(at), "events": [each.hex() for each in hashes]})
    return hashlib.sha256(previous + body).digest()


def make_commit(previous: bytes, at: int, events: Sequence[Event]) -> Commit:
    """The commit record of these events."""
    first_pos = events[0].pos
    digest = commit_digest(previous, first_pos, at, [event.hash for event in events])
    return Commit(first_pos=first_pos, count=len(events), at=at, digest=digest)
