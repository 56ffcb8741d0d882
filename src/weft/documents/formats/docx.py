"""DOCX: its XML is parsed as a stream, without a tree, entities, or unpacking of other members."""

from __future__ import annotations

import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from weft.core.errors import Invalid, TooLarge
from weft.documents.formats.markdown_text import MarkdownText

MAX_UNPACKED_BYTES = 40_000_000  # of the text with its markup; a long book has about 10 MB
MAX_ELEMENTS = 1_500_000  # of the text; a book of a thousand pages has half a million
MAX_NESTED = 500
_PIECE_BYTES = 1 << 16
_BODY, _STYLES = "word/document.xml", "word/styles.xml"
_HEADING = re.compile(r"heading ?([1-9])$", re.IGNORECASE)
_ENCODINGS = ("utf-8", "utf-16", "us-ascii", "iso-8859-1")  # encodings built into expat
_HINT = "open it in a word processor and save it again, or leave it out"


# Exceptions of zipfile on damaged files, besides its own.
_BROKEN = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, NotImplementedError, LookupError,
    ValueError, OSError,
)  # fmt: skip


def extract(raw: bytes) -> str:
    """Headings by style, paragraphs, lists and tables as Markdown. Raises Invalid if it is not a DOCX file, TooLarge if
    it unpacks beyond the bounds.
    """
    try:
        packed = zipfile.ZipFile(io.BytesIO(raw))
    except _BROKEN as error:
        raise Invalid("is not a DOCX file: it cannot be unpacked", hint=_HINT) from error
    with packed:
        styles = _Styles()
        if _STYLES in packed.namelist():
            _feed(packed, _STYLES, styles)
        body = _Body(styles.levels)
        _feed(packed, _BODY, body)
    text = body.written.text()
    if not text.strip():
        raise Invalid("has no text", hint="leave it out")
    return text


def _feed(packed: zipfile.ZipFile, name: str, into: _Reader) -> None:
    """Streams one member of the archive through the parser."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.XmlDeclHandler = _declared
    parser.StartDoctypeDeclHandler = _no_doctype
    parser.StartElementHandler = into.start
    parser.EndElementHandler = into.end
    parser.CharacterDataHandler = into.characters
    try:
        for piece in _pieces(packed, name):
            parser.Parse(piece)
        parser.Parse(b"", True)  # noqa: FBT003 - expat's own signature
    except expat.ExpatError as error:
        raise Invalid(f"is a broken DOCX file: {error}", hint=_HINT) from error


def _pieces(packed: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """One member of the archive up to the bound, whatever size the archive declares."""
    taken = 0
    try:
        with packed.open(name) as member:
            while (piece := member.read(_PIECE_BYTES)) and taken <= MAX_UNPACKED_BYTES:
                taken += len(piece)
                yield piece
    except _BROKEN as error:
        raise Invalid("is not a DOCX file: it cannot be unpacked", hint=_HINT) from error
    except RuntimeError as error:  # zipfile's error for an encrypted member
        raise Invalid("is encrypted", hint="save it without a password, then again") from error
    if taken > MAX_UNPACKED_BYTES:
        raise TooLarge(f"unpacks to more than {MAX_UNPACKED_BYTES:,} bytes", hint="split it, or leave it out")


def _declared(_version: str, encoding: str | None, _standalone: int) -> None:
    """Rejects encodings that expat does not know itself and would look up among Python's codecs."""
    if encoding is not None and encoding.lower() not in _ENCODINGS:
        raise Invalid(f"is not a DOCX file: its XML declares the encoding {encoding[:40]}", hint=_HINT)


def _no_doctype(*_: Any) -> None:
    """Rejects document types: Word writes none, and entities can expand to gigabytes."""
    raise Invalid("is not a DOCX file: its XML declares a document type", hint=_HINT)


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


class _Reader:
    """Handlers for expat, with bounds on depth and number of elements."""

    def __init__(self) -> None:
        self.depth = self.elements = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > MAX_NESTED:
            raise Invalid("is not a DOCX file: its XML is nested too deeply", hint=_HINT)
        self.elements += 1
        if self.elements > MAX_ELEMENTS:
            raise TooLarge(f"its XML has more than {MAX_ELEMENTS:,} elements", hint="split it, or leave it out")
        self.opened(_local(name), {_local(key): value for key, value in attributes.items()})

    def end(self, name: str) -> None:
        self.depth -= 1
        self.closed(_local(name))

    def opened(self, tag: str, attributes: dict[str, str]) -> None:
        raise NotImplementedError

    def closed(self, tag: str) -> None:
        raise NotImplementedError

    def characters(self, words: str) -> None:
        return None


class _Styles(_Reader):
    """Heading levels by style id: ids differ by language, names do not. Level 0 is the title."""

    def __init__(self) -> None:
        super().__init__()
        self.levels: dict[str, int] = {}
        self._style = ""

    def opened(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "style":
            self._style = attributes.get("styleId", "")
        elif tag == "name" and self._style:
            name = attributes.get("val", "")
            heading = _HEADING.match(name)
            if heading or name.lower() == "title":
                self.levels.setdefault(self._style, int(heading[1]) if heading else 0)
        elif tag == "outlineLvl" and self._style and attributes.get("val", "").isdigit():
            level = int(attributes["val"]) + 1
            if level <= 9:
                self.levels.setdefault(self._style, level)

    def closed(self, tag: str) -> None:
        if tag == "style":
            self._style = ""


class _Body(_Reader):
    """Paragraphs in order. Table cells are collected by row; a nested table is part of its cell's text."""

    def __init__(self, levels: dict[str, int]) -> None:
        super().__init__()
        self.written = MarkdownText()
        self._levels = levels or {f"Heading{n}": n for n in range(1, 10)}
        self._words: list[str] = []
        self._style = ""
        self._depth: int | None = None  # of a list
        self._shift = 0  # headings move one level down under a title
        self._tables = 0
        self._cells: list[list[str]] = []
        self._rows = 0
        self._in_text = self._skipped = 0

    def opened(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in ("del", "moveFrom", "Fallback", "instrText"):  # deleted text and duplicates
            self._skipped += 1
        elif tag == "tbl":
            self._tables += 1
            self._rows = self._rows if self._tables > 1 else 0
        elif tag == "tr" and self._tables == 1:
            self._cells = []
        elif tag == "tc" and self._tables == 1:
            self._cells.append([])
        elif tag == "p":
            self._style, self._depth = "", None
        elif tag == "pStyle":
            self._style = attributes.get("val", "")
        elif tag == "numPr":
            self._depth = 1 if self._depth is None else self._depth
        elif tag == "ilvl" and attributes.get("val", "").isdigit():
            self._depth = int(attributes["val"][:2]) + 1
        elif tag == "t":
            self._in_text += 1
        elif tag in ("tab", "br", "cr") and not self._skipped:
            self._words.append(" ")

    def closed(self, tag: str) -> None:
        if tag in ("del", "moveFrom", "Fallback", "instrText"):
            self._skipped -= 1
        elif tag == "t":
            self._in_text -= 1
        elif tag == "p":
            self._paragraph()
        elif tag == "tr" and self._tables == 1:
            self.written.row([" ".join(cell) for cell in self._cells], first=self._rows == 0)
            self._rows += 1
        elif tag == "tbl":
            self._tables -= 1

    def characters(self, words: str) -> None:
        if self._in_text and not self._skipped:
            self._words.append(words)

    def _paragraph(self) -> None:
        words, self._words = "".join(self._words).strip(), []
        if not words:
            return
        if self._tables:
            if self._cells:
                self._cells[-1].append(words)
            return
        level = self._levels.get(self._style)
        if level is not None:
            self._shift = 1 if level == 0 else self._shift
            self.written.heading(level + self._shift, words)
        elif self._depth is not None:
            self.written.item(words, depth=self._depth)
        else:
            self.written.paragraph(words)
