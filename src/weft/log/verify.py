"""Verification of a log against its own hashes; names the first problem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from weft.core.clock import MAX_INSTANT_US, MIN_INSTANT_US
from weft.core.errors import StoreError
from weft.core.ports import Store
from weft.core.types import MAX_READ_EVENTS, Commit, Event, Viewer
from weft.log.canonical import decode
from weft.log.chain import commit_digest, commit_genesis, header_hash, payload_digest, session_genesis
from weft.log.kinds import payload_of, rewriting
from weft.text.encryption import PREFIX, is_sealed

VERIFY_SLICE_EVENTS = 1_000
MAX_SESSIONS = 1_000_000
MAX_PASSES = 3


class VerifyResult(Struct, frozen=True, kw_only=True):
    """The result of a verification: how far the log is sound, and the first problem, if any.

    `erased` counts events whose payloads were replaced, by an erasure or a key rotation.
    """

    commits: int
    events: int
    erased: int
    digest: str
    problem: str | None = None


class ChainChecker:
    """Follows a log commit by commit. `check` returns the first problem of a commit, or None."""

    def __init__(self, account: str) -> None:
        self.account = account
        self.pos, self.at, self.digest = 0, 0, commit_genesis(account)
        self.sessions: dict[str, tuple[int, bytes]] = {}
        self.commits = self.events = self.erased = 0
        self._rewritten: dict[tuple[str, int], _Left] = {}
        self._named: dict[tuple[str, int], tuple[str, str]] = {}  # digest and why, by the newest that says so

    def check(self, commit: Commit, events: tuple[Event, ...]) -> str | None:
        """Advances past a sound commit; on a problem nothing advances."""
        if commit.first_pos != self.pos + 1:
            return f"position {self.pos + 1} is missing: the next commit begins at {commit.first_pos}"
        if commit.count != len(events) or not events:
            return f"the commit at position {commit.first_pos} says {commit.count} events and has {len(events)}"
        if commit.at <= self.at:
            return f"the commit at position {commit.first_pos} is not later than the one before it"
        moved: dict[str, tuple[int, bytes]] = {}  # only the sessions of this commit: there may be many others
        for offset, event in enumerate(events):
            problem = self._check_event(event, self.pos + 1 + offset, commit, moved)
            if problem:
                return problem
        if commit_digest(self.digest, commit.first_pos, commit.at, [e.hash for e in events]) != commit.digest:
            return f"the commit at position {commit.first_pos} does not match its digest: order or events were changed"
        self.pos, self.at, self.digest = self.pos + len(events), commit.at, commit.digest
        self.sessions.update(moved)
        self.commits += 1
        self.events += len(events)
        self.erased += sum(event.rewritten for event in events)
        for event in events:
            self._bind(event)
        return None

    def unbound(self) -> str | None:
        """At the end: the first replaced payload that no later event accounts for, or that differs from
        what one says.
        """
        for key, left in self._rewritten.items():
            if key not in self._named:
                return f"{left.name}: the payload was replaced, and no event says so"
            digest, why = self._named[key]
            if digest != left.digest.hex():
                return f"{left.name}: what is left of the payload was changed"
            if why == "resealed" and not left.sealed:
                return f"{left.name}: the payload was replaced as if to seal it anew, and nothing in it is sealed"
        for session, seq in self._named:
            if (session, seq) not in self._rewritten:
                return f"event {seq} of session {session} was rewritten, and its first payload is there again"
        return None

    def _bind(self, event: Event) -> None:
        """Records a replaced payload's digest, or what a later event says that it is."""
        if event.rewritten:
            self._rewritten[event.session, event.seq] = _Left(
                digest=payload_digest(event.salt or b"", event.payload or b""),
                name=f"{event.citation} (position {event.pos})",
                sealed=_holds_sealed(event.payload or b""),
            )
        elif event.kind == "log.rewritten":
            told: rewriting.Rewritten = payload_of(event)
            self._named.update({(session, seq): (digest, told.why) for session, seq, digest in told.events})

    def _check_event(self, event: Event, pos: int, commit: Commit, moved: dict[str, tuple[int, bytes]]) -> str | None:
        name = f"{event.citation} (position {event.pos})"
        if event.pos != pos:
            return f"position {pos} is missing or out of order: found {name}"
        if event.account != self.account:
            return f"{name} belongs to account {event.account}, not {self.account}"
        if event.known_at != commit.at:
            return f"{name} has another time than its commit"
        if not all(t is None or MIN_INSTANT_US <= t <= MAX_INSTANT_US for t in (event.recorded_at, event.occurred_at)):
            return f"{name}: the header has a time that does not exist"
        before = moved.get(event.session) or self.sessions.get(event.session)
        seq, prev_hash = before or (0, session_genesis(self.account, event.session))
        if event.seq != seq + 1:
            return (
                f"session {event.session} jumps from {seq} to {event.seq}: an event is missing, doubled or out of order"
            )
        if event.prev_hash != prev_hash:
            return f"{name} does not follow the event before it in its session"
        if event.payload is None or event.salt is None:
            return f"{name}: the payload is missing"
        if not event.rewritten and payload_digest(event.salt, event.payload) != event.payload_hash:
            return f"{name}: the payload was changed"
        if event.kind == "log.rewritten" and (problem := self._check_telling(event, name, moved)):
            return problem
        if header_hash(event) != event.hash:
            return f"{name}: the header was changed"
        moved[event.session] = (event.seq, event.hash)
        return None

    def _check_telling(self, event: Event, name: str, moved: dict[str, tuple[int, bytes]]) -> str | None:
        """A `log.rewritten` event must be unchanged itself, and name only earlier events."""
        if event.rewritten:
            return f"{name}: what says that payloads were replaced cannot be replaced itself"
        told: rewriting.Rewritten = payload_of(event)
        for session, seq, _ in told.events:
            last, _ = moved.get(session) or self.sessions.get(session) or (0, b"")
            if not 0 < seq <= last:
                return f"{name} says that event {seq} of session {session} was replaced, and there is none"
        return None


class _Left(Struct, frozen=True, kw_only=True):
    """A replaced payload: its digest, the event's label, whether anything in it is encrypted."""

    digest: bytes
    name: str
    sealed: bool


def _holds_sealed(payload: bytes) -> bool:
    return PREFIX.encode() in payload and any(map(is_sealed, _strings(decode(payload))))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def read_commits(store: Store, viewer: Viewer, *, after: int = 0) -> Iterator[tuple[Commit, tuple[Event, ...]]]:
    """The whole log, one page at a time."""
    while found := store.log(viewer, after=after, limit=min(VERIFY_SLICE_EVENTS, MAX_READ_EVENTS)):
        yield from found
        last = found[-1][0]
        after = last.first_pos + last.count - 1


def verify(store: Store, viewer: Viewer, *, expected_digest: str | None = None) -> VerifyResult:
    """Checks the account's whole log. `expected_digest` is a head stored elsewhere: it reveals a missing tail."""
    for _ in range(MAX_PASSES):
        checker = ChainChecker(viewer.account)
        problem = _follow(checker, store, viewer)
        # An erasure during the scan may replace a payload before and be recorded after the read: another pass tells.
        loose = checker.unbound() if problem is None else None
        if loose is None:
            break
    problem = problem or loose
    if problem is None and expected_digest is not None and checker.digest.hex() != expected_digest.lower():
        problem = (
            f"the log ends at {checker.digest.hex()[:16]}…, not at the digest given: its tail is missing or it went on"
        )
    return VerifyResult(
        commits=checker.commits,
        events=checker.events,
        erased=checker.erased,
        digest=checker.digest.hex(),
        problem=problem,
    )


def _follow(checker: ChainChecker, store: Store, viewer: Viewer) -> str | None:
    """Reads to the end, and continues if others wrote meanwhile: heads and events are then ahead of the scan."""
    while True:
        problem = _first_problem(checker, read_commits(store, viewer, after=checker.pos))
        if problem is not None:
            return problem
        problem = _heads_problem(checker, store, viewer) or _outside_problem(checker, store, viewer)
        if problem is None or store.head(viewer).pos <= checker.pos:
            return problem


def _first_problem(checker: ChainChecker, commits: Iterable[tuple[Commit, tuple[Event, ...]]]) -> str | None:
    for commit, events in commits:
        if problem := checker.check(commit, events):
            return problem
    return None


def _heads_problem(checker: ChainChecker, store: Store, viewer: Viewer) -> str | None:
    for head in store.session_heads(viewer, limit=MAX_SESSIONS):
        if checker.sessions.get(head.session) != (head.seq, head.hash):
            seq = checker.sessions.get(head.session, (0, b""))[0]
            return f"session {head.session} should end at {head.seq} and ends at {seq}: its tail is missing"
    return None


def _outside_problem(checker: ChainChecker, store: Store, viewer: Viewer) -> str | None:
    """An event that no commit covers can be read, and was never chained.

    If the graph, which decides who may read an event, is damaged, none can be read this way, and none is applied.
    """
    try:
        newest = store.events(viewer, session=None, after_seq=0, limit=1, newest_first=True)
    except StoreError:
        return None
    for event in newest:
        if event.pos > checker.pos:
            return f"{event.citation} (position {event.pos}) is in no commit"
    return None
