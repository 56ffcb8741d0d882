"""What becomes of what is deleted when its days of grace are over; and retiring a whole project at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.errors import Busy, Invalid, NotFound
from weft.loom import Loom
from weft.operations.auditing import audit_store, outdated
from weft.operations.deleting import Deleted, grace_ends, names_of, path_in_project
from weft.operations.deletions import (
    CLEARED,
    MAX_MOMENTS,
    STANDING,
    deeds,
    delete_in_slices,
    deleted_node,
    gone_with,
    pages,
    restore_in_slices,
)
from weft.operations.erasing import Erasure, carry_out
from weft.operations.fields import Label
from weft.operations.registry import Operation
from weft.operations.scoping import Level
from weft.operations.selection import select_deleted
from weft.projection.tokens import KEPT_KINDS
from weft.queries import Which
from weft.types import Viewer

GLOBAL: Final = "global"
MAX_SELECTIONS: Final = 5  # where others bring back what was selected
MAX_OLD_CALLS: Final = 5_000  # of the audit, that one purge removes


class Purge(Struct, frozen=True, kw_only=True):
    """Input of `purge`."""

    now: (
        Annotated[str, Meta(min_length=1, max_length=4096, description="this deleted thing, before its grace is over")]
        | None
    ) = None
    dry_run: Annotated[bool, Meta(description="list what would go, and write nothing")] = False
    yes: Annotated[bool, Meta(description="erase it: there is no way back")] = False


def purge(loom: Loom, given: Purge) -> Erasure:
    """Erases for good what has been deleted for longer than the days of grace. Nothing else, unless it is named.

    Without --yes it only says what would go. With --now ID it erases that one deleted thing, with what went with it.
    What `weft clear-graph` retired stays, unless it is named. Calls in the audit that are older than `audit_days` go
    too.
    """
    viewer = loom.operator("purge")
    own = replace(loom, viewer=viewer)
    go = given.yes and not given.dry_run
    if given.now is not None:
        now = given.now
        return _purged(own, lambda: _named(own, now), now, go=go) or _nothing_due()
    calls = outdated(loom, limit=MAX_OLD_CALLS)
    label = f"deleted more than {loom.settings.grace_days:g} days ago"
    answer = _purged(own, lambda: _over(own), label, go=go)
    if answer is None:
        status: Literal["previewed", "erased"] = "erased" if go and calls else "previewed"
        answer = replace(_nothing_due(), status=status)
    return replace(answer, audit=answer.audit + len(calls), notes=(*answer.notes, *_old_calls(loom, viewer, calls, go)))


def _purged(loom: Loom, select: Callable[[], Iterable[str]], label: str, *, go: bool) -> Erasure | None:
    """Erases what is deleted, or says what would go; None where nothing is.

    Where some of it is brought back before anything is written, it is selected again: what was made of that stays too.
    """
    from weft.erasure import StandsAgain

    for _ in range(MAX_SELECTIONS):
        ids = frozenset(select())
        if not ids:
            return None
        selected = select_deleted(loom, loom.viewer, ids)
        try:
            return carry_out(loom, loom.viewer, selected, label, go=go, confirm="", deleted=ids)
        except StandsAgain:
            continue
    raise Busy("others bring back what is to be purged", hint="purge again; nothing was erased")


def _nothing_due() -> Erasure:
    return Erasure(status="previewed", what="deleted", events=0, nodes=0, kinds={}, notes=("nothing is due",))


def _old_calls(loom: Loom, viewer: Viewer, calls: tuple[str, ...], go: bool) -> tuple[str, ...]:  # noqa: FBT001
    """Erases calls that are not shown any more, where `go` is set; a note of how many."""
    store = audit_store(loom) if calls else None
    if store is None:
        return ()
    more = " or more" if len(calls) == MAX_OLD_CALLS else ""
    told = f"{len(calls)}{more} calls in the audit are older than {loom.settings.audit_days:g} days"
    if not go:
        return (told,)
    from weft.erasure import erase

    erase(store, loom.writer, viewer=viewer, ids=calls, what="deleted", clock=loom.clock, progress=loom.progress)
    return (f"{told}: erased",)


def _over(loom: Loom) -> Iterator[str]:
    """Nodes whose grace is over. What was retired with its whole project was not deleted for good: it stays."""
    now = loom.clock.now_us()
    for deed, _ in deeds(loom, most=MAX_MOMENTS):
        if grace_ends(loom, deed.at) <= now and not deed.name.startswith(CLEARED):
            yield from (node.id for node in pages(loom, Which(deleted_at=deed.at)))


def _named(loom: Loom, written: str) -> tuple[str, ...]:
    for each in names_of(loom, written, path_in_project(loom, written)):
        if (node := deleted_node(loom, each)) is not None:
            return gone_with(loom, node)
    raise NotFound(
        f"nothing {written[:80]!r} is deleted", hint="`weft deletion-list` shows what is; `weft delete` deletes first"
    )


class ClearGraph(Struct, frozen=True, kw_only=True):
    """Input of `clear_graph`."""

    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    level: Annotated[Level, Meta(description="a project, or what is kept for all of them")] = "project"
    confirm: Annotated[str, Meta(max_length=256, description="the project's name, or global: typed out")] = ""
    undo: Annotated[bool, Meta(description="bring back what was cleared last")] = False


def clear_graph(loom: Loom, given: ClearGraph) -> Deleted:
    """Takes all of a project out of sight, or all that is kept for every project. It never erases, however long ago.

    People, services and other things belong to no project: they stay when a project is cleared, without what it says of
    them. --level global takes them out of sight too.

    It needs the name typed out with --confirm. With --undo exactly that comes back, and nothing that was deleted before
    on its own.
    """
    viewer = loom.operator("clear the graph")
    own = replace(loom, viewer=viewer)
    if given.level == GLOBAL and given.project is not None:
        raise Invalid("what is kept for all projects has no project", hint="leave out --project, or --level")
    project = None if given.level == GLOBAL else given.project or loom.settings.project
    called = GLOBAL if project is None else project
    if given.undo:
        return _undo(own, viewer, called)
    nodes = [node for node in pages(own, replace(STANDING, projects=(project,))) if node.kind not in KEPT_KINDS]
    kinds = dict(sorted(Counter(node.kind for node in nodes).items()))
    if not nodes:
        raise NotFound(f"there is nothing in {called!r}", hint="`weft project-list` lists projects")
    if given.confirm != called:
        told = f"nothing was cleared: --confirm {called} takes {len(nodes)} nodes out of sight"
        problem = (f"{given.confirm[:80]!r} is not {called!r}",) if given.confirm else ()
        return Deleted(status="failed", id=called, nodes=len(nodes), kinds=kinds, notes=(*problem, told))
    name = f"{CLEARED}{called}:{loom.new_id()}"
    done = delete_in_slices(own, [node.id for node in nodes], reason="clear_graph", name=name)
    back = f"`weft clear-graph{_place(project, given)} --undo` brings it back"
    return Deleted(
        status=done.status, id=called, nodes=len(nodes), kinds=kinds, citation=done.citation, notes=(back, *done.notes)
    )


def _place(project: str | None, given: ClearGraph) -> str:
    return " --level global" if project is None else f" --project {project}" if given.project else ""


def _undo(loom: Loom, viewer: Viewer, called: str) -> Deleted:
    """Restores what the latest clearing took and nobody has brought back since."""
    moments: list[int] = []
    name = ""
    for deed, _ in deeds(loom, most=MAX_MOMENTS, viewer=viewer):
        name = name or (deed.name if deed.name.startswith(f"{CLEARED}{called}:") else "")
        if name and deed.name == name:
            moments.append(deed.at)
    ids = [node.id for at in moments for node in pages(loom, Which(deleted_at=at))]
    if not ids:
        raise NotFound(f"nothing of {called!r} was cleared", hint="`weft deletion-list` shows what is deleted")
    done = restore_in_slices(loom, ids, reason="clear_graph --undo")
    return Deleted(status=done.status, id=called, nodes=len(ids), citation=done.citation, notes=done.notes)


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
        summary="take all of a project out of sight at once, or bring it back",
        input=ClearGraph,
        output=Deleted,
        effect="destructive",
        toolset="admin",
        run=clear_graph,
    ),
)
