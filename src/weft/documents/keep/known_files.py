"""Files of a workspace in the graph."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal

from msgspec.structs import replace

from weft.core.slices import in_slices
from weft.core.types import NOW, SCOPES, Find, NodeVersion
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext

MAX_FILES: Final = 100_000
AT_ONCE: Final = 500  # per read


def files_known(ctx: CallContext) -> tuple[NodeVersion, ...]:
    """The nodes of the project's files, of source code and others, the newest first; without records."""
    find = Find(kinds=("File",), projects=(ctx.settings.project,))
    found = ctx.store.find(ctx.viewer, NOW, find, limit=MAX_FILES).nodes
    return tuple(node for node in found if "record" not in node.props)


def sees_all(ctx: CallContext, seen: Collection[str], indexed: Collection[str] | None) -> bool:
    """Whether a caller may see every file of the project in the graph, and future ones.

    `seen` are the paths of visible files, `indexed` those of the index; None if unknown.
    """
    viewer = ctx.viewer
    if viewer.audience != "internal" or not viewer.scopes >= set(SCOPES):
        return False
    if viewer.sensitive:
        return True
    everyone = replace(ctx, viewer=replace(viewer, sensitive=True))
    if indexed is None:
        return len(files_known(everyone)) == len(seen)
    unseen = [file_id(ctx.settings.project, path) for path in indexed if path not in seen]
    return not any(ctx.store.nodes(everyone.viewer, NOW, some) for some in in_slices(unseen, AT_ONCE))


def hidden_files(ctx: CallContext) -> Literal["", "some", "all"]:
    """Whether indexed code of the project is hidden from this caller for lack of a scope."""
    if ctx.viewer.scopes >= set(SCOPES):
        return ""
    seen = len(files_known(ctx))
    there = len(files_known(replace(ctx, viewer=replace(ctx.viewer, scopes=frozenset(SCOPES)))))
    return "" if there <= seen else "some" if seen else "all"


def is_known(ctx: CallContext, path: str) -> bool:
    """Whether a file at a path, or one below it, is in the graph."""
    own = file_id(ctx.settings.project, path)
    if ctx.store.nodes(ctx.viewer, NOW, [own]):
        return True
    find = Find(kinds=("File",), id_prefix=f"{own}/")
    return bool(ctx.store.find(ctx.viewer, NOW, find, limit=1).nodes)
