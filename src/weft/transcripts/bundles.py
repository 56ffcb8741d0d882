"""An export of many files: a folder, or the zip that it came in. Nothing is unpacked on the disk."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

from weft.errors import StoreError
from weft.transcripts.lines import opened

MAX_MEMBERS: Final = 200_000
MAX_PACKED: Final = 200  # times smaller: text packs ten times, more than this is no export


class Members(NamedTuple):
    """What is in a folder and in the folders of it: files and links by their names from there."""

    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


class Bundle:
    """The files of an export by their names, as `general/2024-03-02.json`. Names that lead out of it are not there.

    Of a folder that holds nothing but another folder, that is the export. `links` of a folder are not followed.
    """

    def __init__(self, path: Path) -> None:
        """Raises StoreError for a zip that cannot be opened."""
        self.path = path = unwrapped(path)
        self.links: tuple[str, ...] = ()
        self._zip: zipfile.ZipFile | None = None
        if not path.is_dir():
            opened(path).close()
            try:
                self._zip = zipfile.ZipFile(path)
            except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as problem:
                raise StoreError(f"{path} cannot be unpacked: {problem}", hint="download the export again") from problem
        self.names = self._names()

    def __enter__(self) -> Bundle:
        return self

    def __exit__(self, *_: object) -> None:
        if self._zip is not None:
            self._zip.close()

    def find(self, *names: str) -> str:
        """The member that has one of these file names, the least deep; empty if there is none."""
        found = [each for each in self.names if PurePosixPath(each).name in names]
        return min(found, key=lambda each: (each.count("/"), each), default="")

    @contextmanager
    def open(self, name: str) -> Iterator[Any]:
        """One file, to read bytes from. Raises StoreError where it cannot be read, or is packed as no text is."""
        with opened(self.path / name) if self._zip is None else self._unpacked(self._zip, name) as file:
            yield file

    def _unpacked(self, packed: zipfile.ZipFile, name: str) -> Any:
        try:
            about = packed.getinfo(name)
            if about.file_size > MAX_PACKED * max(about.compress_size, 1_000):
                raise StoreError(f"{name} is packed as no export is", hint="unpack it, and look what it is")
            return packed.open(about)
        except (KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as problem:
            hint = "unpack the export, and give its folder"
            raise StoreError(f"{name} cannot be read: {problem}", hint=hint) from problem

    def _names(self) -> tuple[str, ...]:
        if self._zip is not None:
            listed = (each.filename for each in self._zip.infolist()[:MAX_MEMBERS] if not each.is_dir())
            return tuple(sorted(each for each in listed if _inside(each)))
        found = members(self.path)
        self.links = found.links
        return found.files


def members(folder: Path) -> Members:
    """The files of an export's folder, at most MAX_MEMBERS, in order. What cannot be listed has none."""
    files: list[str] = []
    links: list[str] = []
    for place in ("", *(each.name for each in _listed(folder) if each.is_dir(follow_symlinks=False))):
        for each in _listed(folder / place):
            called = f"{place}/{each.name}" if place else each.name
            if each.is_symlink():
                links.append(called)
            elif each.is_file(follow_symlinks=False) and len(files) < MAX_MEMBERS:
                files.append(called)
    return Members(tuple(sorted(files)), tuple(sorted(links)))


def unwrapped(path: Path) -> Path:
    """The folder that is all that a folder holds, as unpacking makes it; else the path itself."""
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
    """Whether a file begins as zips do."""
    with opened(path) as file:
        return bool(file.read(4) == b"PK\x03\x04")


def _inside(name: str) -> bool:
    path = PurePosixPath(name)
    hidden = any(part.startswith((".", "__MACOSX")) for part in path.parts)
    return not (path.is_absolute() or ".." in path.parts or hidden)
