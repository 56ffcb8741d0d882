"""Resolves facts: the file that an import names, the definition that a call reaches.

One module per language, with one function `resolve`. Only evidence in the source counts: imports, packages, declared
and constructed types, `self`. Ambiguous references stay unresolved and are counted; nothing is matched by its bare
name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal, Protocol

from msgspec import Struct

from weft.code.parse.facts import FileFacts
from weft.files.languages import LANGUAGES, Language

Relation = Literal["IMPORTS", "DEPENDS_ON", "CALLS", "EXTENDS", "IMPLEMENTS", "TESTS"]


class Target(Struct, frozen=True, array_like=True, gc=False):
    """The target of a link: a definition (`path` and `key`), a file (`path` alone), or an external package.

    `external` is the name of a package or module outside the project: `numpy`, `node:fs`, `java.util`.
    """

    path: str = ""
    key: str = ""
    external: str = ""


class Link(Struct, frozen=True, array_like=True, gc=False):
    """One relation: from a definition of the file (its key; empty for the file itself) to a target, with its line."""

    key: str
    relation: Relation
    target: Target
    line: int


class FileLinks(Struct, frozen=True, kw_only=True):
    """The links of a file, each once, with its first line.

    `unresolved` are references that may mean something in the project but are ambiguous (chain and line, as in the
    facts); `outside` counts those to builtins and other packages.
    """

    links: tuple[Link, ...] = ()
    unresolved: tuple[tuple[str, int], ...] = ()
    outside: int = 0


class Project(Protocol):
    """The files of a workspace for a resolver. All paths are relative to its root, with slashes.

    Every query is recorded: when one of these files or folders changes, appears or disappears, the file being resolved
    is resolved again. So query only what is needed.
    """

    def facts(self, path: str) -> FileFacts | None:
        """The facts of a source file; None for a missing file or an unsupported language."""
        ...

    def exists(self, path: str) -> bool: ...

    def folder(self, path: str) -> Sequence[str]:
        """The paths of the source files directly in a folder, sorted; the root is an empty path."""
        ...

    def folders(self, path: str) -> Sequence[str]:
        """The paths of the folders directly in a folder that hold source files at any depth, sorted."""
        ...

    def text(self, path: str) -> str | None:
        """The text of a project file: tsconfig.json, package.json, go.mod, Cargo.toml."""
        ...

    def settings(self, name: str) -> Sequence[str]:
        """The paths of all files of that name (`go.mod`, `package.json`) in the workspace, the shortest first."""
        ...


Resolve = Callable[[FileFacts, Project], FileLinks]


@cache
def resolver_of(language: Language) -> Resolve:
    """The resolver of a language; loaded lazily."""
    resolve: Resolve = importlib.import_module(f"{__name__}.{language.reader_name}.resolver").resolve
    return resolve


def resolve(facts: FileFacts, project: Project) -> FileLinks:
    """The links of a file."""
    language = next(each for each in LANGUAGES if each.name == facts.language)
    return resolver_of(language)(facts, project)
