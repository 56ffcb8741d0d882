"""An export of many files: a folder, or the zip that it came in. Nothing is unpacked on the disk."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Final

from weft.errors import StoreError
from weft.transcripts.lines import opened

MAX_MEMBERS: Final = 200_000
MAX_PACKED: Final = 200  # times smaller: text packs ten times, more than this is no export


class Bundle:
    """The files of an export by their names, as `general/2024-03-02.json`. Names that lead out of it are not there."""

    def __init__(self, path: Path) -> None:
        """Raises StoreError for a zip that cannot be opened."""
        self.path = path
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
        files = (each for depth in ("*", "*/*") for each in self.path.glob(depth) if each.is_file())
        return tuple(sorted(each.relative_to(self.path).as_posix() for each in islice(files, MAX_MEMBERS)))


def is_zip(path: Path) -> bool:
    """Whether a file begins as zips do."""
    with opened(path) as file:
        return bool(file.read(4) == b"PK\x03\x04")


def _inside(name: str) -> bool:
    path = PurePosixPath(name)
    hidden = any(part.startswith((".", "__MACOSX")) for part in path.parts)
    return not (path.is_absolute() or ".." in path.parts or hidden)
