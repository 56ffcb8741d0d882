"""PDF: the text of its pages, a line of a form feed between them, and headings where its bookmarks point."""

from __future__ import annotations

import io
import logging
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from weft.documents import plain_text
from weft.documents.blocks import Block, Parsed, title_of
from weft.documents.lines import split_lines
from weft.errors import Invalid, TooLarge

if TYPE_CHECKING:
    from pypdf import PdfReader

MAX_PAGES = 1_000
MAX_BOOKMARKS = 2_000
MAX_TEXT_CHARACTERS = 4_000_000
MAX_STREAM_BYTES = 10_000_000  # of one stream, unpacked
MAX_DRAWN_BYTES = 40_000_000  # of all pages, unpacked: a dense one has twenty thousand
MAX_PAGE_OPERATIONS = 100_000  # a page of dense text has some thousands
MAX_UNREADABLE_PAGES = 20

PAGE_BREAK = "\f"
_HINT = "print it to a new PDF, or leave it out"
_UNREADABLE = re.compile(r"\[page (\d+) could not be read\]$")
_MARKED = re.compile(r"(#{1,6}) (.+)$")
_WOULD_MARK = re.compile(r"#{1,6} |\[page \d+ could not be read\]$")
_NUMBER = re.compile(r"^(?:(?:chapter|section|part)\s+)?[\dIVX]+(?:\.\d+)*[.:)]?\s+", re.IGNORECASE)
_PAGE_NUMBER = re.compile(r"(?:[-–] ?)?(?:\d{1,4}|[ivxl]{1,7})(?: ?[-–])?$")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f]")


def extract(raw: bytes) -> str:
    """The text of all pages. Raises Invalid for what is broken, encrypted or without text, TooLarge past a bound."""
    import pypdf

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it reports every small flaw on stderr
    with pypdf.apply_configuration(
        zlib_maximum_output_length=MAX_STREAM_BYTES, stream_parsing_work_maximum_count=MAX_PAGE_OPERATIONS
    ):
        try:
            reader = _opened(pypdf.PdfReader(io.BytesIO(raw)))
            pages = list(_pages(reader))
            marks = _bookmarks(reader)
        except _broken() as error:
            raise Invalid(f"is a broken PDF file: {str(error)[:200]}", hint=_HINT) from error
    if not any(any(map(str.isalnum, page)) for page in pages):
        raise Invalid("holds no text: scanned pages?", hint="run a text recognition over it (OCR), then again")
    lines = [_page_lines(page, marks.get(at, ())) for at, page in enumerate(pages)]
    return f"\n{PAGE_BREAK}\n".join("\n".join(page) for page in lines) + "\n"


def _broken() -> tuple[type[Exception], ...]:
    """What pypdf lets through from a damaged file, besides its own errors."""
    from pypdf.errors import PyPdfError

    return (
        PyPdfError, ArithmeticError, AssertionError, AttributeError, EOFError, LookupError, NotImplementedError,
        RecursionError, TypeError, ValueError, struct.error, zlib.error,
    )  # fmt: skip


def _opened(reader: PdfReader) -> PdfReader:
    if reader.is_encrypted and not reader.decrypt(""):
        raise Invalid("is encrypted", hint="save it without a password, then again")
    if len(reader.pages) > MAX_PAGES:
        raise TooLarge(f"has {len(reader.pages):,} pages, more than {MAX_PAGES:,}", hint="split it, then again")
    return reader


def _pages(reader: PdfReader) -> Iterator[str]:
    """The text of each page; a damaged one says so, the others go on."""
    broken = _broken()
    size = drawn = unreadable = 0
    for number, page in enumerate(reader.pages, start=1):
        try:
            contents = page.get_contents()
            drawn += len(contents.get_data()) if contents is not None else 0
            text = page.extract_text() if drawn <= MAX_DRAWN_BYTES else ""
        except broken as error:
            unreadable += 1
            if unreadable > MAX_UNREADABLE_PAGES:
                raise Invalid(f"is a broken PDF file: {unreadable} pages cannot be read", hint=_HINT) from error
            text = f"[page {number} could not be read]"
        size += len(text)
        if size > MAX_TEXT_CHARACTERS or drawn > MAX_DRAWN_BYTES:
            raise TooLarge(f"is too large inside: stopped at page {number}", hint="split it, then again")
        yield text


def _bookmarks(reader: PdfReader) -> dict[int, list[tuple[int, str]]]:
    """(level, title) of the bookmarks of each page, from 0; none if they are damaged."""
    found: dict[int, list[tuple[int, str]]] = {}
    try:
        waiting: list[tuple[int, Any]] = [(1, entry) for entry in reversed(reader.outline)]
        count = 0
        while waiting and count < MAX_BOOKMARKS:
            level, entry = waiting.pop()
            if isinstance(entry, list):
                waiting.extend((level + 1, inner) for inner in reversed(entry))
                continue
            count += 1
            page = reader.get_destination_page_number(entry)
            if page is not None and page >= 0 and entry.title:
                found.setdefault(page, []).append((min(level, 6), str(entry.title)))
    except _broken():
        return {}
    return found


def _page_lines(page: str, marks: Sequence[tuple[int, str]]) -> list[str]:
    """Lines of a page; one that a bookmark names is a heading, alone between blank lines."""
    wanted = {_key(title): level for level, title in marks}
    lines: list[str] = []
    for line in _without_number(split_lines(page)):
        words = _CONTROLS.sub("", line).rstrip()
        level = wanted.pop(_key(words), None) if wanted else None
        if level is not None:
            lines.extend(["", "#" * level + " " + words.strip(), ""])
        elif _WOULD_MARK.match(words) and not _UNREADABLE.match(page):
            lines.append("\\" + words)
        else:
            lines.append(words)
    return lines


def _without_number(lines: list[str]) -> list[str]:
    """Lines of a page without its own number at the top or at the bottom, unless it holds nothing else."""
    said = [at for at, line in enumerate(lines) if line.strip()]
    for at in (said[0], said[-1]) if len(said) > 1 else ():
        if _PAGE_NUMBER.match(lines[at].strip()):
            return [*lines[:at], *lines[at + 1 :]]
    return lines


def _key(title: str) -> str:
    words = " ".join(title.split()).casefold()
    return _NUMBER.sub("", words) or words


def parse(lines: Sequence[str]) -> Parsed:
    """What `extract` wrote: headings of bookmarks or else clear ones, pages, and which of them could not be read."""
    pages = [0, *[at + 1 for at, line in enumerate(lines) if line == PAGE_BREAK]]
    found = plain_text.parse(lines).blocks
    marked = any(block.end - block.start == 1 and _MARKED.match(lines[block.start]) for block in found)
    blocks: list[Block] = []
    notes: list[str] = []
    for block in found:
        alone = lines[block.start] if block.end - block.start == 1 else ""
        heading = _MARKED.match(alone)
        if heading:
            blocks.append(block._replace(kind="heading", title=title_of(heading[2]), level=len(heading[1])))
        elif unreadable := _UNREADABLE.match(alone):
            notes.append(f"page {unreadable[1]} could not be read")
            blocks.append(block._replace(kind="meta"))
        elif marked and block.kind == "heading":
            blocks.append(Block("paragraph", block.start, block.end))
        else:
            blocks.append(block)
    return Parsed(blocks=blocks, pages=pages, notes=tuple(notes))
