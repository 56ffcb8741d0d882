"""Bytes of a file → its text → its outline. Pure: nothing here opens a file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from weft.documents import markdown, pdf, plain_text, rst
from weft.documents.blocks import Block, Parsed, covering
from weft.documents.decoding import decode
from weft.documents.forms import Form, FormName
from weft.documents.lines import split_lines
from weft.documents.mentions import mentions
from weft.documents.outline import Outline, Part, Passage
from weft.documents.passages import cut
from weft.documents.summary import document_summary, section_summary, shortened
from weft.errors import Invalid

Parser = Callable[[Sequence[str]], Parsed]

PARSERS: dict[FormName, Parser] = {
    "markdown": markdown.parse,
    "rst": rst.parse,
    "text": plain_text.parse,
    "pdf": pdf.parse,
    "docx": markdown.parse,  # its text is written as Markdown
    "html": markdown.parse,  # its text is written as Markdown
}


def read_text(raw: bytes, form: Form) -> str:
    """The text of a file: decoded, or taken out of a format that wraps it. Bytes give the same text every time.

    Raises Invalid with the reason: binary, no UTF-8, broken, encrypted, too large inside, or an extra that is missing.
    """
    if not form.extracted:
        return decode(raw)
    try:
        return _extractor(form.name)(raw)
    except ModuleNotFoundError as error:
        raise Invalid(
            f'cannot be read: {error.name} is not installed; pip install "weft-memory[documents]" brings it',
            hint="install it, then read the file again",
        ) from error


def _extractor(form: FormName) -> Callable[[bytes], str]:
    """Loaded only where such a file is read; the packages that they need are loaded when they are called."""
    if form == "pdf":
        return pdf.extract
    if form == "html":
        from weft.documents import html

        return html.extract
    from weft.documents import docx

    return docx.extract


def read_outline(text: str, form: Form) -> Outline:
    """Sections and passages of a text of that form. Never fails: what a parser cannot tell apart stays together."""
    lines = split_lines(text)
    parsed = PARSERS[form.name](lines)
    blocks = covering(parsed.blocks, lines)
    groups = _by_heading([block for block in blocks if not _is_ours(block, form)])
    parts = tuple(_part(lines, group, parsed.pages, form.name) for group in groups)
    headings = [block for block in blocks if block.kind == "heading"]
    title = parsed.title or _own_title(headings, form.name)
    said = shortened(parsed.description) or next((part.summary for part in parts if part.summary), "")
    return Outline(
        title=title, parts=parts, summary=document_summary(said, _top_headings(headings, title)), notes=parsed.notes
    )


def _is_ours(block: Block, form: Form) -> bool:
    """Whether weft wrote it where it took the text out of a file: front matter there is what title and summary say."""
    return block.kind == "meta" or (block.kind == "front" and form.extracted)


def _by_heading(blocks: Sequence[Block]) -> list[list[Block]]:
    """Each heading with the blocks under it; what is before the first heading is a group of its own."""
    groups: list[list[Block]] = []
    for block in blocks:
        if block.kind == "heading" or not groups:
            groups.append([])
        groups[-1].append(block)
    return groups


def _part(lines: Sequence[str], group: Sequence[Block], pages: Sequence[int], form: FormName) -> Part:
    heading = group[0] if group[0].kind == "heading" else None
    body = group[1:] if heading else group
    passages = tuple(
        _passage(lines, start, end, pages, form) for run in _runs(body, pages) for start, end in cut(lines, run)
    )
    return Part(
        title=heading.title if heading else "",
        level=heading.level if heading else 0,
        line=group[0].start + 1,
        end_line=group[-1].end,
        summary=section_summary(lines, body, form),
        passages=passages,
    )


def _runs(blocks: Sequence[Block], pages: Sequence[int]) -> list[Sequence[Block]]:
    """Blocks that may share a passage: those that begin on one page; front matter stands by itself."""
    if not pages:
        front = 1 if blocks and blocks[0].kind == "front" else 0
        return [run for run in (blocks[:front], blocks[front:]) if run]
    runs: dict[int, list[Block]] = {}
    for block in blocks:
        runs.setdefault(bisect_right(pages, block.start), []).append(block)
    return list(runs.values())


def _passage(lines: Sequence[str], start: int, end: int, pages: Sequence[int], form: FormName) -> Passage:
    text = "\n".join(lines[start:end])
    return Passage(
        line=start + 1,
        end_line=end,
        text=text,
        mentions=mentions(text, form),
        page=bisect_right(pages, start) if pages else None,
    )


def _own_title(headings: Sequence[Block], form: FormName) -> str:
    """The first heading, if none is above it. In forms that mark no title it must also be the only one of its level."""
    if not headings or headings[0].level > min(heading.level for heading in headings):
        return ""
    alone = sum(heading.level == headings[0].level for heading in headings) == 1
    return headings[0].title if alone or form not in ("text", "pdf") else ""


def _top_headings(headings: Sequence[Block], title: str) -> list[str]:
    """Titles of the highest level that has several, without the document's own."""
    others = [h for h in headings if h.title and h.title != title]
    top = min((h.level for h in others), default=0)
    return [h.title for h in others if h.level == top]
