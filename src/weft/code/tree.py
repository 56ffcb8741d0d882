"""A workspace read from disk into memory, whole: for judging readers and resolvers, without any store."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from weft.code.facts import FileFacts
from weft.code.languages import language_of
from weft.code.resolving import Links, resolve
from weft.code.symbols import read_source
from weft.errors import WeftError

PASSED_OVER = frozenset({"node_modules", "__pycache__", "target", "vendor"})


class Tree:
    """All source files below a directory that can be read, as their facts; a `Project` for resolvers."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._facts: dict[str, FileFacts] = {}
        self._named: dict[str, list[str]] = {}
        self._files: dict[str, list[str]] = {}
        self._folders: dict[str, set[str]] = {}
        for top, folders, files in os.walk(root):
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in PASSED_OVER)
            below = Path(top).relative_to(root).as_posix()
            prefix = "" if below == "." else f"{below}/"
            for name in sorted(files):
                self._named.setdefault(name, []).append(prefix + name)
                if language_of(name) is not None:
                    self._take(prefix + name)

    def _take(self, path: str) -> None:
        try:
            text = (self.root / path).read_text(encoding="utf-8")
            self._facts[path] = read_source(text, path).facts
        except (OSError, UnicodeDecodeError, WeftError):
            return
        folder = path.rpartition("/")[0]
        self._files.setdefault(folder, []).append(path)
        while folder:
            above = folder.rpartition("/")[0]
            self._folders.setdefault(above, set()).add(folder)
            folder = above

    @property
    def paths(self) -> Sequence[str]:
        """The source files, in order."""
        return tuple(self._facts)

    def links(self, path: str) -> Links:
        """What one of them refers to."""
        return resolve(self._facts[path], self)

    def facts(self, path: str) -> FileFacts | None:
        return self._facts.get(path)

    def exists(self, path: str) -> bool:
        return path in self._facts

    def folder(self, path: str) -> Sequence[str]:
        return self._files.get(path, ())

    def folders(self, path: str) -> Sequence[str]:
        return sorted(self._folders.get(path, ()))

    def text(self, path: str) -> str | None:
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def settings(self, name: str) -> Sequence[str]:
        return sorted(self._named.get(name, ()), key=lambda path: (path.count("/"), path))
