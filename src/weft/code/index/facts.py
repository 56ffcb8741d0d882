"""Storage of the facts of files that were read; marks files whose links may have changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from weft.code.index.facts_file import FactsFile, OtherKnown, SourceKnown
from weft.code.index.linking import Linking
from weft.code.index.links import FOLDERS, asked_of, folders_of
from weft.code.index.read_file import CodeRead
from weft.code.index.records import Indexing
from weft.code.parse.facts import READER_VERSION
from weft.core.types import Guard
from weft.documents.keep.file_versions import FileState
from weft.log.kinds import code
from weft.writing.checks.rights import Rights


class Work(Struct, frozen=True, kw_only=True):
    """A file that was read, the graph state that the decision was based on, and what to write, if anything."""

    read: CodeRead
    guard: Guard
    seen: FileState
    indexing: Indexing | None = None
    walked: bool = True
    revived: bool = False
    keys: Mapping[str, str] = {}  # of definitions whose nodes have other keys, where nothing is to be written

    @property
    def path(self) -> str:
        return self.read.path

    @property
    def weight(self) -> tuple[int, int]:
        """The approximate number of nodes and bytes it adds."""
        if self.indexing is None:
            return 0, 0
        draft = self.indexing.draft
        if draft.ready is not None:
            return 1 + self.indexing.symbols, len(draft.ready.raw)
        payload = draft.payload
        assert isinstance(payload, code.Indexed)
        nodes = 1 + len(payload.symbols) + len(payload.ended)
        return nodes, len(payload.text) + sum(len(each.text) + 200 for each in payload.symbols)


class Noting:
    """Stores the facts of one run."""

    def __init__(self, facts: FactsFile, rights: Rights, linking: Linking) -> None:
        self._facts, self._rights, self._linking = facts, rights, linking

    def note(self, works: Sequence[Work], gone: Collection[str]) -> None:
        """Stores versions of files and marks the files that depend on them, atomically."""
        facts, asked = self._facts, set[str]()
        paths = [work.path for work in works]
        sources, others = facts.sources_among(paths), facts.others_among(paths)
        with facts.writing():
            for work in works:
                before, state = sources.get(work.path), work.read.state
                assert state is not None
                # Names out of a sensitive file stay out of here.
                is_source = work.read.facts is not None and not work.guard.sensitive
                came = (before is None and work.path not in others) or (before is None) is is_source
                if before is None and work.seen.last is not None:
                    self._linking.doubt(work.path)
                if self._rights.change(work.seen.last):
                    self._linking.reguard(work.path)
                if is_source:
                    asked |= self._put_source(work, before, came=came)
                else:
                    asked.update(asked_of(work.path, came_or_went=came, shown=before is not None))
                    known = OtherKnown(state.sha256, READER_VERSION, state.mark, work.walked, work.read.problem)
                    facts.put_other(work.path, known)
                    asked |= self._emptied(work.path) if before is not None else set()
            if gone:
                facts.drop(gone)
                for path in gone:
                    asked.update(asked_of(path, came_or_went=True, shown=True))
                    asked |= self._emptied(path)
            facts.unsettle(facts.askers(asked))

    def _put_source(self, work: Work, before: SourceKnown | None, *, came: bool) -> set[str]:
        facts, state = work.read.facts, work.read.state
        assert facts is not None
        assert state is not None
        shown = before is None or before.interface != facts.interface
        asked = set(asked_of(work.path, came_or_went=came, shown=shown))
        if before is None:
            new = [folder for folder in folders_of(work.path) if not self._facts.holds(folder)]
            asked.update(FOLDERS + folder.rpartition("/")[0] for folder in new)
        known = SourceKnown(state.sha256, READER_VERSION, state.mark, work.walked, facts.interface, facts.broken)
        keys = work.keys if work.indexing is None else work.indexing.keys
        self._facts.put_source(work.path, known, facts.raw, keys)
        return asked

    def _emptied(self, path: str) -> set[str]:
        """Queries about folders that no longer hold source files."""
        gone = [folder for folder in folders_of(path) if not self._facts.holds(folder)]
        return {FOLDERS + folder.rpartition("/")[0] for folder in gone}
