"""What a symbol is for, in a line: its author's first sentence, or what its name, parameters and calls tell."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from weft.code.parse.summary import MAX_PURPOSE_CHARACTERS, parameter_names, purpose_of
from weft.code.parse.symbols import read_source


def purpose(text: str, *, path: str = "a.py", name: str = "", calls: Sequence[str] = ()) -> str:
    symbols = read_source(text, path).symbols
    found = next(each for each in symbols if not name or each.name == name)
    return purpose_of(found, calls)


def test_the_first_sentence_of_a_docstring_on_one_line() -> None:
    text = 'def f(x):\n    """Reads all rows\n    of a table. Slow.\n\n    More.\n    """\n'
    assert purpose(text) == "Reads all rows of a table"
    assert purpose('def f(x):\n    """Like ``g`` of :class:`Table`, e.g. for Mr. Okon. No more."""\n') == (
        "Like g of Table, e.g. for Mr. Okon"
    )


def test_lists_of_parameters_are_no_sentence() -> None:
    assert purpose('def read_rows(table):\n    """:param table: which one"""\n') == "reads rows; takes table"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def validate_token(token, key=None): pass", "validates token; takes token, key"),
        ("def is_valid(x): pass", "tells whether it is valid; takes x"),
        ("def copyFiles(): pass", "copies files"),
        ("def test_old_rows(): pass", "tests old rows"),
        ("def fast_path(): pass", "fast path"),
        ("def main(): pass", "runs the program"),
        ("class HTTPServer(Base): pass", "http server, a class"),
        ("def f(a: dict[str, int], *args, b=(1, 2), **more): pass", "f; takes a, args, b, more"),
    ],
)
def test_without_a_docstring_names_tell(text: str, expected: str) -> None:
    assert purpose(text) == expected


def test_methods_tell_of_their_class_and_what_is_called_is_named() -> None:
    text = "class Store:\n    def __init__(self, path): pass\n    def close(self): pass\n"
    assert purpose(text, name="Store.__init__") == "makes a new Store; takes path"
    assert purpose(text, name="Store.close", calls=("self.db.close", "flush()", "close", "flush", "?.strip")) == (
        "closes store; calls flush, strip"
    )


def test_it_is_never_long_and_never_empty() -> None:
    long = purpose(f'def f():\n    """{"word " * 200}"""\n')
    assert len(long) <= MAX_PURPOSE_CHARACTERS
    assert long.endswith("word…")
    assert purpose('def _(x):\n    """..."""\n')


def test_parameters_of_other_languages() -> None:
    assert parameter_names("func (s *Store) Open(ctx context.Context, name string) error") == ["Store"]
    assert parameter_names("fn open(&mut self, path: &Path, mode: Mode<A, B>) -> Result<()>") == ["path", "mode"]
    assert parameter_names("function f({ a, b }, ...rest)") == ["b", "rest"]
    assert parameter_names("class Plain") == []
