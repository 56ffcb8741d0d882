"""Files of a workspace that the graph knows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal

from msgspec.structs import replace

from weft.loom import Loom
from weft.operations.code_records import file_id
from weft.types import NOW, SCOPES, Find, NodeVersion

MAX_FILES: Final = 100_000
AT_ONCE: Final = 500  # looked up together


def files_known(loom: Loom) -> tuple[NodeVersion, ...]:
    """The nodes of the project's files, of source code and others, that were read from files; the newest first."""
    find = Find(kinds=("File",), projects=(loom.settings.project,))
    found = loom.store.find(loom.viewer, NOW, find, limit=MAX_FILES).nodes
    return tuple(node for node in found if "record" not in node.props)


def sees_all(loom: Loom, seen: Collection[str], indexed: Collection[str] | None) -> bool:
    """Whether a caller may see every file of the project that is in the graph, and will see those to come.

    `seen` are the paths of those that it does see, `indexed` of those that the index knows; None if nobody can say.
    """
    viewer = loom.viewer
    if viewer.audience != "internal" or not viewer.scopes >= set(SCOPES):
        return False
    if viewer.sensitive:
        return True
    everyone = replace(loom, viewer=replace(viewer, sensitive=True))
    if indexed is None:
        return len(files_known(everyone)) == len(seen)
    unseen = [file_id(loom.settings.project, path) for path in indexed if path not in seen]
    looked_up = range(0, len(unseen), AT_ONCE)
    return not any(loom.store.nodes(everyone.viewer, NOW, unseen[start : start + AT_ONCE]) for start in looked_up)


def hidden_files(loom: Loom) -> Literal["", "some", "all"]:
    """Whether code of the project is indexed that this caller may not see for want of a scope."""
    if loom.viewer.scopes >= set(SCOPES):
        return ""
    seen = len(files_known(loom))
    there = len(files_known(replace(loom, viewer=replace(loom.viewer, scopes=frozenset(SCOPES)))))
    return "" if there <= seen else "some" if seen else "all"


def is_known(loom: Loom, path: str) -> bool:
    """Whether a file at a path, or one below it, is in the graph."""
    own = file_id(loom.settings.project, path)
    if loom.store.nodes(loom.viewer, NOW, [own]):
        return True
    find = Find(kinds=("File",), id_prefix=f"{own}/")
    return bool(loom.store.find(loom.viewer, NOW, find, limit=1).nodes)
