"""Parts of a document that were deleted, against what its file says now: they stay out until their words change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from weft.context.repeated import repeats
from weft.log.kinds import document
from weft.types import NodeVersion


def has_ended(node: NodeVersion) -> bool:
    """Whether the last version of a node that was read from a file no longer holds."""
    return node.retired_at is not None or node.interval.valid_to is not None


def is_there(node: NodeVersion) -> bool:
    """Whether the last version of a node stands in sight."""
    return node.deleted_at is None and not has_ended(node)


class Seen(Struct, frozen=True, kw_only=True):
    """The sections of a document that are in sight, and the words of what is not."""

    sections: tuple[document.SectionText, ...]
    words: tuple[str, ...] = ()
    left_out: int = 0
    returned: int = 0

    def told_in(self, summary: str) -> bool:
        """Whether a summary repeats words of what is left out."""
        return any(repeats(summary, words) for words in self.words)


def leave_out(
    sections: Sequence[document.SectionText], before: Mapping[str, NodeVersion], came_back: frozenset[int]
) -> Seen:
    """Sections without what was deleted and says the same. What was deleted at the moments `came_back` is in again.

    A chunk is known by its words, under whatever heading it stands now; a section that has none left by its id.
    """
    gone = {
        node.id: node
        for node in before.values()
        if node.deleted_at is not None and node.deleted_at not in came_back and not has_ended(node)
    }
    if not gone:
        return Seen(sections=tuple(sections))
    texts = {node.text for node in gone.values() if node.kind == "Chunk"}
    kept: list[document.SectionText] = []
    words: list[str] = []
    needed: set[str | None] = set()  # by what is new under them
    for section in reversed(sections):  # what stands under a section comes after it
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
    return Seen(
        sections=tuple(reversed(kept)), words=tuple(words), left_out=len(words), returned=len(gone.keys() & ids)
    )
