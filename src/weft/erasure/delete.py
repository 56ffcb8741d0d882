"""`delete`, `restore`, `deletion_list`: nodes are removed from view with their dependents, and can be restored."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.append.append import Fence, request_id_reused, written_under
from weft.core.clock import to_iso
from weft.core.errors import Invalid, NotFound
from weft.core.kinds import RECORD_KINDS
from weft.core.queries import NodeFilter
from weft.core.types import NodeVersion
from weft.documents.keep.document_records import UNFINISHED
from weft.documents.keep.part_summaries import with_summaries, without_words
from weft.files.paths import read_path
from weft.log.kinds import graph, payload_of
from weft.retrieval.citations.document_parts import KINDS
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext
from weft.runtime.fields import GovernanceToken, Limit, Moment, Reason, RequestId
from weft.runtime.operation import Operation
from weft.writing.build.commit import REPEATED, Committed, WriteDecision, WriteStatus, commit, decide_and_commit
from weft.writing.build.compiled_truth import StaleTruths, involved_entities, stale_truths_of
from weft.writing.build.deletions import (
    CLEARED,
    MAX_AT_ONCE,
    DeletionRecord,
    delete_in_slices,
    deleted_node,
    deleted_parts,
    deleted_together,
    deletion_drafts,
    deletion_records,
    pages,
    restore_in_slices,
    with_dependents,
)
from weft.writing.build.versions import current_node, hidden_as_missing, node_not_found

PLACES: Final = frozenset({"Project", "Focus"})
MAX_LISTED: Final = 10_000
DAY_US: Final = 86_400_000_000

Target = Annotated[
    str,
    Meta(min_length=1, max_length=4096, description="a node's id, its name, a citation, a session, a file, or folder/"),
]


class Delete(Struct, frozen=True, kw_only=True):
    """Input of `delete`."""

    target: Target
    reason: Reason = ""
    request_id: RequestId = None
    governance_token: GovernanceToken = None


class DeletionResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The nodes that were deleted or restored, by kind; `until` is how long they can be restored."""

    status: WriteStatus
    id: str = ""
    nodes: int = 0
    kinds: dict[str, int] = {}
    citation: str = ""
    until: Moment | None = None
    notes: tuple[str, ...] = ()


def delete(ctx: CallContext, given: Delete) -> DeletionResult:
    """Removes a document, a source file, a conversation, a memory or any other node from view, with its parts.

    Sections are deleted with their document, symbols with their file, messages with their conversation, and what was
    extracted from a text with the text. They are invisible at once, at every point in time. `weft restore` brings all
    of them back within the days of grace (setting grace_days); after that `weft purge` may erase them. Ingesting the
    same file again, or recording messages of the same conversation, restores them too; a single section or chunk only
    if its own words changed. Summaries that repeat the words are removed too.
    """
    try:
        roots = _targets(ctx, given.target)
    except NotFound:
        if given.request_id is None:
            raise
        return repeated_deletion(ctx, given)
    for root in roots:
        check_deletable(root)
    nodes = with_dependents(ctx, roots)
    stale = stale_truths_of(ctx, involved_entities(ctx, nodes))
    with hidden_as_missing(given.target):
        done = write_deletion(ctx, nodes, stale, reason=given.reason, request_id=given.request_id)
    at = done.events[0].known_at if done.events else ctx.clock.now_us()
    until = grace_ends(ctx, at)
    back = f"`weft restore {roots[0].id}` restores it until {to_iso(until)[:16]}"
    return DeletionResult(
        status=done.status,
        id=roots[0].id,
        nodes=len(nodes),
        kinds=dict(sorted(Counter(node.kind for node in nodes).items())),
        citation=done.citation,
        until=to_iso(until),
        notes=(back, *stale.notes, *done.notes),
    )


def check_deletable(node: NodeVersion) -> None:
    """Raises Invalid for weft's own records, and for projects, which are cleared instead."""
    if node.kind in RECORD_KINDS:
        raise Invalid(f"weft keeps {node.kind} records itself", hint="delete the memory that the record is about")
    if node.kind in PLACES:
        raise Invalid(
            f"{node.name or node.id!r} is a {node.kind}",
            hint="`weft clear-graph` removes everything of a project from view",
        )


def write_deletion(
    ctx: CallContext, nodes: tuple[NodeVersion, ...], stale: StaleTruths, *, reason: str, request_id: str | None
) -> Committed:
    """Deletes these nodes, the first being the root, and drops stale compiled truths and summaries.

    In one commit, unless there are too many nodes.
    """
    ids = [node.id for node in nodes]
    around = without_words(ctx, nodes)
    if len(ids) > MAX_AT_ONCE:
        cited = ctx.store.citations(ctx.viewer, [nodes[0].event]).get(nodes[0].event, nodes[0].id)
        if stale.drafts or around:
            commit(ctx, (*stale.drafts, *(each.draft for each in around)))
        return delete_in_slices(ctx, ids, reason=reason, name=ctx.new_id(f"deletion:{cited}"))
    if not stale.drafts and not around:
        return commit(ctx, deletion_drafts(ids, reason=reason), request_id=request_id)

    def choose(pos: int) -> WriteDecision[None]:
        dropped, stays = stale_truths_of(ctx, stale.things), without_words(ctx, nodes)
        drafts = (*deletion_drafts(ids, reason=reason), *dropped.drafts, *(each.draft for each in stays))
        fence = Fence(pos=pos, slots=tuple(each.whole.id for each in stays))
        return WriteDecision(answer=None, drafts=drafts, fence=dropped.fence(fence))

    _, done = decide_and_commit(ctx, choose, request_id=request_id)
    assert done is not None
    return done


def grace_ends(ctx: CallContext, at: int) -> int:
    """Until when nodes deleted at a time can be restored."""
    return at + round(ctx.settings.grace_days * DAY_US)


def repeated_deletion(ctx: CallContext, given: Delete) -> DeletionResult:
    """The result of the same request, whose nodes are deleted by now."""
    assert given.request_id is not None
    before = written_under(ctx.store, ctx.writer.account, given.request_id)
    if not before:
        raise node_not_found(given.target)
    payload = payload_of(before[0])
    root = payload.nodes[0] if isinstance(payload, graph.Deleted) and payload.nodes else ""
    if deleted_node(ctx, root) is None or given.target not in (root, root.removeprefix(f"{ctx.settings.project}/")):
        raise request_id_reused(given.request_id)
    return DeletionResult(status="duplicate_skip", id=root, citation=before[0].citation, notes=(REPEATED,))


def _targets(ctx: CallContext, written: str) -> tuple[NodeVersion, ...]:
    """The nodes meant: by id, as a session or file of this project, all files of a folder, by citation or name.

    Raises NotFound if they do not exist, are deleted, or are hidden from the caller: the error is the same.
    """
    path = path_in_project(ctx, written)
    if written.endswith("/") and path is not None:
        below = NodeFilter(
            id_prefix=file_id(ctx.settings.project, f"{path}/"), deleted=False, kinds=("Document", "File")
        )
        found = tuple(pages(ctx, below))
        if found:
            return found
    for each in names_of(ctx, written, path):
        if there := ctx.store.last_versions(ctx.viewer, NodeFilter(ids=(each,), deleted=False), limit=1):
            return there
    return (current_node(ctx, written),)


def names_of(ctx: CallContext, written: str, path: str | None = None) -> Iterator[str]:
    """The ids that a caller may mean: this one, or a session or a file of this project."""
    yield written
    yield f"{ctx.settings.project}/{written}"
    if path is not None:
        yield file_id(ctx.settings.project, path)
        yield f"{ctx.settings.project}/{path}"  # ids of names with special characters in early versions


def path_in_project(ctx: CallContext, written: str) -> str | None:
    """A file's path in this project, whether it exists or not; None for a path outside it."""
    if written.startswith("weft://"):
        return None
    root = os.path.realpath(ctx.settings.root)
    there = os.path.realpath(read_path(written.removeprefix("file://")))
    if not there.startswith(root + os.sep):
        return None
    return os.path.relpath(there, root).replace(os.sep, "/")


class Restore(Struct, frozen=True, kw_only=True):
    """Input of `restore`."""

    id: Annotated[
        str, Meta(min_length=1, max_length=4096, description="what was deleted: an id, a citation, a session or a file")
    ]
    reason: Reason = ""
    governance_token: GovernanceToken = None


def restore(ctx: CallContext, given: Restore) -> DeletionResult:
    """Restores what was deleted, with everything that was deleted with it. Earlier deletions stay.

    `weft deletion-list` shows what can be restored. Compiled truths are made again on demand.
    """
    path = path_in_project(ctx, given.id)
    if given.id.endswith("/") and path is not None and (done := _folder_back(ctx, path, given.reason)) is not None:
        return done
    for each in names_of(ctx, given.id, path):
        if (node := deleted_node(ctx, each)) is not None:
            return restore_node(ctx, node, reason=given.reason)
        if ctx.store.history(ctx.viewer, each, limit=1):
            return DeletionResult(status="duplicate_skip", id=each, notes=("it is not deleted: nothing to restore",))
    raise NotFound(
        f"there is no deleted node {given.id[:80]!r} that you may see",
        hint="`weft deletion-list` lists what can be restored",
    )


def _folder_back(ctx: CallContext, path: str, reason: str) -> DeletionResult | None:
    below = NodeFilter(id_prefix=file_id(ctx.settings.project, f"{path}/"), deleted=True, kinds=("Document", "File"))
    wholes = tuple(pages(ctx, below))
    ids = tuple(dict.fromkeys(each for whole in wholes for each in deleted_parts(ctx, whole)))
    if not ids:
        return None
    done = restore_in_slices(ctx, ids, reason=reason)
    return DeletionResult(status=done.status, id=wholes[0].id, nodes=len(ids), citation=done.citation, notes=done.notes)


def restore_node(ctx: CallContext, node: NodeVersion, *, reason: str = "") -> DeletionResult:
    """Restores a deleted node with everything that was deleted with it."""
    assert node.deleted_at is not None
    ids = deleted_together(ctx, node)
    with hidden_as_missing(node.id):
        done = restore_in_slices(ctx, ids, reason=reason)
    notes = done.notes
    if node.kind in KINDS and (around := with_summaries(ctx, ids, node.deleted_at)):
        commit(ctx, [each.draft for each in around])
        if any(each.whole.props.get("sha256") == UNFINISHED for each in around):
            notes = (*notes, "its document was ingested again since: `weft ingest` updates its lines")
    return DeletionResult(status=done.status, id=node.id, nodes=len(ids), citation=done.citation, notes=notes)


class ListDeletions(Struct, frozen=True, kw_only=True):
    """Input of `deletion_list`."""

    limit: Limit = 20


class DeletionShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One deletion: the root, the number of nodes, by whom, when, why, and until when it can be restored.

    What was `cleared` with its whole project can always be restored.
    """

    id: str
    kind: str
    nodes: int
    by: str
    at: str
    until: str = ""
    over: bool = False
    cleared: bool = False
    name: str = ""
    reason: str = ""
    citation: str = ""


class DeletionList(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Deletions that are not erased, latest first; `over` says that the days of grace have passed."""

    deletions: tuple[DeletionShown, ...]
    grace_days: float
    notes: tuple[str, ...] = ()


def deletion_list(ctx: CallContext, given: ListDeletions) -> DeletionList:
    """Lists deletions that can still be restored: what, how many nodes, by whom, and until when."""
    joined: dict[str, tuple[DeletionRecord, int]] = {}
    for deed, nodes in deletion_records(ctx, most=MAX_LISTED):
        key = deed.name or str(deed.at)
        first, count = joined.get(key, (deed, 0))
        joined[key] = (first, count + nodes)
        if len(joined) > given.limit:
            break
    shown = tuple(_shown(ctx, deed, nodes) for deed, nodes in list(joined.values())[: given.limit])
    notes = ("there are more: raise --limit",) if len(joined) > given.limit else ()
    return DeletionList(deletions=shown, grace_days=ctx.settings.grace_days, notes=notes)


def _shown(ctx: CallContext, deed: DeletionRecord, nodes: int) -> DeletionShown:
    which = NodeFilter(ids=(deed.root,), deleted=True) if deed.root else NodeFilter(deleted_at=deed.at)
    found = ctx.store.last_versions(ctx.viewer, which, limit=1)
    found = found or ctx.store.last_versions(ctx.viewer, NodeFilter(deleted_at=deed.at), limit=1)
    node = found[0] if found else None
    until = grace_ends(ctx, deed.at)
    if deed.name.startswith(CLEARED):
        place = deed.name.removeprefix(CLEARED).rpartition(":")[0]
        return DeletionShown(
            id=place, kind="Project", nodes=nodes, by=deed.by, at=to_iso(deed.at), cleared=True, citation=deed.citation
        )
    return DeletionShown(
        id=deed.root if node is None else node.id,
        kind="" if node is None else node.kind,
        name="" if node is None else (node.name or node.text)[:120],
        nodes=nodes,
        by=deed.by,
        at=to_iso(deed.at),
        until=to_iso(until),
        over=until <= ctx.clock.now_us(),
        reason=deed.reason,
        citation=deed.citation,
    )


OPERATIONS = (
    Operation(
        name="delete",
        summary="remove a file, a conversation or any node from view, with its parts",
        input=Delete,
        output=DeletionResult,
        effect="destructive",
        toolset="memory",
        run=delete,
        arguments=("target",),
    ),
    Operation(
        name="restore",
        summary="restore what was deleted, with everything that was deleted with it",
        input=Restore,
        output=DeletionResult,
        effect="write",
        toolset="memory",
        run=restore,
        arguments=("id",),
    ),
    Operation(
        name="deletion_list",
        summary="list deletions that can be restored: by whom, until when",
        input=ListDeletions,
        output=DeletionList,
        effect="read",
        toolset="memory",
        run=deletion_list,
    ),
)
