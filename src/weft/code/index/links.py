"""References between source files as edges of the graph: resolved over the known facts, written as deltas.

Every query that a resolver makes about other files is stored: when its answer may have changed, the file that asked is
resolved again. That includes queries with a negative answer.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from weft.append.privacy import PrivacyFilter
from weft.code.index.facts_file import FactsFile, LinkKept
from weft.code.parse.facts import FileFacts
from weft.code.resolve import FileLinks, Target, resolve
from weft.code.resolve.kept import Kept, weight_of
from weft.core.errors import Invalid
from weft.core.types import Guard
from weft.documents.keep.parser_faults import faults_told
from weft.files.file_bytes import read_regular
from weft.files.languages import language_of
from weft.log.draft import Draft
from weft.log.kinds import code
from weft.retrieval.citations.file_ids import file_id

LINK_RELATIONS: Final = ("IMPORTS", "DEPENDS_ON", "CALLS", "EXTENDS", "IMPLEMENTS", "TESTS")
MAX_TEXT_BYTES: Final = 1_048_576  # of a file that says how a project is built
MAX_ID_CHARACTERS: Final = 1_000
RELATIONS_PER_EVENT: Final = 1_500
# What may be asked: facts of a path, whether it is there, the sources and folders in a folder, a text, files by name.
FACTS, EXISTS, FOLDER, FOLDERS, TEXT, NAMED = "f:", "e:", "d:", "s:", "t:", "n:"


class ResolvedFile(Struct, frozen=True, kw_only=True):
    """The references of a file as graph nodes; `modules` are external ones, by id, with their names.

    `problem` is set if the resolver failed.
    """

    path: str
    links: tuple[LinkKept, ...] = ()
    modules: Mapping[str, str] = {}
    unresolved: int = 0
    outside: int = 0
    asked: frozenset[str] = frozenset()
    problem: str = ""


class IndexedProject:
    """The files of a workspace for resolvers (a `weft.code.resolve.Project`); records every query."""

    def __init__(self, facts: FactsFile, root: Path, project: str | None) -> None:
        self._facts, self.root, self.project = facts, os.fspath(root), project
        self._held: Kept[FileFacts] = Kept()
        self._asked: set[str] = set()
        self._sources = frozenset(facts.sources())
        self._renamed = facts.all_renamed()
        self._ids: dict[str, str] = {}  # of files
        self._files: dict[str, list[str]] = {}
        self._folders: dict[str, set[str]] = {}
        self._named: dict[str, list[str]] | None = None
        self._texts: dict[str, str | None] = {}
        for path in sorted(self._sources):
            folder = path.rpartition("/")[0]
            self._files.setdefault(folder, []).append(path)
            while folder:
                above = folder.rpartition("/")[0]
                known = self._folders.setdefault(above, set())
                if folder in known:
                    break
                known.add(folder)
                folder = above

    def resolved(self, path: str) -> ResolvedFile | None:
        """The links of a source file; None if it is not known. Never raises for a bug in a resolver."""
        facts = self._load(path)
        if facts is None:
            return None
        self._asked = set()
        try:
            with faults_told(PrivacyFilter(keys=None)):
                found = resolve(facts, self)
        except Invalid as problem:
            return ResolvedFile(path=path, unresolved=len(facts.references), problem=problem.message)
        return self._as_nodes(path, found)

    def _as_nodes(self, path: str, found: FileLinks) -> ResolvedFile:
        own = self._renamed.get(path, {})
        links: dict[tuple[str, str, str], LinkKept] = {}
        modules: dict[str, str] = {}
        lost = 0
        for link in found.links:
            target = self._target(path, link.target)
            if target is None:
                lost += 1
                continue
            key = own.get(link.key, link.key)
            if link.target.external:
                modules[target] = link.target.external
            links.setdefault((key, link.relation, target), LinkKept(key, link.relation, target, link.line))
        return ResolvedFile(
            path=path,
            links=tuple(links[each] for each in sorted(links)),
            modules=modules,
            unresolved=len(found.unresolved) + lost,
            outside=found.outside,
            asked=frozenset(self._asked),
        )

    def _target(self, path: str, target: Target) -> str | None:
        if target.external:
            language = language_of(path)
            assert language is not None
            made = file_id(self.project, f"import:{language.reader_name}:{target.external}")
            return made if len(made) <= MAX_ID_CHARACTERS else None
        if target.path not in self._sources:
            return None
        file = self._ids.get(target.path)
        if file is None:
            file = self._ids[target.path] = file_id(self.project, target.path)
        if not target.key:
            return file
        renamed = self._renamed.get(target.path)
        return f"{file}::{target.key if renamed is None else renamed.get(target.key, target.key)}"

    def _load(self, path: str) -> FileFacts | None:
        known = self._held.get(path)
        if known is None and path in self._sources:
            known = self._facts.facts(path)
            if known is not None:
                self._held.put(path, known, weight_of(known))
        return known

    # What resolvers ask

    def facts(self, path: str) -> FileFacts | None:
        self._asked.add(FACTS + path)
        return self._load(path)

    def exists(self, path: str) -> bool:
        self._asked.add(EXISTS + path)
        return path in self._sources

    def folder(self, path: str) -> Sequence[str]:
        self._asked.add(FOLDER + path)
        return self._files.get(path, ())

    def folders(self, path: str) -> Sequence[str]:
        self._asked.add(FOLDERS + path)
        return sorted(self._folders.get(path, ()))

    def text(self, path: str) -> str | None:
        self._asked.add(TEXT + path)
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def settings(self, name: str) -> Sequence[str]:
        self._asked.add(NAMED + name)
        return self._by_name().get(name, ())

    def _read(self, path: str) -> str | None:
        if path not in self._by_name().get(path.rpartition("/")[2], ()):
            return None
        raw = read_regular(os.path.join(self.root, path), MAX_TEXT_BYTES)  # noqa: PTH118
        try:
            return raw.decode() if isinstance(raw, bytes) else None
        except UnicodeDecodeError:
            return None

    def _by_name(self) -> dict[str, list[str]]:
        if self._named is None:
            self._named = {}
            for path in sorted((*self._sources, *self._facts.others()), key=lambda each: (each.count("/"), each)):
                self._named.setdefault(path.rpartition("/")[2], []).append(path)
        return self._named


def asked_of(path: str, *, came_or_went: bool, shown: bool) -> Iterator[str]:
    """The queries whose answers change with a file; `shown` if its interface to other files changed.

    The caller checks whether folders appeared or disappeared with it.
    """
    yield TEXT + path
    if shown or came_or_went:
        yield FACTS + path
    if came_or_went:
        folder, _, name = path.rpartition("/")
        yield from (EXISTS + path, FOLDER + folder, NAMED + name)


def folders_of(path: str) -> Iterator[str]:
    """The folders around a file, innermost first."""
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]


def link_drafts(
    path: str,
    guard: Guard,
    before: Iterable[LinkKept],
    after: ResolvedFile | None,
    modules: Mapping[str, str],
    *,
    until: str | None = None,
) -> list[Draft]:
    """The events that update a file's relations; none if nothing changes.

    `modules` are the external modules that have no node yet.
    """
    old = {(each.key, each.relation, each.target): each for each in before}
    new = {(each.key, each.relation, each.target): each for each in (after.links if after is not None else ())}
    joined = [link for name, link in new.items() if old.get(name) != link]
    parted = [link for name, link in old.items() if name not in new]
    unresolved = 0 if after is None else after.unresolved
    return [_draft(path, guard, over, more, modules, unresolved, until) for over, more in _slices(parted, joined)]


def _slices(
    parted: Sequence[LinkKept], joined: Sequence[LinkKept]
) -> Iterator[tuple[Sequence[LinkKept], Sequence[LinkKept]]]:
    """Slices that fit into one event; ended relations first."""
    while parted or joined:
        over = parted[:RELATIONS_PER_EVENT]
        new = joined[: RELATIONS_PER_EVENT - len(over)]
        yield over, new
        parted, joined = parted[len(over) :], joined[len(new) :]


def _draft(
    path: str,
    guard: Guard,
    parted: Sequence[LinkKept],
    joined: Sequence[LinkKept],
    modules: Mapping[str, str],
    unresolved: int,
    until: str | None,
) -> Draft:
    new = {each.target: modules[each.target] for each in joined if each.target in modules}
    payload = code.Linked(
        id=file_id(guard.project, path),
        path=path,
        joined=tuple(code.Joined(each.key, each.relation, each.target, each.line) for each in joined),
        parted=tuple(code.Joined(each.key, each.relation, each.target) for each in parted),
        outside=tuple(code.Outside(node, name) for node, name in new.items()),
        unresolved=unresolved,
        until=until,
        **asdict(guard),
    )
    return Draft(kind="code.linked", payload=payload)
