"""HTML: the visible text, parsed as HTML5, with headings, lists, tables and code as Markdown."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from weft.core.errors import Invalid, TooLarge
from weft.documents.formats.decoding import decode
from weft.documents.formats.markdown_text import MarkdownText

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

# The parser's time grows with depth × tags and with the square of one tag's attributes: both are bounded before it.
MAX_DEPTH = 1_000
MAX_MISNESTED = 3_000  # elements closed by another element's tag: parsers differ on them
MAX_TAG_CHARACTERS = 20_000  # of one tag, without the values of its attributes

_CHARSET = re.compile(rb"<meta[^>]{0,200}charset=[\"']?([\w-]{2,20})", re.IGNORECASE)
# Only encodings of web pages: Python has other codecs too ("unicode_escape", "undefined").
_CHARSET_NAMES = """
ascii utf-8 utf-16-le utf-16-be iso8859-1 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8
iso8859-9 iso8859-10 iso8859-13 iso8859-14 iso8859-15 iso8859-16 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256
cp1257 cp1258 cp866 cp874 koi8-r koi8-u mac-roman mac-cyrillic gb2312 gbk gb18030 big5 big5hkscs euc_jp iso2022_jp
shift_jis cp932 euc_kr cp949 tis-620
"""
_CHARSETS = frozenset(_CHARSET_NAMES.split())
# A comment ends where a browser ends it, which may be at once.
_COMMENT = r"<!--(?:-?>|.*?--!?>|.*)|<[!?][^>]*|</[^a-zA-Z>][^>]*"
_TAG = re.compile(rf"{_COMMENT}|<(/?)([a-zA-Z][a-zA-Z0-9-]*)", re.DOTALL)
_LONG_TAG = re.compile(rf"<[a-zA-Z][^<>]{{{MAX_TAG_CHARACTERS}}}[^<>]*")
_VALUE = re.compile(r"\"[^\"]*\"|'[^']*'")
_VOID_TAGS = "area base br col embed hr img input link meta source track wbr"
_OPTIONAL_END_TAGS = "p li dt dd option tr td th thead tbody tfoot colgroup caption html head body"
_LEFT_OUT_TAGS = """
script style template noscript svg math head nav iframe object canvas audio video select button dialog
"""
_BLOCK_TAGS = """
address article aside blockquote body caption center details dd div dl dt fieldset figcaption figure footer form header
hgroup hr html legend main ol p section summary table tbody tfoot thead tr ul
"""
_VOID = frozenset(_VOID_TAGS.split())
_OPTIONAL_END = frozenset(_OPTIONAL_END_TAGS.split())
_LEFT_OUT = frozenset(_LEFT_OUT_TAGS.split())
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_CLOSES_OTHERS = frozenset([*_BLOCKS, *_OPTIONAL_END, *_HEADINGS, "pre"])
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def extract(raw: bytes) -> str:
    """The page as Markdown, its title and description as front matter. Scripts, styles, menus and hidden elements are
    left out. Raises Invalid for a page without text, TooLarge for one beyond the bounds.
    """
    from selectolax.lexbor import LexborHTMLParser

    source = _decoded(raw)
    _check(source)
    page = LexborHTMLParser(source)
    walk = _Walk()
    walk.written.about(_about(page))
    if page.body is not None:
        walk.over(page.body)
    if not walk.said:
        raise Invalid("has no text", hint="save a page that is filled by a script from the browser first")
    return walk.written.text()


def _decoded(raw: bytes) -> str:
    """In the encoding that the page declares, else UTF-8."""
    named = _CHARSET.search(raw[:2048])
    try:
        return decode(raw)
    except Invalid:
        if named is None or b"\0" in raw:
            raise
    name = named[1].decode("ascii", "replace")
    try:
        if codecs.lookup(name).name not in _CHARSETS:
            raise LookupError(name)
        return raw.decode(name)
    except (LookupError, UnicodeDecodeError) as error:
        raise Invalid(
            f"declares the encoding {name}, but does not decode", hint="save it as UTF-8, then again"
        ) from error


def _check(source: str) -> None:
    """Raises TooLarge for a page whose elements may nest too deeply. Closing tags without an open element are ignored;
    one that closes others too is counted, as the parser may leave those open.
    """
    names: list[str] = []  # open elements in order
    opened: Counter[str] = Counter()
    depth = misnested = 0
    for closing, name in _TAG.findall(source):
        tag = name.lower()
        if not tag or tag in _VOID or (closing and not opened[tag]):
            continue
        if not closing:
            if tag in _OPTIONAL_END and names and names[-1] == tag:
                continue  # it closes the one before
            names.append(tag)
            opened[tag] += 1
            depth += tag not in _OPTIONAL_END
        else:
            above = 0
            while (last := names.pop()) != tag:
                opened[last] -= 1
                above += last not in _OPTIONAL_END or tag not in _CLOSES_OTHERS
                depth -= last not in _OPTIONAL_END
            opened[tag] -= 1
            depth -= tag not in _OPTIONAL_END
            misnested += above + 1 if above else 0
        if depth > MAX_DEPTH:
            raise TooLarge(f"nests more than {MAX_DEPTH:,} elements", hint="leave it out, or save its text")
        if misnested > MAX_MISNESTED:
            raise TooLarge(
                f"has more than {MAX_MISNESTED:,} tags that do not match", hint="leave it out, or save its text"
            )
    for long in _LONG_TAG.findall(source):
        if len(_VALUE.sub("", long)) > MAX_TAG_CHARACTERS:
            raise TooLarge("has a tag with too many attributes", hint="leave it out, or save its text")


def _about(page: Any) -> dict[str, str]:
    title = page.css_first("title")
    said = page.css_first("meta[name=description]")
    return {
        "title": title.text()[:300] if title is not None else "",
        "description": (said.attributes.get("content") or "")[:500] if said is not None else "",
    }


class _Walk:
    """Traverses the page without recursion and writes a block at the end of each element."""

    def __init__(self) -> None:
        self.written = MarkdownText()
        self.said = False
        self._words: list[str] = []
        self._lists: list[int | None] = []  # next number of each open list, None for bullets
        self._open_item = False
        self._heading = self._quotes = self._tables = self._rows = 0
        self._code: str | None = None
        self._cells: list[str] | None = None

    def over(self, top: LexborNode) -> None:
        node, depth = top, 0
        while True:
            entered = self._enter(node)
            child = node.first_child if entered else None
            if child is not None:
                node, depth = child, depth + 1
                continue
            if entered:
                self._leave(node)
            while depth and node.next is None:
                assert node.parent is not None
                node, depth = node.parent, depth - 1
                self._leave(node)
            if depth == 0 or node.next is None:
                self._flush()
                return
            node = node.next

    def _enter(self, node: LexborNode) -> bool:
        """Opens an element; False if it is omitted or not an element: then nothing is closed."""
        tag = node.tag
        if tag == "-text":
            self._text(node.text_content or "")
            return False
        if tag is None or tag[0] in "-!" or tag in _LEFT_OUT or _is_left_out(node):
            return False
        self._open(tag, node)
        return True

    def _text(self, words: str) -> None:
        self._words.append(words)

    def _open(self, tag: str, node: LexborNode) -> None:
        if tag in ("td", "th") and self._tables == 1:
            self._words = []
        elif tag == "br":
            self._words.append("\n" if self._code == "pre" else " ")
        elif tag in ("code", "kbd", "samp", "tt"):
            if self._code is None:
                self._code = tag
                self._words.append("`")
        elif tag == "img" and (alt := (node.attributes.get("alt") or "").strip()):
            self._words.append(f" {alt[:300]} ")
        elif self._tables and tag != "table":
            if tag == "tr" and self._tables == 1:
                self._cells = []
            else:
                self._words.append(" ")
        elif tag in _HEADINGS or tag in _BLOCKS or tag in ("li", "pre"):
            self._flush()
            self._open_block(tag, node)

    def _open_block(self, tag: str, node: LexborNode) -> None:
        if tag in _HEADINGS:
            self._heading = _HEADINGS[tag]
        elif tag in ("ul", "ol"):
            start = node.attributes.get("start") or "1"
            number = int(start) if start.isdigit() and len(start) < 8 else 1
            self._lists.append(number if tag == "ol" else None)
        elif tag == "li":
            self._open_item = True
        elif tag == "pre":
            self._code = "pre"
        elif tag == "blockquote":
            self._quotes += 1
        elif tag == "table":
            self._tables += 1
            self._rows = 0

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in ("code", "kbd", "samp", "tt"):
            if self._code == tag:
                self._code = None
                self._words.append("`")
        elif tag == "table" and self._tables:
            self._flush()
            self._tables -= 1
        elif self._tables:
            self._leave_cell(tag)
        elif tag in _HEADINGS or tag in _BLOCKS or tag in ("li", "pre"):
            self._flush()
            self._close_block(tag)

    def _leave_cell(self, tag: str) -> None:
        if self._tables > 1 or self._cells is None:
            return
        if tag in ("td", "th"):
            self._cells.append("".join(self._words))
            self._words = []
        elif tag == "tr":
            self.said = self.said or any(cell.strip() for cell in self._cells)
            self.written.row(self._cells, first=self._rows == 0)
            self._rows, self._cells = self._rows + 1, None

    def _close_block(self, tag: str) -> None:
        if tag in _HEADINGS:
            self._heading = 0
        elif tag in ("ul", "ol") and self._lists:
            self._lists.pop()
            self._open_item = False
        elif tag == "li":
            self._open_item = False
        elif tag == "pre":
            self._code = None
        elif tag == "blockquote":
            self._quotes = max(self._quotes - 1, 0)

    def _flush(self) -> None:
        """Writes the words since the last block as the current kind of block."""
        words, self._words = "".join(self._words), []
        if not words.strip(" \t\r\n\f`"):
            return
        self.said = True
        if self._heading:
            self.written.heading(self._heading, words)
        elif self._code == "pre":
            self.written.code(words)
        elif self._open_item:
            number = self._lists[-1] if self._lists else None
            self.written.item(words, depth=max(len(self._lists), 1), number=number)
            if number is not None:
                self._lists[-1] = number + 1
            self._open_item = False
        else:
            self.written.paragraph(words, quoted=self._quotes > 0)


def _is_left_out(node: LexborNode) -> bool:
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true" or attributes.get("role") == "navigation":
        return True
    return bool(_HIDDEN_STYLE.search(attributes.get("style") or ""))
