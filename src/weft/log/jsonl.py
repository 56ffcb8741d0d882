"""The log as a file: one canonical JSON value a line, the same bytes for the same log, on every backend.

{"account": ..., "version": 1, "weft": "log"}
{"commit": {...}}            then its events, one line each
{"event": {...}}             with "rewritten": true where the payload is not the one that was sealed
{"end": {"digest": ..., "pos": ...}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import msgspec

from weft.core.clock import parse_instant, to_iso
from weft.core.errors import Corrupt, Invalid
from weft.core.types import Actor, Commit, Event
from weft.log.canonical import canonical
from weft.log.verify import ChainChecker

FORMAT_VERSION = 1
MAX_LINE_BYTES = 4_000_000  # a payload of 1 MB, escaped, with its header
Made = TypeVar("Made")
LogItem = tuple[Commit, tuple[Event, ...]]


def write_lines(account: str, commits: Iterable[LogItem]) -> Iterator[bytes]:
    """The lines of a log, each with its newline."""
    yield canonical({"weft": "log", "version": FORMAT_VERSION, "account": account}) + b"\n"
    pos, digest = 0, b""
    for commit, events in commits:
        pos, digest = commit.first_pos + commit.count - 1, commit.digest
        fields = {"first_pos": commit.first_pos, "count": commit.count, "at": to_iso(commit.at), "digest": digest.hex()}
        yield canonical({"commit": fields}) + b"\n"
        for event in events:
            yield canonical({"event": _event_fields(event)}) + b"\n"
    yield canonical({"end": {"pos": pos, "digest": digest.hex()}}) + b"\n"


def read_checked(lines: Iterable[bytes]) -> Iterator[tuple[str, LogItem]]:
    """(account, commit with events) for each commit, every hash checked. Raises Corrupt at the first bad line.

    A file without its last line was cut short, and is refused.
    """
    numbered = enumerate(lines, start=1)
    account = _read_header(numbered)
    checker = ChainChecker(account)
    waiting: Commit | None = None
    events: list[Event] = []
    for number, line in numbered:
        value = _decode(number, line)
        if "event" in value and waiting is not None:
            events.append(_guarded(number, _event, account, waiting.at, value["event"]))
            if len(events) == waiting.count:
                if problem := checker.check(waiting, tuple(events)):
                    raise Corrupt(f"line {number}: {problem}", hint="the file was changed after it was written")
                yield account, (waiting, tuple(events))
                waiting, events = None, []
        elif "commit" in value and waiting is None:
            waiting = _guarded(number, _commit, value["commit"])
        elif "end" in value and waiting is None:
            _check_end(number, value["end"], checker)
            if next(numbered, None) is not None:
                raise Corrupt(f"line {number + 1}: there is more after the end", hint="is this two files in one?")
            return
        else:
            raise Corrupt(f"line {number} is out of place", hint="lines are missing, doubled or reordered")
    raise Corrupt("the file stops before its end line", hint="it was cut short: export it again")


def _read_header(numbered: Iterator[tuple[int, bytes]]) -> str:
    first = next(numbered, None)
    header = _decode(*first) if first else {}
    if header.get("weft") != "log" or not isinstance(header.get("account"), str):
        raise Invalid("this is not an exported weft log", hint="make one with `weft log export`")
    if header.get("version") != FORMAT_VERSION:
        raise Invalid(
            f"the file has format {header.get('version')}, this weft reads {FORMAT_VERSION}", hint="upgrade weft"
        )
    account: str = header["account"]
    return account


def _decode(number: int, line: bytes) -> dict[str, Any]:
    if len(line) > MAX_LINE_BYTES:
        raise Corrupt(f"line {number} is longer than {MAX_LINE_BYTES:,} bytes")
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise Corrupt(f"line {number} is not JSON: {problem}", hint="the file is damaged or cut short") from problem
    if not isinstance(value, dict):
        raise Corrupt(f"line {number} is not an object")
    return value


def _guarded(number: int, make: Callable[..., Made], *parts: Any) -> Made:
    try:
        return make(*parts)
    except (AttributeError, KeyError, TypeError, ValueError, Invalid) as problem:
        raise Corrupt(f"line {number} lacks a field or has a wrong one: {problem}") from problem


def _check_end(number: int, end: Any, checker: ChainChecker) -> None:
    expected = {"pos": checker.pos, "digest": checker.digest.hex() if checker.pos else ""}
    if end != expected:
        raise Corrupt(f"line {number}: the log does not end where its end line says", hint="commits are missing")
    if problem := checker.unbound():
        raise Corrupt(problem, hint="the file was changed after it was written, or while something was erased")


def _event_fields(event: Event) -> dict[str, Any]:
    return {
        "pos": event.pos,
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
        # The payload travels as text: its bytes are what was hashed.
        "payload": None if event.payload is None else _as_text(event),
        "salt": None if event.salt is None else event.salt.hex(),
        "payload_hash": event.payload_hash.hex(),
        "prev_hash": event.prev_hash.hex(),
        "hash": event.hash.hex(),
        **({"rewritten": True} if event.rewritten else {}),
    }


def _as_text(event: Event) -> str:
    try:
        return (event.payload or b"").decode()
    except UnicodeDecodeError as problem:
        raise Corrupt(
            f"the payload of {event.citation} is damaged", hint="`weft log verify` says how far the log is sound"
        ) from problem


def _commit(fields: dict[str, Any]) -> Commit:
    return Commit(
        first_pos=int(fields["first_pos"]),
        count=int(fields["count"]),
        at=parse_instant(fields["at"]),
        digest=bytes.fromhex(fields["digest"]),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a session's name is text, not {value!r:.60}")
    return value


def _event(account: str, known_at: int, fields: dict[str, Any]) -> Event:
    occurred_at = fields["occurred_at"]
    return Event(
        pos=int(fields["pos"]),
        account=account,
        session=_text(fields["session"]),
        seq=int(fields["seq"]),
        kind=fields["kind"],
        actor=Actor(agent=fields["agent"], role=fields["role"]),
        recorded_at=parse_instant(fields["recorded_at"]),
        known_at=known_at,
        occurred_at=None if occurred_at is None else parse_instant(occurred_at),
        caused_by=tuple(fields["caused_by"]),
        task=fields["task"],
        conversation=fields["conversation"],
        request_id=fields["request_id"],
        payload=None if fields["payload"] is None else fields["payload"].encode(),
        salt=None if fields["salt"] is None else bytes.fromhex(fields["salt"]),
        payload_hash=bytes.fromhex(fields["payload_hash"]),
        prev_hash=bytes.fromhex(fields["prev_hash"]),
        hash=bytes.fromhex(fields["hash"]),
        rewritten=fields.get("rewritten", False) is True,
    )
