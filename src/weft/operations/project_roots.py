"""Which directories are a project: a name belongs to the one that used it first, and to those its user adds.

A project is called as its directory is, or as a `weft.toml` in it says: both come with what somebody cloned. So what is
remembered of a project is put before an agent only in a directory that is known as that project's. What the user set,
in the environment or in a file of their own, is taken as it is.

Kept in `roots.json` beside the store. A directory is known by its git remote and its place in that repository, so that
all clones and worktrees are one; without a remote, by its path.
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

from weft import git
from weft.config import TOML_NAME, Settings, user_data
from weft.errors import Corrupt, Forbidden, StoreError, TooLarge, WeftError
from weft.file_lock import locked_if_possible, replace_whole

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
    """Takes the project's name for its directory, where no other has it. Raises Forbidden where another has.

    False if that could not be kept, as there is no store yet or it cannot be written. Raises StoreError for a file that
    is damaged.
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
    except OSError:  # of a store that may only be read
        return False
    return True


def is_anothers(settings: Settings) -> bool:
    """Whether the project's code is that of another directory, one that is still there as far as can be told.

    A repository that was moved is the same in its new place; so is another worktree of it. Raises as `claim`.
    """
    root = _naming(settings)
    if root is None or settings.store.startswith("memory:"):
        return False
    bound = _read(_place(settings)).get(settings.account, {}).get(settings.project, [])
    return bool(bound) and _is_other(root, bound)


def claim_code(settings: Settings, shown: str) -> None:
    """Takes the project's name for the directory whose code is to be indexed, also from directories that are gone.

    Raises Forbidden where it is another's. `shown` is what the caller is told of the directory. One that cannot be kept
    is not: a store that may only be read takes no code either.
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
        for each in (*known_as, *_worktree_of(root.resolve())):  # its path too: a remote may change
            _add(bound, each)


def anothers(settings: Settings, shown: str) -> Forbidden:
    """The error that says that the project's code is another directory's."""
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
    """The directory of the repository that another is a worktree of."""
    if not (here / ".git").is_file():
        return ()
    found = git.common_directory(here)
    return () if found is None or found.name != ".git" else (str(found.parent),)


def _is_gone(identity: str) -> bool:
    """Whether a directory that is known by its path is not there any more."""
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
    """Takes the project's name for its directory if it is free. Nothing is raised: who wrote has written."""
    with contextlib.suppress(OSError, WeftError):
        if not _read(_place(settings)).get(settings.account, {}).get(settings.project):
            claim(settings)


def join(settings: Settings, project: str) -> None:
    """Makes the settings' root one of the project's directories. Raises StoreError or TooLarge if it cannot be kept."""
    place = _place(settings)
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _changing(place) as names:
            _add(names.setdefault(settings.account, {}).setdefault(project, []), _known_as(settings.root)[0])
    except OSError as problem:
        raise StoreError(f"{place} cannot be written: {problem}", hint="check the disk and the rights") from problem


def _same(settings: Settings, root: Path, bound: list[str], known_as: tuple[str, ...]) -> None:
    """One that was known by its path is still the same when it has a remote."""
    if not any(each in bound for each in known_as):
        raise Forbidden(
            f"the project {settings.project} is another directory's: nothing is given to {root}, nothing kept of it",
            hint="`weft init` there, if it is the same project; else give it a name of its own, `weft init NAME`",
        )


def _naming(settings: Settings) -> Path | None:
    """The directory that names the project; None if the user does."""
    origin = settings.origins["project"].origin
    if origin == "default":
        return settings.root
    file = Path(origin)
    return file.parent if file.name == TOML_NAME and file.parent in (settings.root, *settings.root.parents) else None


def _known_as(root: Path) -> tuple[str, ...]:
    """What a directory is known as, the best first."""
    here = root.resolve()
    found = git.origin_of(here)
    if found is None:
        return (str(here),)
    top, url = found
    if whole := _URL.fullmatch(url):
        url = whole[1] + whole[2]  # without the name and the password of who fetches
    elif not (url.startswith("/") or _SHORT_URL.fullmatch(url)):
        return (str(here),)  # a path that is relative to this very clone
    below = here.relative_to(top)
    return (f"{url.rstrip('/').removesuffix('.git')}#{'' if below == Path() else below}", str(here))


# ---- the file


def _place(settings: Settings) -> Path:
    scheme, _, rest = settings.store.partition("://")
    directory = Path(rest).expanduser().absolute() if scheme == "sqlite" and rest else user_data()
    return directory / FILE


def _read(place: Path) -> Names:
    try:
        with place.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
        kept = msgspec.json.decode(raw, type=_Kept)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise Corrupt(
            f"{place} cannot be read, so no directory is known: {problem!s:.200}",
            hint="move it away: names then belong to who uses them first",
        ) from problem
    if kept.format != FORMAT:
        raise StoreError(f"{place} was written by another weft", hint="upgrade weft")
    return kept.roots


def _add(bound: list[str], identity: str) -> None:
    if identity not in bound:
        if len(bound) >= MAX_ROOTS:
            raise TooLarge(f"{FILE} knows {MAX_ROOTS} directories of this project", hint="remove some from the file")
        bound.append(identity)


@contextlib.contextmanager
def _changing(place: Path) -> Iterator[Names]:
    """All names, to be changed by one at a time. A process that dies leaves the old file or the new one."""
    with locked_if_possible(place, wait_s=LOCK_WAIT_S):
        names = _read(place)
        yield names
        raw = msgspec.json.format(msgspec.json.encode(_Kept(format=FORMAT, roots=names)), indent=1)
        if len(raw) > MAX_FILE_BYTES or sum(map(len, names.values())) > MAX_NAMES:
            raise TooLarge(f"{place} is full", hint="remove the projects that are gone from it")
        replace_whole(place, raw)
