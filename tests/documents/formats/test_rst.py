"""reStructuredText: titles, and blocks that hold none."""

from __future__ import annotations

import pytest

from tests.documents.formats.outlines import outlined, passages, sections, titles


def test_levels_come_from_the_order_of_styles() -> None:
    text = "====\nBook\n====\n\nChapter\n=======\n\nwords\n\nPart\n----\n\nmore\n\nNext\n====\n\nend\n"
    assert sections(text, "rst") == [("Book", 1, 1, 3), ("Chapter", 2, 5, 8), ("Part", 3, 10, 13), ("Next", 2, 15, 18)]
    assert outlined(text, "rst").title == "Book"


def test_an_underline_as_wide_as_the_title_in_columns_makes_one() -> None:
    assert titles("日本\n====\n\nx\n", "rst") == ["日本"]
    assert titles("日本\n==\n\nx\n", "rst") == []
    assert titles("Abc\n===\n\nx\n", "rst") == ["Abc"]
    assert titles("Abcd\n===\n\nx\n", "rst") == []
    assert titles("Abcdefgh\n====\n\nx\n", "rst") == ["Abcdefgh"]  # docutils warns, and takes it


@pytest.mark.parametrize(
    "block",
    [
        "Example::\n\n   Not one\n   =======\n",
        "Example::\n\n> Not one\n> =======\n",
        ".. code-block:: text\n\n   Not one\n   =======\n",
        ".. note::\n   Not one\n   =======\n",
        "- item\n\n  Not one\n  =======\n",
        "   Not one\n   =======\n",
        ">>> print('Not one')\n===========\n",
        "+-------+\n| a     |\n+-------+\n",
        "=====  =====\nA      B\n=====  =====\n1      2\n=====  =====\n",
        "==== ====\nA    B\n==== ====\n",
        "| Not one\n| -------\n",
        "term\n   Not one\n   =======\n",
        ".. a comment\n   =======\n",
        "------------\n",
    ],
)
def test_blocks_hold_no_titles(block: str) -> None:
    text = f"Title\n=====\n\n{block}\nAfter\n-----\n\nend\n"
    assert titles(text, "rst") == ["Title", "After"]


@pytest.mark.parametrize(
    ("written", "title"),
    [
        (":mod:`json` --- JSON encoder", "json --- JSON encoder"),
        ("The :class:`~collections.deque` type", "The deque type"),
        (":ref:`Generic Alias <types-genericalias>`", "Generic Alias"),
        ("The :keyword:`!if` statement", "The if statement"),
        (":pep:`654`: groups", "PEP 654: groups"),
        ("Using ``os.fork()`` here", "Using os.fork() here"),
        ("HKEY_* Constants", "HKEY_* Constants"),
        ("*Emphasis* and **more**", "Emphasis and more"),
        ("See `the docs`_", "See the docs"),
        ("Python |version|", "Python version"),
        ("Three \\* stars", "Three * stars"),
    ],
)
def test_titles_are_what_a_reader_sees(written: str, title: str) -> None:
    assert titles(f"{written}\n{'=' * 60}\n\nx\n", "rst") == [title]


def test_names_of_a_section_stand_with_its_title() -> None:
    text = "Title\n=====\n\nwords\n\n.. _part:\n.. index:: thing\n\nPart\n----\n\nmore\n"
    assert sections(text, "rst") == [("Title", 1, 1, 4), ("Part", 2, 6, 12)]
    assert [passage.text for passage in passages(text, "rst")] == ["words", "more"]


def test_a_note_of_one_line_is_in_a_passage_also_before_a_title() -> None:
    text = "Kiln\n====\n\nwords\n\n.. note:: The lid is heavy.\n\nPart\n----\n\nmore\n\n.. tip:: Wait.\n"
    assert sections(text, "rst") == [("Kiln", 1, 1, 6), ("Part", 2, 8, 13)]
    said = "\n".join(passage.text for passage in passages(text, "rst"))
    assert ".. note:: The lid is heavy." in said
    assert ".. tip:: Wait." in said


def test_a_table_without_its_end_does_not_swallow_the_document() -> None:
    assert titles("Title\n=====\n\n=== ===\na   b\n\nPart\n----\n\nx\n", "rst") == ["Title", "Part"]


def test_tabs_count_as_eight() -> None:
    assert titles("Title\n=====\n\nExample::\n\n\tNot one\n\t=======\n\nend\n", "rst") == ["Title"]
