"""What stands at a moment, by the log alone: for when the graph cannot be asked.

The rules are those of `weft.projection.timeline`, looked at from one point of valid time: in each slot one assertion
holds there, and the next takes over unless what holds goes before it. A suffix of the log is enough to be right about
who may see what it holds: whatever was done to a node later is in it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from weft.log.kinds import payload_of, transaction
from weft.projection.folds import moves_of
from weft.projection.moves import EndEdge, EndNode, Move, PutEdge, PutNode, SetDeleted
from weft.types import Commit, Event, Guard, Identity

Logged = tuple[Commit, tuple[Event, ...]]


class Standing(Struct, frozen=True, kw_only=True):
    """An assertion that holds at the moment asked about, the event that made it, and the change that was part of."""

    put: PutNode
    event: Event
    tx: str


class Fold(Struct, frozen=True, kw_only=True):
    """What stands, newest first, and today's state of each node.

    `replaced` are ids that are named as superseded: by which ids, each with the guard of the relation.
    """

    standing: tuple[Standing, ...]
    identities: Mapping[str, Identity]
    replaced: Mapping[str, tuple[tuple[str, Guard], ...]]


def fold(commits: Sequence[Logged], *, valid_at: int, known_at: int) -> Fold:
    """Folds commits, in their order. Raises Corrupt for a payload that does not fit its kind.

    Who may see a node, and whether it is deleted, is judged by all of them, as it is everywhere; what it says by those
    that were known at `known_at` and whose change was complete by then.
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
    """For each commit the change it belongs to and whether that spans several; and where those were closed."""
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
    """What holds in each slot at one point of valid time."""

    def __init__(self, valid_at: int) -> None:
        self._at = valid_at
        self._identities: dict[str, Identity] = {}
        self._holds: dict[str, Standing] = {}
        self._slots: dict[str, set[str]] = {}
        self._supersedes: dict[tuple[str, str], Guard] = {}

    def identify(self, move: Move) -> None:
        """Who may see it, as it is after this move; not bound to any moment."""
        match move:
            case PutNode():
                self._identities[move.id] = Identity(id=move.id, kind=move.kind, guard=move.guard)
            case SetDeleted():
                known = self._identities.get(move.id)  # none: all that it says is older than what was read
                if known is not None:
                    self._identities[move.id] = replace(known, deleted_at=move.deleted_at)

    def apply(self, event: Event, move: Move, tx: str) -> None:
        """What holds after this move."""
        match move:
            case PutNode():
                if self._covers(move) and self._takes_over(move):
                    self._holds[move.slot] = Standing(put=move, event=event, tx=tx)
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

    def done(self) -> Fold:
        newest = sorted(self._holds.values(), key=lambda each: -each.event.pos)
        once: dict[str, Standing] = {}
        for each in newest:  # of a node that holds in several slots the latest speaks for it
            once.setdefault(each.put.id, each)
        replaced: dict[str, tuple[tuple[str, Guard], ...]] = {}
        for (newer, older), guard in self._supersedes.items():
            replaced[older] = (*replaced.get(older, ()), (newer, guard))
        return Fold(standing=tuple(once.values()), identities=self._identities, replaced=replaced)
