"""Writing a text once: the same words for the same occasion come to the same node, however many processes say them."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from weft.append import Fence
from weft.instants import to_iso
from weft.log.canonical import canonical
from weft.log.draft import Draft
from weft.log.kinds import memory
from weft.loom import Loom
from weft.operations.committing import Choice, decided
from weft.operations.planned import answered
from weft.operations.remembered import Remembered
from weft.operations.versions import answer_of
from weft.operations.write_options import WriteOptions, focus_of, guard_of, props_of
from weft.types import NOW, Guard, NodeVersion

MINUTE_US: Final = 60_000_000
_OCCASIONS: Final = uuid.UUID("0d2b7f0e-3c5a-5e53-8d0c-6a0f7b1d9e42")


class Piece(Struct, frozen=True, kw_only=True):
    """A text to keep: `id` is the same for the same occasion, `at` is when it came to be."""

    id: str
    kind: str
    name: str
    text: str
    guard: Guard
    at: int
    props: dict[str, Any] = {}
    focus: str | None = None


def occasion_id(loom: Loom, guard: Guard, *parts: str) -> str:
    """An id from what makes an occasion, within one account and one guard.

    What is sensitive gets one that nobody can work out from its words, and so is written each time it is said.
    """
    if guard.sensitive:
        return loom.new_id()
    told = canonical([loom.writer.account, guard.project, guard.scope, list(guard.agents), *parts])
    return str(uuid.uuid5(_OCCASIONS, told.decode()))


def this_minute(
    loom: Loom, given: WriteOptions, *, kind: str, title: str, text: str, at: int, props: dict[str, Any]
) -> Piece:
    """A piece that is the same one for its kind and title within a minute."""
    guard = guard_of(loom, given)
    return Piece(
        id=occasion_id(loom, guard, kind, title, str(at // MINUTE_US)),
        kind=kind,
        name=title,
        text=text,
        guard=guard,
        at=at,
        props=props_of(given) | props,
        focus=focus_of(loom, given),
    )


def write_once(
    loom: Loom,
    piece: Piece,
    *,
    request_id: str | None,
    stands: Callable[[], NodeVersion | None] | None = None,
    note: str,
) -> Remembered:
    """Writes a piece, or answers with the one that is there already, with `note`.

    `stands` says what counts as there: a node that the caller may see; without it, one of the piece's own id. Of two
    processes that write the same at once one is answered so.
    """
    if before := answered(loom, request_id, lambda payload: _wrote(payload, piece)):
        return before
    look = stands or (lambda: next(iter(loom.store.nodes(loom.viewer, NOW, [piece.id])), None))

    def decide(pos: int) -> Choice[Remembered]:
        if (there := look()) is not None:
            citation = loom.store.citations(loom.viewer, [there.event]).get(there.event, "")
            return Choice(told=Remembered(status="duplicate_skip", id=there.id, citation=citation, notes=(note,)))
        # Where others may follow, what they decided from is every node of the kind: reports and alerts are few.
        fence = Fence(pos=pos, kinds=(piece.kind,), concerns=None if stands else lambda node: node.id == piece.id)
        return Choice(told=Remembered(status="saved", id=piece.id), drafts=(_draft(piece),), fence=fence)

    told, done = decided(loom, decide, request_id=request_id)
    return answer_of(told, done)


def _wrote(payload: Any, piece: Piece) -> str | None:
    """The id of what an earlier call wrote, if that was this; the moment may be another by now."""
    same = isinstance(payload, memory.Remembered) and (payload.node_kind, payload.name, payload.text) == (
        piece.kind,
        piece.name,
        piece.text,
    )
    return payload.id if same else None


def _draft(piece: Piece) -> Draft:
    payload = memory.Remembered(
        id=piece.id,
        text=piece.text,
        node_kind=piece.kind,
        name=piece.name,
        props=piece.props,
        focus=piece.focus,
        valid_from=to_iso(piece.at),
        **asdict(piece.guard),
    )
    return Draft(kind="memory.remembered", payload=payload, occurred_at=piece.at)
