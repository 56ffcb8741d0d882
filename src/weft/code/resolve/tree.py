"""Source files in memory: a workspace read from disk, or the files of a commit. Needs no store."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path

from weft.code.parse.facts import FileFacts
from weft.code.parse.symbols import read_source
from weft.code.resolve import FileLinks, resolve
from weft.core.errors import WeftError
from weft.files.languages import language_of

PASSED_OVER = frozenset({"node_modules", "__pycache__", "target", "vendor"})


class Sources(ABC):
    """Source files by their facts; a `Project` for resolvers. `paths` are all existing files."""

    def __init__(self, facts: Iterable[FileFacts], paths: Iterable[str]) -> None:
        self._facts: dict[str, FileFacts] = {}
        self._named: dict[str, list[str]] = {}
        self._files: dict[str, list[str]] = {}
        self._folders: dict[str, set[str]] = {}
        for path in paths:
            self._named.setdefault(path.rpartition("/")[2], []).append(path)
        for each in facts:
            self._take(each)

    def _take(self, facts: FileFacts) -> None:
        self._facts[facts.path] = facts
        folder = facts.path.rpartition("/")[0]
        self._files.setdefault(folder, []).append(facts.path)
        while folder:
            above = folder.rpartition("/")[0]
            self._folders.setdefault(above, set()).add(folder)
            folder = above

    @property
    def paths(self) -> Sequence[str]:
        """The source files, in order."""
        return tuple(self._facts)

    def links(self, path: str) -> FileLinks:
        return resolve(self._facts[path], self)

    def facts(self, path: str) -> FileFacts | None:
        return self._facts.get(path)

    def exists(self, path: str) -> bool:
        return path in self._facts

    def folder(self, path: str) -> Sequence[str]:
        return self._files.get(path, ())

    def folders(self, path: str) -> Sequence[str]:
        return sorted(self._folders.get(path, ()))

    @abstractmethod
    def text(self, path: str) -> str | None: ...

    def settings(self, name: str) -> Sequence[str]:
        return sorted(self._named.get(name, ()), key=lambda path: (path.count("/"), path))


class Tree(Sources):
    """All readable source files below a directory, for evaluating readers and resolvers."""

    def __init__(self, root: Path) -> None:
        self.root = root
        paths = _below(root)
        super().__init__((found for path in paths if (found := self._read(path)) is not None), paths)

    def _read(self, path: str) -> FileFacts | None:
        text = self.text(path) if language_of(path) is not None else None
        try:
            return None if text is None else read_source(text, path).facts
        except WeftError:
            return None

    def text(self, path: str) -> str | None:
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None


def _below(root: Path) -> list[str]:
    found = []
    for top, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in PASSED_OVER)
        below = Path(top).relative_to(root).as_posix()
        found += [name if below == "." else f"{below}/{name}" for name in sorted(files)]
    return found
