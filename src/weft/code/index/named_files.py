"""Indexing of named source files for `weft ingest`, equivalent to `weft index`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from weft.code.index.facts_file import FactsFile, broken_errors
from weft.code.index.facts_lock import facts_kept
from weft.code.index.linking import Outcome
from weft.code.index.run import CodeRun, run_notes
from weft.code.index.workspace_files import WorkspaceFiles
from weft.core.types import NodeVersion
from weft.files.skipped_files import SkippedFiles
from weft.files.walk import walked_among
from weft.runtime.call_context import CallContext
from weft.writing.checks.rights import Rights


class FilesIndexed(Struct, frozen=True, kw_only=True):
    """The outcome of indexing source files."""

    outcome: Outcome
    skipped: SkippedFiles
    with_secrets: Sequence[str]
    notes: tuple[str, ...]


def index_files(
    ctx: CallContext, rights: Rights, root: Path, files: Sequence[str], gone: Sequence[NodeVersion]
) -> FilesIndexed:
    """Indexes these source files (paths from the root) with these rights, and ends those that are missing.

    Deleted files that exist are restored. Raises Busy if another process keeps indexing the workspace.
    """
    with facts_kept(ctx) as facts:
        try:
            return _indexed(ctx, facts, rights, root, files, gone)
        except broken_errors():
            facts.begin_anew()
            return _indexed(ctx, facts, rights, root, files, gone)


def _indexed(
    ctx: CallContext, facts: FactsFile, rights: Rights, root: Path, files: Sequence[str], gone: Sequence[NodeVersion]
) -> FilesIndexed:
    run = CodeRun(ctx, facts, root, rights, kind="file_change", anew=False, brings_back=True)
    passes = frozenset(walked_among(root, files, ignore=ctx.settings.ignore))
    run.run(WorkspaceFiles(files=tuple(files), named=frozenset(files) - passes), gone)
    broken = sorted(path for path in run.broken)
    return FilesIndexed(
        outcome=run.outcome,
        skipped=run.skipped,
        with_secrets=run.with_secrets,
        notes=tuple(run_notes(run, broken)),
    )
