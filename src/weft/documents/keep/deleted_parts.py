"""Deleted parts of a document that its file still contains: they stay deleted until their words change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from weft.context.excerpts import repeats
from weft.core.types import NodeVersion
from weft.log.kinds import document


def has_ended(node: NodeVersion) -> bool:
    """Whether the last version of a node read from a file is no longer current."""
    return node.retired_at is not None or node.interval.valid_to is not None


def is_there(node: NodeVersion) -> bool:
    """Whether the last version of a node is current and not deleted."""
    return node.deleted_at is None and not has_ended(node)


class VisibleSections(Struct, frozen=True, kw_only=True):
    """The visible sections of a document, and the words of omitted parts."""

    sections: tuple[document.SectionText, ...]
    words: tuple[str, ...] = ()
    left_out: int = 0
    returned: int = 0

    def told_in(self, summary: str) -> bool:
        """Whether a summary repeats words of omitted parts."""
        return any(repeats(summary, words) for words in self.words)


def leave_out(
    sections: Sequence[document.SectionText], before: Mapping[str, NodeVersion], came_back: frozenset[int]
) -> VisibleSections:
    """Sections without unchanged deleted parts. Parts deleted at the times `came_back` are included again.

    A chunk is identified by its words, under whatever heading it is now; a section without chunks by its id.
    """
    gone = {
        node.id: node
        for node in before.values()
        if node.deleted_at is not None and node.deleted_at not in came_back and not has_ended(node)
    }
    if not gone:
        return VisibleSections(sections=tuple(sections))
    texts = {node.text for node in gone.values() if node.kind == "Chunk"}
    kept: list[document.SectionText] = []
    words: list[str] = []
    needed: set[str | None] = set()  # parents of new sections
    for section in reversed(sections):  # subsections come after their section
        out = [c for c in section.chunks if c.text in texts and not (c.id in before and is_there(before[c.id]))]
        chunks = tuple(chunk for chunk in section.chunks if chunk not in out)
        words += [chunk.text for chunk in out]
        if section.id in gone and not chunks and section.id not in needed:
            words.append(section.title)
            continue
        repeated = any(repeats(section.summary, chunk.text) for chunk in out)
        kept.append(replace(section, chunks=chunks, summary="" if repeated else section.summary))
        if section.id not in before or not is_there(before[section.id]):
            needed.add(section.parent)
    ids = {section.id for section in kept} | {chunk.id for section in kept for chunk in section.chunks}
    return VisibleSections(
        sections=tuple(reversed(kept)), words=tuple(words), left_out=len(words), returned=len(gone.keys() & ids)
    )
