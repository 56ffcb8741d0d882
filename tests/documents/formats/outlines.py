"""Outlines of texts, short enough to compare."""

from __future__ import annotations

from weft.documents.formats.read import read_outline
from weft.files.document_suffixes import FORMS, DocumentForm
from weft.text.lines import split_lines
from weft.text.markup.outline import DocumentOutline, Passage

FORM: dict[str, DocumentForm] = {form.name: form for form in FORMS}


def outlined(text: str, form: str = "markdown") -> DocumentOutline:
    return read_outline(text, FORM[form])


def sections(text: str, form: str = "markdown") -> list[tuple[str, int, int, int]]:
    """(title, level, first line, last line) of each section."""
    return [(part.title, part.level, part.line, part.end_line) for part in outlined(text, form).parts]


def titles(text: str, form: str = "markdown") -> list[str]:
    return [part.title for part in outlined(text, form).parts if part.level]


def passages(text: str, form: str = "markdown") -> list[Passage]:
    return [passage for part in outlined(text, form).parts for passage in part.passages]


def check_passages(text: str, form: str) -> set[int]:
    """Each is exactly its lines, in order, none over another. Returns the lines that they take."""
    lines = split_lines(text)
    taken: set[int] = set()
    last = 0
    for passage in passages(text, form):
        assert last < passage.line <= passage.end_line <= len(lines)
        assert passage.text == "\n".join(lines[passage.line - 1 : passage.end_line])
        assert passage.text.strip()
        taken |= set(range(passage.line, passage.end_line + 1))
        last = passage.end_line
    return taken
