"""Reading files: text by section, source code by symbol, both cited by file and line; records (.jsonl) row by row."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict

from weft import git
from weft.code import languages
from weft.errors import Conflict, Forbidden, Invalid, NotFound, StoreError
from weft.extract.sections import Section, read_sections
from weft.log.draft import Draft
from weft.log.kinds import document, transaction
from weft.loom import Loom
from weft.operations.code_records import Source, file_id, index, is_version
from weft.operations.committing import append_stamped
from weft.operations.deletions import deleted_node, revive
from weft.operations.fields import ProducedBy, ScopeAsked, Tags
from weft.operations.paths import read_path
from weft.operations.records import RecordsIngested, ingest_file
from weft.operations.registry import Operation
from weft.operations.rights import write_guard
from weft.operations.stamping import TaskClosed
from weft.screen import Screen
from weft.types import MAX_LIMIT, Find, Guard, NodeVersion, When

RECORDS_SUFFIX = ".jsonl"
SUFFIXES = frozenset({".md", ".markdown", ".txt", ".rst"}) | languages.SUFFIXES
MAX_FILE_BYTES = 524_288
MAX_FILES = 100_000


class Ingest(Struct, frozen=True, kw_only=True):
    """Input of `ingest`."""

    path: Annotated[str, Meta(min_length=1, max_length=4096, description="a file or a directory inside the project")]
    scope: ScopeAsked = None
    agents: Annotated[Tags, Meta(description="agents it is meant for")] = ()
    produced_by_task_id: ProducedBy = None


class Skipped(Struct, frozen=True, kw_only=True):
    """A file that was not read, and why."""

    path: str
    reason: str


class Ingested(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was read. Of a file of records, `records` and the turns among them, and up to 100 of those skipped.

    `revived` are files among them that had been deleted, and are back.
    """

    documents: int
    sections: int
    unchanged: int
    skipped: tuple[Skipped, ...]
    files: int = 0
    symbols: int = 0
    records: int = 0
    messages: int = 0
    revived: int = 0
    notes: tuple[str, ...] = ()


class _Kept(Struct, frozen=True):
    """A file that was written: how many sections or symbols it has, and a note if vectors failed.

    `revived` says that it had been deleted, and is back.
    """

    parts: int
    note: str
    revived: bool = False


def ingest(loom: Loom, given: Ingest) -> Ingested:
    """Reads Markdown and text files by section, and source code by symbol.

    Unchanged files cost nothing; sections and symbols that changed get new versions, those that are gone end.
    Hidden folders are passed over, and so are files of records inside a folder: name those. What a file that was
    deleted said stays, unless `weft delete` is told; what that took out of sight comes back when its file is read
    again. What could not be read is listed with the reason; the rest goes on.

    A file FILE.jsonl is read as records, one JSON object a line: {"id", "text"} and, where they apply, "title",
    "date", "session" and "speaker" (one turn of a conversation), "turn_offsets" (a whole one) or "path" (source code).
    """
    root = loom.settings.root.resolve()
    start = _start(given.path, root)
    guard = write_guard(loom, scope=given.scope, agents=given.agents, project=loom.settings.project)
    if start.is_file() and start.suffix.lower() == RECORDS_SUFFIX:
        return _records(ingest_file(loom, start, guard), _source(start, root))
    commit = git.head_commit(root)
    files = list(_files(start, root))
    documents = sections = sources = symbols = unchanged = revived = 0
    skipped: list[Skipped] = []
    notes: dict[str, None] = {}
    for number, file in enumerate(files, start=1):
        is_code = isinstance(file, Path) and languages.language_of(file.name) is not None
        read = _index_file if is_code else _ingest_file
        outcome = file if isinstance(file, Skipped) else read(loom, file, _source(file, root), guard, commit)
        loom.progress("reading", number, len(files))
        if isinstance(outcome, Skipped):
            skipped.append(outcome)
            continue
        if outcome is None:
            unchanged += 1
            continue
        notes |= {outcome.note: None} if outcome.note else {}
        revived += outcome.revived
        if is_code:
            sources += 1
            symbols += outcome.parts
        else:
            documents += 1
            sections += outcome.parts
    return Ingested(
        documents=documents,
        sections=sections,
        unchanged=unchanged,
        skipped=tuple(skipped),
        files=sources,
        symbols=symbols,
        revived=revived,
        notes=tuple(notes),
    )


def _records(done: RecordsIngested, source: str) -> Ingested:
    skipped = [_skip(f"{source}:{row.row}", row.reason) for row in done.skipped]
    more = done.skipped_rows - len(skipped)
    notes = done.notes if not more else (*done.notes, f"and {more} more rows were skipped")
    return Ingested(
        documents=0,
        sections=0,
        unchanged=done.unchanged,
        skipped=tuple(skipped),
        records=done.records,
        messages=done.messages,
        notes=notes,
    )


def _start(written: str, root: Path) -> Path:
    """Where to begin, without links and `..`: a file has one name. Raises NotFound, or Invalid outside the project."""
    try:
        start = read_path(written).resolve()
        there = start.exists()
    except (OSError, RuntimeError) as problem:  # resolve() raises RuntimeError for a loop of links
        raise StoreError(f"{written} cannot be read: {problem}", hint="check its name and its rights") from problem
    if not there:
        raise NotFound(f"there is no {written}", hint="give a file or a directory")
    if not start.is_relative_to(root):
        raise Invalid(
            f"{written} is outside the project at {root}",
            hint="run weft inside that directory, or `weft init` there",
        )
    return start


def _source(file: Path, root: Path) -> str:
    return file.relative_to(root).as_posix()


def _skip(source: str, reason: str) -> Skipped:
    return Skipped(path=source.encode(errors="replace").decode(), reason=reason)


def _files(start: Path, root: Path) -> Iterator[Path | Skipped]:
    """Readable files below, in order; hidden ones and links are passed over. What cannot be listed is skipped."""
    if start.is_file():
        yield start
        return
    seen = 0
    unlisted: list[OSError] = []
    for directory, folders, names in os.walk(start, onerror=unlisted.append):
        folders[:] = sorted(folder for folder in folders if not folder.startswith("."))
        for name in sorted(names):
            file = Path(directory) / name
            if name.startswith(".") or file.suffix.lower() not in SUFFIXES or file.is_symlink():
                continue
            if seen == MAX_FILES:
                yield _skip(_source(file, root), f"more than {MAX_FILES:,} files: this one and those after it wait")
                return
            seen += 1
            yield file
    for problem in unlisted:
        yield _skip(_source(Path(problem.filename), root), f"cannot be listed: {problem.strerror}")


def _ingest_file(loom: Loom, file: Path, source: str, guard: Guard, commit: str | None) -> Skipped | _Kept | None:
    """What was kept of a document, None if unchanged, or why not."""
    raw = _read_text(loom.screen, file, source)
    if isinstance(raw, Skipped):
        return raw
    sha256 = hashlib.sha256(raw).hexdigest()
    document_id = f"{guard.project}/{source}"
    known = loom.store.nodes(loom.viewer, When(), [document_id])
    if known and known[0].props.get("sha256") == sha256 and known[0].guard == guard:
        return None
    gone = None if known else deleted_node(loom, document_id)
    if gone is not None and gone.props.get("sha256") == sha256 and gone.guard == guard:
        return _Kept(0, revive(loom, gone).note, revived=True)
    # Before it is cut up: an id is made of a heading, and a key may stand in several lines.
    sections = read_sections(
        loom.screen.redact(raw.decode("utf-8-sig")), markdown=file.suffix.lower() in (".md", ".markdown")
    )
    made = _section_texts(document_id, sections)
    below = Find(kinds=("Section",), id_prefix=f"{document_id}#")
    before = loom.store.find(loom.viewer, When(), below, limit=MAX_LIMIT * 100).nodes
    # A file may be called a.md#b.md: its sections begin like those of a.md.
    standing = {node.id: node for node in before if node.props.get("source") == source}
    payload = document.Ingested(
        id=document_id,
        source=source,
        title=next((section.title for section in sections if section.title), file.name),
        sha256=sha256,
        sections=tuple(section for section in made if not _stands(section, standing.get(section.id), guard)),
        ended=tuple(sorted(set(standing) - {section.id for section in made})),
        **asdict(guard),
    )
    try:
        done = append_stamped(loom, [*_provenance(commit, source), Draft(kind="document.ingested", payload=payload)])
    except TaskClosed:
        raise
    except (Invalid, Forbidden, Conflict) as problem:
        return _skip(source, problem.message)
    return _Kept(len(made), done.note, revived=gone is not None)


def _index_file(loom: Loom, file: Path, source: str, guard: Guard, commit: str | None) -> Skipped | _Kept | None:
    """What was kept of a source file, None if unchanged, or why not."""
    raw = _read_text(loom.screen, file, source)
    if isinstance(raw, Skipped):
        return raw
    text = loom.screen.redact(raw.decode("utf-8-sig"))
    version = Source(path=source, text=text, sha256=hashlib.sha256(raw).hexdigest())
    try:
        found = index(loom, guard, version)
        if found is None:
            return None
        gone = deleted_node(loom, file_id(guard.project, source))
        if gone is not None and is_version(gone, guard, version):
            return _Kept(0, revive(loom, gone).note, revived=True)
        done = append_stamped(loom, [*_provenance(commit, source), found.draft])
    except TaskClosed:
        raise
    except (Invalid, Forbidden, Conflict) as problem:
        return _skip(source, problem.message)
    return _Kept(found.symbols, done.note, revived=gone is not None)


def _provenance(commit: str | None, source: str) -> list[Draft]:
    """Which git commit the file was read at, where there is one, so that `weft diff <commit>` knows."""
    if commit is None:
        return []
    noted = transaction.Noted(tx_kind="file_change", git_commit=commit, files=(source,))
    return [Draft(kind="tx.noted", payload=noted)]


def _read_text(screen: Screen, file: Path, source: str) -> bytes | Skipped:
    """The file's bytes, which are UTF-8 text, or why not."""
    try:
        source.encode()
    except UnicodeEncodeError:
        return _skip(source, "its name is not UTF-8")
    if screen.holds_secret(source):
        return Skipped(path=screen.masked(source), reason="there is a secret in its name: rename it")
    try:
        if not file.is_file():
            return _skip(source, "is not a file")
        if file.stat().st_size > MAX_FILE_BYTES:
            return _skip(source, f"larger than {MAX_FILE_BYTES:,} bytes")
        raw = file.read_bytes()
        raw.decode("utf-8-sig")
    except OSError as problem:
        return _skip(source, f"cannot be read: {problem.strerror}")
    except UnicodeDecodeError:
        return _skip(source, "is not UTF-8 text")
    return _skip(source, "holds NUL characters: not a text file") if b"\x00" in raw else raw


def _stands(section: document.SectionText, node: NodeVersion | None, guard: Guard) -> bool:
    """The section is there already: same words, same lines, same rights."""
    if node is None or node.guard != guard or (node.name, node.text) != (section.title, section.text):
        return False
    return all(node.props.get(name) == getattr(section, name) for name in ("line", "end_line", "level"))


def _section_texts(document_id: str, sections: tuple[Section, ...]) -> tuple[document.SectionText, ...]:
    """Sections with ids made of their headings, so that an edit elsewhere in the file leaves them alone."""
    made: list[document.SectionText] = []
    path: list[tuple[int, str]] = []
    used: dict[str, int] = {}
    for section in sections:
        while path and path[-1][0] >= section.level:
            path.pop()
        parent = path[-1][1] if path else None
        base = f"{parent or document_id}#{section.title or 'text'}"[:900]
        section_id = base if base not in used else f"{base}~{used[base] + 1}"
        while section_id in used:  # a heading may be written like one of our numbers
            used[base] += 1
            section_id = f"{base}~{used[base] + 1}"
        used[base] = used.get(base, 0) + 1
        used.setdefault(section_id, 1)
        path.append((section.level, section_id))
        made.append(
            document.SectionText(
                id=section_id,
                title=section.title,
                level=section.level,
                line=section.line,
                end_line=section.end_line,
                text=section.text,
                parent=parent,
            )
        )
    return tuple(made)


OPERATIONS = (
    Operation(
        name="ingest",
        summary="read text files by section, source code by symbol, or records (.jsonl)",
        input=Ingest,
        output=Ingested,
        effect="write",
        toolset="memory",
        reach="machine",
        run=ingest,
        arguments=("path",),
    ),
)
