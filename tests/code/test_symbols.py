"""Source code as symbols: what belongs to which, and what happens to files nobody should write."""

from __future__ import annotations

import time
from textwrap import dedent

import pytest

from weft.code.parse.definitions import MAX_CLASS_DEPTH
from weft.code.parse.parse import MAX_SOURCE_BYTES, QUERIES
from weft.code.parse.snippets import Snippet, python_snippet
from weft.code.parse.symbols import SourceFile, Symbol, read_source
from weft.core.errors import Invalid, TooLarge
from weft.files.languages import LANGUAGES, language_of
from weft.retrieval.citations.file_ids import MAX_SYMBOLS


def read(text: str) -> SourceFile:
    return read_source(dedent(text), "ferry.py")


def names(source: SourceFile) -> list[str]:
    return [symbol.name for symbol in source.symbols]


def one(source: SourceFile, name: str) -> Symbol:
    (found,) = [symbol for symbol in source.symbols if symbol.name == name]
    return found


FERRY = '''
"""Ferries and their docks."""

import os

LIMIT = 3


@final
class Ferry(Boat,
            Vehicle):
    """Carries people.

        Slowly.
    """

    seats: int = 12

    @property
    async def free(self) -> int:  # how many
        # a comment first
        """Seats left."""

        def count() -> int:
            return 1

        return self.seats - count()

    class Deck:
        def clean(self): ...

    colour = "white"


def sail(ferry, *, to="north"):
    return os.path


END = True
'''


# ---- what belongs to which


def test_every_symbol_has_its_own_lines() -> None:
    source = read(FERRY)
    assert names(source) == ["Ferry", "Ferry.free", "Ferry.Deck", "Ferry.Deck.clean", "sail"]
    assert [symbol.kind for symbol in source.symbols] == ["Class", "Function", "Class", "Function", "Function"]
    assert [symbol.parent for symbol in source.symbols] == [None, 0, 0, 2, None]
    assert source.language == "python"
    assert source.module_text == '"""Ferries and their docks."""\n\nimport os\n\nLIMIT = 3\nEND = True'
    lines = FERRY.split("\n")
    for symbol in source.symbols:
        assert symbol.text == "\n".join("\n".join(lines[first - 1 : last]) for first, last in symbol.spans)
        assert (symbol.line, symbol.end_line) == (symbol.spans[0][0], max(symbol.spans[-1][1], symbol.end_line))


def test_a_class_holds_its_head_without_its_methods() -> None:
    text = one(read(FERRY), "Ferry").text
    assert text.startswith("@final\nclass Ferry(Boat,\n")
    assert 'seats: int = 12\n    colour = "white"' in text
    assert "return" not in text
    assert "Deck" not in text


def test_a_function_holds_its_decorators_and_what_is_defined_in_it() -> None:
    text = one(read(FERRY), "Ferry.free").text
    assert text.startswith("    @property\n    async def free")
    assert "def count() -> int:" in text
    assert text.endswith("return self.seats - count()")


def test_heads_and_docstrings() -> None:
    source = read(FERRY)
    assert [symbol.signature for symbol in source.symbols] == [
        "class Ferry(Boat, Vehicle)",
        "async def free(self) -> int",
        "class Deck",
        "def clean(self)",
        'def sail(ferry, *, to="north")',
    ]
    assert one(source, "Ferry").docstring == "Carries people.\n\nSlowly."
    assert one(source, "Ferry.free").docstring == "Seats left."
    assert one(source, "sail").docstring == ""
    quoted = read("def a():\n    b'bytes'\ndef b():\n    f'{x}'\ndef c():\n    r'''Raw.'''\ndef d(): 'One line.'\n")
    assert [symbol.docstring for symbol in quoted.symbols] == ["", "", "Raw.", "One line."]


def test_definitions_under_conditions_are_symbols_and_the_condition_is_the_files() -> None:
    source = read(
        """
        try:
            import fast
        except ImportError:
            def fast(): return 1
        if True:
            class A:
                if True:
                    def m(self): pass
                else:
                    def m(self): return 2
        """
    )
    assert names(source) == ["fast", "A", "A.m", "A.m"]
    assert source.module_text == "try:\n    import fast\nexcept ImportError:\nif True:"
    assert one(source, "A").text == "    class A:\n        if True:\n        else:"


def test_what_is_defined_in_a_function_stays_there() -> None:
    source = read("def outer():\n    class Inner:\n        def m(self): pass\n    return Inner\n")
    assert names(source) == ["outer"]
    assert "def m(self)" in source.symbols[0].text


def test_names_that_come_again_are_all_kept() -> None:
    source = read(
        """
        @overload
        def get(x: int) -> int: ...
        @overload
        def get(x: str) -> str: ...
        def get(x): return x
        """
    )
    assert names(source) == ["get", "get", "get"]
    assert [symbol.text.count("@overload") for symbol in source.symbols] == [1, 1, 0]


# ---- how files are written


def test_line_ends_tabs_and_byte_order_marks() -> None:
    plain = "class A:\n\tx = 1\n\n\tdef f(self):\n\t\treturn '''a\n\nb'''\n"
    expected = read_source(plain, "a.py")
    assert names(expected) == ["A", "A.f"]
    for written in (plain.replace("\n", "\r\n"), plain.replace("\n", "\r"), "\ufeff" + plain):
        assert read_source(written, "a.py") == expected


def test_form_feeds_and_other_line_separators_are_no_line_ends() -> None:
    source = read_source("X = 'a\u2028b'\n\x0c\ndef f():\n    return '\x85'\n", "a.py")
    assert (one(source, "f").line, one(source, "f").end_line) == (3, 4)


def test_names_may_be_in_any_script() -> None:
    source = read_source("class Fähre:\n    def 積む(self): pass\ndef naïve(): pass\n", "a.py")
    assert names(source) == ["Fähre", "Fähre.積む", "naïve"]
    assert one(source, "Fähre.積む").text == "    def 積む(self): pass"


@pytest.mark.parametrize("text", ["", "\n\n", "   \n\t\n", "\ufeff"])
def test_a_file_of_nothing(text: str) -> None:
    source = read_source(text, "a.py")
    assert (source.module_text, source.module_spans, source.symbols) == ("", (), ())


def test_a_file_of_comments_is_all_its_own_text() -> None:
    source = read_source("# one\n\n# two\n", "a.py")
    assert (source.module_text, source.symbols) == ("# one\n\n# two", ())


# ---- files that are wrong


def test_a_file_with_errors_gives_the_symbols_that_can_be_made_out() -> None:
    source = read(
        """
        def good(): return 1

        def broken(:
            pass

        class Also:
            def fine(self):
                return 2
            x = = 3

        def last(): return 3
        """
    )
    assert {"good", "Also", "Also.fine", "last"} <= set(names(source))
    texts = [source.module_text, *(symbol.text for symbol in source.symbols)]
    assert sum(text.count("def broken(:") for text in texts) == 1
    assert sum(text.count("x = = 3") for text in texts) == 1


def test_two_definitions_on_one_line_are_one() -> None:
    source = read_source("class A: def f(self): pass\ndef g(): pass\n", "a.py")
    covered = [source.module_text, *(symbol.text for symbol in source.symbols)]
    assert sum(text.count("class A: def f") for text in covered) == 1


def test_a_symbol_never_ends_with_blank_lines() -> None:
    source = read_source("class A:\n  \\\ndef f(\n\\\n\x0c\n    \ndef f(\n\\", "a.py")
    assert [(symbol.name, symbol.line, symbol.end_line) for symbol in source.symbols] == [("A", 1, 4)]


def test_prose_is_a_file_without_symbols() -> None:
    source = read_source("We keep the ferry class for later.\nA def is short.\n", "a.py")
    assert source.symbols == ()
    assert source.module_text == "We keep the ferry class for later.\nA def is short."


# ---- bounds


def test_five_thousand_functions() -> None:
    source = read_source("".join(f"def f{n}():\n    return {n}\n\n" for n in range(5_000)), "a.py")
    assert len(source.symbols) == 5_000
    assert source.symbols[-1].text == "def f4999():\n    return 4999"
    assert source.module_text == ""


def test_a_file_that_is_too_large_is_refused_with_the_reason() -> None:
    with pytest.raises(TooLarge, match="larger than 524,288 bytes"):
        read_source("#" * (MAX_SOURCE_BYTES + 1), "a.py")
    with pytest.raises(TooLarge, match="10,000 symbols"):
        read_source("def f(): 0\n" * (MAX_SYMBOLS + 1), "a.py")


def test_classes_nest_only_so_deep() -> None:
    depth = 3 * MAX_CLASS_DEPTH
    text = "".join(f"{' ' * n}class C{n}:\n" for n in range(depth)) + " " * depth + "x = 1\n"
    source = read_source(text, "a.py")
    assert len(source.symbols) == MAX_CLASS_DEPTH
    assert f"class C{depth - 1}:" in source.symbols[-1].text


@pytest.mark.parametrize(
    "text",
    [
        "(" * 400_000,
        "not " * 100_000,
        "(" * 100_000 + ")" * 100_000,
        "\\\n" * 200_000,
        "x = 1 + \\\n" * 40_000,
        "'''a\n" * 60_000,
        "-" * 200_000 + "1",
        "lambda:" * 50_000 + "1",
        "@a\n" * 100_000,
        "def f(:\n" * 9_000,
        "class A:\n" * 9_000,
        "".join(f"{' ' * n}if x:\n" for n in range(1_000)),
        "def ok(): pass\n" + "(" * 300_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_hostile_file_takes_seconds_at_most_and_loses_nothing(text: str) -> None:
    began = time.process_time()
    source = read_source(text, "a.py")
    assert time.process_time() - began < 20, "it is quadratic: minutes on a quick machine"
    kept = source.module_text + "".join(symbol.text for symbol in source.symbols)
    assert len(kept.replace("\n", "")) >= len(text.replace("\n", "")) * 0.99


# ---- languages


def test_a_language_is_known_by_its_suffix() -> None:
    assert [language_of(path) for path in ("a/b.py", "A.PY", "stub.pyi")] == [LANGUAGES[0]] * 3
    assert [language_of(path) for path in ("a.md", "py", "a.pyc", "")] == [None] * 4
    with pytest.raises(Invalid, match="no language"):
        read_source("def f(): pass", "notes.txt")


def test_every_language_has_its_query() -> None:
    inherited = {"ecmascript"}
    assert {file.stem for file in QUERIES.iterdir()} == {language.query_name for language in LANGUAGES} | inherited


# ---- pieces of code


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('def dock(ship):\n    """Ties it up."""\n    return ship\n', ("dock", "Function", "Ties it up.")),
        ("@cache\nasync def dock(): pass", ("dock", "Function", "")),
        ("import os\n\nclass Dock:\n    'A place.'\n    def f(self): pass\n", ("Dock", "Class", "A place.")),
        ("    def method(self):\n        return 1\n", ("method", "Function", "")),
        ("# a comment\nX = 1\ndef f(): return X", ("f", "Function", "")),
        ("def f():\r\n    print 'old'\r\n", ("f", "Function", "")),
        ("if True:\n    def f(): pass\n", ("f", "Function", "")),
    ],
)
def test_a_piece_of_code_is_known_by_what_it_defines(text: str, expected: tuple[str, str, str]) -> None:
    found = python_snippet(text)
    assert found is not None
    assert (found.name, found.kind, found.docstring) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "We met at the dock.",
        "class (noun): a group of ferries",
        "def is short for definition",
        "Class struggle: a history",
        "class War: it never changes",
        "My function:\n\ndef f():\n    return 1\n",
        "user: how do I write this?\n\ndef f(): pass",
        "import os\nprint(os)\n",
        "def f(:\n    pass",
        "harbour\n\ndef f(): pass",
        "x" * (MAX_SOURCE_BYTES + 1),
    ],
)
def test_prose_and_broken_code_are_no_piece_of_code(text: str) -> None:
    assert python_snippet(text) is None


def test_prose_is_told_apart_quickly() -> None:
    prose = "The class of 1998 met, by definition, at the dock; def. a ferry. " * 1_000
    assert python_snippet("def f(): pass") == Snippet(name="f", kind="Function", docstring="")  # the grammar is loaded
    began = time.process_time()
    for _ in range(20):
        assert python_snippet(prose) is None
    assert time.process_time() - began < 0.5, "it was parsed"
