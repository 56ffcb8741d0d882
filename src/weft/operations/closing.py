"""What goes with what is erased: whatever was made of it, and what was made of that, until nothing is added.

What was compiled of a thing is a property of it. It goes, and the thing stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from weft.kinds import COMMUNITY, ERASED, MENTION
from weft.loom import Loom
from weft.operations.outline import SHARED_KINDS, Outline
from weft.projection.folds import moves_of
from weft.projection.moves import PutNode
from weft.projection.name_search import NameSearch
from weft.projection.tokens import KEPT_KINDS
from weft.projection.unsaid import Unsaid
from weft.types import Viewer

SPEAKS_OF: Final = frozenset({"INVOLVES", "REPRESENTS", "AFFECTS"})  # from what happened to the thing it happened to
MADE_OF: Final = frozenset({"DERIVED_FROM", "ABOUT"})  # from what was made to what it was made of
MEMBER_OF: Final = "BELONGS_TO"  # from a file to its community, which tells of it: the next rebuild makes it anew
ALONE: Final = frozenset({MENTION, "Import"})  # names that go when nothing is left that brings them up
STEPS: Final = 3


class Closing:
    """Adds to a set of nodes whatever was made of them.

    With `records_only`, only weft's own records of them, and what their texts named that no other text does.
    """

    def __init__(self, loom: Loom, viewer: Viewer, *, names: Collection[str] = (), records_only: bool = False) -> None:
        self._loom, self._viewer, self._records_only = loom, viewer, records_only
        self._effects: dict[int, set[int]] = {}  # by what brought them about
        if not records_only:
            self._read_causes()
        loom.progress("selecting", 1, STEPS)
        self.outline = Outline(NameSearch(names), self._effects)
        self.outline.read(loom, viewer)
        self.ids: set[str] = set()
        self._bare: set[str] = set()
        self._waiting: list[str] = []
        self._along: dict[str, list[str]] = {}  # edges that lead from one that goes to another
        self._mentioned: dict[str, set[str]] = {}  # by a mention or a module: what it is joined to
        self._mentions: dict[str, list[str]] = {}  # and back

    def run(self, ids: Collection[str], *, subjects: Collection[str] = ()) -> frozenset[str]:
        """The closed set. `subjects` take with them whatever happened to them."""
        if not ids and not self.outline.named:
            return frozenset()
        self._loom.progress("selecting", 2, STEPS)
        spoke = self._read_edges(frozenset(subjects))
        compiled = self._compiled()
        self._add((*ids, *spoke, *(() if self._records_only else self.outline.named)), given=True)
        while self._waiting:
            each = self._waiting.pop()
            self._add(self._made_of(each))
            self._add(one for one in self._mentions.get(each, ()) if self._mentioned[one] <= self.ids)
            self._follow_events(each, compiled)
        self._loom.progress("selecting", STEPS, STEPS)
        return frozenset(self.ids)

    def bare(self) -> Unsaid:
        """What stays without what was compiled of it: from what goes, or with a name in it."""
        compiled = self.outline.compiled
        bare = frozenset((self._bare | self.outline.bared) & compiled.keys()) - self.ids
        return Unsaid(bare=bare, positions=frozenset(pos for each in bare for pos in compiled[each]))

    def _add(self, ids: Iterable[str], *, given: bool = False) -> None:
        for each in ids:
            if each not in self.ids and (given or each not in self.outline.kept):
                self.ids.add(each)
                self._waiting.append(each)

    def _made_of(self, node_id: str) -> Iterable[str]:
        """What was made of a node, or is part of it."""
        outline = self.outline
        found = [outline.derived, outline.begun, outline.records, self._along]
        found += [] if self._records_only else [outline.parts]
        for made in found:
            yield from made.get(node_id, ())

    def _read_edges(self, subjects: frozenset[str]) -> set[str]:
        """Keeps the edges that lead on, and those of names; says what speaks of the subjects."""
        kinds, spoke = self.outline.kinds, set()
        for src, rel, dst in self._loom.store.edge_names(self._viewer):
            if src.startswith(ERASED) or dst.startswith(ERASED):
                continue
            if rel in MADE_OF and (not self._records_only or rel == "ABOUT"):
                self._along.setdefault(dst, []).append(src)
            if rel == MEMBER_OF and kinds.get(dst) == COMMUNITY:
                self._along.setdefault(src, []).append(dst)
            if rel == "CONTAINS" and not self._records_only:
                self._along.setdefault(src, []).append(dst)
            if rel in SPEAKS_OF and dst in subjects:
                spoke.add(src)
            for one, other in ((src, dst), (dst, src)):
                if kinds.get(one) in ALONE:  # a name that nothing else brings up came of what goes
                    self._mentioned.setdefault(one, set()).add(other)
                    self._mentions.setdefault(other, []).append(one)
        return spoke

    # Events

    def _read_causes(self) -> None:
        """Which events brought which about."""
        caused = self._loom.store.caused(self._viewer)
        places = self._positions({each for _, causes in caused for each in causes})
        for pos, causes in caused:
            for cause in (places[each] for each in causes if each in places):
                self._effects.setdefault(cause, set()).add(pos)

    def _compiled(self) -> dict[int, list[str]]:
        """Things that were summed up from events, by these."""
        sources = self.outline.compiled_from
        found: dict[int, list[str]] = {}
        for citation, pos in self._positions(sources).items():
            found.setdefault(pos, []).extend(sources[citation])
        return found

    def _positions(self, citations: Collection[str]) -> Mapping[str, int]:
        return self._loom.store.cited(self._viewer, tuple(citations)) if citations else {}

    def _follow_events(self, node_id: str, compiled: Mapping[int, list[str]]) -> None:
        """What was summed up from an event of this node; what an event brought about of which nothing is left."""
        for event in self.outline.events(node_id):
            self._bare.update(compiled.get(event, ()))
            if event in self._effects and self.outline.asserted.get(event, set()) <= self.ids:
                self._add(self._brought_about(self._effects.pop(event)))

    def _brought_about(self, positions: Collection[int]) -> Iterable[str]:
        for event in self._loom.store.events_at(self._viewer, tuple(positions)):
            for move in moves_of(event):
                if isinstance(move, PutNode) and move.kind not in SHARED_KINDS | KEPT_KINDS:
                    yield move.id
