"""Drafts, and the events made of them.

`prepare` does everything that needs no lock (validation, canonical bytes, salts); `chained` runs inside the write lock
and assigns order: position, sequence number, record time, chain. Assigned before the lock, commits could land out of
order, and answers pinned to a time could change afterwards.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from weft.core.commits import LexedText, LockedView
from weft.core.errors import Conflict, Invalid, TooLarge
from weft.core.types import MAX_EVENTS_PER_COMMIT, MAX_PAYLOAD_BYTES, Commit, Event, Writer
from weft.log.canonical import canonical_struct
from weft.log.chain import (
    SALT_BYTES,
    header_hash,
    make_commit,
    payload_digest,
    session_genesis,
)
from weft.log.kinds import kind_named

MAX_CAUSES = 100
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}")


class Ready(Struct, frozen=True, kw_only=True):
    """The parts of a payload made ahead of its write, possibly in another process: its canonical bytes,
    and its texts for the index. Its words have passed the privacy filter.
    """

    raw: bytes
    texts: tuple[LexedText, ...]


class Draft(Struct, frozen=True, kw_only=True):
    """An event before it has a place. `payload` is an instance of the kind's payload type.

    If the draft is `ready`, the payload only says whom and what it is about; the content is in there.
    """

    kind: str
    payload: Struct
    occurred_at: int | None = None
    caused_by: tuple[str, ...] = ()
    task: str | None = None
    conversation: str | None = None
    ready: Ready | None = None


class Prepared(Struct, frozen=True, kw_only=True):
    """A draft with its payload's bytes and salt."""

    draft: Draft
    raw: bytes
    salt: bytes
    payload_hash: bytes


def check_name(name: str, *, field: str) -> str:
    """A session, account, agent or request name: short, visible, safe in a path and in a citation."""
    if not _NAME.fullmatch(name):
        raise Invalid(
            f"{field} is not a valid name: {name[:60]!r}",
            hint="1 to 128 letters, digits and . _ : @ + -, beginning with a letter or digit",
        )
    return name


def prepare(drafts: Sequence[Draft]) -> tuple[Prepared, ...]:
    """Validates and encodes. Raises Invalid or TooLarge; nothing has been written then."""
    if not drafts:
        raise Invalid("there is nothing to write", hint="give at least one event")
    if len(drafts) > MAX_EVENTS_PER_COMMIT:
        raise TooLarge(
            f"{len(drafts)} events in one commit; the limit is {MAX_EVENTS_PER_COMMIT}", hint="write in smaller batches"
        )
    return tuple(_prepare_one(draft) for draft in drafts)


def _prepare_one(draft: Draft) -> Prepared:
    kind = kind_named(draft.kind)
    if type(draft.payload) is not kind.payload:
        raise Invalid(f"{draft.kind} needs a {kind.payload.__name__}, not a {type(draft.payload).__name__}")
    if len(draft.caused_by) > MAX_CAUSES:
        raise TooLarge(f"an event names {len(draft.caused_by)} causes; the limit is {MAX_CAUSES}")
    raw = encoded(draft.payload) if draft.ready is None else draft.ready.raw
    salt = os.urandom(SALT_BYTES)
    return Prepared(draft=draft, raw=raw, salt=salt, payload_hash=payload_digest(salt, raw))


def encoded(payload: Struct) -> bytes:
    """The canonical bytes of a payload. Raises Invalid for what JSON cannot carry, TooLarge for too much of it."""
    raw = canonical_struct(payload)
    if len(raw) > MAX_PAYLOAD_BYTES:
        raise TooLarge(
            f"the payload is {len(raw):,} bytes; the limit is {MAX_PAYLOAD_BYTES:,}",
            hint="split the text, or ingest it as a document",
        )
    return raw


def check_head(view: LockedView, session: str, expected: int) -> None:
    """Raises Conflict unless the session's last event has this number."""
    last = view.session_head(session)
    seq = last.seq if last else 0
    if expected != seq:
        raise Conflict(
            f"session {session} is at {seq}, you wrote after {expected}",
            hint=f"read from {min(expected, seq) + 1} and retry",
        )


def chained(
    prepared: Sequence[Prepared], view: LockedView, writer: Writer, *, request_id: str | None, now_us: int
) -> tuple[Commit, tuple[Event, ...]]:
    """Events with their places in log, session and chain, and their commit. Runs inside the write lock."""
    head, last = view.head(), view.session_head(writer.session)
    at = max(now_us, head.at + 1)
    seq = last.seq if last else 0
    prev_hash = last.hash if last else session_genesis(writer.account, writer.session)
    events: list[Event] = []
    for offset, one in enumerate(prepared, start=1):
        draft = one.draft
        event = Event(
            pos=head.pos + offset,
            account=writer.account,
            session=writer.session,
            seq=seq + offset,
            kind=draft.kind,
            actor=writer.actor,
            recorded_at=at,
            known_at=at,
            occurred_at=draft.occurred_at,
            caused_by=draft.caused_by,
            task=draft.task,
            conversation=draft.conversation,
            request_id=request_id,
            payload=one.raw,
            salt=one.salt,
            payload_hash=one.payload_hash,
            prev_hash=prev_hash,
            hash=b"",
        )
        prev_hash = header_hash(event)
        events.append(msgspec.structs.replace(event, hash=prev_hash))
    return make_commit(head.digest, at, events), tuple(events)
