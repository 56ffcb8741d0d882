"""Opening files, folders and zips of an export. Nothing is unpacked on disk."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from weft.core.errors import NotFound, StoreError

if TYPE_CHECKING:
    from zipfile import ZipFile

MAX_MEMBERS: Final = 200_000
MAX_COMPRESSION: Final = 200  # unpacked to packed size: text compresses about ten times
MAX_PIECE_CHARACTERS: Final = 100_000
MAX_PIECES: Final = 20_000_000
_BYTE_ORDER_MARKS: Final = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb": "utf-8-sig"}


def read_errors() -> tuple[type[Exception], ...]:
    """What reading raises on a failing disk or in a damaged zip. Hooks read files too, and need no zips."""
    import zipfile
    import zlib

    return (OSError, EOFError, zlib.error, zipfile.BadZipFile)


def opened(path: Path) -> Any:
    """A file open for reading bytes. Raises NotFound, or StoreError if it is not a readable regular file."""
    try:
        if not path.is_file():  # opening a pipe would block
            if path.exists():
                raise StoreError(f"{path} is not a file", hint="give the path of the file itself")
            raise NotFound(f"there is no {path}", hint="check the path")
        file = path.open("rb")
        try:
            file.peek(1)  # some special files open but cannot be read, such as a process's memory
        except OSError:
            file.close()
            raise
        return file
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise StoreError(f"{path} cannot be read: {why}", hint="check its permissions") from problem


class FolderFiles(NamedTuple):
    """Regular files and links of a folder and its direct subfolders, as paths relative to it."""

    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


class Bundle:
    """The files of an export by relative name, such as `general/2024-03-02.json`. Names outside of it are dropped.

    A folder whose only content is another folder stands for that one. `links` of a folder are listed, not followed.
    """

    def __init__(self, path: Path) -> None:
        """Raises StoreError for a zip that cannot be opened."""
        self.path = path = unwrapped(path)
        self.links: tuple[str, ...] = ()
        self._zip: ZipFile | None = None
        if path.is_dir():
            self.names, self.links = members(path)
            return
        import zipfile

        opened(path).close()
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as problem:
            raise StoreError(f"{path} cannot be unpacked: {problem}", hint="download the export again") from problem
        listed = (each.filename for each in self._zip.infolist()[:MAX_MEMBERS] if not each.is_dir())
        self.names = tuple(sorted(each for each in listed if _is_inside(each)))

    def __enter__(self) -> Bundle:
        return self

    def __exit__(self, *_: object) -> None:
        if self._zip is not None:
            self._zip.close()

    def find(self, *names: str) -> str:
        """The least deep member with one of these file names; empty if there is none."""
        found = [each for each in self.names if PurePosixPath(each).name in names]
        return min(found, key=lambda each: (each.count("/"), each), default="")

    @contextmanager
    def open(self, name: str) -> Iterator[Any]:
        """One member, open for reading bytes. Raises StoreError if it is unreadable or its compression implausible."""
        with opened(self.path / name) if self._zip is None else self._unpacked(self._zip, name) as file:
            yield file

    def _unpacked(self, packed: ZipFile, name: str) -> Any:
        from zipfile import BadZipFile

        try:
            about = packed.getinfo(name)
            if about.file_size > MAX_COMPRESSION * max(about.compress_size, 1_000):
                raise StoreError(
                    f"{name} unpacks to more than {MAX_COMPRESSION} times its size: no export does",
                    hint="unpack the zip and check what the file is",
                )
            return packed.open(about)
        except (KeyError, BadZipFile, NotImplementedError, RuntimeError, OSError) as problem:
            hint = "unpack the export, and give the path of its folder"
            raise StoreError(f"{name} cannot be read: {problem}", hint=hint) from problem


def members(folder: Path) -> FolderFiles:
    """The files of an export's folder, sorted, at most MAX_MEMBERS. A folder that cannot be listed has none."""
    files: list[str] = []
    links: list[str] = []
    for place in ("", *(each.name for each in _listed(folder) if each.is_dir(follow_symlinks=False))):
        for each in _listed(folder / place):
            relative = f"{place}/{each.name}" if place else each.name
            if each.is_symlink():
                links.append(relative)
            elif each.is_file(follow_symlinks=False) and len(files) < MAX_MEMBERS:
                files.append(relative)
    return FolderFiles(tuple(sorted(files)), tuple(sorted(links)))


def unwrapped(path: Path) -> Path:
    """The only subfolder of a folder that holds nothing else, as unpacking a zip creates; else the path itself."""
    if not path.is_dir():
        return path
    inside = [each for each in _listed(path) if not each.name.startswith((".", "__MACOSX"))]
    return Path(inside[0].path) if len(inside) == 1 and inside[0].is_dir(follow_symlinks=False) else path


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def is_zip(path: Path) -> bool:
    """Whether a file has the signature of a zip."""
    with opened(path) as file:
        return bool(file.read(4) == b"PK\x03\x04")


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    hidden = any(part.startswith((".", "__MACOSX")) for part in path.parts)
    return not (path.is_absolute() or ".." in path.parts or hidden)


def text_pieces(path: Path, member: str = "") -> Iterator[tuple[bool, str]]:
    """(begins a line, text) of every line in order; lines over MAX_PIECE_CHARACTERS come in several pieces.

    With `member`, the lines of that file of an export. Undecodable bytes are replaced.
    """
    with ExitStack() as held:
        bundle = held.enter_context(Bundle(path)) if member else None
        raw: Any = held.enter_context(opened(path) if bundle is None else bundle.open(member))
        encoding = _BYTE_ORDER_MARKS.get(raw.peek(2)[:2], "utf-8")
        text = io.TextIOWrapper(raw, encoding=encoding, errors="replace")
        begins = True
        for _ in range(MAX_PIECES):
            piece = text.readline(MAX_PIECE_CHARACTERS)
            if not piece:
                return
            yield begins, piece
            begins = piece.endswith("\n")
