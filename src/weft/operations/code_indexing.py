"""Indexing a workspace: every source file by its symbols and what they refer to, every other file as a file.

What is unchanged costs a look at the directory. What is gone ends, with its symbols; history stays. One event for each
version of a file, many files to a commit; a small change (the watcher's) is one commit, links included.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.code.facts_file import FactsFile, broken_errors
from weft.errors import NotFound
from weft.governing import is_operator
from weft.loom import Loom
from weft.operations.code_records import file_id
from weft.operations.code_run import MAX_OTHERS, CodeRun, TxKind, named, run_notes
from weft.operations.facts_kept import WAIT_S, facts_kept
from weft.operations.rights import rights_asked
from weft.operations.vectors_held import vectors_held
from weft.operations.walking import Skipped
from weft.operations.workspace_files import Found, find_files, is_gone
from weft.types import NOW, Find

MAX_FILES: Final = 1_000_000  # that the graph knows of a workspace
MAX_TOLD: Final = 100  # of files that do not parse


class CodeIndexed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an indexing did. `files` are source files written, `others` files in no known language.

    `unchanged` were looked at and stand; `ended` were there and are gone, with their symbols. `links` counts relations
    made, `unlinked` those that are over, `relinked` the files that were resolved. `unresolved` are the references of
    the whole workspace that could not be told, `outside` those that mean something elsewhere. `broken` names the files
    that do not parse as a whole: what does parse of them is indexed. `skipped` are the first files of which no more
    than their name and hash is kept, or nothing, `reasons` how many there were for each reason. `pending_vectors` are
    texts that wait to be embedded in the background.
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
    loom: Loom, *, paths: Sequence[str] | None = None, full: bool = False, wait_s: float = WAIT_S
) -> CodeIndexed:
    """Brings the graph up to the files below `loom.settings.root`, or to those at or below `paths` (relative to it).

    With `full` what was deleted is brought back, and in a run over the whole workspace every file is read again and all
    links are made anew; still only what differs from the graph is written. One indexing of a workspace at a time:
    raises Busy where another goes on for `wait_s`. Raises NotFound for a root that is not there. What a file holds
    never stops the rest.

    A whole run ends what is gone from the disk, or is passed over by patterns now; a run over paths what is gone at or
    below these. Repositories inside the workspace and submodules are folders like any other.
    """
    root = loom.settings.root.resolve()
    if not root.is_dir():
        raise NotFound(f"there is no directory {root}", hint="`weft index` works on the directory that it is run in")
    began_s = time.monotonic()
    with facts_kept(loom, wait_s=wait_s) as facts:
        try:
            return _indexed(loom, facts, root, paths, full=full, began_s=began_s)
        except broken_errors():
            facts.begin_anew()
            return _indexed(loom, facts, root, paths, full=full, began_s=began_s)


def _indexed(
    loom: Loom, facts: FactsFile, root: Path, given: Sequence[str] | None, *, full: bool, began_s: float
) -> CodeIndexed:
    kind: TxKind = "full_rebuild" if full else "incremental" if given is None else "file_change"
    rights = rights_asked(loom, scope=None, agents=())
    run = CodeRun(loom, facts, root, rights, kind=kind, anew=full and given is None, brings_back=full)
    found = find_files(loom, root, given, known=(*run.sources, *run.others))
    if run.before:  # what only its name brought in once is read anew as well
        named = {path for path, known in run.before.items() if not known.walked and not is_gone(root, path)}
        named.difference_update(found.files)
        found = replace(found, files=(*found.files, *sorted(named)), named=frozenset(named))
    gone = _gone(loom, run, root, found, whole=given is None)
    if gone and not root.is_dir():  # it went while it was looked through: nothing of it has ended
        raise NotFound(f"the directory {root} went away meanwhile", hint="index again when it is back")
    run.run(found, run.nodes_of(gone), whole=given is None)
    return _answer(loom, facts, root, run, found, began_s)


def _gone(loom: Loom, run: CodeRun, root: Path, found: Found, *, whole: bool) -> list[str]:
    """The files that are known and not there any more.

    What was found by walking ends where patterns pass it over, too; what was named once stays while it is there.
    """

    def ends(path: str) -> bool:
        return is_gone(root, path) or (whole and found.whole and run.was_walked(path))

    paths = [path for path in found.missing if ends(path)]
    if not whole or run.went_through:
        return paths
    there, staying = {*found.files, *found.missing}, []
    held = Find(kinds=("File",), projects=(loom.settings.project,))
    for node in loom.store.find(loom.viewer, NOW, held, limit=MAX_FILES).nodes:
        path = node.props.get("path")
        own = isinstance(path, str) and node.id == file_id(loom.settings.project, path)
        if not own or path in there or "record" in node.props:
            continue
        if ends(str(path)):
            paths.append(str(path))
        else:
            staying.append(node)
    run.keep_names(staying)
    return paths


def _answer(loom: Loom, facts: FactsFile, root: Path, run: CodeRun, found: Found, began_s: float) -> CodeIndexed:
    outcome, totals = run.outcome, facts.totals()
    broken = facts.broken(limit=MAX_TOLD)
    pending = _pending_vectors(loom)
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
        notes=(*found.notes, *run.skipped.notes, *run_notes(run, broken), *_more_notes(run, pending)),
    )


def _more_notes(run: CodeRun, pending: int) -> Iterator[str]:
    if run.kept_facts:
        yield "only what differs was read: there are files that you may not see, and all links rest on every file"
    if run.outcome.deleted:
        yield f"{counted(run.outcome.deleted, 'deleted file')} left out: a full rebuild brings back what is there"
    if run.left:
        yield f"{counted(run.left, 'other file')} beyond the first {MAX_OTHERS:,}, and without a node"
    if run.with_secrets:
        yield f"secrets were taken out of {named(run.with_secrets)}"
    if run.documents:
        yield f"{counted(run.documents, 'document')} not read here: `weft ingest` reads documents"
    if pending:
        yield f"{counted(pending, 'text')} without a vector yet: found by words until they are embedded"


def counted(number: int, what: str) -> str:
    """`1 file is`, `2 files are`."""
    return f"1 {what} is" if number == 1 else f"{number:,} {what}s are"


def _pending_vectors(loom: Loom) -> int:
    """Texts of the store that wait for a vector, about; nothing where that is not for the caller to know."""
    if loom.embedding.wanted.model is None or not is_operator(loom.writer.actor, loom.viewer):
        return 0
    return vectors_held(loom, replace(loom.viewer, sensitive=True)).missing
