"""Reading of documents: bytes of a file to text to outline. Pure: no file is opened."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from weft.core.errors import Invalid
from weft.documents.formats import pdf
from weft.documents.formats.decoding import decode
from weft.documents.formats.mentions import mentions
from weft.documents.formats.passages import cut
from weft.documents.formats.summary import document_summary, section_summary, shortened
from weft.files.document_suffixes import DocumentForm, FormName
from weft.text.lines import split_lines
from weft.text.markup import markdown, plain_text, rst
from weft.text.markup.outline import Block, DocumentOutline, DocumentPart, ParsedDocument, Passage, covering

Parser = Callable[[Sequence[str]], ParsedDocument]

PARSERS: dict[FormName, Parser] = {
    "markdown": markdown.parse,
    "rst": rst.parse,
    "text": plain_text.parse,
    "pdf": pdf.parse,
    "docx": markdown.parse,  # its text is written as Markdown
    "html": markdown.parse,  # its text is written as Markdown
}


def read_text(raw: bytes, form: DocumentForm) -> str:
    """The text of a file, decoded or extracted. Deterministic.

    Raises Invalid with the reason: binary, not UTF-8, broken, encrypted, too large inside, or a missing extra.
    """
    if not form.extracted:
        return decode(raw)
    try:
        return _extractor(form.name)(raw)
    except ModuleNotFoundError as error:
        raise Invalid(
            f"cannot be read: {error.name} is not installed; `pip install '.[documents]'` in weft's checkout adds it",
            hint="then read the file again",
        ) from error


def _extractor(form: FormName) -> Callable[[bytes], str]:
    """The extractor, imported on first use; its packages are imported when it is called."""
    if form == "pdf":
        return pdf.extract
    if form == "html":
        from weft.documents.formats import html

        return html.extract
    from weft.documents.formats import docx

    return docx.extract


def read_outline(text: str, form: DocumentForm) -> DocumentOutline:
    """Sections and passages of a text. Never fails: what a parser cannot separate stays together."""
    lines = split_lines(text)
    parsed = PARSERS[form.name](lines)
    blocks = covering(parsed.blocks, lines)
    groups = _by_heading([block for block in blocks if not _is_ours(block, form)])
    parts = tuple(_part(lines, group, parsed.pages, form.name) for group in groups)
    headings = [block for block in blocks if block.kind == "heading"]
    title = parsed.title or _own_title(headings, form.name)
    said = shortened(parsed.description) or next((part.summary for part in parts if part.summary), "")
    about = " · ".join(filter(None, (parsed.date, *parsed.keywords)))
    return DocumentOutline(
        title=title,
        parts=parts,
        summary=document_summary(said, _top_headings(headings, title), about),
        keywords=parsed.keywords,
        date=parsed.date,
        notes=parsed.notes,
    )


def _is_ours(block: Block, form: DocumentForm) -> bool:
    """Whether the block's words are elsewhere in the graph, as title, summary, topics and date."""
    return block.kind == "meta" or (block.kind == "front" and form.extracted)


def _by_heading(blocks: Sequence[Block]) -> list[list[Block]]:
    """Each heading with the blocks under it; those before the first heading are a group of their own."""
    groups: list[list[Block]] = []
    for block in blocks:
        if block.kind == "heading" or not groups:
            groups.append([])
        groups[-1].append(block)
    return groups


def _part(lines: Sequence[str], group: Sequence[Block], pages: Sequence[int], form: FormName) -> DocumentPart:
    heading = group[0] if group[0].kind == "heading" else None
    body = group[1:] if heading else group
    passages = tuple(
        _passage(lines, start, end, pages, form) for run in _runs(body, pages) for start, end in cut(lines, run)
    )
    return DocumentPart(
        title=heading.title if heading else "",
        level=heading.level if heading else 0,
        line=group[0].start + 1,
        end_line=group[-1].end,
        summary=section_summary(lines, body, form),
        passages=passages,
    )


def _runs(blocks: Sequence[Block], pages: Sequence[int]) -> list[Sequence[Block]]:
    """Blocks that may share a passage: those beginning on one page; front matter is alone."""
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
    """The first heading, if none outranks it. In forms without marked titles it must be the only one of its level."""
    if not headings or headings[0].level > min(heading.level for heading in headings):
        return ""
    alone = sum(heading.level == headings[0].level for heading in headings) == 1
    return headings[0].title if alone or form not in ("text", "pdf") else ""


def _top_headings(headings: Sequence[Block], title: str) -> list[str]:
    """Titles of the highest level that has any, without the document's own."""
    others = [h for h in headings if h.title and h.title != title]
    top = min((h.level for h in others), default=0)
    return [h.title for h in others if h.level == top]
