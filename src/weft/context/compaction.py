"""Selection of records for a compaction, by purpose: all, exemplars of each topic, or accepted ones. Knows no store.

    security · release · review   every record, word for word: a risk or a gate must not vanish behind another
    coding · research             what must not be lost (see MARKS), and of every other topic an exemplar
    coordinate                    accepted and promoted state, proofs and handoffs; the rest is reported, not kept

The same rows in the same order give the same records.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

Keeps = Literal["every", "exemplars", "accepted"]
Role = Literal["verbatim", "exemplar"]
# Rows by number, by topic: the exemplar of each first, then the rows it represents, the most similar first.
Topics = Callable[[Sequence[int]], Sequence[Sequence[int]]]
NAMED: Final = 8  # represented rows that a record names


class CompactionPolicy(Struct, frozen=True, kw_only=True):
    """How a purpose compacts. At least `floor` records are kept, where there are as many; at most `most` exemplars."""

    purpose: str
    keeps: Keeps
    floor: int = 8
    most: int = 500


POLICIES: Final[Mapping[str, CompactionPolicy]] = {
    policy.purpose: policy
    for policy in (
        CompactionPolicy(purpose="coding", keeps="exemplars"),
        CompactionPolicy(purpose="review", keeps="every"),
        CompactionPolicy(purpose="release", keeps="every"),
        CompactionPolicy(purpose="security", keeps="every"),
        CompactionPolicy(purpose="research", keeps="exemplars", most=800),
        CompactionPolicy(purpose="coordinate", keeps="accepted"),
    )
}


class CompactionRow(Struct, frozen=True, kw_only=True):
    """A memory, as far as a policy looks at it. `disputed` if a proposal that waits contradicts it."""

    id: str
    kind: str
    text: str
    status: str = ""
    topics: tuple[str, ...] = ()
    expired: bool = False
    disputed: bool = False


class CompactionRecord(Struct, frozen=True, kw_only=True):
    """A kept row, by its number; the reason; the numbers of the rows it represents."""

    row: int
    role: Role
    why: str
    of: tuple[int, ...] = ()


class CompactionResult(Struct, frozen=True, kw_only=True):
    """The result for all rows: records in the order of the rows, `left` out rows counted by reason.

    `reported` are (row, state) of rows that are reported and not kept.
    """

    records: tuple[CompactionRecord, ...]
    collapsed: int = 0
    left: Mapping[str, int] = {}
    reported: tuple[tuple[int, str], ...] = ()


def sort_out(policy: CompactionPolicy, rows: Sequence[CompactionRow], topics: Topics) -> CompactionResult:
    """The rows to keep."""
    if policy.keeps == "every":
        return CompactionResult(
            records=tuple(CompactionRecord(row=at, role="verbatim", why="every record") for at in range(len(rows)))
        )
    return _accepted(rows) if policy.keeps == "accepted" else _exemplars(policy, rows, topics)


# ---- exemplars

# Rows that are kept in every topic: by kind, or by a pattern of their words.
MARKS: Final[Mapping[str, tuple[frozenset[str], re.Pattern[str]]]] = {
    "decision": (
        frozenset({"Decision"}),
        re.compile(
            r"\b(?:we|i|they) (?:have )?decided\b|\bdecision:|\bwe (?:will|must|shall) (?:always|never)\b", re.I
        ),
    ),
    "failed attempt": (
        frozenset(),
        re.compile(
            r"\b(?:failed|fails|broke|broken|reverted|rolled back|regression(?! tests?))\b"
            r"|\b(?:did|does|do|could|can)(?:n't| not)(?: even)? (?:work|help|build|start|compile|reproduce)\b"
            r"|\b(?:doesn't|didn't|don't|couldn't|can't|cannot) (?:work|help|build|start|compile|reproduce)\b",
            re.I,
        ),
    ),
    "test": (
        frozenset({"Test"}),
        re.compile(
            r"\btest_\w+|\btests?/\w|\b(?:unit|integration|regression|load|smoke) tests?\b"
            r"|\btests? (?:pass|fail|cover)",
            re.I,
        ),
    ),
    "claim": (
        frozenset({"Claim", "Fact"}),
        re.compile(r"\bclaims? that\b|\bwe (?:found|conclude)\b|\bhypothes[ie]s\b", re.I),
    ),
    "source": (frozenset(), re.compile(r"https?://|\bdoi:\s?10\.|\barxiv[:.]", re.I)),
    "contradiction": (
        frozenset(),
        re.compile(
            r"\bcontradict\w*|\bconflicts? with\b|\bdisagrees? with\b|\bcontrary to\b|\bno longer (?:true|holds)\b",
            re.I,
        ),
    ),
    "open question": (
        frozenset(),
        re.compile(
            r"\bopen question\b|\b(?:still|yet) (?:unclear|unknown|open)\b|\bnot (?:yet )?(?:known|decided|clear)\b"
            r"|\bto be decided\b|\bTBD\b|\bTODO\b|\bFIXME\b",
            re.I,
        ),
    ),
}
FAILED: Final = frozenset({"failed", "cancelled"})


def mark_of(row: CompactionRow) -> str:
    """The mark of a row that is always kept; empty for any other."""
    if row.disputed:
        return "contradiction"
    if row.status in FAILED:
        return "failed attempt"
    for name, (kinds, words) in MARKS.items():
        if row.kind in kinds or words.search(row.text):
            return name
    return "open question" if row.kind != "Message" and row.text.rstrip().endswith("?") else ""


def _exemplars(policy: CompactionPolicy, rows: Sequence[CompactionRow], topics: Topics) -> CompactionResult:
    kept = {
        at: CompactionRecord(row=at, role="verbatim", why=mark) for at, row in enumerate(rows) if (mark := mark_of(row))
    }
    groups = sorted(
        topics([at for at in range(len(rows)) if at not in kept]), key=lambda group: (-len(group), -max(group))
    )
    over = sum(len(group) for group in groups[policy.most :])
    for exemplar, *others in groups[: policy.most]:
        kept[exemplar] = CompactionRecord(
            row=exemplar, role="exemplar" if others else "verbatim", why="topic", of=tuple(others)
        )
    _fill(kept, policy.floor)
    records = tuple(kept[at] for at in sorted(kept))
    left = {f"over {policy.most} topics": over} if over else {}
    return CompactionResult(records=records, collapsed=sum(len(record.of) for record in records), left=left)


def _fill(kept: dict[int, CompactionRecord], floor: int) -> None:
    """Up to the floor, rows least similar to their exemplar become records of their own."""
    while len(kept) < floor:
        widest = max(kept.values(), key=lambda record: (len(record.of), record.row), default=None)
        if widest is None or not widest.of:
            return
        *others, last = widest.of
        kept[widest.row] = CompactionRecord(
            row=widest.row, role="exemplar" if others else "verbatim", why="topic", of=tuple(others)
        )
        kept[last] = CompactionRecord(row=last, role="verbatim", why="floor")


# ---- coordination

STATES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("pending", "open", "running", "blocked", "proposed", "unpromoted", "waiting", "draft"), "pending"),
    **dict.fromkeys(("rejected", "denied", "failed", "cancelled", "withdrawn"), "rejected"),
    **dict.fromkeys(("deferred", "postponed", "parked"), "deferred"),
    **dict.fromkeys(("stale", "expired", "outdated", "superseded"), "stale"),
}
ACCEPTED: Final = frozenset({"accepted", "promoted", "approved", "merged", "released", "final"})
PROVEN: Final = frozenset({"succeeded", "done", "verified", "proven"})
AUTHORITATIVE: Final = frozenset({"Decision", "Fact", "Preference"})
HANDOFF: Final = re.compile(r"\bhand(?:ed)?[- ]?(?:off|over)\b", re.I)
PROOF: Final = re.compile(r"\b(?:proof|proven|proved|verified|evidence)\b", re.I)
OPENING_CHARACTERS: Final = 160  # of the beginning of a text, which says what it is


def state_of(row: CompactionRow) -> str:
    """pending, rejected, deferred or stale for a row that is not to be relied on; nothing for any other."""
    return "stale" if row.expired else STATES.get(row.status, "")


def authority_of(row: CompactionRow) -> str:
    """Why a row is state to rely on; empty where nothing says so."""
    if row.status in ACCEPTED:
        return row.status
    if row.status in PROVEN:
        return "proof"
    told = " ".join((*row.topics, row.text[:OPENING_CHARACTERS]))
    if HANDOFF.search(told):
        return "handoff"
    if PROOF.search(told):
        return "proof"
    return "accepted state" if row.kind in AUTHORITATIVE else ""


def _accepted(rows: Sequence[CompactionRow]) -> CompactionResult:
    reported = [(at, state) for at, row in enumerate(rows) if (state := state_of(row))]
    out = {at for at, _ in reported}
    why = {at: authority_of(row) for at, row in enumerate(rows) if at not in out}
    left = Counter(state for _, state in reported) + Counter({"not accepted": sum(not each for each in why.values())})
    return CompactionResult(
        records=tuple(CompactionRecord(row=at, role="verbatim", why=each) for at, each in why.items() if each),
        left=dict(left),
        reported=tuple(reported),
    )
