"""Rust: what was asked of a project, kept so that it can be asked again.

Crates and modules are worked out once for a project. Every file that rests on them has to ask what they came from, or
it would not be resolved again when that changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from weft.code.facts import FileFacts
from weft.code.resolving import Project

Ask = tuple[Literal["facts", "exists", "folder", "folders", "text", "settings"], str]


class Noted:
    """A project that notes what it is asked."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self.asks: dict[Ask, None] = {}

    def facts(self, path: str) -> FileFacts | None:
        self.asks["facts", path] = None
        return self._project.facts(path)

    def exists(self, path: str) -> bool:
        self.asks["exists", path] = None
        return self._project.exists(path)

    def folder(self, path: str) -> Sequence[str]:
        self.asks["folder", path] = None
        return self._project.folder(path)

    def folders(self, path: str) -> Sequence[str]:
        self.asks["folders", path] = None
        return self._project.folders(path)

    def text(self, path: str) -> str | None:
        self.asks["text", path] = None
        return self._project.text(path)

    def settings(self, name: str) -> Sequence[str]:
        self.asks["settings", name] = None
        return self._project.settings(name)


def ask_again(project: Project, asks: Iterable[Ask]) -> None:
    """Asks all of it, and leaves the answers: they are known."""
    for what, about in asks:
        getattr(project, what)(about)
