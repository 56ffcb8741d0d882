"""Taking things out of sight with all that belongs to them, for a while in which they can be brought back."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.append import Fence, written_under
from weft.errors import Conflict, Invalid, NotFound
from weft.instants import to_iso
from weft.kinds import RECORD_KINDS
from weft.log.kinds import graph, payload_of
from weft.loom import Loom
from weft.operations.code_records import file_id
from weft.operations.committing import Choice, Committed, WriteStatus, commit, decided
from weft.operations.compiled import Dropped, truths_of, what_they_involve
from weft.operations.deletions import (
    CLEARED,
    MAX_AT_ONCE,
    Deed,
    deeds,
    delete_in_slices,
    deleted_node,
    deletion_drafts,
    going_with,
    gone_with,
    own_parts_gone,
    pages,
    restore_in_slices,
)
from weft.operations.document_parts import KINDS
from weft.operations.document_records import UNFINISHED
from weft.operations.fields import GovernanceToken, Label, Limit, Moment
from weft.operations.part_summaries import with_summaries, without_words
from weft.operations.paths import read_path
from weft.operations.registry import Operation
from weft.operations.remembered import REPEATED
from weft.operations.versions import missing, standing_node, told_alike
from weft.queries import Which
from weft.types import NodeVersion

PLACES: Final = frozenset({"Project", "Focus"})
MAX_LISTED: Final = 10_000
DAY_US: Final = 86_400_000_000

Reason = Annotated[str, Meta(max_length=2_000, description="why, in a few words")]
RequestId = Annotated[Label | None, Meta(description="repeat a call with the same id and it is written once")]
Target = Annotated[
    str,
    Meta(min_length=1, max_length=4096, description="a node's id or name, a citation, a session, a file, or folder/"),
]


class Delete(Struct, frozen=True, kw_only=True):
    """Input of `delete`."""

    target: Target
    reason: Reason = ""
    request_id: RequestId = None
    governance_token: GovernanceToken = None


class Deleted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What went out of sight, or came back: how many nodes, by kind; `until` is how long it can be brought back."""

    status: WriteStatus
    id: str = ""
    nodes: int = 0
    kinds: dict[str, int] = {}
    citation: str = ""
    until: Moment | None = None
    notes: tuple[str, ...] = ()


def delete(loom: Loom, given: Delete) -> Deleted:
    """Takes a document, a file of code, a conversation, a memory or any other node out of sight, with its parts.

    Sections go with their document, symbols with their file, turns with their conversation, and what was read out of a
    text goes with the text. It is gone at once, whatever moment is asked about. `weft restore` brings all of it back
    within the days of grace (setting grace_days); after that `weft purge` may erase it. Reading the same file again, or
    recording turns of the same conversation, brings it back too; a single section or chunk only where its own words
    changed. Summaries around it that repeat its words go with it.
    """
    try:
        roots = _targets(loom, given.target)
    except NotFound:
        if given.request_id is None:
            raise
        return deleted_again(loom, given)
    for root in roots:
        check_deletable(root)
    nodes = going_with(loom, roots)
    stale = truths_of(loom, what_they_involve(loom, nodes))
    with told_alike(given.target):
        done = take_out(loom, nodes, stale, reason=given.reason, request_id=given.request_id)
    at = done.events[0].known_at if done.events else loom.clock.now_us()
    until = grace_ends(loom, at)
    back = f"`weft restore {roots[0].id}` brings it back until {to_iso(until)[:16]}"
    return Deleted(
        status=done.status,
        id=roots[0].id,
        nodes=len(nodes),
        kinds=dict(sorted(Counter(node.kind for node in nodes).items())),
        citation=done.citation,
        until=to_iso(until),
        notes=(back, *stale.notes, *done.notes),
    )


def check_deletable(node: NodeVersion) -> None:
    """Raises Invalid for weft's own records, and for projects, which are cleared."""
    if node.kind in RECORD_KINDS:
        raise Invalid(f"{node.kind} is weft's own kind of record", hint="delete the memory that it is about")
    if node.kind in PLACES:
        raise Invalid(f"{node.name or node.id!r} is a {node.kind}", hint="`weft clear-graph` retires all of a project")


def take_out(
    loom: Loom, nodes: tuple[NodeVersion, ...], stale: Dropped, *, reason: str, request_id: str | None
) -> Committed:
    """Takes these out of sight, the first being what was meant, with new versions of things that were compiled of them.

    In one commit, unless there are too many for one. Summaries around them that repeat their words go with them.
    """
    ids = [node.id for node in nodes]
    around = without_words(loom, nodes)
    if len(ids) > MAX_AT_ONCE:
        cited = loom.store.citations(loom.viewer, [nodes[0].event]).get(nodes[0].event, nodes[0].id)
        if stale.drafts or around:
            commit(loom, (*stale.drafts, *(each.draft for each in around)))
        return delete_in_slices(loom, ids, reason=reason, name=loom.new_id(f"deletion:{cited}"))
    if not stale.drafts and not around:
        return commit(loom, deletion_drafts(ids, reason=reason), request_id=request_id)

    def choose(pos: int) -> Choice[None]:
        dropped, stays = truths_of(loom, stale.things), without_words(loom, nodes)
        drafts = (*deletion_drafts(ids, reason=reason), *dropped.drafts, *(each.draft for each in stays))
        fence = Fence(pos=pos, slots=tuple(each.whole.id for each in stays))
        return Choice(told=None, drafts=drafts, fence=dropped.fence(fence))

    _, done = decided(loom, choose, request_id=request_id)
    assert done is not None
    return done


def grace_ends(loom: Loom, at: int) -> int:
    """Until when what was deleted at a moment can be brought back."""
    return at + round(loom.settings.grace_days * DAY_US)


def deleted_again(loom: Loom, given: Delete) -> Deleted:
    """A repeated request finds its first writing, though there is nothing left to see."""
    assert given.request_id is not None
    before = written_under(loom.store, loom.writer.account, given.request_id)
    if not before:
        raise missing(given.target)
    payload = payload_of(before[0])
    root = payload.nodes[0] if isinstance(payload, graph.Deleted) and payload.nodes else ""
    if deleted_node(loom, root) is None or given.target not in (root, root.removeprefix(f"{loom.settings.project}/")):
        raise Conflict(
            f"request id {given.request_id!r} was used for something else",
            hint="use a new request id for a new request",
        )
    return Deleted(status="duplicate_skip", id=root, citation=before[0].citation, notes=(REPEATED,))


def _targets(loom: Loom, written: str) -> tuple[NodeVersion, ...]:
    """What is meant: a node by its id, a session or file of this project, all files of a folder, a citation or a name.

    Raises NotFound for what is not there, is deleted, or is not for the caller to see: the three are told alike.
    """
    path = path_in_project(loom, written)
    if written.endswith("/") and path is not None:
        below = Which(id_prefix=file_id(loom.settings.project, f"{path}/"), deleted=False, kinds=("Document", "File"))
        found = tuple(pages(loom, below))
        if found:
            return found
    for each in names_of(loom, written, path):
        if there := loom.store.last_versions(loom.viewer, Which(ids=(each,), deleted=False), limit=1):
            return there
    return (standing_node(loom, written),)


def names_of(loom: Loom, written: str, path: str | None = None) -> Iterator[str]:
    """The ids that a caller may mean: this one, or that of a session or a file of this project."""
    yield written
    yield f"{loom.settings.project}/{written}"
    if path is not None:
        yield file_id(loom.settings.project, path)
        yield f"{loom.settings.project}/{path}"  # as ids of names with marks in them were in early versions


def path_in_project(loom: Loom, written: str) -> str | None:
    """A file's name in this project, be the file there or not; None for what is no path inside it."""
    if written.startswith("weft://"):
        return None
    root = os.path.realpath(loom.settings.root)
    there = os.path.realpath(read_path(written.removeprefix("file://")))
    if not there.startswith(root + os.sep):
        return None
    return os.path.relpath(there, root).replace(os.sep, "/")


class Restore(Struct, frozen=True, kw_only=True):
    """Input of `restore`."""

    id: Annotated[str, Meta(min_length=1, max_length=4096, description="what was deleted: an id, a session or a file")]
    reason: Reason = ""
    governance_token: GovernanceToken = None


def restore(loom: Loom, given: Restore) -> Deleted:
    """Brings back what was deleted, with all that went with it. What had been deleted before on its own stays so.

    `weft deletion-list` shows what can be brought back. What was compiled of it is compiled again on demand.
    """
    path = path_in_project(loom, given.id)
    if given.id.endswith("/") and path is not None and (done := _folder_back(loom, path, given.reason)) is not None:
        return done
    for each in names_of(loom, given.id, path):
        if (node := deleted_node(loom, each)) is not None:
            return bring_back(loom, node, reason=given.reason)
        if loom.store.history(loom.viewer, each, limit=1):
            return Deleted(status="duplicate_skip", id=each, notes=("it is not deleted",))
    raise NotFound(
        f"nothing {given.id[:80]!r} is deleted that you may see", hint="`weft deletion-list` shows what can be restored"
    )


def _folder_back(loom: Loom, path: str, reason: str) -> Deleted | None:
    below = Which(id_prefix=file_id(loom.settings.project, f"{path}/"), deleted=True, kinds=("Document", "File"))
    wholes = tuple(pages(loom, below))
    ids = tuple(dict.fromkeys(each for whole in wholes for each in own_parts_gone(loom, whole)))
    if not ids:
        return None
    done = restore_in_slices(loom, ids, reason=reason)
    return Deleted(status=done.status, id=wholes[0].id, nodes=len(ids), citation=done.citation, notes=done.notes)


def bring_back(loom: Loom, node: NodeVersion, *, reason: str = "") -> Deleted:
    """Restores a deleted node with all that went with it."""
    assert node.deleted_at is not None
    ids = gone_with(loom, node)
    with told_alike(node.id):
        done = restore_in_slices(loom, ids, reason=reason)
    notes = done.notes
    if node.kind in KINDS and (around := with_summaries(loom, ids, node.deleted_at)):
        commit(loom, [each.draft for each in around])
        if any(each.whole.props.get("sha256") == UNFINISHED for each in around):
            notes = (*notes, "its document was read again since: `weft ingest` brings its lines up to date")
    return Deleted(status=done.status, id=node.id, nodes=len(ids), citation=done.citation, notes=notes)


class ListDeletions(Struct, frozen=True, kw_only=True):
    """Input of `deletion_list`."""

    limit: Limit = 20


class DeletionShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One deletion: what was meant, how many nodes went, by whom, when, why, and until when it can be brought back.

    What was `cleared` with its whole project can be brought back for ever.
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
    """What is deleted and not erased, the latest first; `over` says that its days of grace are."""

    deletions: tuple[DeletionShown, ...]
    grace_days: float
    notes: tuple[str, ...] = ()


def deletion_list(loom: Loom, given: ListDeletions) -> DeletionList:
    """Lists what was deleted and can still be brought back: what, how much of it, by whom, and until when."""
    joined: dict[str, tuple[Deed, int]] = {}
    for deed, nodes in deeds(loom, most=MAX_LISTED):
        key = deed.name or str(deed.at)
        first, count = joined.get(key, (deed, 0))
        joined[key] = (first, count + nodes)
        if len(joined) > given.limit:
            break
    shown = tuple(_shown(loom, deed, nodes) for deed, nodes in list(joined.values())[: given.limit])
    notes = ("there is more: raise --limit",) if len(joined) > given.limit else ()
    return DeletionList(
        deletions=shown, grace_days=loom.settings.grace_days, notes=notes if shown else ("nothing is deleted",)
    )


def _shown(loom: Loom, deed: Deed, nodes: int) -> DeletionShown:
    which = Which(ids=(deed.root,), deleted=True) if deed.root else Which(deleted_at=deed.at)
    found = loom.store.last_versions(loom.viewer, which, limit=1)
    found = found or loom.store.last_versions(loom.viewer, Which(deleted_at=deed.at), limit=1)
    node = found[0] if found else None
    until = grace_ends(loom, deed.at)
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
        over=until <= loom.clock.now_us(),
        reason=deed.reason,
        citation=deed.citation,
    )


OPERATIONS = (
    Operation(
        name="delete",
        summary="take a file, a conversation or any node out of sight, with all that belongs to it",
        input=Delete,
        output=Deleted,
        effect="destructive",
        toolset="memory",
        run=delete,
        arguments=("target",),
    ),
    Operation(
        name="restore",
        summary="bring back what was deleted, with all that went with it",
        input=Restore,
        output=Deleted,
        effect="write",
        toolset="memory",
        run=restore,
        arguments=("id",),
    ),
    Operation(
        name="deletion_list",
        summary="list what is deleted and can be brought back: by whom, until when",
        input=ListDeletions,
        output=DeletionList,
        effect="read",
        toolset="memory",
        run=deletion_list,
    ),
)
