"""What is a title in reStructuredText: docutils is the judge."""

from __future__ import annotations

from typing import Any

import pytest
from docutils.core import publish_doctree
from docutils.parsers.rst import states
from hypothesis import example, given, settings
from hypothesis import strategies as st

from weft.text.markup import rst
from weft.text.markup.inline import plain_rst

LINES = [
    *[""] * 8, "Title", "Other title", "A", "ab", "=====", "-----", "====", "===", "==", "=", "--", "*****", "...",
    "- item", "* item", "+ x", "-", "1. one", "2. two", "(a) x", "a. x", "i. x", "#. auto", "b) y", "iv. x", "1.",
    "A. Einstein", "  indented", "    more", "   - x", " ", ".. note:: text", ".. comment", "..", ".. _target:",
    ".. [1] foot", "__ anon", ":field: x", ":a:", "-a  opt", "--long  x", "-x", ">>> code", ">>>", "| line", "|",
    "+----+", "| ab |", "para::", "Para one.", "> quoted", '"q', "word", "::", ".. code-block:: py", "   x = 1", "term",
    "  definition", "`ref`_", "**b**", "Ünïcode", "日本", "\ttab", ":role:`x`", "$ shell", "Title\\", "-- by someone",
]  # fmt: skip
QUIET = {
    "report_level": 5,
    "halt_level": 6,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "doctitle_xform": False,
    "docinfo_xform": False,
    "_disable_config": True,
}


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Titles that docutils finds, as it finds them; whether their levels fit is not asked."""
    found: list[str] = []

    def section(self: Any, title: str, source: str, style: Any, lineno: int, messages: Any) -> None:
        found.append(" ".join(plain_rst(title.strip()).split()))

    monkeypatch.setattr(states.RSTState, "section", section)
    return found


def test_titles_are_those_of_docutils(judged: list[str]) -> None:
    @settings(max_examples=400, deadline=None)
    @given(st.lists(st.sampled_from(LINES), max_size=12))
    @example(["::", ">>>"])
    @example(["=", "===="])
    @example(["-x", "--"])
    @example(["| ab |", "Title", "*****"])
    @example(["1. one", "====="])
    @example(["A. Einstein", "====="])
    @example(["para::", "", "> quoted", "-----"])
    def compare(lines: list[str]) -> None:
        if "#. auto" in lines:
            return  # docutils reads on where another numbering follows an automatic one; nobody writes that
        judged.clear()
        publish_doctree("\n".join(lines), settings_overrides=QUIET)
        assert [block.title for block in rst.parse(lines).blocks if block.kind == "heading"] == judged

    compare()
