"""Resolves facts: the file that an import names, the definition that a call reaches.

One module a language, with one function `resolve`. Only what the source shows counts: imports, packages, declared and
constructed types, `self`. What cannot be told stays unresolved and is counted; nothing is matched by its bare name.
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
    """The target of a link: a definition (`path` and `key`), a file (`path` alone), or a package outside (`external`).

    `external` is the name of a package or module that is not part of the project: `numpy`, `node:fs`, `java.util`.
    """

    path: str = ""
    key: str = ""
    external: str = ""


class Link(Struct, frozen=True, array_like=True, gc=False):
    """One relation: from a definition of the file (by its key; empty for the file itself) to a target, as of a line."""

    key: str
    relation: Relation
    target: Target
    line: int


class FileLinks(Struct, frozen=True, kw_only=True):
    """The links of a file, each once, with its first line.

    `unresolved` are references that may mean something in the project and could not be told (chain and line, as in the
    facts); `outside` counts those that are known to mean something outside: builtins, other packages.
    """

    links: tuple[Link, ...] = ()
    unresolved: tuple[tuple[str, int], ...] = ()
    outside: int = 0


class Project(Protocol):
    """The files of a workspace as far as a resolver may look at them. All paths are relative to its root, with slashes.

    Whatever is asked is remembered: when one of these files or folders changes (comes, goes), the file that is being
    resolved is resolved again. So ask for what matters, and nothing else.
    """

    def facts(self, path: str) -> FileFacts | None:
        """The facts of a source file; None if there is none by that path, or it is in no known language."""
        ...

    def exists(self, path: str) -> bool:
        """Whether there is a source file by that path."""
        ...

    def folder(self, path: str) -> Sequence[str]:
        """The paths of the source files directly in a folder, sorted; the root is an empty path."""
        ...

    def folders(self, path: str) -> Sequence[str]:
        """The paths of the folders directly in a folder that hold source files at any depth, sorted."""
        ...

    def text(self, path: str) -> str | None:
        """The text of a file that says how the project is built: tsconfig.json, package.json, go.mod, Cargo.toml."""
        ...

    def settings(self, name: str) -> Sequence[str]:
        """The paths of all files of that name (`go.mod`, `package.json`) in the workspace, the shortest first."""
        ...


Resolve = Callable[[FileFacts, Project], FileLinks]


@cache
def resolver_of(language: Language) -> Resolve:
    """The resolver of a language; loaded when first needed."""
    resolve: Resolve = importlib.import_module(f"{__name__}.{language.reader_name}.resolver").resolve
    return resolve


def resolve(facts: FileFacts, project: Project) -> FileLinks:
    """The links of a file."""
    language = next(each for each in LANGUAGES if each.name == facts.language)
    return resolver_of(language)(facts, project)
