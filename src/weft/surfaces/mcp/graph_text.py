"""How the state of the code graph, and work on it, read to a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from weft.operations.jobs import JobShown, job_line
from weft.surfaces.mcp.words import Rendered, facts, line, node_id, said

if TYPE_CHECKING:
    from weft.operations.graph_health import GraphHealth
    from weft.operations.rebuilding import GraphRebuilt
    from weft.operations.walking import Skipped
    from weft.operations.workspaces import WorkspaceSet

WORDS = 300


def workspace(answer: WorkspaceSet) -> Rendered:
    """What code tools work on now."""
    indexed = "It is indexed." if answer.indexed else "Nothing of it is indexed."
    where = f"Code tools work on {said(answer.workspace, WORDS)}, project {node_id(answer.project)}."
    return Rendered(summary=f"{where} {indexed} Watcher: {answer.watcher}.")


def rebuilt(answer: GraphRebuilt) -> Rendered:
    """A job that was begun or done."""
    skipped = "\n".join(map(_skipped, answer.skipped))
    return Rendered(summary=f"{_job(answer.job)}.", blocks=(skipped,) if skipped else ())


def health(answer: GraphHealth) -> Rendered:
    """What is in the graph, what changed since, what is at work."""
    stands = [
        _counts("languages", answer.languages),
        _counts("symbols", answer.kinds),
        _counts("edges", answer.edges),
        _references(answer),
    ]
    if (tx := answer.latest_tx) is not None:
        told = facts(tx.kind, tx.id, tx.at, f"commit {node_id(tx.commit)}" if tx.commit else "")
        stands.append(f"latest change: {told} · {answer.tx_count:,} in all")
    if answer.pending_changes:
        more = answer.pending_changes - len(answer.pending)
        named = ", ".join(map(node_id, answer.pending)) + (f" and {more:,} more" if more else "")
        stands.append(f"not yet re-indexed: {named}")
    note = f": {line(answer.watcher.note, WORDS)}" if answer.watcher.note else ""
    stands.append(f"watcher: {answer.watcher.state}{note}")
    stands += [f"  {said(each, WORDS)}" for each in answer.watcher.recent]
    if answer.vectors_pending:
        stands.append(f"vectors still to be made: {answer.vectors_pending:,}")
    stands += [f"job: {_job(each)}" for each in answer.jobs]
    stands += list(map(_skipped, answer.problems))
    stands += [f"next: {each}" for each in answer.hints]
    return Rendered(summary=f"{line(answer.summary, WORDS)}.", blocks=("\n".join(filter(None, stands)),))


def _references(answer: GraphHealth) -> str:
    if not answer.files or answer.unresolved is None:
        return ""
    return f"references: {answer.unresolved:,} unresolved, {answer.outside or 0:,} outside"


def _counts(what: str, counts: Mapping[str, int]) -> str:
    return f"{what}: {', '.join(f'{name} {count:,}' for name, count in counts.items())}" if counts else ""


def _job(job: JobShown) -> str:
    return f"{job.id}: {line(job_line(job), WORDS)}"


def _skipped(each: Skipped) -> str:
    return f"skipped: {said(each.path, WORDS)}: {line(each.reason, WORDS)}"
