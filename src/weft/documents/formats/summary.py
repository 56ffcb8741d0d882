"""Summaries of sections and documents from their first sentences, without a model, for any language."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from weft.files.document_suffixes import FormName
from weft.text.markup.inline import plain_markdown, plain_rst
from weft.text.markup.outline import Block
from weft.text.sentences import sentence_spans

MAX_CHARACTERS = 240
MIN_CHARACTERS = 60  # a shorter text must be a sentence
MAX_READ_CHARACTERS = 1_200
MAX_HEADINGS = 8
MAX_HEADINGS_CHARACTERS = 200

_MARKER = re.compile(r"^\s*(?:[-*+•>|]|\d{1,3}[.)]|#\.|:[^:`]{1,40}:)\s+")
_FULL = (".", "!", "?", ":", "…", "。", "！", "？")
_MARKDOWN_FORMS = ("markdown", "docx", "html")


def section_summary(lines: Sequence[str], blocks: Sequence[Block], form: FormName) -> str:
    """The first sentences of the section's own text; empty if it has only code or tables.

    A full sentence of a paragraph or item is preferred to a fragment ("Source: …"), that to the text of a directive.
    """
    scrap = ""
    for block in blocks:
        if block.kind not in ("paragraph", "list", "quote") or (form == "rst" and lines[block.start].startswith(":")):
            continue  # fields at the top are metadata
        said = _first_sentences(_read(lines, block), form)
        if len(said) >= MIN_CHARACTERS or said.endswith(_FULL):
            return said
        scrap = scrap or said
    if scrap or form != "rst":
        return scrap
    held = (_first_sentences(_read_directive(lines, block), form) for block in blocks if block.kind == "directive")
    return next(filter(None, held), "")


def document_summary(said: str, headings: Sequence[str], about: str = "") -> str:
    """The document's own description, its top headings, and its date and topics."""
    listed: list[str] = []
    for heading in headings[:MAX_HEADINGS]:
        if sum(map(len, listed)) + len(heading) > MAX_HEADINGS_CHARACTERS:
            break
        listed.append(heading)
    more = " …" if len(listed) < len(headings) and listed else ""
    return "\n".join(part for part in (said, " · ".join(listed) + more, about) if part)


def shortened(text: str) -> str:
    """At most MAX_CHARACTERS: whole sentences if the first fits, else whole words."""
    end = 0
    for _, stop in sentence_spans(text[:MAX_READ_CHARACTERS]):
        if stop > MAX_CHARACTERS:
            break
        end = stop
    if end:
        return text[:end]
    if len(text) <= MAX_CHARACTERS:
        return text
    words = text[:MAX_CHARACTERS]
    return (words.rpartition(" ")[0] or words).rstrip(" ,;:") + "…"


def _read(lines: Sequence[str], block: Block) -> str:
    read: list[str] = []
    size = 0
    for line in lines[block.start : block.end]:
        if size > MAX_READ_CHARACTERS or (read and block.kind == "list" and _MARKER.match(line)):
            break
        words = _MARKER.sub("", line) if block.kind != "paragraph" else line
        read.append(words.strip()[:MAX_READ_CHARACTERS])
        size += len(line)
    return " ".join(read)


def _read_directive(lines: Sequence[str], block: Block) -> str:
    """The first paragraph in a directive, after its arguments and options."""
    at = block.start
    while at < block.end and lines[at].strip():
        at += 1
    while at < block.end and (not lines[at].strip() or lines[at].lstrip().startswith((".. ", ":"))):
        at += 1
    stop = at
    while stop < block.end and lines[stop].strip():
        stop += 1
    return " ".join(line.strip() for line in lines[at:stop])[:MAX_READ_CHARACTERS]


def _first_sentences(text: str, form: FormName) -> str:
    plain: Callable[[str], str] = plain_rst if form == "rst" else plain_markdown if form in _MARKDOWN_FORMS else str
    words = " ".join(plain(text).split())
    if form == "rst" and words.endswith("::"):
        words = words[:-1]
    return shortened(words) if sum(map(str.isalnum, words)) > 2 else ""
