"""The files of a workspace that an indexing reads, known files that are missing, and files that are skipped."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from weft.documents.keep.linked_files import links_told
from weft.files.languages import language_of
from weft.files.walk import MAX_FILES, FileListing, Skipped, walk, walked_among
from weft.runtime.call_context import CallContext

MAX_NAMED: Final = 3  # of folders and files in a note


class WorkspaceFiles(Struct, frozen=True, kw_only=True):
    """Files to compare, as paths from the root, in order; and known files that were not found.

    `whole` if every folder was listed completely. `named` are ignored files that the caller named.
    """

    files: tuple[str, ...]
    missing: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    ignored: int = 0
    whole: bool = True
    named: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def walked(self, path: str) -> bool:
        return path not in self.named


def find_files(ctx: CallContext, root: Path, given: Sequence[str] | None, *, known: Collection[str]) -> WorkspaceFiles:
    """The files of the workspace, or those at or below the paths given (relative to it, or absolute)."""
    if given is None:
        walked = _walk_all(ctx, root)
        there = frozenset(walked.files)
        return WorkspaceFiles(
            files=walked.files,
            missing=tuple(path for path in known if path not in there),
            skipped=(*walked.skipped, *links_told(ctx, root, walked.links)),
            ignored=walked.ignored,
            whole=walked.whole,
            notes=(*walked.notes, *_nested(root, walked.folders), *_colliding(walked.files)),
        )
    files: dict[str, None] = {}
    missing: dict[str, None] = {}
    skipped: list[Skipped] = []
    links: dict[str, None] = {}
    notes: list[str] = []
    asked = dict.fromkeys(_relative(root, each, skipped) for each in given)
    passes = set(walked_among(root, [each for each in asked if each], ignore=ctx.settings.ignore))
    for path in (each for each in asked if each is not None):
        if not path or (path in passes and os.path.isdir(root / path)):  # noqa: PTH112 - False where nobody can tell
            walked = walk(root / path, root, wanted=lambda name: True, ignore=ctx.settings.ignore)
            files.update(dict.fromkeys(walked.files))
            skipped += walked.skipped
            links.update(dict.fromkeys(walked.links))
            notes += walked.notes
        elif path in known or path in passes:
            files[path] = None
        if path and os.path.islink(root / path):  # noqa: PTH114 - False where nobody can tell
            links[path] = None
        elif path and _is_odd(root, path):
            skipped.append(Skipped(path=path, reason="is not a file"))
        below = f"{path}/" if path else ""
        missing.update(dict.fromkeys(each for each in known if each == path or each.startswith(below)))
    still = {path: None for path in files if not is_gone(root, path)}
    return WorkspaceFiles(
        files=tuple(still),
        missing=tuple(path for path in missing if path not in still),
        skipped=(*skipped, *links_told(ctx, root, tuple(links))),
        named=frozenset(path for path in asked if path and path not in passes),
        notes=tuple(dict.fromkeys(notes)),
    )


def is_gone(root: Path, path: str) -> bool:
    """Whether a path is no regular file: missing, a folder or a link. False if unknown."""
    try:
        return not stat.S_ISREG(os.lstat(os.path.join(root, path)).st_mode)  # noqa: PTH118
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _is_odd(root: Path, path: str) -> bool:
    """Whether a path is neither file nor folder: a pipe, a socket, a device."""
    try:
        mode = os.lstat(os.path.join(root, path)).st_mode  # noqa: PTH118
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _walk_all(ctx: CallContext, root: Path) -> FileListing:
    walked = walk(root, root, wanted=lambda name: True, ignore=ctx.settings.ignore)
    if walked.whole or len(walked.files) < MAX_FILES:  # a folder that cannot be listed takes nothing from the others
        return walked
    # So many others: the source files among them come first.
    return walk(root, root, wanted=lambda name: language_of(name) is not None, ignore=ctx.settings.ignore)


def _relative(root: Path, written: str, skipped: list[Skipped]) -> str | None:
    """A path from the root, empty for the root itself; or None and the reason if it is invalid or outside."""
    if "\x00" in written:
        skipped.append(Skipped(path=written[:80].replace("\x00", "?"), reason="its name holds a NUL character"))
        return None
    path = os.path.normpath(os.path.join(root, written))  # noqa: PTH118
    if path != os.fspath(root) and not path.startswith(f"{root}/"):
        skipped.append(Skipped(path=written, reason="is outside the workspace"))
        return None
    relative = os.path.relpath(path, root)
    return "" if relative == "." else relative


def _nested(root: Path, folders: Sequence[str]) -> Iterator[str]:
    """Nested repositories: they are indexed with the workspace, and named in a note."""
    inside = [each.rstrip("/") for each in folders if each and os.path.lexists(os.path.join(root, each, ".git"))]  # noqa: PTH118
    if inside:
        more = f" and {len(inside) - MAX_NAMED:,} more" if len(inside) > MAX_NAMED else ""
        some = f"{', '.join(inside[:MAX_NAMED])}{more}"
        yield f"nested repositories, indexed with this one unless the setting `ignore` names them: {some}"


def _colliding(files: Sequence[str]) -> Iterator[str]:
    """Files whose paths differ only in case: on some systems they are one file."""
    by_key: dict[str, str] = {}
    pairs = []
    for path in files:
        other = by_key.setdefault(path.casefold(), path)
        if other != path:
            pairs.append(f"{other} and {path}")
    if pairs:
        more = f" and {len(pairs) - MAX_NAMED:,} more" if len(pairs) > MAX_NAMED else ""
        some = f"{', '.join(pairs[:MAX_NAMED])}{more}"
        yield f"paths that differ only in case and are one file on some systems: {some}"
