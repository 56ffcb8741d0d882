"""`index_docs`: reads the documents of a workspace, without its source code."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from weft.code.ask.workspaces import workspace_of
from weft.files.paths import read_path
from weft.ingest.ingest import IngestResult, ingest_documents
from weft.runtime.call_context import CallContext
from weft.runtime.operation import Operation


class IndexDocs(Struct, frozen=True, kw_only=True):
    """Input of `index_docs`."""

    path: Annotated[
        str, Meta(max_length=4096, description="a file or folder of the workspace; everything if unset")
    ] = ""


def index_docs(ctx: CallContext, given: IndexDocs) -> IngestResult:
    """Reads the documents of this workspace: Markdown, reStructuredText, text, PDF, DOCX, HTML. No source code.

    They are linked to the code that they mention. Unchanged documents cost nothing. `weft ingest` reads both.
    """
    ctx = workspace_of(ctx)
    return ingest_documents(ctx, str(ctx.settings.root / read_path(given.path or ".")))


OPERATIONS = (
    Operation(
        name="index_docs",
        summary="read the documents of this workspace, without its source code",
        input=IndexDocs,
        output=IngestResult,
        effect="write",
        toolset="code",
        reach="machine",
        run=index_docs,
        arguments=("path",),
    ),
)
