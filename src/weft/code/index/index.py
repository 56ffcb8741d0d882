"""Indexing of a workspace: source files with their symbols and references, other files by name and hash.

Unchanged files cost a directory listing. Removed files end, with their symbols; history stays. Each version of a file
is one event, many files share a commit; a small change (from the watcher) is one commit, links included.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.append.approval import is_operator
from weft.code.index.facts_file import FactsFile, broken_errors
from weft.code.index.facts_lock import WAIT_S, facts_kept
from weft.code.index.run import MAX_OTHERS, CodeRun, TxKind, named, run_notes
from weft.code.index.workspace_files import WorkspaceFiles, find_files, is_gone
from weft.core.errors import NotFound
from weft.core.types import NOW, Find
from weft.files.walk import Skipped
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext
from weft.writing.build.missing_vectors import vector_counts
from weft.writing.checks.rights import rights_asked

MAX_FILES: Final = 1_000_000  # that the graph knows of a workspace
MAX_TOLD: Final = 100  # of files that do not parse


class CodeIndexed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of an indexing run.

    `files` are source files written, `others` files in unsupported languages. `unchanged` files were checked; `ended`
    ones were removed, with their symbols. `links` counts relations created, `unlinked` those ended, `relinked` files
    that were resolved. `unresolved` are ambiguous references in the whole workspace, `outside` references to other
    packages. `broken` names files with syntax errors, of which the valid parts are indexed. `skipped` are the first
    files that are indexed by name and hash only, or not at all; `reasons` counts them. `pending_vectors` are texts that
    will be embedded in the background.
    """

    root: str
    kind: TxKind
    files: int = 0
    symbols: int = 0
    others: int = 0
    unchanged: int = 0
    ended: int = 0
    revived: int = 0
    documents: int = 0
    ignored: int = 0
    links: int = 0
    unlinked: int = 0
    relinked: int = 0
    unresolved: int = 0
    outside: int = 0
    sources: int = 0
    broken: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    reasons: dict[str, int] = {}
    pending_vectors: int = 0
    git_commit: str | None = None
    changed: tuple[str, ...] = ()
    duration_ms: int = 0
    notes: tuple[str, ...] = ()


def index_workspace(
    ctx: CallContext, *, paths: Sequence[str] | None = None, full: bool = False, wait_s: float = WAIT_S
) -> CodeIndexed:
    """Updates the graph to the files below `ctx.settings.root`, or at or below `paths` (relative to it).

    With `full`, deleted files are restored, and a run over the whole workspace reads every file and creates all links
    again; still only differences from the graph are written. One indexing of a workspace runs at a time: raises Busy if
    another continues for `wait_s`. Raises NotFound if the root does not exist. The content of a file never stops the
    run. A whole run ends files that are missing or ignored now; a run over paths ends those missing at or below them.
    Nested repositories and submodules are ordinary folders.
    """
    root = ctx.settings.root.resolve()
    if not root.is_dir():
        raise NotFound(
            f"the directory {root} does not exist", hint="`weft index` indexes the directory in which it is run"
        )
    began_s = time.monotonic()
    with facts_kept(ctx, wait_s=wait_s) as facts:
        try:
            return _indexed(ctx, facts, root, paths, full=full, began_s=began_s)
        except broken_errors():
            facts.begin_anew()
            return _indexed(ctx, facts, root, paths, full=full, began_s=began_s)


def _indexed(
    ctx: CallContext, facts: FactsFile, root: Path, given: Sequence[str] | None, *, full: bool, began_s: float
) -> CodeIndexed:
    kind: TxKind = "full_rebuild" if full else "incremental" if given is None else "file_change"
    rights = rights_asked(ctx, scope=None, agents=())
    run = CodeRun(ctx, facts, root, rights, kind=kind, anew=full and given is None, brings_back=full)
    found = find_files(ctx, root, given, known=(*run.sources, *run.others))
    if run.before:  # what only its name brought in once is read anew as well
        named = {path for path, known in run.before.items() if not known.walked and not is_gone(root, path)}
        named.difference_update(found.files)
        found = replace(found, files=(*found.files, *sorted(named)), named=frozenset(named))
    gone = _gone(ctx, run, root, found, whole=given is None)
    if gone and not root.is_dir():  # it went while it was looked through: nothing of it has ended
        raise NotFound(f"the directory {root} disappeared while it was indexed", hint="index again when it exists")
    run.run(found, run.nodes_of(gone), whole=given is None)
    return _answer(ctx, facts, root, run, found, began_s)


def _gone(ctx: CallContext, run: CodeRun, root: Path, found: WorkspaceFiles, *, whole: bool) -> list[str]:
    """Known files that no longer exist.

    Files found by the walk also end if they are ignored now; files that were named once stay while they exist.
    """

    def ends(path: str) -> bool:
        return is_gone(root, path) or (whole and found.whole and run.was_walked(path))

    paths = [path for path in found.missing if ends(path)]
    if not whole or run.went_through:
        return paths
    there, staying = {*found.files, *found.missing}, []
    held = Find(kinds=("File",), projects=(ctx.settings.project,))
    for node in ctx.store.find(ctx.viewer, NOW, held, limit=MAX_FILES).nodes:
        path = node.props.get("path")
        own = isinstance(path, str) and node.id == file_id(ctx.settings.project, path)
        if not own or path in there or "record" in node.props:
            continue
        if ends(str(path)):
            paths.append(str(path))
        else:
            staying.append(node)
    run.keep_names(staying)
    return paths


def _answer(
    ctx: CallContext, facts: FactsFile, root: Path, run: CodeRun, found: WorkspaceFiles, began_s: float
) -> CodeIndexed:
    outcome, totals = run.outcome, facts.totals()
    broken = facts.broken(limit=MAX_TOLD)
    pending = _pending_vectors(ctx)
    return CodeIndexed(
        root=os.fspath(root),
        kind=run.kind,
        files=outcome.files,
        symbols=outcome.symbols,
        others=outcome.others,
        unchanged=outcome.unchanged,
        ended=outcome.ended,
        revived=outcome.revived,
        documents=run.documents,
        ignored=found.ignored,
        links=outcome.joined,
        unlinked=outcome.parted,
        relinked=outcome.linked,
        unresolved=totals.unresolved,
        outside=totals.outside,
        sources=totals.sources,
        broken=broken,
        skipped=run.skipped.told,
        reasons=run.skipped.reasons,
        pending_vectors=pending,
        git_commit=run.commit,
        changed=tuple(sorted(outcome.written)),
        duration_ms=round((time.monotonic() - began_s) * 1000),
        notes=(*found.notes, *run.skipped.notes, *run_notes(run, broken), *_more_notes(run)),
    )


def _more_notes(run: CodeRun) -> Iterator[str]:
    if run.kept_facts:
        yield "only changed files were read: relinking everything needs access to all files of the project"
    if run.outcome.deleted:
        yield f"{counted(run.outcome.deleted, 'deleted file')} omitted: a full rebuild restores those that exist"
    if run.left:
        yield f"{counted(run.left, 'other file')} beyond the first {MAX_OTHERS:,}, and without a node"
    if run.with_secrets:
        yield f"secrets were redacted in {named(run.with_secrets)}"


def counted(number: int, what: str) -> str:
    """`1 file is`, `2 files are`."""
    return f"1 {what} is" if number == 1 else f"{number:,} {what}s are"


def _pending_vectors(ctx: CallContext) -> int:
    """The approximate number of texts waiting for a vector; none if the caller may not know."""
    if ctx.embedding.wanted.model is None or not is_operator(ctx.writer.actor, ctx.viewer):
        return 0
    return vector_counts(ctx, replace(ctx.viewer, sensitive=True)).missing
