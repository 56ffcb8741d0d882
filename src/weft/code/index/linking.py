"""Links of source files, in the facts and in the graph: current ones, and those to be written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.code.index.facts_file import FactsFile, LinkKept
from weft.code.index.links import LINK_RELATIONS, IndexedProject, ResolvedFile, link_drafts
from weft.core.errors import NotFound, WeftError
from weft.core.queries import NodeFilter
from weft.core.types import NOW, SCOPES, EdgeVersion, Guard
from weft.documents.keep.file_versions import look_up
from weft.log.draft import Draft
from weft.retrieval.citations.file_ids import SYMBOL_KINDS, file_id
from weft.runtime.call_context import CallContext
from weft.runtime.read_nodes import read_nodes
from weft.writing.build.deletions import pages

FEW_SYMBOLS: Final = 100  # of a file, whose links are looked up one by one
FEW: Final = 20  # files whose links are looked up one by one
MAX_EDGES_OF_NODE: Final = 10_000
PAGE: Final = 5_000
NO_LINE: Final = -1


class Outcome(Struct, kw_only=True):
    """What happened to the files of a run, counted while they are written. `problem` receives files that failed."""

    problem: Callable[[str, WeftError], None]
    files: int = 0
    others: int = 0
    symbols: int = 0
    unchanged: int = 0
    ended: int = 0
    revived: int = 0
    joined: int = 0
    parted: int = 0
    linked: int = 0
    deleted: int = 0
    note: str = ""
    rights: list[str] = msgspec.field(default_factory=list)
    written: set[str] = msgspec.field(default_factory=set)  # ids of files that were written, or ended
    modules: set[str] = msgspec.field(default_factory=set)  # ids of modules outside that were written
    faults: dict[str, str] = msgspec.field(default_factory=dict)  # of resolvers, by path


class Linking:
    """The links of one run. Stored links of files that were unsettled at the start may differ from the graph."""

    def __init__(self, ctx: CallContext, facts: FactsFile, root: Path, outcome: Outcome) -> None:
        self._ctx, self._facts, self._root, self._outcome = ctx, facts, root, outcome
        self._project = ctx.settings.project
        self._doubted = set(facts.unsettled())
        self._in_graph: dict[str, list[tuple[LinkKept, Guard]]] | None = None  # by the ids of files
        self._before: dict[str, Sequence[LinkKept]] = {}  # links of files that are being written
        self._modules: dict[str, Guard] = {}  # nodes outside that are known to be there
        self._reguarded: set[str] = set()  # files whose rights changed: so do those of their links

    def doubt(self, path: str) -> None:
        """Marks the stored links of a file as possibly different from those in the graph."""
        self._doubted.add(path)

    def reguard(self, path: str) -> None:
        """Rewrites all links of a file whose rights changed, and the external modules that it names."""
        self._reguarded.add(path)

    def workspace(self) -> IndexedProject:
        """The files as known now, for resolvers."""
        return IndexedProject(self._facts, self._root, self._project)

    def resolved(self, paths: Sequence[str]) -> list[ResolvedFile]:
        workspace = self.workspace()
        return [found for path in paths if (found := workspace.resolved(path)) is not None]

    # Writing

    def drafts(self, batch: Sequence[ResolvedFile], guards: Mapping[str, Guard]) -> list[Draft]:
        """The events of links. `guards` are those of files in the same commit. Raises NotFound for a file without a
        node.
        """
        others = [self._id(each.path) for each in batch if each.path not in guards]
        seen = look_up(self._ctx, others) if others else {}
        self._look_for(each for found in batch for each in found.modules)
        drafts: list[Draft] = []
        for each in batch:
            known = seen[self._id(each.path)].known if each.path not in guards else None
            guard = guards.get(each.path) or (known.guard if known is not None else None)
            if guard is None:
                raise NotFound(f"{each.path} has no node", hint="index it again")
            self._before[each.path] = before = self.standing(each.path, guard)
            drafts += link_drafts(each.path, guard, before, each, self._new_modules(each, guard))
        return drafts

    def _look_for(self, modules: Iterable[str]) -> None:
        ids = [node for node in dict.fromkeys(modules) if node not in self._modules]
        self._modules.update({node.id: node.guard for node in read_nodes(self._ctx, NOW, ids)})

    def _new_modules(self, resolved: ResolvedFile, guard: Guard) -> dict[str, str]:
        """External modules that have no node yet, or whose node fewer viewers may see than the file."""
        anew = resolved.path in self._reguarded
        made = {
            node: name
            for node, name in resolved.modules.items()
            if (known := self._modules.get(node)) is None or (known != guard and (anew or not _covers(known, guard)))
        }
        self._modules.update(dict.fromkeys(made, guard))
        self._outcome.modules.update(made)
        return made

    def forget(self) -> None:
        """Drops links that could not be written."""
        self._modules.clear()
        self._before.clear()

    def settle(self, batch: Sequence[ResolvedFile]) -> None:
        with self._facts.writing():
            for each in batch:
                old = {(link.key, link.relation, link.target) for link in self._before.pop(each.path, ())}
                new = {(link.key, link.relation, link.target) for link in each.links}
                self._outcome.joined += len(new - old)
                self._outcome.parted += len(old - new)
                self._outcome.linked += 1
                if each.problem:
                    self._outcome.faults[each.path] = each.problem
                self._facts.settle(
                    each.path, each.links, unresolved=each.unresolved, outside=each.outside, asked=each.asked
                )
        for each in batch:
            self._doubted.discard(each.path)
            self._reguarded.discard(each.path)
            if self._in_graph is not None:
                self._in_graph.pop(self._id(each.path), None)

    # What stands

    def standing(self, path: str, guard: Guard) -> Sequence[LinkKept]:
        """The present links of a file: as stored, or from the graph if the stored ones may be wrong.

        Links with other rights than the file's get an impossible line, so that they are written again.
        """
        noted = None if path in self._doubted else self._facts.links(path)
        if noted is not None:
            return [replace(each, line=NO_LINE) for each in noted] if path in self._reguarded else noted
        known = path in self._doubted  # of what is gone, nothing may be noted
        if not known or (self._in_graph is None and len(self._doubted) <= FEW):
            found: Sequence[tuple[LinkKept, Guard]] = self._links_of(self._id(path))
        else:
            if self._in_graph is None:
                self._in_graph = self._links_of_all({self._id(path) for path in self._doubted})
            found = self._in_graph.get(self._id(path), ())
        return [link if own == guard else replace(link, line=NO_LINE) for link, own in found]

    def _links_of(self, node_id: str) -> list[tuple[LinkKept, Guard]]:
        """Includes the links of removed nodes, which would return with them."""
        symbols = pages(self._ctx, NodeFilter(id_prefix=f"{node_id}::", kinds=SYMBOL_KINDS))
        ids = [node_id, *(each.id for each in symbols if each.props.get("part_of") == node_id)]
        if len(ids) > FEW_SYMBOLS:
            return self._links_of_all({node_id}).get(node_id, [])
        return [
            _link(node_id, edge)
            for each in ids
            for rel in LINK_RELATIONS
            for edge in self._ctx.store.edges(
                self._ctx.viewer, NOW, each, rel=rel, direction="out", before=None, limit=MAX_EDGES_OF_NODE
            )
        ]

    def _links_of_all(self, files: Collection[str]) -> dict[str, list[tuple[LinkKept, Guard]]]:
        """The same for several files, by id."""
        found: dict[str, list[tuple[LinkKept, Guard]]] = {}
        when, after = self._ctx.store.pin(self._ctx.viewer, NOW), 0
        while page := self._ctx.store.relations(
            self._ctx.viewer, when, LINK_RELATIONS, projects=(self._project,), ends="any", after=after, limit=PAGE
        ):
            for edge in page:
                file = next((each for each in beginnings(edge.src) if each in files), None)
                if file is not None:
                    found.setdefault(file, []).append(_link(file, edge))
            after = page[-1].row
        return found

    def _id(self, path: str) -> str:
        return file_id(self._project, path)


def _link(file: str, edge: EdgeVersion) -> tuple[LinkKept, Guard]:
    line = edge.props.get("line")
    key = edge.src.removeprefix(file).removeprefix("::")
    return LinkKept(key, edge.rel, edge.dst, line if isinstance(line, int) else 0), edge.guard


def _covers(one: Guard, other: Guard) -> bool:
    """Whether everybody who may see the other guard may see this one; a conservative check."""
    wide = SCOPES.index(one.scope) <= SCOPES.index(other.scope)
    return wide and (not one.agents or one.agents == other.agents) and one.sensitive <= other.sensitive


def beginnings(node_id: str) -> Iterator[str]:
    """The prefixes of a symbol's id that may be the id of its file."""
    yield node_id
    at = node_id.find("::")
    while at >= 0:
        yield node_id[:at]
        at = node_id.find("::", at + 1)
