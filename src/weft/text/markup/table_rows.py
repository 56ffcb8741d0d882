"""Tables for display: a line for each row, each cell with the name of its column, so that a row can stand alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

_DELIMITER: Final = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*$")
_GRID_BORDER: Final = re.compile(r"\s*\+(?:[-=]+\+)+\s*$")
_RULE: Final = re.compile(r"\s*[=-]+(?:\s+[=-]+)*\s*$")
_BAR: Final = re.compile(r"(?<!\\)\|")


def shown_rows(lines: Sequence[str]) -> Iterator[str]:
    """The rows of a table in Markdown, or in reStructuredText as a grid or as simple columns."""
    if _GRID_BORDER.match(lines[0]):
        rows, has_header = _grid(lines)
    elif _RULE.match(lines[0]) and "=" in lines[0]:
        rows, has_header = _simple(lines)
    else:
        rows = [_cells(line) for line in lines if not _DELIMITER.match(line)]
        has_header = len(lines) > 1 and _DELIMITER.match(lines[1]) is not None
    return in_words(rows, has_header=has_header)


def in_words(rows: Sequence[Sequence[str]], *, has_header: bool) -> Iterator[str]:
    """Rows as lines: `Port: 8080 | Service: web;`. Without a header, or with nothing under it, the bare cells."""
    header, body = (rows[0], rows[1:]) if has_header and len(rows) > 1 else ((), rows)
    for number, row in enumerate(body, start=1):
        named = []
        for at, cell in enumerate(row):
            name = header[at].rstrip(":") if at < len(header) else ""
            named += [f"{name}: {cell}" if name else cell] if cell else []
        if named:
            yield " | ".join(named) + (";" if number < len(body) else "")


def _cells(line: str) -> list[str]:
    """The cells of a row between bars; an escaped bar belongs to its cell."""
    words = line.strip()
    inner = words[1:] if words.startswith("|") else words
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [" ".join(cell.replace("\\|", "|").split()) for cell in _BAR.split(inner)]


def _grid(lines: Sequence[str]) -> tuple[list[list[str]], bool]:
    """Rows between borders, whose cells may have several lines; `=` ends the header."""
    rows: list[list[str]] = []
    has_header = fresh = False
    for line in lines:
        if _GRID_BORDER.match(line):
            has_header = has_header or ("=" in line and len(rows) == 1)
            fresh = True
            continue
        cells = _cells(line)
        if fresh or not rows or len(cells) != len(rows[-1]):
            rows.append(cells)
        else:
            rows[-1] = [f"{above} {cell}".strip() for above, cell in zip(rows[-1], cells, strict=True)]
        fresh = False
    return rows, has_header


def _simple(lines: Sequence[str]) -> tuple[list[list[str]], bool]:
    """Columns under a rule of `=`; a row whose first column is empty continues the one above."""
    starts = [run.start() for run in re.finditer(r"[=-]+", lines[0])]
    ends = [*starts[1:], None]
    rows: list[list[str]] = []
    has_header = False
    for at, line in enumerate(lines[1:], start=1):
        if _RULE.match(line):
            has_header = has_header or ("=" in line and 0 < at < len(lines) - 1 and bool(rows))
            continue
        cells = [" ".join(line[start:end].split()) for start, end in zip(starts, ends, strict=True)]
        if rows and not cells[0]:
            rows[-1] = [f"{above} {cell}".strip() for above, cell in zip(rows[-1], cells, strict=True)]
        elif any(cells):
            rows.append(cells)
    return rows, has_header
