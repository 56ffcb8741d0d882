"""Reading files: text by section and chunk, source code by symbol, both cited by file and line; records row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft import git
from weft.code import languages
from weft.documents.forms import form_of
from weft.errors import Invalid, NotFound, StoreError
from weft.loom import Loom
from weft.operations.code_files import index_files
from weft.operations.doc_links import link_mentions
from weft.operations.embedding_ahead import Ahead
from weft.operations.embedding_symbols import embed_symbols
from weft.operations.fields import ProducedBy, ScopeKept, Tags
from weft.operations.file_versions import FileRead, FileVersion, Seen, look_up, parts_deleted, read_file
from weft.operations.file_writing import Kept, Writing
from weft.operations.gone_files import end_gone, find_gone
from weft.operations.paths import read_path
from weft.operations.records import RecordsIngested, ingest_file
from weft.operations.registry import Operation
from weft.operations.rights import Rights, rights_asked
from weft.operations.skipped_files import SkippedFiles
from weft.operations.walking import Skipped, Walked, walk
from weft.types import NodeVersion

RECORDS_SUFFIX: Final = ".jsonl"
FILES_AT_ONCE: Final = 256  # read, hashed and looked up together
BYTES_AT_ONCE: Final = 8_000_000
MAX_TOLD: Final = 100  # of notes
SECRETS_NAMED: Final = 3  # files of which secrets were taken out


class Ingest(Struct, frozen=True, kw_only=True):
    """Input of `ingest`."""

    path: Annotated[str, Meta(min_length=1, max_length=4096, description="a file or a directory inside the project")]
    gone: Annotated[bool, Meta(description="end what was read from files that are gone; its history stays")] = False
    scope: ScopeKept = None
    agents: Annotated[Tags, Meta(description="agents it is meant for; those it has, if unset")] = ()
    produced_by_task_id: ProducedBy = None


class Ingested(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was read. Of a file of records, `records` and the turns among them.

    `skipped` are the first of the files (or rows) that were left out, `reasons` says how many there were for each
    reason. `ignored` counts the files and folders that patterns passed over. `revived` are files among those read that
    had been deleted, and are back. `gone` are documents and source files that stand though their files are gone,
    `ended` those that were ended for it.
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
        """Whether there was something to read, and none of it could be."""
        done = self.documents + self.files + self.records + self.unchanged + self.ended
        return bool(self.reasons) and not done


def ingest(loom: Loom, given: Ingest) -> Ingested:
    """Reads documents (Markdown, text, reStructuredText; PDF, DOCX, HTML) by section and chunk, source code by symbol.

    Unchanged files cost nothing; what changed in others gets new versions, what is gone from them ends. Hidden folders
    and files, links, what .gitignore names and the setting `ignore` are passed over, and so are files of records inside
    a folder: name those. Stopped at any moment, it goes on where it was when it is called again. What could not be read
    is listed with the reason; the rest goes on.

    What a file that is gone said stays, unless `gone` ends it or `weft delete` is told. A whole document that was
    deleted comes back when its file is read again; a section or chunk stays out until `weft restore`, or until its own
    words change. Who may see a file stays as it is, unless `scope` or `agents` are given.

    A file FILE.jsonl is read as records, one JSON object a line: {"id", "text"} and, where they apply, "title",
    "date", "session" and "speaker" (one turn of a conversation), "turn_offsets" (a whole one) or "path" (source code).
    """
    root = loom.settings.root.resolve()
    start, notes = _start(given.path, root)
    rights = rights_asked(loom, scope=given.scope, agents=given.agents)
    if start.is_file() and start.suffix.lower() == RECORDS_SUFFIX:
        return _records(ingest_file(loom, start, rights.asked), start.relative_to(root).as_posix())
    walked = walk(start, root, wanted=_is_read, ignore=loom.settings.ignore)
    run = _Run(loom, rights, (*notes, *walked.notes))
    for each in walked.skipped:
        run.skipped.add(each)
    is_code = [languages.language_of(path) is not None for path in walked.files]
    run.read(root, [path for path, code in zip(walked.files, is_code, strict=True) if not code])
    gone = run.look_for_gone(root, start, walked, end=given.gone) if start.is_dir() else ()
    run.index(root, [path for path, code in zip(walked.files, is_code, strict=True) if code], gone)
    run.link()
    return run.told(walked)


def ingest_documents(loom: Loom, path: str) -> Ingested:
    """Reads the documents at a path of the project, and no source code; joins them to the code that they name."""
    root = loom.settings.root.resolve()
    start, notes = _start(path, root)
    walked = walk(start, root, wanted=_is_document, ignore=loom.settings.ignore)
    run = _Run(loom, rights_asked(loom, scope=None, agents=()), (*notes, *walked.notes))
    for each in walked.skipped:
        run.skipped.add(each)
    run.read(root, walked.files)
    run.link()
    return run.told(walked)


def _is_document(name: str) -> bool:
    return languages.language_of(name) is None and form_of(name) is not None


def _is_read(name: str) -> bool:
    return languages.language_of(name) is not None or form_of(name) is not None


class _Run:
    """One run over files: what was kept, skipped and noted so far."""

    def __init__(self, loom: Loom, rights: Rights, notes: Sequence[str]) -> None:
        self._loom, self._rights = loom, rights
        self._counts: Counter[str] = Counter()
        self.skipped = SkippedFiles()
        self._notes: dict[str, None] = dict.fromkeys(notes)
        self._vector_note = ""
        self._rights_changed: Counter[str] = Counter()
        self._with_secrets: list[str] = []
        self._began = loom.store.head(loom.viewer).at
        self._changed: dict[bool, set[str]] = {False: set(), True: set()}  # ids of files, by whether they are code

    def read(self, root: Path, files: Sequence[str]) -> None:
        """Reads documents and writes what is new in them."""
        total = len(files)
        with Ahead(self._loom) as ahead:
            writing = Writing(self._loom, ahead, git.head_commit(root), self._keep)
            done = 0
            for group in _groups(self._loom, root, files):
                seen = look_up(self._loom, [file.id for file in group if isinstance(file, FileRead)])
                for file in group:
                    if isinstance(file, Skipped):
                        self.skipped.add(file)
                    else:
                        self._take(writing, FileVersion(self._loom, self._rights, file), seen[file.id])
                    done += 1
                    self._loom.progress("reading", done, total)
            writing.close()

    def _take(self, writing: Writing, file: FileVersion, seen: Seen) -> None:
        redacted = self._loom.screen.redacted.total()
        try:
            decision = file.decide(seen)
        except Invalid as problem:
            self._keep(Kept(file=file, problem=problem))
            return
        if self._loom.screen.redacted.total() > redacted:
            self._with_secrets.append(file.source)
        if decision is None:
            self._keep(Kept(file=file))
        else:
            writing.add(file, seen.row, decision)

    def _keep(self, kept: Kept) -> None:
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

    def look_for_gone(self, root: Path, start: Path, walked: Walked, *, end: bool) -> tuple[NodeVersion, ...]:
        """Counts what stands of files that are gone; or ends the documents among them, and returns the source files."""
        nodes = find_gone(self._loom, root, start, walked.files)
        if not nodes:
            return ()
        if not end:
            self._counts["gone"] = len(nodes)
            some = "1 document of a file that is" if len(nodes) == 1 else f"{len(nodes):,} documents of files that are"
            stand, them = ("stands", "it") if len(nodes) == 1 else ("stand", "them")
            self._note(f"{some} gone still {stand}: `weft ingest --gone` ends {them}")
            return ()
        documents = [node for node in nodes if node.kind == "Document"]
        self._vector_note = self._vector_note or end_gone(self._loom, documents)
        self._counts["ended"] = len(documents)
        self._changed[False].update(node.id for node in documents)
        return tuple(node for node in nodes if node.kind == "File")

    def index(self, root: Path, files: Sequence[str], gone: Sequence[NodeVersion]) -> None:
        """Reads source files by their symbols, with what these refer to, and embeds what is new; ends what is gone."""
        if not files and not gone:
            return
        done = index_files(self._loom, self._rights, root, files, gone)
        outcome = done.outcome
        self.skipped.take(done.skipped)
        for note in done.notes:
            self._note(note)
        self._with_secrets += done.with_secrets
        self._rights_changed.update(outcome.rights)
        self._changed[True] |= outcome.written
        for what in ("files", "symbols", "unchanged", "revived", "ended"):
            self._counts[what] += getattr(outcome, what)
        note = embed_symbols(self._loom, sorted(outcome.written | outcome.modules))
        self._vector_note = self._vector_note or note

    def link(self) -> None:
        """Joins what documents name to the code that they name."""
        done = link_mentions(self._loom, documents=self._changed[False], files=self._changed[True], since=self._began)
        self._vector_note = self._vector_note or done.note

    def told(self, walked: Walked) -> Ingested:
        """What became of all of it."""
        counts = self._counts
        notes = [*self._notes, *([self._vector_note] if self._vector_note else [])]
        notes += parts_deleted(counts["left_out"], counts["returned"])
        for change, files in self._rights_changed.most_common(MAX_TOLD):
            notes.append(f"rights changed of {'1 file' if files == 1 else f'{files:,} files'}: {change}")
        if named := self._with_secrets[:SECRETS_NAMED]:
            more = len(self._with_secrets) - len(named)
            notes.append(f"secrets were taken out of {', '.join(named)}" + (f" and {more:,} more" if more else ""))
        notes += self.skipped.notes
        return Ingested(
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
            ignored=walked.ignored,
            reasons=self.skipped.reasons,
            notes=tuple(notes),
        )

    def _note(self, note: str) -> None:
        if len(self._notes) < MAX_TOLD:
            self._notes[note] = None


def _groups(loom: Loom, root: Path, files: Sequence[str]) -> Iterator[list[FileRead | Skipped]]:
    """Files with their bytes, as many at a time as are looked up together."""
    group: list[FileRead | Skipped] = []
    size = 0
    for source in files:
        group.append(read_file(loom, root, source))
        size += len(group[-1].raw) if isinstance(group[-1], FileRead) else 0
        if len(group) == FILES_AT_ONCE or size >= BYTES_AT_ONCE:
            yield group
            group, size = [], 0
    if group:
        yield group


def _records(done: RecordsIngested, source: str) -> Ingested:
    skipped = tuple(Skipped(path=f"{source}:{row.row}", reason=row.reason) for row in done.skipped)
    reasons = Counter(row.sort for row in skipped)
    if more := done.skipped_rows - len(skipped):
        reasons["other rows"] = more
    return Ingested(
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
    """Where to begin, without links and `..`: a file has one name. And a note where the path given is a link.

    Raises NotFound, or Invalid outside the project.
    """
    path = read_path(written)
    try:
        start = path.resolve()
        there, is_link = start.exists(), path.is_symlink()
    except (OSError, RuntimeError) as problem:  # resolve() raises RuntimeError for a loop of links
        raise StoreError(f"{written} cannot be read: {problem}", hint="check its name and its rights") from problem
    if not there:
        raise NotFound(f"there is no {written}", hint="give a file or a directory")
    if not start.is_relative_to(root):
        raise Invalid(
            f"{written} is outside the project at {root}",
            hint="run weft inside that directory, or `weft init` there",
        )
    own = start.relative_to(root).as_posix()
    return start, (f"{written} is a link: it is kept as {own}",) if is_link else ()


OPERATIONS = (
    Operation(
        name="ingest",
        summary="read documents by section and chunk, source code by symbol, or records (.jsonl)",
        input=Ingest,
        output=Ingested,
        effect="write",
        toolset="memory",
        reach="machine",
        run=ingest,
        arguments=("path",),
    ),
)
