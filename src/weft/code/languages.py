"""The languages weft reads: a suffix, a grammar, and a query that says what a symbol is.

A language is added by one line here, its grammar among the dependencies, and a file in `queries`.
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
    """One language. `grammar` is the package of its grammar; the query is `queries/<name>.scm`."""

    name: str
    suffixes: tuple[str, ...]
    grammar: str


LANGUAGES: Final[tuple[Language, ...]] = (
    Language(name="python", suffixes=(".py", ".pyi"), grammar="tree_sitter_python"),
)
SUFFIXES: Final[frozenset[str]] = frozenset(suffix for language in LANGUAGES for suffix in language.suffixes)


def language_of(path: str) -> Language | None:
    """The language of a file by its suffix, or None if weft does not read it as code."""
    suffix = PurePosixPath(path).suffix.lower()
    return next((language for language in LANGUAGES if suffix in language.suffixes), None)


@cache
def grammar_of(language: Language) -> tuple[Grammar, Query]:
    """The grammar and its compiled query; loaded when first needed."""
    from tree_sitter import Language as Grammar
    from tree_sitter import Query

    grammar = Grammar(importlib.import_module(language.grammar).language())
    return grammar, Query(grammar, (QUERIES / f"{language.name}.scm").read_text(encoding="utf-8"))
