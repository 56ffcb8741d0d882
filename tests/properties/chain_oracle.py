"""The chain, computed again from its description alone, with the reference encoder."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

import rfc8785

from weft.core.types import Commit, Event


def iso(at: int | None) -> str | None:
    if at is None:
        return None
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def event_hash(event: Event, prev_hash: bytes) -> bytes:
    header = {
        "account": event.account,
        "session": event.session,
        "seq": event.seq,
        "kind": event.kind,
        "agent": event.actor.agent,
        "role": event.actor.role,
        "recorded_at": iso(event.recorded_at),
        "occurred_at": iso(event.occurred_at),
        "caused_by": list(event.caused_by),
        "task": event.task,
        "conversation": event.conversation,
        "request_id": event.request_id,
        "payload_hash": event.payload_hash.hex(),
        "prev_hash": prev_hash.hex(),
    }
    return sha(rfc8785.dumps(header))


def problems(account: str, log: tuple[tuple[Commit, tuple[Event, ...]], ...]) -> list[str]:
    """Everything about a log that is not as described."""
    found: list[str] = []
    pos, at = 0, 0
    digest = sha(rfc8785.dumps({"weft": "account", "account": account}))
    sessions: dict[str, tuple[int, bytes]] = {}
    for commit, events in log:
        if commit.first_pos != pos + 1 or commit.count != len(events):
            found.append(f"positions have a gap at {commit.first_pos}")
        if commit.at <= at:
            found.append(f"record times do not increase at {commit.first_pos}")
        at = commit.at
        for event in events:
            pos += 1
            genesis = sha(rfc8785.dumps({"weft": "session", "account": account, "session": event.session}))
            seq, prev_hash = sessions.get(event.session, (0, genesis))
            expected = (pos, seq + 1, at, prev_hash)
            if (event.pos, event.seq, event.known_at, event.prev_hash) != expected:
                found.append(f"event {event.pos} stands in another place")
            if event.salt is None or event.payload is None or sha(event.salt, event.payload) != event.payload_hash:
                found.append(f"event {event.pos} has another payload hash")
            if event_hash(event, prev_hash) != event.hash:
                found.append(f"event {event.pos} has another hash")
            sessions[event.session] = (event.seq, event.hash)
        hashes = [event.hash.hex() for event in events]
        digest = sha(digest, rfc8785.dumps({"first_pos": commit.first_pos, "at": iso(commit.at), "events": hashes}))
        if digest != commit.digest:
            found.append(f"the commit at {commit.first_pos} has another digest")
    return found
