"""Rendering of nodes as numbered lines that cite their sources. Pure.

Words of memories are in quotes on one line, with quotes in them escaped; code is below its line, in a fence that
it cannot close. So no memory can end its own quotation, begin a line, or pass for a heading, a source or a marker.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.context.arrange import ContextLine, LineGroup
from weft.context.excerpts import Excerpt, Excerpts, Span
from weft.context.fit import AROUND_TEXT
from weft.context.relations import Entity, Ties
from weft.context.wording import aside, cut, date_of, plain, quoted, said_in, spoken
from weft.core.types import NodeVersion
from weft.files.document_suffixes import FormName, form_of
from weft.retrieval.pool import CODE_KINDS
from weft.text.injection import flags_of, mark_of
from weft.text.markup.plain_lines import plain_lines
from weft.text.one_line import flat

MOST_CHARACTERS: Final = 4_000  # of one line's text
BEFORE_CHARACTERS: Final = 160  # of the turn that a turn answers, at least
NAMES_SHOWN: Final = 4
RELATIONS_SHOWN: Final = 6
UNCITED: Final = "[no source]"
CODE_BELOW: Final = "(code below)"
PASSAGES: Final = frozenset({"Chunk", "Section", "Document"})
UNMARKED: Final = ("text", "pdf")
_STEM: Final = re.compile(r"(weft://[^/]+/events/|file://.+:)[^/:]+")


class WrittenLine(Struct, frozen=True, kw_only=True):
    """A line of a context: its number, its node, and the numbers of its sources (none where none is known)."""

    number: int
    id: str
    sources: tuple[int, ...]
    text: str


class RenderedLines(Struct, frozen=True, kw_only=True):
    """Groups of lines as text, a block each, with the sources that they name by number, from 1."""

    blocks: tuple[str, ...]
    lines: tuple[WrittenLine, ...]
    sources: tuple[str, ...]


class LineTexts:
    """The texts of lines, to be cut to any length; `needs` are their full lengths by id, in the order of the lines."""

    def __init__(self, lines: Sequence[ContextLine]) -> None:
        self._excerpts = {line.node.id: _excerpts(line) for line in lines}
        self.needs = {line.node.id: min(len(self._excerpts[line.node.id].whole), MOST_CHARACTERS) for line in lines}

    def cut_to(self, lengths: Mapping[str, int]) -> dict[str, Excerpt]:
        """Cuts each text to its allowed length, by id."""
        return {each: self._excerpts[each].within(length) for each, length in lengths.items()}

    def characters(self, ids: Sequence[str]) -> int:
        """With which all of these are shown in full."""
        return 3 * sum(self.needs[each] for each in ids) + 2 * AROUND_TEXT * len(ids)


def _excerpts(line: ContextLine) -> Excerpts:
    text = line.words or line.node.text or line.node.summary
    if not line.words and line.node.text and line.node.kind in CODE_KINDS:
        return Excerpts(text, line.asked, line.near, form="code")
    if (markup := markup_of(line.node)) is None:
        return Excerpts(text, line.asked, line.near)
    shown = "\n".join(plain_lines(text, markup))
    return Excerpts(shown, line.asked, _moved(line.near, text, shown, markup), form="plain")


def _moved(near: Sequence[Span], text: str, shown: str, markup: str) -> tuple[Span, ...]:
    """Places of a text with markup in the text without; those that are not found there are left out."""
    moved = []
    for start, end, cosine in near:
        words = " ".join(plain_lines(text[start:end], markup)).split()
        found = re.search(r"\s+".join(map(re.escape, words)), shown) if words else None
        moved += [(found.start(), found.end(), cosine)] if found else []
    return tuple(moved)


def markup_of(node: NodeVersion) -> FormName | None:
    """The markup of a document's passage; None for other texts, which are shown as written."""
    source = node.props.get("source")
    form = form_of(source) if node.kind in PASSAGES and isinstance(source, str) else None
    return form.name if form is not None and form.name not in UNMARKED else None


def flagged(line: ContextLine) -> ContextLine:
    """With a mark, where its words look like instructions."""
    flags = flags_of(line.node.name, line.words, line.node.summary, line.node.text)
    return replace(line, marks=(*line.marks, mark_of(flags))) if flags else line


def render(groups: Sequence[LineGroup], ties: Ties, texts: Mapping[str, Excerpt]) -> RenderedLines:
    """All of these lines, numbered from 1 through all groups."""
    placed = [line for group in groups for line in group.lines]
    numbers = {line.node.id: number for number, line in enumerate(placed, start=1)}
    named = (each for line in placed for each in (*_sources(line), _source_before(line)))
    sources = {each: at for at, each in enumerate(dict.fromkeys(filter(None, named)), start=1)}
    written: dict[str, WrittenLine] = {}
    for group in groups:
        for line in group.lines:
            own = tuple(sources[each] for each in _sources(line))
            mark = "".join(f"[{each}]" for each in own) or UNCITED
            shown = texts[line.node.id]
            said = _said(line, shown, sources)
            below = (each if each.startswith("```") else f"   {quoted(each)}" for each in shown.below)
            text = "\n".join([f"{_line(line, said, numbers, ties, group.entity)} {mark}", *below])
            written[line.node.id] = WrittenLine(number=numbers[line.node.id], id=line.node.id, sources=own, text=text)
    return RenderedLines(
        blocks=tuple(_block(group, written) for group in groups if group.lines),
        lines=tuple(written.values()),
        sources=tuple(sources),
    )


def sources_of(sources: Sequence[str]) -> str:
    """The footer: citations by number. Those of one session or file share a line, and all but the first are short.

    `[1] weft://harbour/events/7#1f0c22aa, [4] …9#ab01cd23`: the dots repeat how the first one begins.
    """
    grouped: dict[str, list[str]] = {}
    for number, citation in enumerate(sources, start=1):
        found = _STEM.fullmatch(citation)
        stem = found[1] if found else citation
        first = stem not in grouped
        shown = citation if first else f"…{citation[len(stem) :]}"
        grouped.setdefault(stem, []).append(f"[{number}] {shown}")
    return "\n".join(["Sources", *(", ".join(each) for each in grouped.values())])


def _block(group: LineGroup, written: Mapping[str, WrittenLine]) -> str:
    lines = [written[line.node.id].text for line in group.lines]
    return "\n".join([group.heading, *lines] if group.heading else lines)


def _said(line: ContextLine, shown: Excerpt, sources: Mapping[str, int]) -> str:
    """Name and words, and the turn before that they answer, which has a part of the line's room."""
    said = said_in(line.node, shown.prose)
    if shown.below and not (shown.prose or line.node.name):
        said = CODE_BELOW
    if line.before is None:
        return said
    gist = quoted(cut(flat(line.before.words), max(len(shown) // 3, BEFORE_CHARACTERS)))
    return f"{said} after {gist} [{sources[_source_before(line)]}]"


def _source_before(line: ContextLine) -> str:
    return "" if line.before is None else flat(line.before.citation)


def _sources(line: ContextLine) -> tuple[str, ...]:
    """Its citation, and those of the parts shown: together they contain every word of the line."""
    return tuple(dict.fromkeys(filter(None, map(flat, (line.citation, *line.parts)))))


def _line(line: ContextLine, said: str, numbers: Mapping[str, int], ties: Ties, heading: Entity | None) -> str:
    """`3. [Cause] "the words" · because of 2 · 2026-03-02 · about "Ferry desk"`, without its source."""
    node = line.node
    parts = [
        f"{numbers[node.id]}. [{spoken(node.kind, node.props, node.text, node.summary)}] {said}",
        _because(node.id, numbers, ties),
        date_of(node),
        _numbered("see event", ties.told.get(node.id, ()), numbers),
        _relations(node.id, numbers, ties, heading),
        _about(ties.about.get(node.id, ()), heading, said),
        _joined(line, numbers),
        *(f"! {aside(mark)}" for mark in line.marks),
    ]
    return " · ".join(filter(None, parts))


def _joined(line: ContextLine, numbers: Mapping[str, int]) -> str:
    """Its relations to other lines: `2 PAYS_THROUGH it`, or `PAYS_THROUGH 2`."""
    steps = [(plain(step.rel), numbers[step.start], step.outward) for step in line.steps if step.start in numbers]
    return ", ".join(f"{number} {rel} it" if outward else f"{rel} {number}" for rel, number, outward in steps)


def _because(node_id: str, numbers: Mapping[str, int], ties: Ties) -> str:
    found = sorted(
        (numbers[cause], sure)
        for (cause, effect), sure in ties.causes.items()
        if effect == node_id and cause in numbers
    )
    told = [str(number) if sure >= 1.0 else f"{number} (confidence {sure:.2g})" for number, sure in found]
    elsewhere = any(cause not in numbers for cause in ties.origins.get(node_id, ()))
    if not told:
        return "has a recorded cause that is not shown here" if elsewhere else ""
    more = ", and of a cause that is not shown here" if elsewhere else ""
    return f"because of {' and '.join(told)}{more}"


def _numbered(words: str, ids: Sequence[str], numbers: Mapping[str, int]) -> str:
    found = sorted(numbers[each] for each in ids if each in numbers)
    return f"{words} {' and '.join(map(str, found))}" if found else ""


def _about(entities: Sequence[Entity], heading: Entity | None, said: str) -> str:
    """The entities it is about, without those that its words name."""
    told = said.casefold()
    others = [quoted(each.name) for each in entities if heading is None or each.id != heading.id]
    unnamed = [name for name in others if name[1:-1].casefold() not in told]
    more = f" and {len(unnamed) - NAMES_SHOWN} more" if unnamed[NAMES_SHOWN:] else ""
    return f"{'about' if heading is None else 'also about'} {', '.join(unnamed[:NAMES_SHOWN])}{more}" if unnamed else ""


def _relations(node_id: str, numbers: Mapping[str, int], ties: Ties, heading: Entity | None) -> str:
    """Its relations to others; under its own heading also relations of other lines to it."""
    said = [f"{plain(rel)} {quoted(entity.name)}" for rel, entity in ties.related.get(node_id, ())]
    if heading is not None:
        for other, related in ties.related.items():
            rels = [plain(rel) for rel, entity in related if entity.id == node_id and other in numbers]
            said += [f"{quoted(ties.names.get(other, other))} {rel} it" for rel in rels]
    return ", ".join(said[:RELATIONS_SHOWN])
