"""One run over the files of a workspace: those that differ from the index are read and written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, Literal

from weft.code.index.facts import Work
from weft.code.index.facts_file import FactsFile, OtherKnown, SourceKnown, is_current
from weft.code.index.gc_thresholds import fewer_collections
from weft.code.index.linking import Outcome
from weft.code.index.processes.worker import ToRead
from weft.code.index.processes.workers import read_files
from weft.code.index.read_file import CodeRead, mark_of
from weft.code.index.reader import reader_of
from weft.code.index.records import SourceVersion, is_version
from weft.code.index.workspace_files import WorkspaceFiles
from weft.code.index.writing import CodeWriting
from weft.core.errors import Forbidden, WeftError
from weft.core.slices import in_slices
from weft.core.types import NodeVersion
from weft.documents.keep.file_versions import FileState, look_up, name_problem
from weft.documents.keep.known_files import files_known, sees_all
from weft.files import git
from weft.files.document_suffixes import form_of
from weft.files.languages import language_of
from weft.files.skipped_files import SkippedFiles
from weft.files.walk import Skipped
from weft.log.kinds import transaction
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext
from weft.runtime.indexed_commits import is_disk_last
from weft.version import __version__
from weft.writing.checks.rights import Rights

SMALL_FILES: Final = 40  # changed at once: of more, each commit holds some, and links come afterwards
FILES_AT_ONCE: Final = 500  # looked up together
MAX_NAMED: Final = 3  # of files in a note
MAX_OTHERS: Final = 20_000  # files in no known language that are kept
RESOLVED_BY: Final = "resolved by"
ANCHOR: Final = "anchor"
LOOKED: Final = "looked"  # at the disk, and nothing of a later time came out of git since
LOOKED_AT_MOST: Final = 5  # files that are read to tell one of them anew
WENT_THROUGH: Final = "went through"  # the files that the graph knows: so all of them are noted here, or have ended

TxKind = Literal["full_rebuild", "incremental", "file_change"]


class CodeRun:
    """One indexing run. The caller holds the facts.

    The results are in `outcome`, `skipped` and the counts. `anew` reads all files again. `brings_back` restores deleted
    files that exist.
    """

    def __init__(
        self,
        ctx: CallContext,
        facts: FactsFile,
        root: Path,
        rights: Rights,
        *,
        kind: TxKind,
        anew: bool,
        brings_back: bool,
    ) -> None:
        self._ctx, self._facts, self._root, self._rights = ctx, facts, root, rights
        self.kind, self.commit = kind, git.head_commit(root)
        self.skipped = SkippedFiles()
        self.outcome = Outcome(problem=self._problem)
        self.documents = self.left = 0
        self.with_secrets: list[str] = []
        self.broken: list[str] = []  # of those that were read
        self._marks: list[tuple[str, str, bool]] = []
        self.before: Mapping[str, SourceKnown | OtherKnown] = {}  # files as they were known, where all is begun anew
        self._check_facts(anew=anew)
        self.went_through = bool(facts.note(WENT_THROUGH))
        self.sources, self.others = facts.sources(), facts.others()
        tx = transaction.Noted(tx_kind=kind, git_commit=self.commit)
        self._writing = CodeWriting(ctx, facts, rights, root, self.outcome, tx)
        self._writing.brings_back = brings_back

    def _check_facts(self, *, anew: bool) -> None:
        """Clears the facts if they do not belong to the present state of this store; all links if another weft wrote
        them.

        The facts are shared by all callers: one who does not see all files leaves them alone.
        """
        anchor = self._facts.note(ANCHOR)
        lost = bool(anchor and not _is_in_log(self._ctx, anchor))
        held: dict[str, SourceKnown | OtherKnown] = {}
        if anew:
            held = {**self._facts.others(), **self._facts.sources()}
        self.kept_facts = anew and not lost and not self._sees_all(held)
        if anew and not self.kept_facts:
            self.before = held
        if lost or (anew and not self.kept_facts):
            self._facts.clear()
        if self._facts.note(RESOLVED_BY) != __version__:
            with self._facts.writing():
                self._facts.unsettle(self._facts.sources())
                self._facts.set_note(RESOLVED_BY, __version__)

    def _sees_all(self, held: Mapping[str, SourceKnown | OtherKnown]) -> bool:
        nodes = {str(node.props.get("path")) for node in files_known(self._ctx)}
        return sees_all(self._ctx, nodes, held)

    def known(self, path: str) -> SourceKnown | OtherKnown | None:
        return self.sources.get(path) or self.others.get(path)

    def was_walked(self, path: str) -> bool:
        """Whether the walk found a file when it was last read; False if unknown."""
        known = self.known(path) or self.before.get(path)
        return known is not None and known.walked

    def run(self, found: WorkspaceFiles, gone: Sequence[NodeVersion], *, whole: bool = False) -> None:
        """Reads and writes differing files, ends missing ones, and links. `whole` if these are all files of the
        workspace.
        """
        for each in found.skipped:
            self.skipped.add(each)
        todo = dict(self._look(found))
        if len(todo) + len(gone) <= SMALL_FILES:
            reader, redacts = reader_of(self._ctx), self._ctx.privacy.redacts
            for read in reader.files(os.fspath(self._root), self._to_read(todo), redacts=redacts):
                self._take(read, todo[read.path], walked=found.walked(read.path))
            self._writing.write_at_once(gone)
            self._writing.link()
        else:
            with fewer_collections():
                self._run_many(todo, found, gone)
        self._look_told(whole=whole)
        head = self._ctx.store.head(self._ctx.viewer)
        with self._facts.writing():
            if whole:
                self._facts.set_note(LOOKED, "yes")
            self._facts.set_marks(self._marks)
            self._facts.set_note(ANCHOR, f"{head.pos}:{head.at}")
            if whole and found.whole:
                self._facts.set_note(WENT_THROUGH, "yes")

    def _look_told(self, *, whole: bool) -> None:
        """Records that the disk was looked at, for files without a recorded version: their content is valid from now
        on, whatever is indexed from git for earlier times.
        """
        outcome = self.outcome
        if outcome.files or outcome.others:
            return
        wrote = outcome.ended or outcome.joined or outcome.parted
        if wrote or (whole and not self._facts.note(LOOKED) and not self._is_disk_last()):
            some = list(self._facts.sources())[:LOOKED_AT_MOST]
            seen = look_up(self._ctx, [self._id(path) for path in some])
            asked = [ToRead(path=path) for path in some]
            reads = reader_of(self._ctx).files(os.fspath(self._root), asked, redacts=self._ctx.privacy.redacts)
            pairs = ((read, seen[self._id(read.path)]) for read in reads)
            self._writing.look(Work(read=read, guard=self._rights.of(each.last), seen=each) for read, each in pairs)

    def _is_disk_last(self) -> bool:
        try:
            return is_disk_last(self._ctx)
        except Forbidden:  # who may not list transactions reads no commits out of git either
            return True

    def nodes_of(self, paths: Sequence[str]) -> list[NodeVersion]:
        """The current nodes of missing files; facts of files without a node are dropped."""
        nodes: list[NodeVersion] = []
        for some in in_slices(paths, FILES_AT_ONCE):
            seen = look_up(self._ctx, [self._id(path) for path in some])
            nodes += [each.known for each in seen.values() if each.known is not None and each.known.kind == "File"]
        standing = {str(node.props.get("path")) for node in nodes}
        self._writing.forget([path for path in paths if path not in standing])
        return nodes

    def keep_names(self, nodes: Sequence[NodeVersion]) -> None:
        """Records files that are unchanged and unread, so that they end when they are missing."""
        paths = ((str(node.props.get("path")), FileState(known=node)) for node in nodes)
        self._writing.keep_names((path, seen, self.was_walked(path)) for path, seen in paths)

    # What there is to do

    def _look(self, found: WorkspaceFiles) -> Iterator[tuple[str, FileState]]:
        """The files to be read, each with its state in the graph."""
        for some in in_slices(list(self._wanted(found)), FILES_AT_ONCE):
            seen = look_up(self._ctx, [self._id(path) for path in some])
            for path in some:
                if self._stands(path, seen[self._id(path)]):
                    self._unchanged(path)
                else:
                    yield path, seen[self._id(path)]

    def _wanted(self, found: WorkspaceFiles) -> Iterator[str]:
        others = 0
        for path in found.files:
            if language_of(path) is None:
                if form_of(path) is not None:  # a document's node has the same id: who reads documents makes it
                    self.documents += 1
                    continue
                others += 1
                if others > MAX_OTHERS:
                    self.left += 1
                    continue
            if self.known(path) is None and (problem := name_problem(self._ctx, path)) is not None:
                self.skipped.add(problem)
            else:
                yield path

    def _stands(self, path: str, seen: FileState) -> bool:
        """Whether a file is unchanged since it was last read, in the graph too. Does not read it."""
        known = self.known(path)
        if known is None or not known.mark or not self._hash_known(path, seen):
            return False
        return mark_of(os.fspath(self._root), path) == known.mark

    def _hash_known(self, path: str, seen: FileState) -> str:
        """The hash of a file on which facts and graph agree; empty otherwise."""
        known, node = self.known(path), seen.known
        if known is None or node is None or node.kind != "File" or not is_current(known, known.sha256):
            return ""
        language = language_of(path) if isinstance(known, SourceKnown) else None
        name = "" if language is None else language.name
        same = is_version(node, self._rights.of(node), SourceVersion(path=path, sha256=known.sha256), name)
        return known.sha256 if same else ""

    def _unchanged(self, path: str) -> None:
        """Repeats the problems of unchanged files."""
        other = self.others.get(path)
        if other is not None and other.problem:
            self.skipped.add(Skipped(path=path, reason=other.problem))
        else:
            self.outcome.unchanged += 1

    # Reading

    def _run_many(self, todo: Mapping[str, FileState], found: WorkspaceFiles, gone: Sequence[NodeVersion]) -> None:
        reads = read_files(os.fspath(self._root), self._to_read(todo), redacts=self._ctx.privacy.redacts)
        with closing(reads):
            for number, read in enumerate(reads, start=1):
                self._take(read, todo[read.path], walked=found.walked(read.path))
                self._writing.write_full()
                self._ctx.progress("indexing", number, len(todo))
        self._writing.write()
        self._writing.end(gone)
        self._writing.link()

    def _to_read(self, todo: Mapping[str, FileState]) -> list[ToRead]:
        new = self._rights.of(None)
        return [
            ToRead(path=path, guard=new) if seen.last is None else ToRead(path=path, known=self._hash_known(path, seen))
            for path, seen in todo.items()
        ]

    def _take(self, read: CodeRead, seen: FileState, *, walked: bool) -> None:
        if read.state is None:
            self.skipped.add(Skipped(path=read.path, reason=read.gone))
            self._writing.keep_names([(read.path, seen, walked)])
            return
        if read.state.sha256 and read.state.sha256 == self._hash_known(read.path, seen):
            self._marks.append((read.path, read.state.mark, walked))
            self._unchanged(read.path)
            return
        if read.problem:
            self.skipped.add(Skipped(path=read.path, reason=read.problem))
        if read.facts is not None and read.facts.broken:
            self.broken.append(read.path)
        if read.redacted:
            self.with_secrets.append(read.path)
            self._ctx.privacy.redacted.update(read.redacted)
        try:
            work = self._writing.decide(read, seen, walked=walked)
        except WeftError as problem:
            self._problem(read.path, problem)
            self._writing.keep_names([(read.path, seen, walked)])
            return
        if work is not None:
            self._writing.add(work)

    def _problem(self, path: str, problem: WeftError) -> None:
        self.skipped.add(Skipped(path=path, reason=problem.message))

    def _id(self, path: str) -> str:
        return file_id(self._ctx.settings.project, path)


def _is_in_log(ctx: CallContext, anchor: str) -> bool:
    """Whether this store's log still has the commit of an anchor: the store may have been restored or replaced."""
    pos, _, at = anchor.partition(":")
    try:
        return ctx.store.position_at(ctx.viewer, int(at)) == int(pos)
    except ValueError:
        return False


def run_notes(run: CodeRun, broken: Sequence[str]) -> Iterator[str]:
    """The notes on a run over source files."""
    outcome = run.outcome
    if outcome.note:
        yield outcome.note
    if broken:
        yield f"syntax errors, indexed as far as possible: {named(broken)}"
    for path, problem in list(outcome.faults.items())[:MAX_NAMED]:
        yield f"{path} is not linked: {problem}"


def named(paths: Sequence[str]) -> str:
    """The first few names, and the number of the others."""
    more = f" and {len(paths) - MAX_NAMED:,} more" if len(paths) > MAX_NAMED else ""
    return ", ".join(paths[:MAX_NAMED]) + more
