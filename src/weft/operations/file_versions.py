"""A file as it is on disk now, against what the graph says of it: the events that bring the one up to the other."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

from weft.context.baked import MARKER as BAKED
from weft.documents.forms import TEXT, Form, form_of
from weft.documents.outline import Outline
from weft.log.draft import Draft
from weft.loom import Loom
from weft.operations.code_records import file_id
from weft.operations.document_records import DocumentVersion, Recorded, is_recorded, record
from weft.operations.file_bytes import read_regular
from weft.operations.file_faults import faults_told
from weft.operations.rights import Rights
from weft.operations.walking import Skipped, printable
from weft.operations.written_files import known_file
from weft.queries import Which
from weft.types import NOW, NodeVersion

MAX_PATH_CHARACTERS: Final = 700  # the ids of its sections begin with it
MAX_FILE_ID_CHARACTERS: Final = 880  # marks in a path are longer in an id, and a section's has 900 in all


class FileRead(Struct, frozen=True, kw_only=True):
    """A file's bytes and their hash, and the id of its node."""

    id: str
    source: str
    raw: bytes
    sha256: str


class Seen(Struct, frozen=True, kw_only=True):
    """The node of a file as it stands; or, where none does, as it last was: `gone` by deletion or because it ended."""

    known: NodeVersion | None = None
    gone: NodeVersion | None = None

    @property
    def last(self) -> NodeVersion | None:
        """The node as it stands, or as it last was."""
        return self.known or self.gone

    @property
    def row(self) -> int | None:
        """Tells one state from another."""
        return None if self.last is None else self.last.row


class Decision(Struct, frozen=True, kw_only=True):
    """What to write: events in order, each its own commit if there are several; or a deleted node to bring back.

    `sections` and `chunks` count those of the document. `rights` says what changes of who may see it; `left_out` counts
    parts that were deleted and say the same, `returned` those that are back.
    """

    drafts: tuple[Draft, ...] = ()
    back: NodeVersion | None = None
    sections: int = 0
    chunks: int = 0
    revived: bool = False
    rights: str = ""
    left_out: int = 0
    returned: int = 0


def name_problem(loom: Loom, source: str) -> Skipped | None:
    """Why a file cannot be kept by this name; None if it can."""
    try:
        source.encode()
    except UnicodeEncodeError:
        return Skipped(path=printable(source), reason="its name is not UTF-8")
    if loom.screen.holds_secret(source):
        return Skipped(path=loom.screen.masked(source), reason="there is a secret in its name: rename it")
    if len(source) > MAX_PATH_CHARACTERS or len(file_id(loom.settings.project, source)) > MAX_FILE_ID_CHARACTERS:
        return Skipped(path=source, reason=f"its path has more than {MAX_PATH_CHARACTERS} characters")
    return None


def read_file(loom: Loom, root: Path, source: str) -> FileRead | Skipped:
    """A file's bytes, or why not."""
    if (problem := name_problem(loom, source)) is not None:
        return problem
    node_id = file_id(loom.settings.project, source)
    raw = read_regular(os.path.join(root, source), loom.settings.document_bytes)  # noqa: PTH118
    if isinstance(raw, str):
        larger = raw.startswith("larger") and loom.settings.origins["document_bytes"].origin == "default"
        return Skipped(path=source, reason=f"{raw} (the setting document_bytes)" if larger else raw)
    if raw.startswith(BAKED.encode()) or known_file(loom.settings, Path(root, source), raw) is not None:
        return Skipped(path=source, reason="weft wrote it: what it says is in memory")
    digest = hashlib.sha256(raw).hexdigest()
    return FileRead(id=node_id, source=source, raw=raw, sha256=digest)


def look_up(loom: Loom, ids: Sequence[str]) -> dict[str, Seen]:
    """How these files stand in the graph: two reads for all of them."""
    known = {node.id: node for node in loom.store.nodes(loom.viewer, NOW, ids)}
    missing = tuple(each for each in ids if each not in known)
    gone = loom.store.last_versions(loom.viewer, Which(ids=missing), limit=len(missing)) if missing else ()
    found = {node.id: Seen(gone=node) for node in gone} | {each: Seen(known=node) for each, node in known.items()}
    return {each: found.get(each, Seen()) for each in ids}


class Version(Protocol):
    """Something that may have to be written: a file, or a document given as text."""

    id: str
    source: str
    notes: tuple[str, ...]

    def decide(self, seen: Seen) -> Decision | None:
        """What to write; None if the graph says all of it already. Raises Invalid for what cannot be read."""
        ...


class FileVersion:
    """A file that may have to be written. Its text is read and cut up once, however often it is decided on."""

    def __init__(self, loom: Loom, rights: Rights, read: FileRead) -> None:
        self._loom, self._rights, self._read = loom, rights, read
        self.id, self.source = read.id, read.source
        self.notes: tuple[str, ...] = ()
        self._document: DocumentVersion | None = None

    def stands(self, seen: Seen) -> bool:
        """Whether the graph says all of it already. Costs no reading of the text."""
        return seen.known is not None and self._is_version(seen.known)

    def decide(self, seen: Seen) -> Decision | None:
        """What to write; None if the graph says all of it already. Raises Invalid for what cannot be read."""
        if self.stands(seen):
            return None
        deleted = seen.gone is not None and seen.gone.deleted_at is not None
        if deleted and seen.gone is not None and self._is_version(seen.gone):
            return Decision(back=seen.gone, revived=True)
        guard, rights = self._rights.of(seen.last), self._rights.change(seen.last)
        return document_decision(record(self._loom, guard, self._version(), seen.last), rights, revived=deleted)

    def _is_version(self, node: NodeVersion) -> bool:
        return is_recorded(node, self._rights.of(node), self._read.sha256)

    def _version(self) -> DocumentVersion:
        if self._document is None:
            from weft.documents.reading import read_text

            form = form_of(self.source) or TEXT
            with faults_told(self._loom.screen):
                text = read_text(self._read.raw, form)
            outline = outline_of(self._loom, text, form)
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


def document_decision(made: Recorded, rights: str, *, revived: bool) -> Decision:
    """To write what a version of a document says."""
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
    """What there is to say of deleted parts of documents that were read again."""
    notes = []
    if left_out:
        some, them = ("1 deleted part was", "it") if left_out == 1 else (f"{left_out:,} deleted parts were", "them")
        said = "its words are" if left_out == 1 else "their words are"
        notes.append(f"{some} left out, as {said} the same: `weft restore` brings {them} back")
    if returned:
        some = "1 deleted part is" if returned == 1 else f"{returned:,} deleted parts are"
        notes.append(f"{some} back, as the file says something else there now")
    return tuple(notes)


def outline_of(loom: Loom, text: str, form: Form) -> Outline:
    """What a text holds, without its secrets. Raises Invalid for what cannot be read."""
    from weft.documents.reading import read_outline  # parsers are loaded where something is parsed

    with faults_told(loom.screen):
        # Before it is cut up: an id is made of a heading, and a key may stand in several lines.
        return read_outline(loom.screen.redact(text), form)
