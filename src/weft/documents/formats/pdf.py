"""PDF: the text of its pages separated by form feeds, with headings at bookmarks."""

from __future__ import annotations

import io
import logging
import re
import struct
import time
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weft.core.errors import Invalid, TooLarge
from weft.text.lines import split_lines
from weft.text.markup import plain_text
from weft.text.markup.outline import Block, ParsedDocument, title_of

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

MAX_PAGES = 1_000
MAX_BOOKMARKS = 2_000
MAX_TEXT_CHARACTERS = 4_000_000
MAX_STREAM_BYTES = 10_000_000  # of one stream, unpacked
MAX_DRAWN_BYTES = 40_000_000  # of all pages, unpacked; a dense page has twenty thousand
MAX_PAGE_OPERATIONS = 100_000  # a page of dense text has some thousands
MAX_OPERATIONS = 2_000_000  # of all pages, counting shared content each time
MAX_TEXT_LINES = 100_000
MAX_READING_S = 20.0  # of processor time; a thousand pages of text take six
MAX_UNREADABLE_PAGES = 20
MAX_UNREADABLE_IN_A_ROW = 5

PAGE_BREAK = "\f"
_HINT = "print it to a new PDF, or leave it out"
_UNREADABLE = re.compile(r"\[(page \d+ could not be read|pages \d+ to \d+ were not read: [a-z ]+)\]$")
_MARKED = re.compile(r"(#{1,6}) (.+)$")
_WOULD_MARK = re.compile(rf"#{{1,6}} |{_UNREADABLE.pattern}")
_DRAWS_TEXT = re.compile(rb"T[jJ]|Do|['\"]")
_NUMBER = re.compile(r"^(?:(?:chapter|section|part)\s+)?[\dIVX]+(?:\.\d+)*[.:)]?\s+", re.IGNORECASE)
_PAGE_NUMBER = re.compile(r"(?:[-–] ?)?(?:\d{1,4}|[ivxl]{1,7})(?: ?[-–])?$")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f]")


def extract(raw: bytes) -> str:
    """The text of all pages, or of the first ones and a mark where reading stopped at a bound.

    Raises Invalid for a broken or encrypted file or one without text, TooLarge if a bound is passed before any text.
    """
    import pypdf

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it reports every small flaw on stderr
    with pypdf.apply_configuration(
        zlib_maximum_output_length=MAX_STREAM_BYTES, stream_parsing_work_maximum_count=MAX_PAGE_OPERATIONS
    ):
        try:
            reader = _opened(pypdf.PdfReader(io.BytesIO(raw)))
            pages = _Pages(reader).read()
            marks = _bookmarks(reader)
        except _broken() as error:
            raise Invalid(f"is a broken PDF file: {str(error)[:200]}", hint=_HINT) from error
    lines = [_page_lines(page, marks.get(at, ())) for at, page in enumerate(pages)]
    return f"\n{PAGE_BREAK}\n".join("\n".join(page) for page in lines) + "\n"


def _broken() -> tuple[type[Exception], ...]:
    """Exceptions of pypdf on damaged files, besides its own."""
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


class _Spent(Exception):
    """Raised inside the reading of a page when a bound is passed."""


class _Pages:
    """The pages of a file, and the cost of reading them so far. A damaged page is reported; the others are read."""

    def __init__(self, reader: PdfReader) -> None:
        self._reader = reader
        self._until = time.thread_time() + MAX_READING_S
        self._drawn = self._operations = self._characters = self._lines = 0
        self._damaged = self._damaged_in_a_row = 0

    def read(self) -> list[str]:
        """The text of each page, up to a bound. Raises if no page has text."""
        pages: list[str] = []
        total = len(self._reader.pages)
        for number, page in enumerate(self._reader.pages, start=1):
            text = self._page(number, page)
            if why := self._spent():
                pages.append(_rest(number, total, why))
                break
            pages.append(text)
            many = self._damaged >= MAX_UNREADABLE_PAGES or self._damaged_in_a_row >= MAX_UNREADABLE_IN_A_ROW
            if many and number < total:
                pages.append(_rest(number + 1, total, "too many pages before are damaged"))
                break
        self._check(pages)
        return pages

    def _page(self, number: int, page: PageObject) -> str:
        try:
            text = self._text(page)
        except _Spent:
            return ""
        except _broken():
            self._damaged += 1
            self._damaged_in_a_row += 1
            self._operations += MAX_PAGE_OPERATIONS  # the most it may have had
            return f"[page {number} could not be read]"
        self._damaged_in_a_row = 0
        return text

    def _check(self, pages: Sequence[str]) -> None:
        if any(any(map(str.isalnum, page)) and not _UNREADABLE.match(page) for page in pages):
            return
        if why := self._spent():
            raise TooLarge(f"is too large inside: stopped at page {len(pages)}, {why}", hint="split it, then again")
        if self._damaged:
            raise Invalid("is a broken PDF file: no page can be read", hint=_HINT)
        raise Invalid("has no text: scanned pages?", hint="run text recognition (OCR) on it, then ingest it again")

    def _text(self, page: PageObject) -> str:
        contents = page.get_contents()
        drawing = contents.get_data() if contents is not None else b""
        self._drawn += len(drawing)
        if self._spent() or not _DRAWS_TEXT.search(drawing):
            return ""
        text = page.extract_text(visitor_operand_before=self._count)
        self._characters += len(text)
        self._lines += text.count("\n") + 2
        return text

    def _count(self, operator: bytes, operands: Any, *_: Any) -> None:
        """Called before each operation. Raises for every following one too: pypdf catches the first inside an included
        form.
        """
        pieces = operands[0] if operator == b"TJ" and operands else ()
        self._operations += 1 + (len(pieces) if isinstance(pieces, list) else 0)
        if self._operations > MAX_OPERATIONS or time.thread_time() > self._until:
            raise _Spent

    def _spent(self) -> str:
        """The bound that was passed, in words; empty if none was."""
        if self._operations > MAX_OPERATIONS or self._drawn > MAX_DRAWN_BYTES:
            return "too much is drawn"
        if self._characters > MAX_TEXT_CHARACTERS or self._lines > MAX_TEXT_LINES:
            return "too much text"
        return "it takes too long" if time.thread_time() > self._until else ""


def _rest(first: int, last: int, why: str) -> str:
    return f"[pages {first} to {last} were not read: {why}]"


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
    """Lines of a page; one that a bookmark names is a heading between blank lines."""
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
    """Lines of a page without its page number at the top or bottom, unless it has nothing else."""
    said = [at for at, line in enumerate(lines) if line.strip()]
    for at in (said[0], said[-1]) if len(said) > 1 else ():
        if _PAGE_NUMBER.match(lines[at].strip()):
            return [*lines[:at], *lines[at + 1 :]]
    return lines


def _key(title: str) -> str:
    words = " ".join(title.split()).casefold()
    return _NUMBER.sub("", words) or words


def parse(lines: Sequence[str]) -> ParsedDocument:
    """Blocks of an extracted text: headings of bookmarks or else evident ones, pages, and the unreadable pages."""
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
            notes.append(unreadable[1])
            blocks.append(block._replace(kind="meta"))
        elif marked and block.kind == "heading":
            blocks.append(Block("paragraph", block.start, block.end))
        else:
            blocks.append(block)
    return ParsedDocument(blocks=blocks, pages=pages, notes=tuple(notes))
