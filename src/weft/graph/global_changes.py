"""The check of changes to what is kept for all projects: they need the operator's approval.

Checked move by move, inside the lock, against the current state: no operation can forget it, and no write can slip in
between.

Entities (people, services, places and callers' own kinds) belong to no project, and every agent creates them by naming
them. So an entity may be created with its name, aliases and the short options of a write, and be given further aliases.
Its description, in words or properties, is restricted: an agent's description of an entity is kept for its own project
(see `weft.writing.entities`). All else that every project would read needs approval: new content, and whatever
replaces, ends, hides, restores, merges or splits existing content. Records of use (feedback, proposals) may be created
freely, and not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from weft.core.commits import LockedView
from weft.core.errors import NeedsApproval
from weft.core.kinds import (
    APPROVAL,
    APPROVAL_TEXT,
    COMPILED_PROPS,
    COMPILED_TRUTH,
    PROVENANCE_RELATIONS,
    RECORD_KINDS,
    VIEWS,
    is_thing,
)
from weft.core.types import Identity, NodeVersion
from weft.graph.moves import EndEdge, EndNode, Move, PutEdge, PutNode, SetDeleted

# Relations that hide one of their ends or merge it into another node.
REPLACES: Final = "SUPERSEDES"
MERGES: Final = "MERGES_INTO"
VALIDATED: Final = "last_validated_at"  # kept by feedback: when, not what
ALIASES: Final = "aliases"
MAX_ALIAS: Final = 512  # characters of a name
MAX_KEYWORDS: Final = 32
MAX_LABEL: Final = 64  # characters of a keyword, a purpose, a moment
HINT: Final = (
    "request_global_write_approval with this operation and its arguments; when the operator has approved, repeat the"
    " call with the token as governance_token"
)

Stood = Callable[[str], Identity | None]


def needs_approval(what: str) -> NeedsApproval:
    """The error for a write that needs the operator's approval."""
    return NeedsApproval(f"{what}: that needs the operator's approval", hint=HINT)


def _told_of_a_thing(move: PutNode) -> NeedsApproval:
    return NeedsApproval(
        f"a description of {move.id[:80]!r} would be visible to all projects: that needs the operator's approval",
        hint=f"add_entity keeps a description for your own project; or {HINT}",
    )


class GlobalWriteCheck:
    """Checks the moves of one commit by a writer who is not the operator.

    With `admitted`, global content may change. `own` is the approval that this commit uses up; no other may be touched.
    """

    def __init__(self, view: LockedView, *, admitted: bool = False, own: str | None = None) -> None:
        self._view, self._admitted, self.own = view, admitted, own

    def judge(self, move: Move, stood: Stood) -> None:
        """Raises NeedsApproval for a move that changes global content. `stood` returns a node as of
        before this commit.
        """
        match move:
            case PutNode():
                known = stood(move.id)
                self._leave_approvals(known)
                if self._admitted or (move.guard.project is not None and not _is_global(known)):
                    return
                if _is_free_thing(move.kind) and known is None:
                    if not _only_names(move):
                        raise _told_of_a_thing(move)
                elif not self._may_put(move, known):
                    raise needs_approval(f"{move.id[:80]!r} would be {_done(known)} for all projects")
            case EndNode() | SetDeleted():
                self._leave_approvals(stood(move.id))
                if not self._admitted and _is_global(stood(move.id)):
                    raise needs_approval(f"{move.id[:80]!r} is kept for all projects")
            case PutEdge():
                if not self._admitted and not self._may_join(move, stood):
                    raise needs_approval(f"{move.rel} would change {move.dst[:80]!r} for all projects")
            case EndEdge():
                rows = () if self._admitted else self._view.live_edge_versions(move.src, move.rel, move.dst)
                if any(row.guard.project is None for row in rows):
                    raise needs_approval(f"{move.rel} from {move.src[:80]!r} holds for all projects")

    def _leave_approvals(self, known: Identity | None) -> None:
        if known is not None and known.kind in (APPROVAL, APPROVAL_TEXT) and known.id != self.own:
            raise NeedsApproval("only the operator decides on an approval", hint="wait for the operator's decision")

    def _may_put(self, move: PutNode, known: Identity | None) -> bool:
        if known is None:
            return move.kind in RECORD_KINDS
        if known.guard != move.guard or known.kind != move.kind or known.deleted_at is not None:
            return False
        thing = _is_free_thing(move.kind)
        return any(_only_adds(row, move, thing=thing) for row in self._view.live_versions(move.id))

    def _may_join(self, move: PutEdge, stood: Stood) -> bool:
        if move.rel == REPLACES and _is_global(stood(move.dst)):
            return False
        if move.rel == MERGES and _is_global(stood(move.src)):
            return False
        if move.guard.project is not None or move.rel in PROVENANCE_RELATIONS:
            return True
        return stood(move.src) is None  # a node new in this commit is checked itself, and with it the edges from it


def _is_global(known: Identity | None) -> bool:
    return known is not None and known.guard.project is None


def _done(known: Identity | None) -> str:
    return "written" if known is None else "changed"


def _is_free_thing(kind: str) -> bool:
    return is_thing(kind) and kind not in VIEWS["code"]


def _only_names(move: PutNode) -> bool:
    """Whether a new entity has names and the short options of a write, and nothing more."""
    return not move.text and not move.summary and all(_is_short(name, value) for name, value in move.props.items())


def _is_short(name: str, value: Any) -> bool:
    match name:
        case "aliases":
            return _are_texts(value, MAX_ALIAS)
        case "keywords":
            return _are_texts(value, MAX_LABEL) and len(value) <= MAX_KEYWORDS
        case "purpose" | "expires_at":
            return _are_texts((value,), MAX_LABEL)
        case "alias" | "importance":
            return isinstance(value, bool | int | float)
        case _:
            return False


def _are_texts(value: Any, most: int) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, str) and len(each) <= most for each in value)


def _only_adds(row: NodeVersion, move: PutNode, *, thing: bool) -> bool:
    """Whether a version removes nothing of the current one and holds for the same time.

    The time of its last validation may change, and a compiled summary may be dropped: it is compiled again.
    """
    asserted = (row.interval.asserted_from, row.interval.asserted_to)
    if (move.valid_from, move.valid_to) not in (asserted, (row.interval.valid_from, row.interval.valid_to)):
        return False
    if move.name != row.name or move.slot != row.slot:
        return False
    if move.text != row.text:
        return False
    dropped = move.summary == "" and row.summary == row.props.get(COMPILED_TRUTH)
    if move.summary != row.summary and not dropped:
        return False
    return _props_only_add(row.props, move.props, thing=thing)


def _props_only_add(old: Mapping[str, Any], new: Mapping[str, Any], *, thing: bool) -> bool:
    before, after = dict(old), dict(new)
    for props in (before, after):
        props.pop(VALIDATED, None)
    if not COMPILED_PROPS & after.keys():
        before = {name: value for name, value in before.items() if name not in COMPILED_PROPS}
    if thing:
        fewer, more = before.pop(ALIASES, []), after.pop(ALIASES, [])
        listed = isinstance(fewer, list | tuple) and isinstance(more, list | tuple)
        if not listed or list(more[: len(fewer)]) != list(fewer) or not _are_texts(more[len(fewer) :], MAX_ALIAS):
            return False
    return before == after
