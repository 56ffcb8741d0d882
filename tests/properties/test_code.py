"""Source code: whatever a file holds, every line that is not blank is kept exactly once, where it stood."""

from __future__ import annotations

import ast
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from weft.code.parse.symbols import SourceFile, read_source

NAMES = st.sampled_from(("f", "g", "get", "Ferry", "_x", "é", "積む"))
SIMPLE = st.sampled_from(
    (
        "x = 1",
        "# a comment",
        "import os",
        "'''text\n\n  # more\n'''",
        "y = (1,\n     2)",
        "pass; z = 3",
        "s = 'a\u2028b'",
        "",
    )
)


def indented(lines: list[str], by: str) -> list[str]:
    """Every statement one step further in. Lines inside a string stay as they are: only the first is moved."""
    return [f"{by}{line}" if line else line for line in lines]


@st.composite
def blocks(draw: st.DrawFn, depth: int) -> list[str]:
    """Statements of one level, each a string of one line or more."""
    made: list[str] = []
    for _ in range(draw(st.integers(0, 4))):
        made += draw(statements(depth))
    return made


@st.composite
def statements(draw: st.DrawFn, depth: int) -> list[str]:
    if depth == 0 or draw(st.booleans()):
        return [draw(SIMPLE)]
    head = draw(
        st.sampled_from(
            ("def {}(self):", "async def {}():", "class {}:", "class {}(A,\n  B):", "if x:", "try:", "with y:")
        )
    ).format(draw(NAMES))
    decorators = (
        draw(st.lists(st.sampled_from(("@a", "@b(1,\n 2)")), max_size=2)) if "def" in head or "class" in head else []
    )
    by = draw(st.sampled_from(("    ", "\t", " ")))
    body = [*draw(blocks(depth - 1)), "pass"]
    tail = ["finally:", f"{by}pass"] if head == "try:" else []
    return [*decorators, head, *indented(body, by), *tail]


MODULES = blocks(3).map("\n".join)
GARBAGE = st.lists(
    st.sampled_from(
        ("def f(", "class A:", "  def m(self):", "\tpass", "))", "'''", "@a", "else:", "x = [", "def g(): 0", "\\", "")
    )
).map("\n".join) | st.text(st.sampled_from("defclas \n\t\r:()@\"'#\\\x0cé"), max_size=60)


def assert_kept_once(text: str, source: SourceFile) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff").split("\n")
    pieces = [(source.module_text, source.module_spans), *((each.text, each.spans) for each in source.symbols)]
    covered: Counter[int] = Counter()
    for words, spans in pieces:
        numbers = [number for first, last in spans for number in range(first, last + 1)]
        assert "\n".join(lines[number - 1] for number in numbers) == words
        covered.update(numbers)
    assert max(covered.values(), default=1) == 1
    left_out = set(range(1, len(lines) + 1)) - set(covered)
    assert [lines[number - 1] for number in sorted(left_out) if lines[number - 1].strip()] == []
    for symbol in source.symbols:
        assert symbol.line == symbol.spans[0][0], "it begins with its own first line"
        assert symbol.spans[-1][1] <= symbol.end_line
        assert lines[symbol.end_line - 1].strip(), "it ends with a line that says something"


@settings(max_examples=100, deadline=None)
@given(MODULES, st.sampled_from(("\n", "\r\n", "\r")))
def test_no_line_of_a_module_is_lost_or_kept_twice(text: str, line_end: str) -> None:
    assert_kept_once(text.replace("\n", line_end), read_source(text.replace("\n", line_end), "a.py"))


@settings(max_examples=100, deadline=None)
@given(GARBAGE)
def test_no_line_of_garbage_is_lost_or_kept_twice(text: str) -> None:
    assert_kept_once(text, read_source(text, "a.py"))


@settings(max_examples=100, deadline=None)
@given(MODULES)
def test_symbols_are_those_that_python_sees(text: str) -> None:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    expected: list[tuple[str, str, int, int]] = []

    def visit(node: ast.AST, around: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                name = f"{around}{child.name}"
                kind = "Class" if isinstance(child, ast.ClassDef) else "Function"
                first = min([child.lineno, *(each.lineno for each in child.decorator_list)])
                assert child.end_lineno is not None
                expected.append((name, kind, first, child.end_lineno))
                if kind == "Class":
                    visit(child, f"{name}.")
            else:
                visit(child, around)

    visit(tree, "")
    found = [(each.name, each.kind, each.line, each.end_line) for each in read_source(text, "a.py").symbols]
    assert found == sorted(expected, key=lambda each: each[2])
