"""Plain text of Markdown and reStructuredText for display: without markup, code with its lines in fences.

Nothing stored uses this: chunks, citations and embeddings are of the source text.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from weft.text.lines import split_lines
from weft.text.markup import markdown, rst
from weft.text.markup.inline import plain_markdown, plain_rst
from weft.text.markup.outline import Block, covering
from weft.text.markup.table_rows import in_words, shown_rows

MAX_DEPTH: Final = 12  # nested lists and directives; deeper ones keep their markup
_FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})")
_MARKER: Final = re.compile(r"(?:[-*+•‣⁃]|\(?(?:\d{1,9}|#|[a-zA-Z])[.)]) +(?=\S)")
_BORDER: Final = re.compile(r"[\s|+=:-]*$")
_FIELD: Final = re.compile(r":([^:`\n]{1,100}):(?=\s|$)")
_DIRECTIVE: Final = re.compile(r"\.\. +(?:\|[^|]+\| +)?(?:\w+:)?([\w-]+)::\s*(.*)$")
_OPTION: Final = re.compile(r"\s+:[\w-]+:(?:\s|$)")
_BACKTICKS: Final = re.compile(r"`+")
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,20}")
_HEADER_ROWS: Final = re.compile(r"^\s+:header-rows:\s*[1-9]", re.MULTILINE)
_CODE: Final = ("code", "code-block", "sourcecode", "parsed-literal", "doctest", "testcode", "math")
_ROW: Final = re.compile(r"([*+-] +)[*+-](?: +|$)")
_CELL: Final = re.compile(r"( +)[*+-](?: +|$)")
_ADMONITIONS: Final = (
    "attention",
    "caution",
    "danger",
    "error",
    "hint",
    "important",
    "note",
    "seealso",
    "tip",
    "warning",
)
_VERSIONS: Final = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}


def plain_lines(text: str, form: str) -> list[str]:
    """The lines of a passage as a reader sees them; unchanged for formats without markup.

    Headings lose their adornments, roles and links show their text, admonitions and version notes are written out, link
    targets and comments are left out. Lines of code are verbatim, in a fence. Never raises.
    """
    lines = split_lines(text)
    if form not in ("markdown", "docx", "html", "rst"):
        return lines
    found = list(_plain(lines, is_rst=form == "rst", depth=0))
    while found and not found[-1]:
        found.pop()
    return found


def _plain(lines: Sequence[str], *, is_rst: bool, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        yield from lines
        return
    blocks = covering((rst if is_rst else markdown).parse(lines).blocks, lines)
    end = 0
    for block in blocks:
        shown = list(_block(lines[block.start : block.end], block, is_rst=is_rst, depth=depth))
        if shown and end and block.start > end:
            yield ""
        end = block.end if shown else end
        yield from shown


def _block(lines: Sequence[str], block: Block, *, is_rst: bool, depth: int) -> Iterator[str]:
    match block.kind:
        case "heading":
            yield block.title
        case "label" | "rule" | "meta":
            return
        case "front":
            yield " · ".join(_inline(" ".join(line.split()), is_rst=False) for line in lines[1:-1] if line.strip())
        case "code":
            yield from _code(lines, is_rst=is_rst)
        case "list":
            yield from _items(lines, is_rst=is_rst, depth=depth)
        case "table":
            yield from (_inline(row, is_rst=is_rst) for row in shown_rows(lines))
        case "quote":
            inner = _dedented(lines) if is_rst else [re.sub(r"^ {0,3}> ?", "", line) for line in lines]
            yield from _plain(inner, is_rst=is_rst, depth=depth + 1)
        case "directive" if is_rst:
            yield from _directive(lines, depth)
        case _:
            text = _inline("\n".join(lines), is_rst=is_rst)
            if is_rst and text.endswith("::"):
                text = text[:-1] if text != "::" else ""
            yield from (line for line in text.split("\n") if line.strip())


def _inline(text: str, *, is_rst: bool) -> str:
    return plain_rst(text) if is_rst else plain_markdown(text)


def _code(lines: Sequence[str], *, is_rst: bool) -> Iterator[str]:
    """The lines of a code block in a fence that does not occur in them, without the directive's head."""
    body = list(lines)
    language = ""
    if is_rst and (head := _DIRECTIVE.match(body[0])):
        language = head[2]
        body = body[1:]
        while body and (_OPTION.match(body[0]) or not body[0].strip()):
            body = body[1:]
    elif not is_rst and (fence := _FENCE.match(body[0])):
        language = body[0][fence.end() :].strip()
        closed = len(body) > 1 and body[-1].strip().startswith(fence[1])
        body = body[1 : -1 if closed else None]
    code = _dedented(body)
    marks = "`" * max(3, *(len(run) + 1 for run in _BACKTICKS.findall("\n".join(code))), 3)
    yield marks + (language if _LANGUAGE.fullmatch(language) else "")
    yield from code
    yield marks


def _items(lines: Sequence[str], *, is_rst: bool, depth: int) -> Iterator[str]:
    """Items of a list, each parsed as a document of its own; definitions and fields keep their first line."""
    margin = len(lines[0]) - len(lines[0].lstrip())
    items: list[list[str]] = []
    for line in lines:
        if line.strip() and (not items or len(line) - len(line.lstrip()) <= margin):
            items.append([line[margin:]])
        else:
            items[-1].append(line[margin:])
    for item in items:
        marker = _MARKER.match(item[0])
        if marker:
            width = marker.end()
            rest = (line[width:] if not line[:width].strip() else line.lstrip() for line in item[1:])
            body = _plain([item[0][width:], *rest], is_rst=is_rst, depth=depth + 1)
            for number, line in enumerate(body):
                yield f"{' ' * width if number else marker[0]}{line}" if line else ""
            continue
        yield _inline(_FIELD.sub(r"\1:", item[0], count=1) if is_rst else item[0], is_rst=is_rst)
        yield from _indented(_plain(_dedented(item[1:]), is_rst=is_rst, depth=depth + 1), "    ")


def _directive(lines: Sequence[str], depth: int) -> Iterator[str]:
    found = _DIRECTIVE.match(lines[0])
    name, argument = (found[1].lower(), plain_rst(found[2].strip())) if found else ("", "")
    if name in rst.SILENT_DIRECTIVES:
        return
    body = list(lines[1:])
    while body and _OPTION.match(body[0]):
        body = body[1:]
    if name in _CODE:
        yield from _code(lines, is_rst=True)
        return
    if name in _ADMONITIONS:
        argument = f"{'See also' if name == 'seealso' else name.capitalize()}: {argument}".rstrip()
    elif name in _VERSIONS:
        argument = f"{_VERSIONS[name]} {argument}"
    if argument:
        yield argument
    inner = _dedented(body)
    rows = _table_rows(inner) if name == "list-table" else ()
    header = _HEADER_ROWS.search("\n".join(lines)) if rows else None
    yield from map(plain_rst, in_words(rows, has_header=header is not None))
    if not rows:
        yield from _plain(inner, is_rst=True, depth=depth + 1)


def _table_rows(lines: Sequence[str]) -> list[list[str]]:
    """The cells of a table written as a list of lists; none if the lines are not one."""
    rows: list[list[str]] = []
    margin = 0
    for line in lines:
        if row := _ROW.match(line):
            margin = len(row[1])
            rows.append([line[row.end() :]])
        elif line.strip() and not rows:
            return []
        elif (cell := _CELL.match(line)) and len(cell[1]) == margin:
            rows[-1].append(line[cell.end() :])
        elif line.strip():
            rows[-1][-1] = f"{rows[-1][-1]} {line.strip()}".strip()
    return rows


def _dedented(lines: Sequence[str]) -> list[str]:
    return textwrap.dedent("\n".join(line.expandtabs(8) for line in lines)).split("\n") if lines else []


def _indented(lines: Sequence[str] | Iterator[str], by: str) -> Iterator[str]:
    yield from (by + line if line else "" for line in lines)
