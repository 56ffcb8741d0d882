"""Plain text: headings only where they are clear."""

from __future__ import annotations

import pytest

from tests.documents.formats.outlines import outlined, sections, titles
from weft.files.document_suffixes import form_of

BODY = "Some words of text that go on for a while, and end here."


def test_underlined_lines_are_headings() -> None:
    text = f"Release notes\n=============\n\n{BODY}\n\nFixed\n-----\n{BODY}\n"
    assert sections(text, "text") == [("Release notes", 1, 1, 4), ("Fixed", 2, 6, 8)]
    assert outlined(text, "text").title == "Release notes"


def test_numbered_lines_alone_are_headings() -> None:
    text = f"1. Introduction\n\n{BODY}\n\n1.1 Scope\n\n{BODY}\n\n2. Terms\n\n{BODY}\n"
    assert [(title, level) for title, level, *_ in sections(text, "text")] == [
        ("1. Introduction", 1), ("1.1 Scope", 2), ("2. Terms", 1)
    ]  # fmt: skip


def test_lines_in_capitals_alone_are_headings() -> None:
    assert titles(f"INSTALLATION\n\n{BODY}\n\nKNOWN PROBLEMS\n\n{BODY}\n", "text") == ["INSTALLATION", "KNOWN PROBLEMS"]


@pytest.mark.parametrize(
    "text",
    [
        f"# not a heading\n\n{BODY}\n",
        "1. Milk\n\n2. Bread\n\n3. Eggs\n",
        f"STOP!\n\n{BODY}\n",
        f"WARNING: THIS IS LOUD.\n\n{BODY}\n",
        f"A B\n\n{BODY}\n",
        f"words\nCAPITALS INSIDE\n{BODY}\n",
        f"{BODY}\n\nLAST LINE\n",
        f"a\n\n----\n\n{BODY}\n",
        f"3 apples\n\n{BODY}\n",
        f"   INDENTED CAPITALS\n\n{BODY}\n",
    ],
)
def test_nothing_else_is(text: str) -> None:
    assert titles(text, "text") == []


def test_several_headings_of_one_level_are_no_title_of_the_document() -> None:
    assert outlined(f"INSTALLATION\n\n{BODY}\n\nUSAGE\n\n{BODY}\n", "text").title == ""


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("README.md", "markdown"), ("a/b/X.MARKDOWN", "markdown"), ("x.rst", "rst"), ("x.txt", "text"),
        ("library/os.rst.txt", "rst"), ("x.md.txt", "markdown"), ("x.pdf.txt", "text"), ("v1.2.txt", "text"),
        ("x.pdf", "pdf"), ("x.docx", "docx"), ("x.html", "html"), ("x.htm", "html"),
    ],
)  # fmt: skip
def test_forms_by_name(name: str, form: str) -> None:
    found = form_of(name)
    assert found is not None
    assert found.name == form


@pytest.mark.parametrize("name", ["x.py", "README", ".md", "x.doc", "x.md~", "md", "", "a.md/b"])
def test_what_is_no_document(name: str) -> None:
    assert form_of(name) is None
