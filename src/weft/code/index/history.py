"""Indexing of a workspace at a git commit: valid from the commit's time until the next known version.

Commits may be indexed in any order. Versions of other times are not changed.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.code.ask.workspaces import told_root, workspace_of
from weft.code.index.facts_file import LinkKept
from weft.code.index.facts_lock import WAIT_S, facts_kept
from weft.code.index.linking import beginnings
from weft.code.index.links import LINK_RELATIONS, MAX_TEXT_BYTES, ResolvedFile, link_drafts
from weft.code.index.read_file import CodeRead, FileSnapshot
from weft.code.index.reader import reader_of
from weft.code.index.records import Indexing, SourceVersion, Then, index, is_version
from weft.code.index.run import LOOKED, WENT_THROUGH
from weft.code.parse.parse import MAX_SOURCE_BYTES
from weft.code.resolve.tree import Sources
from weft.core.clock import to_iso
from weft.core.errors import Conflict, Forbidden, Invalid, NotFound
from weft.core.types import EdgeVersion, Find, Guard, NodeVersion, When
from weft.documents.keep.file_versions import name_problem
from weft.documents.keep.parser_faults import faults_told
from weft.documents.keep.source_lines import symbols_of
from weft.files import git
from weft.files.gitignore import read_patterns
from weft.files.languages import language_of
from weft.files.skipped_files import SkippedFiles
from weft.files.walk import Skipped
from weft.log.draft import Draft
from weft.log.kinds import code, graph, transaction
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext
from weft.runtime.indexed_commits import OUT_OF_GIT, Place, place_of
from weft.runtime.operation import Operation
from weft.runtime.read_nodes import read_nodes
from weft.writing.build.commit import append_stamped
from weft.writing.checks.project_roots import claim_code
from weft.writing.checks.provenance import TaskClosed
from weft.writing.checks.rights import Rights, rights_asked

MAX_FILES: Final = 100_000
MAX_SYMBOLS: Final = 10_000
MAX_VERSIONS: Final = 1_000  # of one file that are looked through
FILES_PER_COMMIT: Final = 24
PAGE: Final = 5_000
REASON: Final = "not in this commit"


class CommitIndexed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of indexing a commit: file versions and their symbols, relations, and unreadable files."""

    summary: str
    commit: str
    at: str
    files: int = 0
    symbols: int = 0
    unchanged: int = 0
    ended: int = 0
    links: int = 0
    unlinked: int = 0
    skipped: tuple[Skipped, ...] = ()
    reasons: dict[str, int] = {}
    duration_ms: int = 0
    notes: tuple[str, ...] = ()


class IndexCommit(Struct, frozen=True, kw_only=True):
    """Input of `graph_index_commit`."""

    commit: Annotated[str, Meta(min_length=1, max_length=256, description="a commit, tag or branch that git knows")]


def graph_index_commit(ctx: CallContext, given: IndexCommit) -> CommitIndexed:
    """Reads the workspace's source code as it was at a git commit, valid from that commit's time on.

    Files are read from git; the working tree is not touched, and versions of other times stay. Commits may be indexed
    in any order. Afterwards `as_of` with that commit shows the code as it was.
    """
    ctx = workspace_of(ctx)
    claim_code(ctx.settings, told_root(ctx))
    with facts_kept(ctx, wait_s=WAIT_S) as facts:  # one indexing of a workspace at a time
        done = index_commit(ctx, given.commit)
        with facts.writing():  # what holds now may be another, and what is noted of its links not what stands
            facts.unsettle(facts.sources())
            facts.set_note(LOOKED, "")
            facts.set_note(WENT_THROUGH, "")  # what came out of git is compared with the disk next time
        return done


def index_commit(ctx: CallContext, name: str) -> CommitIndexed:
    """Updates the graph to the workspace's source files at a commit, for the time of that commit.

    Files are read from git, not from the working tree; only source code is read. Raises NotFound if git does not know
    the commit.
    """
    root = ctx.settings.root.resolve()
    commit, at, tree = git.commit_of(root, name), git.commit_time_us(root, name), git.tree_of(root, name)
    if commit is None or at is None or tree is None:
        raise NotFound(f"git does not know a commit {name[:80]!r} here", hint="`git log` lists them")
    began_s = time.monotonic()
    run = _History(ctx, commit, place_of(ctx, commit, at), tree)
    run.read()
    run.write()
    return CommitIndexed(
        summary=f"commit {commit[:12]} of {to_iso(run.at)[:10]}: {run.files:,} files and {run.symbols:,} symbols"
        f" written, {run.unchanged:,} files unchanged, {run.joined:,} relations",
        commit=commit,
        at=to_iso(run.at),
        files=run.files,
        symbols=run.symbols,
        unchanged=run.unchanged,
        ended=run.ended,
        links=run.joined,
        unlinked=run.parted,
        skipped=run.skipped.told,
        reasons=run.skipped.reasons,
        duration_ms=round((time.monotonic() - began_s) * 1000),
        notes=(*run.notes, *run.skipped.notes),
    )


class _CommitSources(Sources):
    """The files of a commit for resolvers; project settings are read from git, too."""

    def __init__(self, ctx: CallContext, reads: Mapping[str, CodeRead], tree: Mapping[str, git.TreeFile]) -> None:
        self._root, self._tree = ctx.settings.root, tree
        self._texts: dict[str, str | None] = {}
        super().__init__((each.source.facts for each in reads.values() if each.source is not None), tree)

    def text(self, path: str) -> str | None:
        entry = self._tree.get(path)
        if entry is None or entry.size > MAX_TEXT_BYTES:
            return None
        if path not in self._texts:
            found = next((raw for _, raw in git.blobs_of(self._root, [entry.blob])), None)
            self._texts[path] = None if found is None else found.decode(errors="replace")
        return self._texts[path]


class _History:
    """Indexing of one commit."""

    def __init__(self, ctx: CallContext, commit: str, place: Place, tree: Sequence[git.TreeFile]) -> None:
        self._ctx, self._commit, self._place, self.at = ctx, commit, place, place.at
        self._when = When(valid_at=place.at)
        self._project = ctx.settings.project
        self._rights: Rights = rights_asked(ctx, scope=None, agents=())
        patterns = read_patterns("", ctx.settings.ignore)
        shown = [each for each in tree if not any(part.startswith(".") for part in each.path.split("/"))]
        kept = [each for each in shown if not patterns.verdict(each.path, folder=False)]
        self._tree = {each.path: each for each in kept}
        self.notes = place.notes
        self._reads: dict[str, CodeRead] = {}
        self.skipped = SkippedFiles()
        self.files = self.symbols = self.unchanged = self.ended = self.joined = self.parted = 0

    # Reading

    def read(self) -> None:
        by_blob: dict[str, list[str]] = {}
        sources = [entry for path, entry in self._tree.items() if language_of(path) is not None]
        if len(sources) > MAX_FILES:
            self.notes += (f"only the first {MAX_FILES:,} of {len(sources):,} source files of the commit were read",)
        for path, entry in ((entry.path, entry) for entry in sources[:MAX_FILES]):
            if (problem := name_problem(self._ctx, path)) is not None:
                self.skipped.add(problem)
            elif entry.size > MAX_SOURCE_BYTES:
                self.skipped.add(Skipped(path=path, reason=f"larger than {MAX_SOURCE_BYTES:,} bytes"))
            else:
                by_blob.setdefault(entry.blob, []).append(path)
        reader = reader_of(self._ctx)
        for number, (blob, raw) in enumerate(git.blobs_of(self._ctx.settings.root, tuple(by_blob)), start=1):
            state = FileSnapshot(path="", size=len(raw), sha256=hashlib.sha256(raw).hexdigest(), blob=blob)
            for path in by_blob[blob]:
                read = reader.raw(replace(state, path=path), raw, redacts=self._ctx.privacy.redacts)
                self._reads[path] = read
                if read.problem:
                    self.skipped.add(Skipped(path=path, reason=read.problem))
            self._ctx.progress("reading", number, len(by_blob))

    # Writing

    def write(self) -> None:
        """Writes versions that are not recorded yet, ends files that are not in the commit, and links references."""
        held = self._held()
        if not self._reads and not self._place.known:
            append_stamped(self._ctx, [self._noted(())])
        keys: dict[str, Mapping[str, str]] = {}
        until: dict[str, str | None] = {}
        guards: dict[str, Guard] = {}
        batch: list[tuple[str, Indexing]] = []
        same: set[str] = set()  # told anew all the same: so that it is known that this commit was looked at
        for number, (path, read) in enumerate(self._reads.items(), start=1):
            node = held.get(path)
            guards[path] = self._rights.of(node)
            until[path] = self._next(path)
            made = self._indexing(path, read, guards[path], until[path])
            keys[path] = made.keys
            stands = node is not None and self._says(node, read, guards[path])
            self.unchanged += stands
            if not stands or (number == 1 and not self._place.known):
                batch.append((path, made))
                same.update([path] if stands else [])
            if len(batch) == FILES_PER_COMMIT or number == len(self._reads):
                written = self._append_some([(path, list(made.drafts)) for path, made in batch])
                self.files += len(written - same)
                self.symbols += sum(made.symbols for path, made in batch if path in written - same)
                batch = []
                self._ctx.progress("indexing", number, len(self._reads))
        gone = self._end(held)
        self._link(keys, until | gone, guards | {path: held[path].guard for path in gone})

    def _indexing(self, path: str, read: CodeRead, guard: Guard, until: str | None) -> Indexing:
        assert read.state is not None
        state = read.state
        source = SourceVersion(path=path, sha256=state.sha256, read=read.source, size=state.size, blob=state.blob)
        then = Then(at=self.at, until=until, standing=self._standing(path))
        return index(self._ctx, guard, source, None, then=then)

    def _says(self, node: NodeVersion, read: CodeRead, guard: Guard) -> bool:
        """Whether a file's node equals the commit's version under the present reader."""
        assert read.state is not None
        source = SourceVersion(path=read.path, sha256=read.state.sha256, read=read.source)
        return is_version(node, guard, source, source.language)

    def _held(self) -> dict[str, NodeVersion]:
        """The source files that are valid at the commit's time, by path."""
        find = Find(kinds=("File",), projects=(self._project,))
        nodes = self._ctx.store.find(self._ctx.viewer, self._when, find, limit=MAX_FILES).nodes
        found = {str(node.props.get("path", "")): node for node in nodes}
        return {path: node for path, node in found.items() if node.id == file_id(self._project, path)}

    def _standing(self, path: str) -> dict[str, NodeVersion]:
        """The symbols of a file that are valid at the commit's time."""
        own = file_id(self._project, path)
        return {node.id: node for node in symbols_of(self._ctx, self._when, own)}

    def _next(self, path: str) -> str | None:
        """The time of the next known version of a file, or of its removal."""
        versions = self._ctx.store.history(self._ctx.viewer, file_id(self._project, path), limit=MAX_VERSIONS)
        told = [each.interval.valid_from for each in versions if each.retired_at is None]
        later = [each for each in (*told, self._place.until) if each is not None and each > self.at]
        return to_iso(min(later)) if later else None

    def _append(self, drafts: Sequence[Draft], paths: Sequence[str]) -> None:
        if drafts:
            append_stamped(self._ctx, [self._noted(paths), *(replace(each, occurred_at=self.at) for each in drafts)])

    def _noted(self, paths: Sequence[str]) -> Draft:
        noted = transaction.Noted(tx_kind=OUT_OF_GIT, git_commit=self._commit, files=tuple(paths))
        return Draft(kind="tx.noted", payload=noted)

    def _append_some(self, works: Sequence[tuple[str, list[Draft]]]) -> set[str]:
        """Writes files together; on refusal, splits the batch to isolate the faulty ones. Returns those written."""
        try:
            self._append([draft for _, drafts in works for draft in drafts], [path for path, _ in works])
            return {path for path, _ in works}
        except TaskClosed:
            raise
        except (Invalid, Forbidden, Conflict, NotFound) as problem:
            if len(works) == 1:
                self.skipped.add(Skipped(path=works[0][0], reason=problem.message))
                return set()
        middle = len(works) // 2
        return self._append_some(works[:middle]) | self._append_some(works[middle:])

    def _end(self, held: Mapping[str, NodeVersion]) -> dict[str, str | None]:
        """Ends source files that the commit does not contain, until their next version. Returns each path and that
        time.
        """
        gone: dict[str, str | None] = {}
        for path, node in held.items():
            if path in self._tree or language_of(path) is None:
                continue
            nodes, gone[path] = (*self._standing(path), node.id), self._next(path)
            ending = graph.Ended(nodes=nodes, until=gone[path], reason=REASON)
            self._append([Draft(kind="graph.ended", payload=ending)], [path])
            self.ended += 1
        return gone

    # Links

    def _link(
        self, keys: Mapping[str, Mapping[str, str]], until: Mapping[str, str | None], guards: Mapping[str, Guard]
    ) -> None:
        standing = self._links_held(until)
        sources = _CommitSources(self._ctx, self._reads, self._tree)
        modules: dict[str, str] = {}
        batch: list[tuple[str, list[Draft]]] = []
        there = set(sources.paths)
        paths = (*sources.paths, *(path for path in until if path not in there))  # what refers to nothing any more, too
        for number, path in enumerate(paths, start=1):
            resolved = self._resolved(sources, path, keys) if path in there else ResolvedFile(path=path)
            missing = self._missing({each: name for each, name in resolved.modules.items() if each not in modules})
            drafts = link_drafts(path, guards[path], standing.get(path, ()), resolved, missing, until=until[path])
            modules.update(resolved.modules)
            for draft in drafts:
                assert isinstance(draft.payload, code.Linked)
                self.joined += len(draft.payload.joined)
                self.parted += len(draft.payload.parted)
            if drafts:
                batch.append((path, drafts))
            if len(batch) == FILES_PER_COMMIT or number == len(paths):
                self._append_some(batch)
                batch = []
                self._ctx.progress("linking", number, len(paths))

    def _resolved(self, sources: Sources, path: str, keys: Mapping[str, Mapping[str, str]]) -> ResolvedFile:
        """The links of a file as graph edges."""
        try:
            with faults_told(self._ctx.privacy):
                found = sources.links(path)
        except Invalid as problem:
            self.skipped.add(Skipped(path=path, reason=f"is not linked: {problem.message}"))
            return ResolvedFile(path=path)
        links: dict[tuple[str, str, str], LinkKept] = {}
        modules: dict[str, str] = {}
        language = language_of(path)
        assert language is not None
        for link in found.links:
            target = link.target
            if target.external:
                dst = file_id(self._project, f"import:{language.reader_name}:{target.external}")
                modules[dst] = target.external
            else:
                dst = file_id(self._project, target.path)
                dst += f"::{keys.get(target.path, {}).get(target.key, target.key)}" if target.key else ""
            key = keys.get(path, {}).get(link.key, link.key)
            links.setdefault((key, link.relation, dst), LinkKept(key, link.relation, dst, link.line))
        return ResolvedFile(path=path, links=tuple(links.values()), modules=modules, unresolved=len(found.unresolved))

    def _missing(self, modules: Mapping[str, str]) -> dict[str, str]:
        """External nodes that do not exist at the commit's time."""
        there = {node.id for node in read_nodes(self._ctx, self._when, list(modules))}
        return {each: name for each, name in modules.items() if each not in there}

    def _links_held(self, files: Iterable[str]) -> dict[str, list[LinkKept]]:
        """Relations that are valid at the commit's time, by path of their source file.

        Includes those of symbols that are not valid then, which would return with them.
        """
        paths = {file_id(self._project, path): path for path in files}
        found: dict[str, list[LinkKept]] = {}
        for edge in self._edges():
            file = next((each for each in beginnings(edge.src) if each in paths), None)
            if file is not None:
                line = edge.props.get("line")
                key = edge.src.removeprefix(file).removeprefix("::")
                kept = LinkKept(key, edge.rel, edge.dst, line if isinstance(line, int) else 0)
                found.setdefault(paths[file], []).append(kept)
        return found

    def _edges(self) -> Iterator[EdgeVersion]:
        after = 0
        while page := self._ctx.store.relations(
            self._ctx.viewer,
            self._when,
            LINK_RELATIONS,
            projects=(self._project,),
            ends="any",
            after=after,
            limit=PAGE,
        ):
            yield from page
            after = page[-1].row


OPERATIONS = (
    Operation(
        name="graph_index_commit",
        summary="read the workspace's source code as it was at a git commit",
        input=IndexCommit,
        output=CommitIndexed,
        effect="write",
        toolset="code",
        reach="machine",
        run=graph_index_commit,
        arguments=("commit",),
    ),
)
