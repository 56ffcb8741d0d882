"""The current state at one time from the log alone, for when the graph cannot be read.

The rules are those of `weft.graph.timeline` at one point of valid time: in each slot one assertion holds, and a later
one takes over unless it begins earlier. A suffix of the log is enough to know who may see its nodes: later restrictions
are in it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from weft.core.types import Commit, Event, Guard, Identity
from weft.graph.folds import moves_of
from weft.graph.moves import EndEdge, EndNode, Move, PutEdge, PutNode, SetDeleted
from weft.log.kinds import payload_of, transaction

Logged = tuple[Commit, tuple[Event, ...]]


class HeldAssertion(Struct, frozen=True, kw_only=True):
    """An assertion that holds at the time asked about, its event, and its change."""

    put: PutNode
    event: Event
    tx: str


class LogState(Struct, frozen=True, kw_only=True):
    """The assertions that hold, newest first, and today's state of each node.

    `replaced` maps superseded ids to the ids that supersede them, each with the guard of the relation.
    """

    standing: tuple[HeldAssertion, ...]
    identities: Mapping[str, Identity]
    replaced: Mapping[str, tuple[tuple[str, Guard], ...]]


def fold(commits: Sequence[Logged], *, valid_at: int, known_at: int) -> LogState:
    """Applies commits in their order. Raises Corrupt for a payload that does not match its kind.

    Guards and deletions count from all commits; assertions from those that were known at `known_at` and whose change
    was complete by then.
    """
    changes, closed = _changes(commits)
    pos = max((last_of(commit) for commit, _ in commits if commit.at <= known_at), default=0)
    folding = _Folding(valid_at)
    for (commit, events), (tx, long) in zip(commits, changes, strict=True):
        counts = last_of(commit) <= pos and (not long or closed.get(tx, pos + 1) <= pos)
        for event in events:
            for move in moves_of(event):
                folding.identify(move)
                if counts:
                    folding.apply(event, move, tx)
    return folding.done()


def last_of(commit: Commit) -> int:
    """The position of a commit's last event."""
    return commit.first_pos + commit.count - 1


def _changes(commits: Iterable[Logged]) -> tuple[list[tuple[str, bool]], dict[str, int]]:
    """The change of each commit and whether it spans several commits; and where those were closed."""
    changes: list[tuple[str, bool]] = []
    closed: dict[str, int] = {}
    for commit, events in commits:
        tx, long = f"tx-{events[0].hash.hex()[:16]}", False
        for event in events:
            if not event.kind.startswith("tx."):
                continue
            match payload_of(event):
                case transaction.Opened():
                    long = True
                case transaction.Continued() as payload:
                    tx, long = payload.tx, True
                case transaction.Closed() as payload:
                    tx, long = payload.tx, True
                    closed[tx] = last_of(commit)
        changes.append((tx, long))
    return changes, closed


class _Folding:
    """The assertion that holds in each slot at one point of valid time."""

    def __init__(self, valid_at: int) -> None:
        self._at = valid_at
        self._identities: dict[str, Identity] = {}
        self._holds: dict[str, HeldAssertion] = {}
        self._slots: dict[str, set[str]] = {}
        self._supersedes: dict[tuple[str, str], Guard] = {}

    def identify(self, move: Move) -> None:
        """Updates the guard and the deletion of a node; bound to no time."""
        match move:
            case PutNode():
                self._identities[move.id] = Identity(id=move.id, kind=move.kind, guard=move.guard)
            case SetDeleted():
                known = self._identities.get(move.id)  # none: its assertions are older than the commits that were read
                if known is not None:
                    self._identities[move.id] = replace(known, deleted_at=move.deleted_at)

    def apply(self, event: Event, move: Move, tx: str) -> None:
        """Updates the assertions that hold."""
        match move:
            case PutNode():
                if self._covers(move) and self._takes_over(move):
                    self._holds[move.slot] = HeldAssertion(put=move, event=event, tx=tx)
                    self._slots.setdefault(move.id, set()).add(move.slot)
            case EndNode() if move.at <= self._at and (move.until is None or move.until > self._at):
                for slot in self._slots.pop(move.id, ()):
                    if slot in self._holds and self._holds[slot].put.id == move.id:
                        del self._holds[slot]
            case PutEdge(rel="SUPERSEDES") if self._covers(move):
                self._supersedes[move.src, move.dst] = move.guard
            case EndEdge(rel="SUPERSEDES") if move.at <= self._at:  # never for a while only
                self._supersedes.pop((move.src, move.dst), None)

    def _covers(self, move: PutNode | PutEdge) -> bool:
        return move.valid_from <= self._at and (move.valid_to is None or move.valid_to > self._at)

    def _takes_over(self, move: PutNode) -> bool:
        holder = self._holds.get(move.slot)
        if holder is None or move.valid_to is not None:
            return True
        return holder.put.valid_to is None and holder.put.valid_from <= move.valid_from

    def done(self) -> LogState:
        newest = sorted(self._holds.values(), key=lambda each: -each.event.pos)
        once: dict[str, HeldAssertion] = {}
        for each in newest:  # of a node that holds in several slots the latest speaks for it
            once.setdefault(each.put.id, each)
        replaced: dict[str, tuple[tuple[str, Guard], ...]] = {}
        for (newer, older), guard in self._supersedes.items():
            replaced[older] = (*replaced.get(older, ()), (newer, guard))
        return LogState(standing=tuple(once.values()), identities=self._identities, replaced=replaced)
