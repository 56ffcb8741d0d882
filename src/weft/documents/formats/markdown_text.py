"""Writer of Markdown for text extracted from other formats, so that one parser reads all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weft.core.errors import TooLarge
from weft.text.sentences import sentence_spans

MAX_LINE_CHARACTERS = 400  # longer sentences wrap
MAX_TEXT_CHARACTERS = 4_000_000  # of one document
MAX_TEXT_LINES = 100_000  # a book of a thousand pages has half of that
MAX_DEPTH = 8  # of lists, as written
MAX_CELLS = 64  # of a table's row

# Beginnings of a plain line that would start another block.
_BLOCK_START = re.compile(
    r"#{1,6}(?:\s|$)|[>|<]|[-+*](?:\s|$)|[-=*_:+\s|]+$|`{3}|~{3}|\d{1,9}[.)](?:\s|$)|\[[^\]]{0,200}\]:"
)
_RUN = re.compile(r"`+")


class MarkdownText:
    """Markdown lines, block by block, one sentence per line, so that a citation is no longer than a sentence.

    Raises TooLarge beyond MAX_TEXT_CHARACTERS or MAX_TEXT_LINES.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._size = 0
        self._row_cells = 0

    def text(self) -> str:
        """The document so far."""
        return "\n".join(self._lines) + "\n" if self._lines else ""

    def about(self, keys: dict[str, str]) -> None:
        """Writes front matter. Only at the top."""
        said = [f"{key}: {_quoted(words)}" for key, words in keys.items() if words.strip()]
        if said:
            self._write(["---", *said, "---"])

    def heading(self, level: int, words: str) -> None:
        """Writes a heading of level 1 to 6."""
        title = " ".join(words.split()).removesuffix("¶").rstrip()  # the permalink sign
        if title:
            self._block(["#" * min(max(level, 1), 6) + " " + title])

    def paragraph(self, words: str, *, quoted: bool = False) -> None:
        """Writes a paragraph, a sentence per line."""
        lines = _by_sentence(words)
        if quoted:
            self._block(["> " + line for line in lines])
        else:
            self._block([_escaped(line) for line in lines])

    def item(self, words: str, *, depth: int, number: int | None = None) -> None:
        """Writes a list item; depth 1 is the outermost."""
        lines = _by_sentence(words)
        if not lines:
            return
        marker = "- " if number is None else f"{number}. "
        indent = "  " * (min(depth, MAX_DEPTH) - 1)
        rest = indent + " " * len(marker)
        written = [indent + marker + _escaped(lines[0]), *(rest + _escaped(line) for line in lines[1:])]
        self._block(written, tight=self._last_is_item())

    def code(self, words: str) -> None:
        """Writes a code block."""
        lines = words.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
        if any(line.strip() for line in lines):
            fence = "`" * max(3, 1 + max((len(run) for run in _RUN.findall(words)), default=0))
            self._block([fence, *[line.rstrip() for line in lines], fence])

    def row(self, cells: Sequence[str], *, first: bool) -> None:
        """Writes a table row; the first one is followed by the delimiter row."""
        said = [" ".join(cell.split()).replace("|", "\\|") for cell in cells[:MAX_CELLS]]
        if not any(said):
            return
        line = "| " + " | ".join(said) + " |"
        self._block([line, "|" + " --- |" * len(said)] if first else [line], tight=not first)

    def _last_is_item(self) -> bool:
        return bool(self._lines) and bool(re.match(r" *(?:- |\d{1,9}\. | {2,}\S)", self._lines[-1]))

    def _block(self, lines: Sequence[str], *, tight: bool = False) -> None:
        if lines:
            self._write(lines if tight or not self._lines else ["", *lines])

    def _write(self, lines: Sequence[str]) -> None:
        self._size += sum(map(len, lines)) + len(lines)
        if self._size > MAX_TEXT_CHARACTERS:
            raise TooLarge(
                f"holds more than {MAX_TEXT_CHARACTERS:,} characters of text",
                hint="split it into several files, then again",
            )
        if len(self._lines) + len(lines) > MAX_TEXT_LINES:
            raise TooLarge(f"holds more than {MAX_TEXT_LINES:,} lines of text", hint="split it into several files")
        self._lines.extend(lines)


def _quoted(words: str) -> str:
    return '"' + " ".join(words.split()).replace('"', "'") + '"'


def _escaped(line: str) -> str:
    found = _BLOCK_START.match(line)
    if not found:
        return line
    at = len(found[0].rstrip()) - 1 if line[0].isdigit() else 0
    return line[:at] + "\\" + line[at:]


def _by_sentence(words: str) -> list[str]:
    """One sentence per line; longer ones wrap."""
    text = " ".join(words.split())
    lines: list[str] = []
    for start, end in sentence_spans(text):
        at = start
        while end - at > MAX_LINE_CHARACTERS:
            stop = text.rfind(" ", at + 1, at + MAX_LINE_CHARACTERS)
            if stop < 0:
                break
            lines.append(text[at:stop])
            at = stop + 1
        lines.append(text[at:end])
    return lines
