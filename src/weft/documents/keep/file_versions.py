"""A file on disk compared with the graph: the events that update the graph."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

from weft.context.baked import MARKER as BAKED
from weft.core.queries import NodeFilter
from weft.core.types import NOW, NodeVersion
from weft.documents.keep.document_records import DocumentChanges, DocumentVersion, is_recorded, record
from weft.documents.keep.parser_faults import faults_told
from weft.files.document_suffixes import TEXT, DocumentForm, form_of
from weft.files.file_bytes import read_regular
from weft.files.walk import Skipped, printable
from weft.log.draft import Draft
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext
from weft.text.markup.outline import DocumentOutline
from weft.writing.build.written_files import known_file
from weft.writing.checks.rights import Rights

MAX_PATH_CHARACTERS: Final = 700  # section ids begin with it
MAX_FILE_ID_CHARACTERS: Final = 880  # marks are escaped in ids, and a section's has 900 in all


class FileRead(Struct, frozen=True, kw_only=True):
    """A file's bytes and their hash, and the id of its node."""

    id: str
    source: str
    raw: bytes
    sha256: str


class FileState(Struct, frozen=True, kw_only=True):
    """The current node of a file; or, if there is none, the last one: `gone` by deletion or because it ended."""

    known: NodeVersion | None = None
    gone: NodeVersion | None = None

    @property
    def last(self) -> NodeVersion | None:
        """The current node, or the last one."""
        return self.known or self.gone

    @property
    def row(self) -> int | None:
        """Identifies the state, to detect changes."""
        return None if self.last is None else self.last.row


class Decision(Struct, frozen=True, kw_only=True):
    """Events in order, each its own commit if there are several; or a deleted node to restore.

    `sections` and `chunks` count those of the document. `rights` describes a change of its rights; `left_out` counts
    deleted parts that are unchanged, `returned` those that are back.
    """

    drafts: tuple[Draft, ...] = ()
    back: NodeVersion | None = None
    sections: int = 0
    chunks: int = 0
    revived: bool = False
    rights: str = ""
    left_out: int = 0
    returned: int = 0


def name_problem(ctx: CallContext, source: str) -> Skipped | None:
    """Why a file cannot be stored under this name; None if it can."""
    try:
        source.encode()
    except UnicodeEncodeError:
        return Skipped(path=printable(source), reason="its name is not UTF-8")
    if ctx.privacy.holds_secret(source):
        return Skipped(path=ctx.privacy.masked(source), reason="its name contains a secret: rename it")
    if len(source) > MAX_PATH_CHARACTERS or len(file_id(ctx.settings.project, source)) > MAX_FILE_ID_CHARACTERS:
        return Skipped(path=source, reason=f"its path has more than {MAX_PATH_CHARACTERS} characters")
    return None


def read_file(ctx: CallContext, root: Path, source: str) -> FileRead | Skipped:
    """A file's bytes, or why it is skipped."""
    if (problem := name_problem(ctx, source)) is not None:
        return problem
    node_id = file_id(ctx.settings.project, source)
    raw = read_regular(os.path.join(root, source), ctx.settings.document_bytes)  # noqa: PTH118
    if isinstance(raw, str):
        larger = raw.startswith("larger") and ctx.settings.origins["document_bytes"].origin == "default"
        return Skipped(path=source, reason=f"{raw} (the setting document_bytes)" if larger else raw)
    if raw.startswith(BAKED.encode()) or known_file(ctx.settings, Path(root, source), raw) is not None:
        return Skipped(path=source, reason="written by weft from memory")
    digest = hashlib.sha256(raw).hexdigest()
    return FileRead(id=node_id, source=source, raw=raw, sha256=digest)


def look_up(ctx: CallContext, ids: Sequence[str]) -> dict[str, FileState]:
    """The state of these files in the graph, in two reads."""
    known = {node.id: node for node in ctx.store.nodes(ctx.viewer, NOW, ids)}
    missing = tuple(each for each in ids if each not in known)
    gone = ctx.store.last_versions(ctx.viewer, NodeFilter(ids=missing), limit=len(missing)) if missing else ()
    found = {node.id: FileState(gone=node) for node in gone} | {
        each: FileState(known=node) for each, node in known.items()
    }
    return {each: found.get(each, FileState()) for each in ids}


class Version(Protocol):
    """A document to write if it changed: a file or a given text."""

    id: str
    source: str
    notes: tuple[str, ...]

    def decide(self, seen: FileState) -> Decision | None:
        """The events to write; None if the graph is up to date. Raises Invalid for an unreadable document."""
        ...


class FileVersion:
    """A file to write if it changed. Its text is parsed once, however often it is decided on."""

    def __init__(self, ctx: CallContext, rights: Rights, read: FileRead) -> None:
        self._ctx, self._rights, self._read = ctx, rights, read
        self.id, self.source = read.id, read.source
        self.notes: tuple[str, ...] = ()
        self._document: DocumentVersion | None = None

    def stands(self, seen: FileState) -> bool:
        """Whether the graph is up to date. The text is not read."""
        return seen.known is not None and self._is_version(seen.known)

    def decide(self, seen: FileState) -> Decision | None:
        """The events to write; None if the graph is up to date. Raises Invalid for an unreadable file."""
        if self.stands(seen):
            return None
        deleted = seen.gone is not None and seen.gone.deleted_at is not None
        if deleted and seen.gone is not None and self._is_version(seen.gone):
            return Decision(back=seen.gone, revived=True)
        guard, rights = self._rights.of(seen.last), self._rights.change(seen.last)
        return document_decision(record(self._ctx, guard, self._version(), seen.last), rights, revived=deleted)

    def _is_version(self, node: NodeVersion) -> bool:
        return is_recorded(node, self._rights.of(node), self._read.sha256)

    def _version(self) -> DocumentVersion:
        if self._document is None:
            from weft.documents.formats.read import read_text

            form = form_of(self.source) or TEXT
            with faults_told(self._ctx.privacy):
                text = read_text(self._read.raw, form)
            outline = outline_of(self._ctx, text, form)
            self.notes = tuple(f"{self.source}: {note}" for note in outline.notes)
            self._document = DocumentVersion(
                id=self.id,
                source=self.source,
                name=self.source.rpartition("/")[2],
                sha256=self._read.sha256,
                form=form.name,
                outline=outline,
            )
        return self._document


def document_decision(made: DocumentChanges, rights: str, *, revived: bool) -> Decision:
    """The decision to write a version of a document."""
    return Decision(
        drafts=made.drafts,
        sections=made.sections,
        chunks=made.chunks,
        revived=revived,
        rights=rights,
        left_out=made.left_out,
        returned=made.returned,
    )


def parts_deleted(left_out: int, returned: int) -> tuple[str, ...]:
    """Notes on deleted parts of documents that were read again."""
    notes = []
    if left_out:
        some, them = ("1 deleted part was", "it") if left_out == 1 else (f"{left_out:,} deleted parts were", "them")
        said = "its words are" if left_out == 1 else "their words are"
        notes.append(f"{some} left out, as {said} the same: `weft restore` brings {them} back")
    if returned:
        some = "1 deleted part is" if returned == 1 else f"{returned:,} deleted parts are"
        notes.append(f"{some} back, as the file says something else there now")
    return tuple(notes)


def outline_of(ctx: CallContext, text: str, form: DocumentForm) -> DocumentOutline:
    """The outline of a text without its secrets. Raises Invalid for an unreadable text."""
    from weft.documents.formats.read import read_outline  # parsers are imported on first use

    with faults_told(ctx.privacy):
        # Redacted before it is split: ids are made of headings, and a key may span several lines.
        return read_outline(ctx.privacy.redact(text), form)
