"""The languages weft reads: suffixes, a grammar, and a query that says what stands where.

A language is added by one line here, its grammar among the dependencies, a file in `queries`, a module in `readers`
and one in `resolving`.
"""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Query

QUERIES: Final = Path(__file__).parent / "queries"


class Language(Struct, frozen=True, kw_only=True):
    """One language: `grammar` is the package of its grammar, `entry` the function in it.

    The query is `queries/<query>.scm`; the modules `readers.<reader>` and `resolving.<reader>` know the rest. Dialects
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


@cache
def grammar_of(language: Language) -> tuple[Grammar, Query]:
    """The grammar and its compiled query; loaded when first needed."""
    from tree_sitter import Language as Grammar
    from tree_sitter import Query

    grammar = Grammar(getattr(importlib.import_module(language.grammar), language.entry)())
    return grammar, Query(grammar, (QUERIES / f"{language.query_name}.scm").read_text(encoding="utf-8"))
