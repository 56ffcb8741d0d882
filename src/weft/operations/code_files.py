"""Reading source files that somebody named: the way of `weft index`, for `weft ingest`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from weft.code.facts_file import FactsFile, broken_errors
from weft.loom import Loom
from weft.operations.code_linking import Outcome
from weft.operations.code_run import CodeRun, run_notes
from weft.operations.facts_kept import facts_kept
from weft.operations.rights import Rights
from weft.operations.skipped_files import SkippedFiles
from weft.operations.walking import walked_among
from weft.operations.workspace_files import Found
from weft.types import NodeVersion


class FilesIndexed(Struct, frozen=True, kw_only=True):
    """What became of source files."""

    outcome: Outcome
    skipped: SkippedFiles
    with_secrets: Sequence[str]
    notes: tuple[str, ...]


def index_files(
    loom: Loom, rights: Rights, root: Path, files: Sequence[str], gone: Sequence[NodeVersion]
) -> FilesIndexed:
    """Brings the graph up to these source files (paths from the root), with these rights, and ends those that are gone.

    What was deleted, and is there, comes back. Raises Busy where another process indexes the workspace all the while.
    """
    with facts_kept(loom) as facts:
        try:
            return _indexed(loom, facts, rights, root, files, gone)
        except broken_errors():
            facts.begin_anew()
            return _indexed(loom, facts, rights, root, files, gone)


def _indexed(
    loom: Loom, facts: FactsFile, rights: Rights, root: Path, files: Sequence[str], gone: Sequence[NodeVersion]
) -> FilesIndexed:
    run = CodeRun(loom, facts, root, rights, kind="file_change", anew=False, brings_back=True)
    passes = frozenset(walked_among(root, files, ignore=loom.settings.ignore))
    run.run(Found(files=tuple(files), named=frozenset(files) - passes), gone)
    broken = sorted(path for path in run.broken)
    return FilesIndexed(
        outcome=run.outcome,
        skipped=run.skipped,
        with_secrets=run.with_secrets,
        notes=tuple(run_notes(run, broken)),
    )
