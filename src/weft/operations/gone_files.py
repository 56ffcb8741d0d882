"""Documents and source files of which the file is gone: named, and ended where that is asked for. History stays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.operations.code_records import file_id
from weft.operations.committing import append_stamped
from weft.operations.deleted_parts import has_ended
from weft.operations.deletions import pages, slices
from weft.operations.document_records import part_ids
from weft.operations.walking import MAX_FILES
from weft.queries import Which
from weft.types import NodeVersion

REASON: Final = "its file is gone"


def find_gone(loom: Loom, root: Path, start: Path, walked: Sequence[str]) -> tuple[NodeVersion, ...]:
    """Documents and files at or below a folder that stand, and whose files are not there any more.

    A file that is there and was passed over, because of its size or a pattern, is not gone; nor is one that cannot be
    looked at.
    """
    below = start.relative_to(root).as_posix()
    prefix = file_id(loom.settings.project, "" if below == "." else f"{below}/")
    there = frozenset(walked)
    return tuple(
        node
        for node in _standing(loom, prefix)
        if node.id != file_id(loom.settings.project, source := str(node.props["source"]))
        or _is_gone(root, source, there)
    )


def _standing(loom: Loom, prefix: str) -> Iterator[NodeVersion]:
    """What was read from files: not what came as a record, or was given as a text."""
    project = loom.settings.project
    which = Which(id_prefix=prefix, kinds=("Document", "File"), deleted=False)
    for number, node in enumerate(pages(loom, which)):
        if number == MAX_FILES * 2:
            return
        source = node.props.get("source")
        # In early versions marks in a path were not escaped: what has such an id is told anew under its own.
        own = isinstance(source, str) and source and node.id in (file_id(project, source), f"{project}/{source}")
        if own and not has_ended(node) and "record" not in node.props:
            yield node


def _is_gone(root: Path, source: str, there: frozenset[str]) -> bool:
    if source in there:
        return False
    try:
        os.lstat(os.path.join(root, source))  # noqa: PTH118
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def end_gone(loom: Loom, documents: Sequence[NodeVersion]) -> str:
    """Ends documents with their parts. A note if something went wrong with it."""
    note = ""
    for number, node in enumerate(documents, start=1):
        # The whole goes last: whoever is stopped halfway finds it still there, and ends it again.
        for some in slices((*part_ids(loom, node), node.id)):
            ended = graph.Ended(nodes=tuple(some), reason=REASON)
            note = note or append_stamped(loom, [Draft(kind="graph.ended", payload=ended)]).note
        loom.progress("ending", number, len(documents))
    return note
