"""Ingestion of files: documents by section and chunk, source code by symbol, cited by line; records by row."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.code.index.document_mentions import link_mentions
from weft.code.index.embedding import embed_symbols
from weft.code.index.named_files import index_files
from weft.core.errors import Invalid, NotFound, StoreError
from weft.core.queries import NodeFilter
from weft.core.slices import in_slices
from weft.core.types import NodeVersion
from weft.documents.keep.deleted_parts import has_ended
from weft.documents.keep.document_records import REASON, part_ids
from weft.documents.keep.file_versions import FileRead, FileState, FileVersion, look_up, parts_deleted, read_file
from weft.documents.keep.file_writing import FileOutcome, Writing
from weft.files import git, languages
from weft.files.document_suffixes import form_of
from weft.files.paths import read_path
from weft.files.skipped_files import SkippedFiles
from weft.files.walk import MAX_FILES, Skipped, walk
from weft.ingest.ingest_records import RecordsIngested, ingest_file
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext
from weft.runtime.fields import ProducedBy, ScopeKept, Tags
from weft.runtime.operation import Operation
from weft.writing.build.commit import append_stamped
from weft.writing.build.deletions import MAX_AT_ONCE, pages
from weft.writing.build.embedding_ahead import Ahead
from weft.writing.checks.rights import Rights, rights_asked

RECORDS_SUFFIX: Final = ".jsonl"
FILES_AT_ONCE: Final = 256  # read, hashed and looked up together
BYTES_AT_ONCE: Final = 8_000_000
MAX_TOLD: Final = 100  # notes
SECRETS_NAMED: Final = 3  # files with redacted secrets that are named
MAX_PATHS: Final = 10_000  # in one call: what a shell makes of docs/*.md

FilePath = Annotated[str, Meta(min_length=1, max_length=4096)]


class Ingest(Struct, frozen=True, kw_only=True):
    """Input of `ingest`."""

    path: Annotated[FilePath, Meta(description="a file or a directory inside the project")]
    more: Annotated[tuple[FilePath, ...], Meta(max_length=MAX_PATHS, description="more of them")] = ()
    gone: Annotated[bool, Meta(description="end the content of missing files; its history stays")] = False
    scope: ScopeKept = None
    agents: Annotated[Tags, Meta(description="agents it is for; unchanged if unset")] = ()
    produced_by_task_id: ProducedBy = None


class IngestResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Counts of an ingestion. For a file of records, `records` and the turns among them.

    `skipped` lists the first skipped files (or rows), `reasons` counts all by reason. `ignored` counts files and
    folders excluded by patterns. `revived` counts read files that had been deleted and are restored. `gone` counts
    current documents and source files whose files are missing, `ended` those ended for it.
    """

    documents: int
    sections: int
    unchanged: int
    skipped: tuple[Skipped, ...]
    chunks: int = 0
    files: int = 0
    symbols: int = 0
    records: int = 0
    messages: int = 0
    revived: int = 0
    gone: int = 0
    ended: int = 0
    ignored: int = 0
    reasons: dict[str, int] = {}
    notes: tuple[str, ...] = ()

    @property
    def nothing_read(self) -> bool:
        """Whether there was something to read, and none of it could be read."""
        done = self.documents + self.files + self.records + self.unchanged + self.ended
        return bool(self.reasons) and not done


def ingest(ctx: CallContext, given: Ingest) -> IngestResult:
    """Reads documents (Markdown, text, reStructuredText; PDF, DOCX, HTML) by section and chunk, source code by symbol.

    Unchanged files cost nothing; changes become new versions, removed parts end. Skipped are hidden files and folders,
    links, patterns of .gitignore and of the setting `ignore`, and files of records inside a folder: name those. An
    interrupted run continues when it is called again. Unreadable files are listed with the reason. With several paths
    nothing is read unless all exist.

    Content of a missing file stays current, unless `gone` or `weft delete` ends it. A deleted document is restored when
    its file is read again; a deleted section or chunk stays out until `weft restore`, or until its own words change.
    Rights of a file stay as they are, unless `scope` or `agents` are given.

    A file FILE.jsonl is read as records, one JSON object per line: {"id", "text"} and, where they apply, "title",
    "date", "session" and "speaker" (one turn of a conversation), "turn_offsets" (a whole one) or "path" (source code).
    """
    root = ctx.settings.root.resolve()
    found = dict(_start(path, root) for path in (given.path, *given.more))
    rights = rights_asked(ctx, scope=given.scope, agents=given.agents)
    records = [start for start in found if start.is_file() and start.suffix.lower() == RECORDS_SUFFIX]
    done = [_records(ingest_file(ctx, start, rights.asked), start.relative_to(root).as_posix()) for start in records]
    starts = [start for start in found if start not in records]
    if starts:
        notes = [note for start in starts for note in found[start]]
        done.append(_ingest_files(ctx, rights, starts, notes, end_gone=given.gone))
    return done[0] if len(done) == 1 else _together(done)


def _ingest_files(
    ctx: CallContext, rights: Rights, starts: Sequence[Path], notes: Sequence[str], *, end_gone: bool
) -> IngestResult:
    """Reads the documents and the source code at these places, each file once."""
    root = ctx.settings.root.resolve()
    walks = [walk(start, root, wanted=_is_read, ignore=ctx.settings.ignore) for start in starts]
    files = tuple(dict.fromkeys(path for walked in walks for path in walked.files))
    run = _Run(ctx, rights, (*notes, *(note for walked in walks for note in walked.notes)))
    for each in dict.fromkeys(each for walked in walks for each in walked.skipped):
        run.skipped.add(each)
    code = frozenset(path for path in files if languages.language_of(path) is not None)
    run.read(root, [path for path in files if path not in code])
    folders = [(start, walked.files) for start, walked in zip(starts, walks, strict=True) if start.is_dir()]
    gone = run.look_for_gone(root, folders, end=end_gone)
    run.index(root, [path for path in files if path in code], gone)
    run.link()
    return run.told(ignored=sum(walked.ignored for walked in walks))


def _together(parts: Sequence[IngestResult]) -> IngestResult:
    """One result of several: counts are summed."""
    first, *others = parts
    for part in others:
        first = replace(
            first,
            **{
                name: getattr(first, name) + getattr(part, name)
                for name in IngestResult.__struct_fields__
                if name != "reasons"
            },
            reasons=dict((Counter(first.reasons) + Counter(part.reasons)).most_common()),
        )
    return first


def ingest_documents(ctx: CallContext, path: str) -> IngestResult:
    """Reads the documents at a path of the project, without source code; links them to the code that they mention."""
    root = ctx.settings.root.resolve()
    start, notes = _start(path, root)
    walked = walk(start, root, wanted=_is_document, ignore=ctx.settings.ignore)
    run = _Run(ctx, rights_asked(ctx, scope=None, agents=()), (*notes, *walked.notes))
    for each in walked.skipped:
        run.skipped.add(each)
    run.read(root, walked.files)
    run.link()
    return run.told(ignored=walked.ignored)


def _is_document(name: str) -> bool:
    return languages.language_of(name) is None and form_of(name) is not None


def _is_read(name: str) -> bool:
    return languages.language_of(name) is not None or form_of(name) is not None


class _Run:
    """State of one run over files."""

    def __init__(self, ctx: CallContext, rights: Rights, notes: Sequence[str]) -> None:
        self._ctx, self._rights = ctx, rights
        self._counts: Counter[str] = Counter()
        self.skipped = SkippedFiles()
        self._notes: dict[str, None] = dict.fromkeys(notes)
        self._vector_note = ""
        self._rights_changed: Counter[str] = Counter()
        self._with_secrets: list[str] = []
        self._began = ctx.store.head(ctx.viewer).at
        self._changed: dict[bool, set[str]] = {False: set(), True: set()}  # file ids by "is code"

    def read(self, root: Path, files: Sequence[str]) -> None:
        """Reads documents and writes their changes."""
        total = len(files)
        with Ahead(self._ctx) as ahead:
            writing = Writing(self._ctx, ahead, git.head_commit(root), self._keep)
            done = 0
            for group in _groups(self._ctx, root, files):
                seen = look_up(self._ctx, [file.id for file in group if isinstance(file, FileRead)])
                for file in group:
                    if isinstance(file, Skipped):
                        self.skipped.add(file)
                    else:
                        self._take(writing, FileVersion(self._ctx, self._rights, file), seen[file.id])
                    done += 1
                    self._ctx.progress("reading", done, total)
            writing.close()

    def _take(self, writing: Writing, file: FileVersion, seen: FileState) -> None:
        redacted = self._ctx.privacy.redacted.total()
        try:
            decision = file.decide(seen)
        except Invalid as problem:
            self._keep(FileOutcome(file=file, problem=problem))
            return
        if self._ctx.privacy.redacted.total() > redacted:
            self._with_secrets.append(file.source)
        if decision is None:
            self._keep(FileOutcome(file=file))
        else:
            writing.add(file, seen.row, decision)

    def _keep(self, kept: FileOutcome) -> None:
        if kept.problem is not None:
            self.skipped.add(Skipped(path=kept.file.source, reason=kept.problem.message))
            return
        if kept.decision is None:
            self._counts["unchanged"] += 1
            return
        self._vector_note = self._vector_note or kept.note
        for note in kept.file.notes:
            self._note(note)
        if kept.decision.rights:
            self._rights_changed[kept.decision.rights] += 1
        self._changed[False].add(kept.file.id)
        self._counts["documents"] += 1
        for what in ("sections", "chunks", "revived", "left_out", "returned"):
            self._counts[what] += getattr(kept.decision, what)

    def look_for_gone(
        self, root: Path, folders: Sequence[tuple[Path, Sequence[str]]], *, end: bool
    ) -> tuple[NodeVersion, ...]:
        """Counts documents and source files of these folders whose files are missing; or ends the documents, and
        returns the source files.
        """
        found = [node for folder, files in folders for node in find_gone(self._ctx, root, folder, files)]
        nodes = {node.id: node for node in found}.values()
        if not nodes:
            return ()
        if not end:
            self._counts["gone"] = len(nodes)
            some = "1 file is missing, and its" if len(nodes) == 1 else f"{len(nodes):,} files are missing, and their"
            where = " ".join(start.relative_to(root).as_posix() for start, _ in folders)
            self._note(f"{some} content is still current: `weft ingest {where} --gone` ends it")
            return ()
        documents = [node for node in nodes if node.kind == "Document"]
        self._vector_note = self._vector_note or end_gone(self._ctx, documents)
        self._counts["ended"] = len(documents)
        self._changed[False].update(node.id for node in documents)
        return tuple(node for node in nodes if node.kind == "File")

    def index(self, root: Path, files: Sequence[str], gone: Sequence[NodeVersion]) -> None:
        """Indexes source files by symbol with their references, embeds new ones, and ends missing ones."""
        if not files and not gone:
            return
        done = index_files(self._ctx, self._rights, root, files, gone)
        outcome = done.outcome
        self.skipped.take(done.skipped)
        for note in done.notes:
            self._note(note)
        self._with_secrets += done.with_secrets
        self._rights_changed.update(outcome.rights)
        self._changed[True] |= outcome.written
        for what in ("files", "symbols", "unchanged", "revived", "ended"):
            self._counts[what] += getattr(outcome, what)
        note = embed_symbols(self._ctx, sorted(outcome.written | outcome.modules))
        self._vector_note = self._vector_note or note

    def link(self) -> None:
        """Links documents to the code that they mention."""
        done = link_mentions(self._ctx, documents=self._changed[False], files=self._changed[True], since=self._began)
        self._vector_note = self._vector_note or done.note

    def told(self, *, ignored: int) -> IngestResult:
        """The result of the run."""
        counts = self._counts
        notes = [*self._notes, *([self._vector_note] if self._vector_note else [])]
        notes += parts_deleted(counts["left_out"], counts["returned"])
        for change, files in self._rights_changed.most_common(MAX_TOLD):
            notes.append(f"rights changed for {'1 file' if files == 1 else f'{files:,} files'}: {change}")
        if named := self._with_secrets[:SECRETS_NAMED]:
            more = len(self._with_secrets) - len(named)
            notes.append(f"secrets were redacted in {', '.join(named)}" + (f" and {more:,} more" if more else ""))
        notes += self.skipped.notes
        return IngestResult(
            documents=counts["documents"],
            sections=counts["sections"],
            chunks=counts["chunks"],
            unchanged=counts["unchanged"],
            skipped=self.skipped.told,
            files=counts["files"],
            symbols=counts["symbols"],
            revived=counts["revived"],
            gone=counts["gone"],
            ended=counts["ended"],
            ignored=ignored,
            reasons=self.skipped.reasons,
            notes=tuple(notes),
        )

    def _note(self, note: str) -> None:
        if len(self._notes) < MAX_TOLD:
            self._notes[note] = None


def _groups(ctx: CallContext, root: Path, files: Sequence[str]) -> Iterator[list[FileRead | Skipped]]:
    """Files with their bytes, in groups that are looked up together."""
    group: list[FileRead | Skipped] = []
    size = 0
    for source in files:
        group.append(read_file(ctx, root, source))
        size += len(group[-1].raw) if isinstance(group[-1], FileRead) else 0
        if len(group) == FILES_AT_ONCE or size >= BYTES_AT_ONCE:
            yield group
            group, size = [], 0
    if group:
        yield group


def _records(done: RecordsIngested, source: str) -> IngestResult:
    skipped = tuple(Skipped(path=f"{source}:{row.row}", reason=row.reason) for row in done.skipped)
    reasons = Counter(row.sort for row in skipped)
    if more := done.skipped_rows - len(skipped):
        reasons["other rows"] = more
    return IngestResult(
        documents=0,
        sections=0,
        unchanged=done.unchanged,
        skipped=skipped,
        records=done.records,
        messages=done.messages,
        reasons=dict(reasons.most_common()),
        notes=done.notes if not more else (*done.notes, f"and {more} more rows were skipped"),
    )


def _start(written: str, root: Path) -> tuple[Path, tuple[str, ...]]:
    """The resolved start path, so that a file has one name, and a note if the given path is a link.

    Raises NotFound, or Invalid outside the project.
    """
    path = read_path(written)
    try:
        start = path.resolve()
        there, is_link = start.exists(), path.is_symlink()
    except (OSError, RuntimeError) as problem:  # resolve() raises RuntimeError for a loop of links
        raise StoreError(f"{written} cannot be read: {problem}", hint="check its name and permissions") from problem
    if not there:
        raise NotFound(f"there is no {written}", hint="give an existing file or directory")
    if not start.is_relative_to(root):
        raise Invalid(
            f"{written} is outside the project at {root}",
            hint="run weft inside that directory, or `weft init` there",
        )
    own = start.relative_to(root).as_posix()
    return start, (f"{written} is a link: ingested as {own}",) if is_link else ()


# ---- missing files


def find_gone(ctx: CallContext, root: Path, start: Path, walked: Sequence[str]) -> tuple[NodeVersion, ...]:
    """Current documents and files at or below a folder whose files no longer exist.

    A file that exists but was skipped, for its size or a pattern, is not missing; nor is one that cannot be checked.
    """
    below = start.relative_to(root).as_posix()
    prefix = file_id(ctx.settings.project, "" if below == "." else f"{below}/")
    there = frozenset(walked)
    return tuple(
        node
        for node in _standing(ctx, prefix)
        if node.id != file_id(ctx.settings.project, source := str(node.props["source"]))
        or _is_gone(root, source, there)
    )


def _standing(ctx: CallContext, prefix: str) -> Iterator[NodeVersion]:
    """Current nodes read from files: not records, not given texts."""
    project = ctx.settings.project
    which = NodeFilter(id_prefix=prefix, kinds=("Document", "File"), deleted=False)
    for number, node in enumerate(pages(ctx, which)):
        if number == MAX_FILES * 2:
            return
        source = node.props.get("source")
        # Early versions did not escape marks in paths: such a node is replaced by one with its proper id.
        own = isinstance(source, str) and source and node.id in (file_id(project, source), f"{project}/{source}")
        if own and not has_ended(node) and "record" not in node.props:
            yield node


def _is_gone(root: Path, source: str, there: frozenset[str]) -> bool:
    if source in there:
        return False
    try:
        os.lstat(os.path.join(root, source))  # noqa: PTH118
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def end_gone(ctx: CallContext, documents: Sequence[NodeVersion]) -> str:
    """Ends documents with their parts. Returns a note if vectors failed."""
    note = ""
    for number, node in enumerate(documents, start=1):
        # The document ends last: an interrupted run finds it and ends it again.
        for some in in_slices((*part_ids(ctx, node), node.id), MAX_AT_ONCE):
            ended = graph.Ended(nodes=tuple(some), reason=REASON)
            note = note or append_stamped(ctx, [Draft(kind="graph.ended", payload=ended)]).note
        ctx.progress("ending", number, len(documents))
    return note


OPERATIONS = (
    Operation(
        name="ingest",
        summary="read documents by section and chunk, source code by symbol, or records (.jsonl)",
        input=Ingest,
        output=IngestResult,
        effect="write",
        toolset="memory",
        reach="machine",
        run=ingest,
        arguments=("path", "more"),
    ),
)
