"""What a compaction keeps, by purpose: every record, exemplars of each topic, or what was accepted. Knows no store.

    security · release · review   every record, word for word: a risk or a gate must not vanish behind another
    coding · research             what must not be lost (see MARKS), and of every other topic an exemplar
    coordinate                    accepted and promoted state, proofs and handoffs; the rest is told of, and not kept

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
# Of rows by number, topics: the exemplar of each first, then those it stands for, the most alike first.
Topics = Callable[[Sequence[int]], Sequence[Sequence[int]]]
NAMED: Final = 8  # of those an exemplar stands for that are named in its record


class Policy(Struct, frozen=True, kw_only=True):
    """How a purpose compacts. `floor` records are kept at least, where there are as many; `most` exemplars at most."""

    purpose: str
    keeps: Keeps
    floor: int = 8
    most: int = 500


POLICIES: Final[Mapping[str, Policy]] = {
    policy.purpose: policy
    for policy in (
        Policy(purpose="coding", keeps="exemplars"),
        Policy(purpose="review", keeps="every"),
        Policy(purpose="release", keeps="every"),
        Policy(purpose="security", keeps="every"),
        Policy(purpose="research", keeps="exemplars", most=800),
        Policy(purpose="coordinate", keeps="accepted"),
    )
}


class Row(Struct, frozen=True, kw_only=True):
    """A memory, as far as a policy looks at it. `disputed` if a proposal that waits contradicts it."""

    id: str
    kind: str
    text: str
    status: str = ""
    topics: tuple[str, ...] = ()
    expired: bool = False
    disputed: bool = False


class Record(Struct, frozen=True, kw_only=True):
    """A row that is kept, by its number; why; and the numbers of those that it stands for beside itself."""

    row: int
    role: Role
    why: str
    of: tuple[int, ...] = ()


class Sorted(Struct, frozen=True, kw_only=True):
    """What became of all rows: records in the order of the rows, what was `left` out by reason and how often.

    `reported` are (row, state) of rows that are told of without being kept.
    """

    records: tuple[Record, ...]
    collapsed: int = 0
    left: Mapping[str, int] = {}
    reported: tuple[tuple[int, str], ...] = ()


def sort_out(policy: Policy, rows: Sequence[Row], topics: Topics) -> Sorted:
    """What of these rows is kept."""
    if policy.keeps == "every":
        return Sorted(records=tuple(Record(row=at, role="verbatim", why="every record") for at in range(len(rows))))
    return _accepted(rows) if policy.keeps == "accepted" else _exemplars(policy, rows, topics)


# ---- exemplars

# What is kept of each topic whatever else is said of it: by its kind, or by how its words tell of it.
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


def mark_of(row: Row) -> str:
    """What makes a row one that is always kept; nothing for any other."""
    if row.disputed:
        return "contradiction"
    if row.status in FAILED:
        return "failed attempt"
    for name, (kinds, words) in MARKS.items():
        if row.kind in kinds or words.search(row.text):
            return name
    return "open question" if row.kind != "Message" and row.text.rstrip().endswith("?") else ""


def _exemplars(policy: Policy, rows: Sequence[Row], topics: Topics) -> Sorted:
    kept = {at: Record(row=at, role="verbatim", why=mark) for at, row in enumerate(rows) if (mark := mark_of(row))}
    groups = sorted(
        topics([at for at in range(len(rows)) if at not in kept]), key=lambda group: (-len(group), -max(group))
    )
    over = sum(len(group) for group in groups[policy.most :])
    for exemplar, *others in groups[: policy.most]:
        kept[exemplar] = Record(row=exemplar, role="exemplar" if others else "verbatim", why="topic", of=tuple(others))
    _fill(kept, policy.floor)
    records = tuple(kept[at] for at in sorted(kept))
    left = {f"over {policy.most} topics": over} if over else {}
    return Sorted(records=records, collapsed=sum(len(record.of) for record in records), left=left)


def _fill(kept: dict[int, Record], floor: int) -> None:
    """Up to the floor, what is least alike its exemplar stands for itself."""
    while len(kept) < floor:
        widest = max(kept.values(), key=lambda record: (len(record.of), record.row), default=None)
        if widest is None or not widest.of:
            return
        *others, last = widest.of
        kept[widest.row] = Record(
            row=widest.row, role="exemplar" if others else "verbatim", why="topic", of=tuple(others)
        )
        kept[last] = Record(row=last, role="verbatim", why="floor")


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
OPENING_CHARACTERS: Final = 160  # in which a text says what it is


def state_of(row: Row) -> str:
    """pending, rejected, deferred or stale for a row that is not to be relied on; nothing for any other."""
    return "stale" if row.expired else STATES.get(row.status, "")


def authority_of(row: Row) -> str:
    """Why a row is state that others may rely on; nothing where nothing says so."""
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


def _accepted(rows: Sequence[Row]) -> Sorted:
    reported = [(at, state) for at, row in enumerate(rows) if (state := state_of(row))]
    out = {at for at, _ in reported}
    why = {at: authority_of(row) for at, row in enumerate(rows) if at not in out}
    left = Counter(state for _, state in reported) + Counter({"not accepted": sum(not each for each in why.values())})
    return Sorted(
        records=tuple(Record(row=at, role="verbatim", why=each) for at, each in why.items() if each),
        left=dict(left),
        reported=tuple(reported),
    )
