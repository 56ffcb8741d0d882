"""Documents given as text: stored by section and chunk like those of files, and cited by their events."""

from __future__ import annotations

import hashlib
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.code.index.document_mentions import link_mentions
from weft.core.errors import Invalid, TooLarge
from weft.core.types import NodeVersion
from weft.documents.keep.document_records import DocumentVersion, is_recorded, record
from weft.documents.keep.file_versions import (
    MAX_FILE_ID_CHARACTERS,
    Decision,
    FileState,
    document_decision,
    look_up,
    outline_of,
    parts_deleted,
)
from weft.documents.keep.file_writing import FileOutcome, Writing
from weft.files.document_suffixes import MARKDOWN, TEXT
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext
from weft.runtime.fields import ProducedBy, ScopeKept, Tags
from weft.runtime.operation import Operation
from weft.writing.build.commit import WriteStatus
from weft.writing.build.embedding_ahead import Ahead
from weft.writing.checks.rights import Rights, rights_asked
from weft.writing.write_contract import WriteResult

PREFIX: Final = "text://"  # prefix of their names in ids: file paths have no double slash


class MemoryIngest(Struct, frozen=True, kw_only=True):
    """Input of `memory_ingest`."""

    source: Annotated[
        str,
        Meta(min_length=1, max_length=300, description="name of the document; the same name again is a new version"),
    ]
    text: Annotated[str, Meta(min_length=1, description="the whole document")]
    title: Annotated[str, Meta(max_length=300, description="its title; its first heading if unset")] = ""
    form: Annotated[Literal["markdown", "text"], Meta(description="markup of the text")] = "markdown"
    scope: ScopeKept = None
    agents: Annotated[Tags, Meta(description="agents it is for; unchanged if unset")] = ()
    produced_by_task_id: ProducedBy = None


def memory_ingest(ctx: CallContext, given: MemoryIngest) -> WriteResult:
    """Stores a document given as text, by section and chunk; each is cited by the event that wrote it.

    The same text under the same name is written once; a different one is a new version: new parts are added, removed
    parts end. Ingest files as files: those are cited by line.
    """
    if ctx.privacy.holds_secret(given.source):
        raise Invalid("its source contains a secret", hint="choose another name")
    if (size := len(given.text.encode())) > ctx.settings.document_bytes:
        most = f"{ctx.settings.document_bytes:,}"
        raise TooLarge(f"the text has {size:,} bytes, the maximum is {most}", hint="split it into several documents")
    version = _TextVersion(ctx, rights_asked(ctx, scope=given.scope, agents=given.agents), given)
    seen = look_up(ctx, [version.id])[version.id]
    decision = version.decide(seen)
    told: list[FileOutcome] = []
    if decision is not None:
        with Ahead(ctx) as ahead:
            writing = Writing(ctx, ahead, None, told.append)
            writing.add(version, seen.row, decision)
            writing.close()
    kept = told[0] if told else FileOutcome(file=version)
    if kept.problem is not None:
        raise kept.problem
    linked = link_mentions(ctx, documents=[version.id] if kept.decision is not None else [], files=[])
    notes = (*version.notes, *([kept.note or linked.note] if kept.note or linked.note else []))
    if kept.decision is None:
        return WriteResult(status="duplicate_skip", id=version.id, notes=("this text is already stored", *notes))
    if kept.decision.rights:
        notes = (*notes, f"rights changed: {kept.decision.rights}")
    notes += parts_deleted(kept.decision.left_out, kept.decision.returned)
    status: WriteStatus = "saved" if seen.known is None else "superseded"
    return WriteResult(status=status, id=version.id, citation=kept.citation, notes=notes)


class _TextVersion:
    """A given text to write if it changed."""

    def __init__(self, ctx: CallContext, rights: Rights, given: MemoryIngest) -> None:
        self._ctx, self._rights = ctx, rights
        self.source = f"{PREFIX}{given.source}"
        self.id = file_id(rights.asked.project, self.source)
        if len(self.id) > MAX_FILE_ID_CHARACTERS:
            raise Invalid("its source is too long: characters like # count several times", hint="shorten it")
        # The hash includes the title: a new title is a new version.
        self._sha256 = hashlib.sha256(f"{given.title}\n{given.form}\n{given.text}".encode()).hexdigest()
        form = MARKDOWN if given.form == "markdown" else TEXT
        outline = outline_of(ctx, given.text, form)
        title = ctx.privacy.redact(given.title) or outline.title
        self.notes = outline.notes
        self._version = DocumentVersion(
            id=self.id,
            source="",  # not from a file
            name=given.source,
            sha256=self._sha256,
            form=form.name,
            outline=replace(outline, title=title),
        )

    def decide(self, seen: FileState) -> Decision | None:
        if seen.known is not None and self._is_version(seen.known):
            return None
        if seen.gone is not None and seen.gone.deleted_at is not None and self._is_version(seen.gone):
            return Decision(back=seen.gone, revived=True)
        made = record(self._ctx, self._rights.of(seen.last), self._version, seen.last)
        return document_decision(made, self._rights.change(seen.last), revived=False)

    def _is_version(self, node: NodeVersion) -> bool:
        return is_recorded(node, self._rights.of(node), self._sha256)


OPERATIONS = (
    Operation(
        name="memory_ingest",
        summary="store a document given as text, by section and chunk",
        input=MemoryIngest,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=memory_ingest,
        arguments=("source", "text"),
    ),
)
