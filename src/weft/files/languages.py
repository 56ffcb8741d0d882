"""The languages that weft reads as code: their suffixes, grammars and queries.

A language is one line here, its grammar among the dependencies, a query, a reader and a resolver in `weft.code`: see
"Adding a language" in docs/code.md.
"""

from __future__ import annotations

from functools import cache
from pathlib import PurePosixPath
from typing import Final

from msgspec import Struct


class Language(Struct, frozen=True, kw_only=True):
    """One language: `grammar` is the package of its grammar, `entry` the function in it.

    The query is `queries/<query>.scm`; the packages `readers.<reader>` and `resolve.<reader>` do the rest. Dialects
    that differ in their grammar alone share them.
    """

    name: str
    suffixes: tuple[str, ...]
    grammar: str
    entry: str = "language"
    query: str = ""
    reader: str = ""

    @property
    def query_name(self) -> str:
        """The name of its query's file."""
        return self.query or self.name

    @property
    def reader_name(self) -> str:
        """The name of the modules that read and resolve it."""
        return self.reader or self.name


LANGUAGES: Final[tuple[Language, ...]] = (
    Language(name="python", suffixes=(".py", ".pyi"), grammar="tree_sitter_python"),
    Language(name="go", suffixes=(".go",), grammar="tree_sitter_go"),
    Language(name="java", suffixes=(".java",), grammar="tree_sitter_java"),
    Language(name="rust", suffixes=(".rs",), grammar="tree_sitter_rust"),
    Language(
        name="javascript",
        suffixes=(".js", ".mjs", ".cjs", ".jsx"),
        grammar="tree_sitter_javascript",
        reader="ecmascript",
    ),
    Language(
        name="typescript",
        suffixes=(".ts", ".mts", ".cts"),
        grammar="tree_sitter_typescript",
        entry="language_typescript",
        reader="ecmascript",
    ),
    Language(
        name="tsx",
        suffixes=(".tsx",),
        grammar="tree_sitter_typescript",
        entry="language_tsx",
        query="typescript",
        reader="ecmascript",
    ),
)
SUFFIXES: Final[frozenset[str]] = frozenset(suffix for language in LANGUAGES for suffix in language.suffixes)


def language_of(path: str) -> Language | None:
    """The language of a file by its suffix, or None if weft does not read it as code."""
    suffix = PurePosixPath(path).suffix.lower()
    return _by_suffix().get(suffix)


@cache
def _by_suffix() -> dict[str, Language]:
    return {suffix: language for language in LANGUAGES for suffix in language.suffixes}
