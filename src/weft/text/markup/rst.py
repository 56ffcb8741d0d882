"""reStructuredText: titles and top-level blocks by the block rules of docutils, in one linear pass.

The content of blocks is not parsed. Decision 25 compares docutils and tree-sitter, which are too slow or not exact;
tests compare the titles with those of docutils.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from weft.text.markup.inline import plain_rst
from weft.text.markup.outline import Block, Kind, ParsedDocument, title_of

MIN_ADORNMENT = 4  # a shorter line of punctuation under a longer title is text

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1* *$")
_BULLET = re.compile(r"[-+*\u2022\u2023\u2043](?: |$)")
_ENUMERATOR = re.compile(r"(?P<open>\(?)(?P<count>[0-9]+|[a-zA-Z]|[ivxlcdm]+|[IVXLCDM]+|#)(?P<close>[.)])(?: |$)")
_FIELD = re.compile(r":(?![: ])(?:[^:\\]|\\.|:(?!(?:[ `]|$)))*(?<! ):(?: |$)")
_OPTION_ARGUMENT = r"(?:[a-zA-Z][a-zA-Z0-9_-]*|<[^<>]+>)"
_ONE_OPTION = (
    rf"(?:[-+][a-zA-Z0-9](?: ?{_OPTION_ARGUMENT})?|(?:--|/)[a-zA-Z0-9][a-zA-Z0-9_-]*(?:[ =]{_OPTION_ARGUMENT})?)"
)
_OPTION = re.compile(rf"{_ONE_OPTION}(?:, {_ONE_OPTION})*(?:  | ?$)")
_LINE_BLOCK = re.compile(r"\|(?: |$)")
_GRID_TABLE = re.compile(r"\+-[-+]+-\+ *$")
_SIMPLE_TABLE = re.compile(r"=+(?: +=+)+ *$")
_SIMPLE_BORDER = re.compile(r"=+[ =]*$")
_DIRECTIVE = re.compile(r"\.\. +(?:\|[^|]+\| +)?([\w.:+-]+?) ?::(?: |$)")
_CODE_DIRECTIVES = frozenset({"code", "code-block", "sourcecode", "parsed-literal", "doctest", "testcode"})
_SUBSTITUTION = re.compile(r"\.\. +\|")
# Directives whose argument is not displayed.
SILENT_DIRECTIVES = frozenset(
    {
        "contents", "currentmodule", "default-role", "highlight", "image", "include", "index", "meta", "module", "role",
        "tabularcolumns",
    }
)  # fmt: skip
_LITERAL_NEXT = re.compile(r"(?<!\\)(?:\\\\)*::$")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_ROMAN_STEPS = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_ROMAN_NUMBER = re.compile(r"(?i)M{0,4}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})$")


def parse(lines: Sequence[str]) -> ParsedDocument:
    """Blocks of the document; the level of a title is the order in which its style first occurs."""
    return _Scan(lines).run()


class _Scan:
    """One pass over the lines. `at` is the next line; every step advances it."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = [line.expandtabs(8).replace("\f", " ").replace("\v", " ").rstrip() for line in lines]
        if self.lines:
            self.lines[0] = self.lines[0].removeprefix("\ufeff")
        self.at = 0
        self.blocks: list[Block] = []
        self.styles: dict[str, int] = {}

    def run(self) -> ParsedDocument:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line:
                self.at += 1
            elif line[0] == " ":
                self._take("quote", self._indented_end(self.at))
            else:
                self._step_for(line)(line)
        return ParsedDocument(blocks=self.blocks)

    def _step_for(self, line: str) -> Callable[[str], None]:
        """The step for the block that begins with this line, in the order of docutils."""
        if line[0].isalpha() and line[1:2] not in (".", ")") and not _ENUMERATOR.match(line):
            return self._text  # most lines: only enumerators begin with a letter
        if _BULLET.match(line):
            return self._bullets
        if self._is_enumerated(self.at):
            return self._enumerated
        if _FIELD.match(line):
            return self._fields
        if self._is_option(self.at):
            return self._options
        if line.startswith(">>> ") or line == ">>>":
            return self._doctest
        if _LINE_BLOCK.match(line):
            return self._line_block
        if _GRID_TABLE.match(line):
            return self._grid_table
        if _SIMPLE_TABLE.match(line):
            return self._simple_table
        if line.startswith((".. ", "__ ")) or line in ("..", "__"):
            return self._explicit
        return self._adorned if _ADORNMENT.match(line) else self._text

    def _take(self, kind: Kind, end: int) -> None:
        self.blocks.append(Block(kind, self.at, end))
        self.at = end

    def _indented_end(self, at: int) -> int:
        """The line after the indented block at a line, including blank lines inside."""
        lines, end = self.lines, at
        while at < len(lines) and (not lines[at] or lines[at][0] == " "):
            at += 1
            if lines[at - 1]:
                end = at
        return end

    def _text_end(self, at: int) -> int:
        while at < len(self.lines) and self.lines[at]:
            at += 1
        return at

    # lists: items at the margin, each with what is indented under it

    def _bullets(self, line: str) -> None:
        self._items(lambda at: self.lines[at][0] == line[0] and bool(_BULLET.match(self.lines[at])))

    def _enumerated(self, line: str) -> None:
        self._items(self._is_enumerated)

    def _fields(self, line: str) -> None:
        self._items(lambda at: bool(_FIELD.match(self.lines[at])))

    def _options(self, line: str) -> None:
        self._items(self._is_option)

    def _line_block(self, line: str) -> None:
        self._items(lambda at: bool(_LINE_BLOCK.match(self.lines[at])))

    def _items(self, is_item: Callable[[int], bool]) -> None:
        """The item at this line and those that follow at the margin."""
        end = at = self.at
        while at < len(self.lines) and (at == self.at or (self.lines[at][0] != " " and is_item(at))):
            end = at = max(self._indented_end(at + 1), at + 1)
            while at < len(self.lines) and not self.lines[at]:
                at += 1
        self._take("list", end)

    def _is_option(self, at: int) -> bool:
        """Whether a line is an option with a description on it or indented under it."""
        found = _OPTION.match(self.lines[at])
        return bool(found and (found.end() < len(self.lines[at]) or self._indented_end(at + 1) > at + 1))

    def _is_enumerated(self, at: int) -> bool:
        """Whether a line is an enumerated item: the next line must be blank, indented or the next number."""
        found = _ENUMERATOR.match(self.lines[at])
        number = _ordinal(found["count"]) if found and not (found["open"] and found["close"] == ".") else None
        if found is None or number is None:
            return False
        if at + 1 >= len(self.lines) or not self.lines[at + 1] or self.lines[at + 1][0] == " ":
            return True
        after = _next_count(found["count"], number)
        return self.lines[at + 1].startswith(
            tuple(f"{found['open']}{count}{found['close']} " for count in (after, "#"))
        )

    # blocks

    def _doctest(self, line: str) -> None:
        self._take("code", self._text_end(self.at))

    def _grid_table(self, line: str) -> None:
        """Up to its last border; without one, up to a blank line."""
        end = self.at
        while end < len(self.lines) and self.lines[end][:1] in ("+", "|"):
            end += 1
        self._take("table", max(end, self.at + 1))

    def _simple_table(self, line: str) -> None:
        """Up to its second border, or third if the second ends the head and is followed by more rows."""
        borders, at, width = 0, self.at + 1, len(line)
        last = None
        while at < len(self.lines):
            if _SIMPLE_BORDER.match(self.lines[at]) and self.lines[at]:
                if len(self.lines[at]) != width:
                    last = at
                    break
                borders, last = borders + 1, at
                if borders == 2 or at + 1 >= len(self.lines) or not self.lines[at + 1]:
                    break
            at += 1
        self._take("table", last + 1 if last is not None else self._text_end(self.at))

    def _explicit(self, line: str) -> None:
        """A directive, comment, footnote or target with the block indented under it."""
        end = self._indented_end(self.at + 1)
        directive = _DIRECTIVE.match(line)
        if line in ("..", "__") and self.at + 1 < len(self.lines) and not self.lines[self.at + 1]:
            end = self.at + 1  # an empty comment does not include the block after a blank line
        if directive and directive[1].lower() in _CODE_DIRECTIVES:
            kind: Kind = "code"
        elif directive and (any(self.lines[self.at + 1 : end]) or _displays(line, directive)):
            kind = "directive"
        else:
            kind = "label"
        self._take(kind, max(end, self.at + 1))

    # titles and text

    def _adorned(self, line: str) -> None:
        """A line of punctuation: the overline of a title, a transition, or text if it is short."""
        lines, at = self.lines, self.at
        second = lines[at + 1] if at + 1 < len(lines) else ""
        third = lines[at + 2] if at + 2 < len(lines) else ""
        short = len(line) < MIN_ADORNMENT
        titled = second and third == line and not _ADORNMENT.match(second)
        if titled and (not short or _width(second) <= len(line)):
            self._heading(second.strip(), line[0] * 2, at + 3)
        elif short:
            self._text(line)
        elif not second:
            self._take("rule", at + 1)
        else:  # an overline without its title
            self._take("paragraph", min(at + (2 if _ADORNMENT.match(second) else 3), len(lines)))

    def _heading(self, title: str, style: str, end: int) -> None:
        level = self.styles.setdefault(style, len(self.styles) + 1)
        start = self.at
        while self.blocks and self.blocks[-1].kind == "label" and not any(self.lines[self.blocks[-1].end : start]):
            start = self.blocks.pop().start  # targets of this section before its title
        self.blocks.append(Block("heading", start, end, title_of(plain_rst(title)) or title_of(title), level))
        self.at = end

    def _text(self, line: str) -> None:
        """A title if underlined, a definition list if the next line is indented, else a paragraph."""
        following = self.lines[self.at + 1] if self.at + 1 < len(self.lines) else ""
        if following[:1] == " ":
            self._definitions()
        elif following and _ADORNMENT.match(following):
            if len(following) >= MIN_ADORNMENT or _width(line) <= len(following):
                self._heading(line, following[0], self.at + 2)
            else:
                self._paragraph()
        else:
            self._paragraph()

    def _definitions(self) -> None:
        self._take("list", max(self._indented_end(self.at + 1), self.at + 1))

    def _paragraph(self) -> None:
        """Up to a blank or an indented line; `::` is followed by a literal block, indented or quoted."""
        lines, end = self.lines, self.at + 1
        while end < len(lines) and lines[end] and lines[end][0] != " ":
            end += 1
        literal = bool(_LITERAL_NEXT.search(lines[end - 1]))
        self._take("paragraph", end)
        if not literal:
            return
        at = end
        while at < len(lines) and not lines[at]:
            at += 1
        if at >= len(lines):
            return
        if lines[at][0] == " ":
            self.at = at
            self._take("code", self._indented_end(at))
        elif at > end and _ADORNMENT.match(lines[at][0]):
            quote, stop = lines[at][0], at
            while stop < len(lines) and lines[stop][:1] == quote:
                stop += 1
            self.at = at
            self._take("code", stop)


def _displays(line: str, directive: re.Match[str]) -> bool:
    """Whether a directive of one line displays words, such as a note."""
    name = directive[1].rpartition(":")[2].lower()
    return directive.end() < len(line) and name not in SILENT_DIRECTIVES and not _SUBSTITUTION.match(line)


def _width(text: str) -> int:
    """Width of a text in columns."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _ordinal(count: str) -> int | None:
    """The value of an enumerator: a number, a letter, or a Roman numeral."""
    if count == "#":
        return 1
    if count.isdigit():
        return int(count) if len(count) < 10 else None
    if len(count) == 1 and count not in "iI":
        return ord(count.lower()) - ord("a") + 1
    return _roman_value(count) if _ROMAN_NUMBER.match(count) else None


def _roman_value(count: str) -> int:
    values = [_ROMAN[digit] for digit in count.lower()]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))


def _next_count(count: str, number: int) -> str:
    """The enumerator of the next item."""
    if count == "#":
        return "2"
    if count.isdigit():
        return str(number + 1)
    if len(count) == 1 and count not in "iI":
        return chr(ord(count) + 1)
    digits = ""
    rest = number + 1
    for value, letters in _ROMAN_STEPS:
        digits += letters * (rest // value)
        rest %= value
    return digits if count.islower() else digits.upper()
