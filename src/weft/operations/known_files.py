"""Files of a workspace that the graph knows."""

from __future__ import annotations

from typing import Final

from weft.loom import Loom
from weft.operations.code_records import file_id
from weft.types import NOW, Find, NodeVersion

MAX_FILES: Final = 100_000


def files_known(loom: Loom) -> tuple[NodeVersion, ...]:
    """The nodes of the project's files, of source code and others, that were read from files; the newest first."""
    find = Find(kinds=("File",), projects=(loom.settings.project,))
    found = loom.store.find(loom.viewer, NOW, find, limit=MAX_FILES).nodes
    return tuple(node for node in found if "record" not in node.props)


def is_known(loom: Loom, path: str) -> bool:
    """Whether a file at a path, or one below it, is in the graph."""
    own = file_id(loom.settings.project, path)
    if loom.store.nodes(loom.viewer, NOW, [own]):
        return True
    find = Find(kinds=("File",), id_prefix=f"{own}/")
    return bool(loom.store.find(loom.viewer, NOW, find, limit=1).nodes)
