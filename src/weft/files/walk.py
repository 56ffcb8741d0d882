"""Walk of a directory: hidden files, links, ignored files and directories of tools are skipped.

Directories are read as a stream and results are bounded: a directory with a million entries costs time, not memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from weft.files.file_bytes import read_regular
from weft.files.gitignore import Patterns, read_patterns

MAX_FILES: Final = 100_000
MAX_FOLDERS: Final = 100_000
MAX_LINKS: Final = 10_000  # reported; more are only skipped
MAX_IGNORE_BYTES: Final = 262_144
MAX_PATTERNS_HELD: Final = 8_000  # in all .gitignore files from the root down to one directory
GITIGNORE: Final = ".gitignore"
IS_LINK: Final = "is a link"
NO_FILE: Final = "is not a file"
# Directories that tools fill, and the files that tell: beside the directory, or in it. Without any, the name suffices.
INSTALLED: Final = "holds installed packages"
BUILT: Final = "holds build output"
TOOL_FOLDERS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "node_modules": (INSTALLED, ()),
    "bower_components": (INSTALLED, ()),
    "venv": (INSTALLED, ("venv/pyvenv.cfg",)),
    "env": (INSTALLED, ("env/pyvenv.cfg",)),
    "vendor": (
        INSTALLED,
        ("vendor/modules.txt", "vendor/autoload.php", "vendor/bundle", "go.mod", "composer.json", "Gemfile"),
    ),
    "__pycache__": (BUILT, ()),
    "dist": (BUILT, ()),
    "target": (BUILT, ("Cargo.toml", "pom.xml", "build.sbt", "target/CACHEDIR.TAG")),
}
FILE, FOLDER, LINK, ELSE = "file", "folder", "link", "else"  # kinds of directory entries


class Skipped(Struct, frozen=True, kw_only=True):
    """A skipped file and the reason."""

    path: str
    reason: str

    @property
    def sort(self) -> str:
        """The reason without details of this file: "is not UTF-8 text" without the byte offset."""
        what, _, more = self.reason.partition(": ")
        return what if self.reason.startswith(IS_LINK) or any(map(str.isdigit, more)) else self.reason


class FileListing(Struct, frozen=True, kw_only=True):
    """The files below a directory, as paths from the project's root, in order; and the skipped ones.

    `whole` if every directory was listed completely. `ignored` counts files and directories matched by patterns.
    `folders` are the listed directories, each with a final slash, the root as an empty path. `links` are skipped
    symbolic links.
    """

    files: tuple[str, ...]
    folders: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    ignored: int = 0
    whole: bool = True
    notes: tuple[str, ...] = ()


def walk(start: Path, root: Path, *, wanted: Callable[[str], bool], ignore: tuple[str, ...] = ()) -> FileListing:
    """The files at or below `start` whose names are wanted. `ignore` are patterns in addition to .gitignore files.

    A file or directory that is named explicitly is included, whatever any pattern says. Directories of TOOL_FOLDERS are
    skipped unless a negated pattern such as `!dist/` keeps them.
    """
    if not start.is_dir():
        return FileListing(files=(start.relative_to(root).as_posix(),))
    return _Walk(root, wanted, ignore).run(start)


def walked_among(root: Path, sources: Iterable[str], *, ignore: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The paths, of files or directories, that a walk of the whole project would list; no directory is read.

    A path that no longer exists counts as a file.
    """
    walk = _Walk(root, lambda name: True, ignore)
    return tuple(source for source in sources if walk.comes_by(source))


def printable(source: str) -> str:
    """A path for display: bytes of a name that are not UTF-8 become question marks."""
    return source.encode(errors="replace").decode()


def _folders_of(top: str) -> list[str]:
    """The parent directories of a directory and itself, outermost first; none for the root."""
    names = top.split("/")[:-1]
    return ["/".join(names[: depth + 1]) for depth in range(len(names))]


class _Walk:
    """The state of one walk."""

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

    def run(self, start: Path) -> FileListing:
        source = start.relative_to(self._root).as_posix()
        top = "" if source == "." else f"{source}/"
        above = self._above(top)
        # A directory named explicitly is included: patterns above that ignore it do not apply.
        named = any(self._ignored_reason(folder, above, folder=True) is not None for folder in _folders_of(top))
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
        """Whether a walk from the root lists this path: no part of it is hidden, a link or ignored."""
        names = source.rstrip("/").split("/")
        prefix, chain = "", self._chain("", ())
        for depth, name in enumerate(names):
            path = os.path.join(self._root, prefix + name)  # noqa: PTH118
            last = depth == len(names) - 1
            is_folder = not last or os.path.isdir(path)  # noqa: PTH112
            if not name or name.startswith(".") or os.path.islink(path):  # noqa: PTH114
                return False
            if self._ignored_reason(prefix + name, chain, folder=is_folder) is not None:
                return False
            prefix += f"{name}/"
            chain = chain if last else self._chain(prefix, chain)
        return True

    def _chain(self, prefix: str, above: tuple[Patterns, ...]) -> tuple[Patterns, ...]:
        """The patterns that apply in a directory, read once."""
        if prefix not in self._chains:
            self._chains[prefix] = self._joined(above, prefix)
        return self._chains[prefix]

    def _done(self) -> FileListing:
        if len(self._files) > MAX_FILES:
            self._whole = False
            beyond = self._files[MAX_FILES]
            del self._files[MAX_FILES:]
            self._skip(beyond, f"more than {MAX_FILES:,} files: this one and those after it wait; name a folder")
        return FileListing(
            files=tuple(self._files),
            folders=tuple(self._listed_folders),
            links=tuple(sorted(self._links)),
            skipped=tuple(self._skipped),
            ignored=self._ignored,
            whole=self._whole,
            notes=tuple(self._notes),
        )

    def _listed(self, prefix: str, chain: tuple[Patterns, ...]) -> tuple[list[str], list[str]]:
        """The wanted files of a directory as paths, and its subdirectories by name: both sorted and bounded."""
        files: list[str] = []
        folders: list[str] = []
        room = MAX_FILES + 1 - len(self._files)
        try:
            for name, sort in self._entries(prefix):
                is_folder = sort == FOLDER
                if name.startswith(".") or not (is_folder or self._wanted(name)):
                    continue
                reason = self._ignored_reason(prefix + name, chain, folder=is_folder)
                if reason:
                    self._skip(prefix + name, f"{reason}; to include it, write !{name}/ in {GITIGNORE}")
                elif reason is not None:
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
        """The entries of a directory: names and kinds."""
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
        """The patterns of the directories above the start."""
        chain: tuple[Patterns, ...] = ()
        for folder in ("", *_folders_of(top)[:-1]) if top else ():
            chain = self._joined(chain, f"{folder}/" if folder else "")
        return chain

    def _joined(self, chain: tuple[Patterns, ...], prefix: str) -> tuple[Patterns, ...]:
        """The chain, with the directory's own patterns if it has any."""
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
            self._notes.append(f"{where} has invalid patterns: {', '.join(patterns.faults)}")

    def _ignored_reason(self, source: str, chain: tuple[Patterns, ...], *, folder: bool) -> str | None:
        """None if a path is included; empty if a pattern ignores it; the reason for a directory of a tool.

        The rule of git: the nearest file with a matching pattern decides; the setting has precedence.
        """
        for patterns in (self._own, *reversed(chain)):
            verdict = patterns.verdict(source, folder=folder)
            if verdict is not None:
                return "" if verdict else None
        return self._tool_folder(source) if folder else None

    def _tool_folder(self, source: str) -> str | None:
        """The reason to skip a directory that a tool fills; None for any other."""
        above, _, name = source.rpartition("/")
        if name not in TOOL_FOLDERS:
            return None
        reason, files = TOOL_FOLDERS[name]
        there = (os.path.lexists(os.path.join(self._root, above, file)) for file in files)  # noqa: PTH118
        return reason if not files or any(there) else None

    def _skip(self, source: str, reason: str) -> None:
        if len(self._skipped) < MAX_FILES:
            self._skipped.append(Skipped(path=printable(source), reason=reason))
