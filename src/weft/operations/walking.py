"""Finding the files below a directory: hidden ones, links and what .gitignore names are passed over.

Directories are read as a stream, and what is kept of them is bounded: one with a million entries costs its time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from weft.operations.file_bytes import read_regular
from weft.operations.ignoring import Patterns, read_patterns

MAX_FILES: Final = 100_000
MAX_FOLDERS: Final = 100_000
MAX_LINKS: Final = 10_000  # that are told; more are passed over
MAX_IGNORE_BYTES: Final = 262_144
MAX_PATTERNS_HELD: Final = 8_000  # of all .gitignore files from the root down to one folder
GITIGNORE: Final = ".gitignore"
IS_LINK: Final = "is a link"
NO_FILE: Final = "is not a file"
FILE, FOLDER, LINK, ELSE = "file", "folder", "link", "else"  # sorts of what a folder holds


class Skipped(Struct, frozen=True, kw_only=True):
    """A file that was not read, and why."""

    path: str
    reason: str

    @property
    def sort(self) -> str:
        """The reason without what is told of this file alone: "is not UTF-8 text" without the place of a byte."""
        what, _, more = self.reason.partition(": ")
        return what if self.reason.startswith(IS_LINK) or any(map(str.isdigit, more)) else self.reason


class Walked(Struct, frozen=True, kw_only=True):
    """Files below a directory, as paths from the project's root, in order; and what could not be looked at.

    `whole` says that every folder was listed to its end. `ignored` counts the files and folders that patterns named.
    `folders` are those that were listed, each with a slash at its end, the root as nothing. `links` are the symbolic
    links that were passed over for being that alone.
    """

    files: tuple[str, ...]
    folders: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    ignored: int = 0
    whole: bool = True
    notes: tuple[str, ...] = ()


def walk(start: Path, root: Path, *, wanted: Callable[[str], bool], ignore: tuple[str, ...] = ()) -> Walked:
    """The files at or below `start` whose names are wanted. `ignore` are patterns beside those of .gitignore files.

    A file that is named itself is taken, whatever any pattern says of it; so is what stands in a folder that is.
    """
    if not start.is_dir():
        return Walked(files=(start.relative_to(root).as_posix(),))
    return _Walk(root, wanted, ignore).run(start)


def walked_among(root: Path, sources: Iterable[str], *, ignore: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Which of these paths, of files or folders, a walk over the whole project comes by: no folder is listed for it.

    What is not there any more counts as a file.
    """
    walk = _Walk(root, lambda name: True, ignore)
    return tuple(source for source in sources if walk.comes_by(source))


def printable(source: str) -> str:
    """A path that can be written: bytes of a name that are no UTF-8 are shown as question marks."""
    return source.encode(errors="replace").decode()


def _folders_of(top: str) -> list[str]:
    """A folder and those that it stands in, the outermost first; none for the root."""
    names = top.split("/")[:-1]
    return ["/".join(names[: depth + 1]) for depth in range(len(names))]


class _Walk:
    """One walk: what was found, and what went wrong so far."""

    def __init__(self, root: Path, wanted: Callable[[str], bool], ignore: tuple[str, ...]) -> None:
        self._root, self._wanted = os.fspath(root), wanted
        self._files: list[str] = []
        self._listed_folders: list[str] = []
        self._links: list[str] = []
        self._chains: dict[str, tuple[Patterns, ...]] = {}
        self._skipped: list[Skipped] = []
        self._notes: list[str] = []
        self._ignored = self._folders = 0
        self._whole = True
        self._own = read_patterns("", ignore)
        self._note_faults("the setting `ignore`", self._own)

    def run(self, start: Path) -> Walked:
        source = start.relative_to(self._root).as_posix()
        top = "" if source == "." else f"{source}/"
        above = self._above(top)
        # Whoever names a folder means it: patterns above that pass it over are left out of account.
        named = any(self._is_ignored(folder, above, folder=True) for folder in _folders_of(top))
        if named:
            self._own = Patterns()
        left: list[tuple[str, tuple[Patterns, ...]]] = [(top, () if named else above)]
        while left and len(self._files) <= MAX_FILES:
            prefix, chain = left.pop()
            self._listed_folders.append(prefix)
            chain = self._joined(chain, prefix)
            files, folders = self._listed(prefix, chain)
            self._files += files
            left += ((f"{prefix}{name}/", chain) for name in reversed(folders))
        return self._done()

    def comes_by(self, source: str) -> bool:
        """Whether a walk from the root lists this path: no part of it is hidden, a link or passed over."""
        names = source.rstrip("/").split("/")
        prefix, chain = "", self._chain("", ())
        for depth, name in enumerate(names):
            path = os.path.join(self._root, prefix + name)  # noqa: PTH118
            last = depth == len(names) - 1
            is_folder = not last or os.path.isdir(path)  # noqa: PTH112
            if not name or name.startswith(".") or os.path.islink(path):  # noqa: PTH114
                return False
            if self._is_ignored(prefix + name, chain, folder=is_folder):
                return False
            prefix += f"{name}/"
            chain = chain if last else self._chain(prefix, chain)
        return True

    def _chain(self, prefix: str, above: tuple[Patterns, ...]) -> tuple[Patterns, ...]:
        """The patterns that hold in a folder, read once."""
        if prefix not in self._chains:
            self._chains[prefix] = self._joined(above, prefix)
        return self._chains[prefix]

    def _done(self) -> Walked:
        if len(self._files) > MAX_FILES:
            self._whole = False
            beyond = self._files[MAX_FILES]
            del self._files[MAX_FILES:]
            self._skip(beyond, f"more than {MAX_FILES:,} files: this one and those after it wait; name a folder")
        return Walked(
            files=tuple(self._files),
            folders=tuple(self._listed_folders),
            links=tuple(sorted(self._links)),
            skipped=tuple(self._skipped),
            ignored=self._ignored,
            whole=self._whole,
            notes=tuple(self._notes),
        )

    def _listed(self, prefix: str, chain: tuple[Patterns, ...]) -> tuple[list[str], list[str]]:
        """The files wanted in a folder, by their paths, and the folders in it by name: both in order and bounded."""
        files: list[str] = []
        folders: list[str] = []
        room = MAX_FILES + 1 - len(self._files)
        try:
            for name, sort in self._entries(prefix):
                is_folder = sort == FOLDER
                if name.startswith(".") or not (is_folder or self._wanted(name)):
                    continue
                if self._is_ignored(prefix + name, chain, folder=is_folder):
                    self._ignored += sort != LINK
                elif sort == LINK:
                    self._link(prefix + name)
                elif sort == ELSE:
                    self._skip(prefix + name, NO_FILE)
                elif not is_folder:
                    files.append(prefix + name)
                elif self._folders < MAX_FOLDERS:
                    self._folders += 1
                    folders.append(name)
                else:
                    self._too_many_folders(prefix + name)
                if len(files) >= room:
                    break
        except OSError as problem:
            self._whole = False
            self._skip(prefix.rstrip("/") or ".", f"cannot be listed: {problem.strerror}")
        return sorted(files), sorted(folders)

    def _entries(self, prefix: str) -> Iterator[tuple[str, str]]:
        """What a folder holds: names, and of which sort each is."""
        with os.scandir(os.path.join(self._root, prefix.rstrip("/"))) as entries:  # noqa: PTH118 - a name need not be UTF-8
            for entry in entries:
                if entry.is_symlink():
                    yield entry.name, LINK
                elif entry.is_dir(follow_symlinks=False):
                    yield entry.name, FOLDER
                else:  # a pipe, a socket, a device
                    yield entry.name, FILE if entry.is_file(follow_symlinks=False) else ELSE

    def _link(self, source: str) -> None:
        if len(self._links) < MAX_LINKS:
            self._links.append(source)

    def _too_many_folders(self, source: str) -> None:
        if self._whole:
            self._skip(source, f"more than {MAX_FOLDERS:,} folders: this one and others wait; name one of them")
        self._whole = False

    # Patterns

    def _above(self, top: str) -> tuple[Patterns, ...]:
        """The patterns of the folders that the one begun with stands in."""
        chain: tuple[Patterns, ...] = ()
        for folder in ("", *_folders_of(top)[:-1]) if top else ():
            chain = self._joined(chain, f"{folder}/" if folder else "")
        return chain

    def _joined(self, chain: tuple[Patterns, ...], prefix: str) -> tuple[Patterns, ...]:
        """The chain with the patterns that a folder brings, if it does."""
        file = os.path.join(self._root, prefix, GITIGNORE)  # noqa: PTH118
        if not os.path.lexists(file):
            return chain
        read = read_regular(file, MAX_IGNORE_BYTES)
        if isinstance(read, str):
            self._notes.append(f"{printable(prefix)}{GITIGNORE} was not used: {read}")
            return chain
        made = read_patterns(prefix, read.decode("utf-8", "replace").splitlines())
        self._note_faults(f"{printable(prefix)}{GITIGNORE}", made)
        if sum(len(each.patterns) for each in (*chain, made)) > MAX_PATTERNS_HELD:
            self._notes.append(f"{printable(prefix)}{GITIGNORE} was not used: too many patterns with those above it")
            return chain
        return (*chain, made)

    def _note_faults(self, where: str, patterns: Patterns) -> None:
        if patterns.faults:
            self._notes.append(f"{where} has patterns that mean nothing: {', '.join(patterns.faults)}")

    def _is_ignored(self, source: str, chain: tuple[Patterns, ...], *, folder: bool) -> bool:
        """As git decides: the nearest file that says anything of a path counts; the setting counts before all."""
        for patterns in (self._own, *reversed(chain)):
            verdict = patterns.verdict(source, folder=folder)
            if verdict is not None:
                return verdict
        return False

    def _skip(self, source: str, reason: str) -> None:
        if len(self._skipped) < MAX_FILES:
            self._skipped.append(Skipped(path=printable(source), reason=reason))
