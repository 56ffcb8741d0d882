"""The directories that belong to each project: a name belongs to the first that used it, and to those its user adds.

A project is named after its directory or by a `weft.toml` in it, and both come with a clone. So memories of a project
are shown only in directories registered for it. Names that the user set, in the environment or in their own file, are
trusted.

Stored in `roots.json` beside the store. A directory is identified by its git remote and its path in that repository, so
that all clones and worktrees are one; without a remote, by its own path.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from weft.core.errors import Corrupt, Forbidden, StoreError, TooLarge, WeftError
from weft.files import git
from weft.files.file_lock import locked_if_possible, replace_whole
from weft.files.paths import store_directory
from weft.runtime.settings.load import TOML_NAME, Settings, user_data

FILE: Final = "roots.json"
FORMAT: Final = 1
MAX_NAMES: Final = 10_000
MAX_ROOTS: Final = 200  # of one name
MAX_FILE_BYTES: Final = 8_388_608
LOCK_WAIT_S: Final = 2.0
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)(?:[^/@]*@)?(.+)")
_SHORT_URL = re.compile(r"[^/:]+:.+")  # host:path

Names = dict[str, dict[str, list[str]]]  # by account and project


class _Kept(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file."""

    format: int
    roots: Names


def claim(settings: Settings) -> bool:
    """Registers the directory for the project's name if the name is free. Raises Forbidden if it belongs to another.

    Returns False if that could not be stored (no store yet, or read-only). Raises StoreError for a damaged file.
    """
    root = _naming(settings)
    if root is None:
        return True
    place, known_as = _place(settings), _known_as(root)
    bound = _read(place).get(settings.account, {}).get(settings.project, [])
    if known_as[0] in bound:
        return True
    if bound:
        _same(settings, root, bound, known_as)
    if not place.parent.is_dir():
        return False
    try:
        with _changing(place) as names:
            bound = names.setdefault(settings.account, {}).setdefault(settings.project, [])
            if bound:
                _same(settings, root, bound, known_as)
            _add(bound, known_as[0])
    except OSError:  # a read-only store
        return False
    return True


def is_anothers(settings: Settings) -> bool:
    """Whether the project's code belongs to another directory that, as far as can be told, still exists.

    A repository that was moved, and another worktree of it, are the same. Raises what `claim` raises.
    """
    root = _naming(settings)
    if root is None or settings.store.startswith("memory:"):
        return False
    bound = _read(_place(settings)).get(settings.account, {}).get(settings.project, [])
    return bool(bound) and _is_other(root, bound)


def claim_code(settings: Settings, shown: str) -> None:
    """Registers the directory whose code is to be indexed, replacing directories that no longer exist.

    Raises Forbidden if the name is another's. `shown` names the directory in errors. In a read-only store nothing is
    registered.
    """
    root = _naming(settings)
    if root is None or settings.store.startswith("memory:"):
        return
    place, known_as = _place(settings), _known_as(root)
    bound = _read(place).get(settings.account, {}).get(settings.project, [])
    if known_as[0] in bound:
        return
    if bound and _is_other(root, bound):
        raise anothers(settings, shown)
    if not place.parent.is_dir():
        return
    with contextlib.suppress(OSError), _changing(place) as names:
        bound = names.setdefault(settings.account, {}).setdefault(settings.project, [])
        if bound and _is_other(root, bound):
            raise anothers(settings, shown)
        bound[:] = [each for each in bound if not _is_gone(each)]
        for each in (*known_as, *_worktree_of(root.resolve())):  # also its path, since the remote may change
            _add(bound, each)


def anothers(settings: Settings, shown: str) -> Forbidden:
    """The error for a project whose code belongs to another directory."""
    return Forbidden(
        f"the project {settings.project} is another directory's: its code is not shown in {shown}, nor that of {shown} "
        "indexed with it",
        hint="give this one a name of its own, `weft init NAME`; or `weft init` in it, if it is the same project",
    )


def _is_other(root: Path, bound: list[str]) -> bool:
    here = root.resolve()
    if str(here) in bound or any(each in bound for each in (*_known_as(root), *_worktree_of(here))):
        return False
    return not all(map(_is_gone, bound))


def _worktree_of(here: Path) -> tuple[str, ...]:
    """The main worktree of the repository that another worktree belongs to."""
    if not (here / ".git").is_file():
        return ()
    found = git.common_directory(here)
    return () if found is None or found.name != ".git" else (str(found.parent),)


def _is_gone(identity: str) -> bool:
    """Whether a directory known by its path no longer exists."""
    if not identity.startswith("/") or "#" in identity:
        return False
    try:
        os.lstat(identity)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def settle(settings: Settings) -> None:
    """Registers the directory if the project's name is free. Never raises: the write itself is already done."""
    with contextlib.suppress(OSError, WeftError):
        if not _read(_place(settings)).get(settings.account, {}).get(settings.project):
            claim(settings)


def join(settings: Settings, project: str) -> None:
    """Registers the settings' root for the project. Raises StoreError or TooLarge if it cannot be stored."""
    place = _place(settings)
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _changing(place) as names:
            _add(names.setdefault(settings.account, {}).setdefault(project, []), _known_as(settings.root)[0])
    except OSError as problem:
        raise StoreError(
            f"{place} cannot be written: {problem}", hint="check the disk and the permissions"
        ) from problem


def _same(settings: Settings, root: Path, bound: list[str], known_as: tuple[str, ...]) -> None:
    """A directory registered by its path is still the same when it gets a remote."""
    if not any(each in bound for each in known_as):
        raise Forbidden(
            f"the project {settings.project} belongs to another directory: {root} may not use its memories",
            hint="if it is the same project, run `weft init` in it; otherwise name it with `weft init NAME`",
        )


def _naming(settings: Settings) -> Path | None:
    """The directory that names the project; None if the user does."""
    origin = settings.origins["project"].origin
    if origin == "default":
        return settings.root
    file = Path(origin)
    return file.parent if file.name == TOML_NAME and file.parent in (settings.root, *settings.root.parents) else None


def _known_as(root: Path) -> tuple[str, ...]:
    """The identities of a directory, the best first."""
    here = root.resolve()
    found = git.origin_of(here)
    if found is None:
        return (str(here),)
    top, url = found
    if whole := _URL.fullmatch(url):
        url = whole[1] + whole[2]  # without user name and password
    elif not (url.startswith("/") or _SHORT_URL.fullmatch(url)):
        return (str(here),)  # a path relative to this clone
    below = here.relative_to(top)
    return (f"{url.rstrip('/').removesuffix('.git')}#{'' if below == Path() else below}", str(here))


# ---- the file


def _place(settings: Settings) -> Path:
    return (store_directory(settings.store) or user_data()) / FILE


def _read(place: Path) -> Names:
    try:
        with place.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
        kept = msgspec.json.decode(raw, type=_Kept)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise Corrupt(
            f"{place} cannot be read, so weft does not know the project's directories: {problem!s:.200}",
            hint="move it away: project names then belong to the directories that use them first",
        ) from problem
    if kept.format != FORMAT:
        raise StoreError(f"{place} was written by another version of weft", hint="upgrade weft")
    return kept.roots


def _add(bound: list[str], identity: str) -> None:
    if identity not in bound:
        if len(bound) >= MAX_ROOTS:
            raise TooLarge(
                f"{FILE} lists {MAX_ROOTS} directories of this project, the limit", hint="remove some from the file"
            )
        bound.append(identity)


@contextlib.contextmanager
def _changing(place: Path) -> Iterator[Names]:
    """All names, locked for changes. Replaced atomically at the end."""
    with locked_if_possible(place, wait_s=LOCK_WAIT_S):
        names = _read(place)
        yield names
        raw = msgspec.json.format(msgspec.json.encode(_Kept(format=FORMAT, roots=names)), indent=1)
        if len(raw) > MAX_FILE_BYTES or sum(map(len, names.values())) > MAX_NAMES:
            raise TooLarge(f"{place} has reached its size limit", hint="remove projects that no longer exist from it")
        replace_whole(place, raw)
