"""Documents that are given as text: kept by section and chunk like those of files, and cited by their events."""

from __future__ import annotations

import hashlib
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.documents.forms import MARKDOWN, TEXT
from weft.errors import Invalid, TooLarge
from weft.loom import Loom
from weft.operations.code_records import file_id
from weft.operations.committing import WriteStatus
from weft.operations.doc_links import link_mentions
from weft.operations.document_records import DocumentVersion, is_recorded, record
from weft.operations.embedding_ahead import Ahead
from weft.operations.fields import ProducedBy, ScopeKept, Tags
from weft.operations.file_versions import (
    MAX_FILE_ID_CHARACTERS,
    Decision,
    Seen,
    document_decision,
    look_up,
    outline_of,
    parts_deleted,
)
from weft.operations.file_writing import Kept, Writing
from weft.operations.registry import Operation
from weft.operations.remembered import Remembered
from weft.operations.rights import Rights, rights_asked
from weft.types import NodeVersion

PREFIX: Final = "text://"  # before the names of such documents in their ids: no path of a file has two slashes


class MemoryIngest(Struct, frozen=True, kw_only=True):
    """Input of `memory_ingest`."""

    source: Annotated[str, Meta(min_length=1, max_length=300, description="its name: the same again is a new version")]
    text: Annotated[str, Meta(min_length=1, description="the whole document")]
    title: Annotated[str, Meta(max_length=300, description="its title; its first heading if unset")] = ""
    form: Annotated[Literal["markdown", "text"], Meta(description="how it is written")] = "markdown"
    scope: ScopeKept = None
    agents: Annotated[Tags, Meta(description="agents it is meant for; those it has, if unset")] = ()
    produced_by_task_id: ProducedBy = None


def memory_ingest(loom: Loom, given: MemoryIngest) -> Remembered:
    """Keeps one document that is given as text, by section and chunk; each is cited by the event that brought it.

    The same text under the same name is written once; another one is a new version of it: what is new gets new
    versions, what is gone ends. Files are better ingested as such: those are cited by line.
    """
    if loom.screen.holds_secret(given.source):
        raise Invalid("there is a secret in its source", hint="name it otherwise")
    if (size := len(given.text.encode())) > loom.settings.document_bytes:
        most = f"{loom.settings.document_bytes:,}"
        raise TooLarge(f"the text has {size:,} bytes; a document has {most} at most", hint="give it in several parts")
    version = _TextVersion(loom, rights_asked(loom, scope=given.scope, agents=given.agents), given)
    seen = look_up(loom, [version.id])[version.id]
    decision = version.decide(seen)
    told: list[Kept] = []
    if decision is not None:
        with Ahead(loom) as ahead:
            writing = Writing(loom, ahead, None, told.append)
            writing.add(version, seen.row, decision)
            writing.close()
    kept = told[0] if told else Kept(file=version)
    if kept.problem is not None:
        raise kept.problem
    linked = link_mentions(loom, documents=[version.id] if kept.decision is not None else [], files=[])
    notes = (*version.notes, *([kept.note or linked.note] if kept.note or linked.note else []))
    if kept.decision is None:
        return Remembered(status="duplicate_skip", id=version.id, notes=("this very text stands already", *notes))
    if kept.decision.rights:
        notes = (*notes, f"rights changed: {kept.decision.rights}")
    notes += parts_deleted(kept.decision.left_out, kept.decision.returned)
    status: WriteStatus = "saved" if seen.known is None else "superseded"
    return Remembered(status=status, id=version.id, citation=kept.citation, notes=notes)


class _TextVersion:
    """A text that may have to be written."""

    def __init__(self, loom: Loom, rights: Rights, given: MemoryIngest) -> None:
        self._loom, self._rights = loom, rights
        self.source = f"{PREFIX}{given.source}"
        self.id = file_id(rights.asked.project, self.source)
        if len(self.id) > MAX_FILE_ID_CHARACTERS:
            raise Invalid("its source is too long: signs like # count for several", hint="name it shorter")
        # A new title is a new version, too: the hash is of both.
        self._sha256 = hashlib.sha256(f"{given.title}\n{given.form}\n{given.text}".encode()).hexdigest()
        form = MARKDOWN if given.form == "markdown" else TEXT
        outline = outline_of(loom, given.text, form)
        title = loom.screen.redact(given.title) or outline.title
        self.notes = outline.notes
        self._version = DocumentVersion(
            id=self.id,
            source="",  # no line of a file says this
            name=given.source,
            sha256=self._sha256,
            form=form.name,
            outline=replace(outline, title=title),
        )

    def decide(self, seen: Seen) -> Decision | None:
        if seen.known is not None and self._is_version(seen.known):
            return None
        if seen.gone is not None and seen.gone.deleted_at is not None and self._is_version(seen.gone):
            return Decision(back=seen.gone, revived=True)
        made = record(self._loom, self._rights.of(seen.last), self._version, seen.last)
        return document_decision(made, self._rights.change(seen.last), revived=False)

    def _is_version(self, node: NodeVersion) -> bool:
        return is_recorded(node, self._rights.of(node), self._sha256)


OPERATIONS = (
    Operation(
        name="memory_ingest",
        summary="keep a document that is given as text, by section and chunk",
        input=MemoryIngest,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=memory_ingest,
        arguments=("source", "text"),
    ),
)
