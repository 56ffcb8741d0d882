"""`purge` and `clear_graph`: erasing deletions whose grace has passed, and removing a whole project from view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.access.audit import audit_store, outdated
from weft.core.errors import Busy, Invalid, NotFound
from weft.core.queries import NodeFilter
from weft.core.types import Viewer
from weft.erasure.carry_out import Erasure, ErasureRequest, carry_out
from weft.erasure.delete import DeletionResult, grace_ends, names_of, path_in_project
from weft.erasure.selection import select_deleted
from weft.graph.placeholders import KEPT_KINDS
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label
from weft.runtime.operation import Operation
from weft.writing.build.deletions import (
    CLEARED,
    MAX_MOMENTS,
    NOT_DELETED,
    delete_in_slices,
    deleted_node,
    deleted_together,
    deletion_records,
    pages,
    restore_in_slices,
)
from weft.writing.checks.scope import Level

GLOBAL: Final = "global"
MAX_SELECTIONS: Final = 5  # attempts, while others restore selected nodes
MAX_OLD_CALLS: Final = 5_000  # audit records per purge


class Purge(Struct, frozen=True, kw_only=True):
    """Input of `purge`."""

    now: (
        Annotated[
            str,
            Meta(min_length=1, max_length=4096, description="erase this deleted node now, before its grace has passed"),
        ]
        | None
    ) = None
    dry_run: Annotated[bool, Meta(description="list what would be erased; write nothing")] = False
    yes: Annotated[bool, Meta(description="erase it for good; this cannot be undone")] = False


def purge(ctx: CallContext, given: Purge) -> Erasure:
    """Erases for good what has been deleted for longer than the days of grace.

    Without --yes this only previews. --now ID erases one deleted node with everything that was deleted with it.
    Projects removed with `weft clear-graph` are kept unless named. Calls in the audit older than `audit_days` are
    erased too.
    """
    viewer = ctx.operator("purge")
    own = replace(ctx, viewer=viewer)
    go = given.yes and not given.dry_run
    if given.now is not None:
        now = given.now
        return _purged(own, lambda: _named(own, now), now, go=go) or _nothing_due()
    calls = outdated(ctx, limit=MAX_OLD_CALLS)
    label = f"deleted more than {ctx.settings.grace_days:g} days ago"
    answer = _purged(own, lambda: _over(own), label, go=go)
    if answer is None:
        status: Literal["previewed", "erased"] = "erased" if go and calls else "previewed"
        answer = replace(_nothing_due(), status=status)
    return replace(answer, audit=answer.audit + len(calls), notes=(*answer.notes, *_old_calls(ctx, viewer, calls, go)))


def _purged(ctx: CallContext, select: Callable[[], Iterable[str]], label: str, *, go: bool) -> Erasure | None:
    """Erases deleted nodes or previews that; None if there are none.

    If some are restored before anything is written, the selection is repeated, so that their products stay too.
    """
    from weft.erasure.erase_log import RestoredMeanwhile

    for _ in range(MAX_SELECTIONS):
        ids = frozenset(select())
        if not ids:
            return None
        selected = select_deleted(ctx, ctx.viewer, ids)
        try:
            return carry_out(ctx, ctx.viewer, ErasureRequest(selected=selected, written=label, go=go, deleted=ids))
        except RestoredMeanwhile:
            continue
    raise Busy("nodes were restored while they were to be purged; nothing was erased", hint="purge again")


def _nothing_due() -> Erasure:
    return Erasure(
        status="previewed", what="deleted", events=0, nodes=0, kinds={}, notes=("nothing is due for purging",)
    )


def _old_calls(ctx: CallContext, viewer: Viewer, calls: tuple[str, ...], go: bool) -> tuple[str, ...]:  # noqa: FBT001
    """Erases audit records that are too old to be shown, if `go` is set; a note on how many."""
    store = audit_store(ctx) if calls else None
    if store is None:
        return ()
    more = " or more" if len(calls) == MAX_OLD_CALLS else ""
    told = f"{len(calls)}{more} calls in the audit are older than {ctx.settings.audit_days:g} days"
    if not go:
        return (told,)
    from weft.erasure.erase_log import erase
    from weft.erasure.rewrite_log import RewriteAccess

    erase(RewriteAccess.of(ctx, viewer, store=store), ids=calls, what="deleted")
    return (f"{told}: erased",)


def _over(ctx: CallContext) -> Iterator[str]:
    """Nodes whose grace has passed, except those of cleared projects."""
    now = ctx.clock.now_us()
    for deed, _ in deletion_records(ctx, most=MAX_MOMENTS):
        if grace_ends(ctx, deed.at) <= now and not deed.name.startswith(CLEARED):
            yield from (node.id for node in pages(ctx, NodeFilter(deleted_at=deed.at)))


def _named(ctx: CallContext, written: str) -> tuple[str, ...]:
    for each in names_of(ctx, written, path_in_project(ctx, written)):
        if (node := deleted_node(ctx, each)) is not None:
            return deleted_together(ctx, node)
    raise NotFound(
        f"there is no deleted node {written[:80]!r}",
        hint="`weft deletion-list` lists deletions; delete it first with `weft delete`",
    )


class ClearGraph(Struct, frozen=True, kw_only=True):
    """Input of `clear_graph`."""

    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    level: Annotated[Level, Meta(description="project: one project; global: what is kept for all projects")] = "project"
    confirm: Annotated[str, Meta(max_length=256, description="the project's name, or global, to confirm")] = ""
    undo: Annotated[bool, Meta(description="restore what was cleared last")] = False


def clear_graph(ctx: CallContext, given: ClearGraph) -> DeletionResult:
    """Removes everything of a project from view, or everything that is kept for all projects. It never erases.

    Entities belong to no project: they stay when a project is cleared, without the project's memories about them.
    --level global removes them from view too.

    The name must be given with --confirm. --undo restores exactly this, and no earlier deletions.
    """
    viewer = ctx.operator("clear the graph")
    own = replace(ctx, viewer=viewer)
    if given.level == GLOBAL and given.project is not None:
        raise Invalid("--level global is for all projects and takes no project", hint="omit --project or --level")
    project = None if given.level == GLOBAL else given.project or ctx.settings.project
    called = GLOBAL if project is None else project
    if given.undo:
        return _undo(own, viewer, called)
    nodes = [node for node in pages(own, replace(NOT_DELETED, projects=(project,))) if node.kind not in KEPT_KINDS]
    kinds = dict(sorted(Counter(node.kind for node in nodes).items()))
    if not nodes:
        raise NotFound(f"there is nothing in {called!r}", hint="`weft project-list` lists projects")
    if given.confirm != called:
        told = f"nothing was cleared: --confirm {called} removes {len(nodes)} nodes from view"
        problem = (f"--confirm was {given.confirm[:80]!r}, not {called!r}",) if given.confirm else ()
        return DeletionResult(status="failed", id=called, nodes=len(nodes), kinds=kinds, notes=(*problem, told))
    name = f"{CLEARED}{called}:{ctx.new_id()}"
    done = delete_in_slices(own, [node.id for node in nodes], reason="clear_graph", name=name)
    back = f"`weft clear-graph{_place(project, given)} --undo` restores it"
    return DeletionResult(
        status=done.status, id=called, nodes=len(nodes), kinds=kinds, citation=done.citation, notes=(back, *done.notes)
    )


def _place(project: str | None, given: ClearGraph) -> str:
    return " --level global" if project is None else f" --project {project}" if given.project else ""


def _undo(ctx: CallContext, viewer: Viewer, called: str) -> DeletionResult:
    """Restores the nodes of the latest clearing that are still deleted."""
    moments: list[int] = []
    name = ""
    for deed, _ in deletion_records(ctx, most=MAX_MOMENTS, viewer=viewer):
        name = name or (deed.name if deed.name.startswith(f"{CLEARED}{called}:") else "")
        if name and deed.name == name:
            moments.append(deed.at)
    ids = [node.id for at in moments for node in pages(ctx, NodeFilter(deleted_at=at))]
    if not ids:
        raise NotFound(f"there is no clearing of {called!r} to undo", hint="`weft deletion-list` lists deletions")
    done = restore_in_slices(ctx, ids, reason="clear_graph --undo")
    return DeletionResult(status=done.status, id=called, nodes=len(ids), citation=done.citation, notes=done.notes)


OPERATIONS = (
    Operation(
        name="purge",
        summary="erase for good what was deleted longer ago than the days of grace",
        input=Purge,
        output=Erasure,
        effect="destructive",
        toolset="governance",
        run=purge,
    ),
    Operation(
        name="clear_graph",
        summary="remove everything of a project from view at once, or restore it",
        input=ClearGraph,
        output=DeletionResult,
        effect="destructive",
        toolset="admin",
        run=clear_graph,
    ),
)
