"""Summaries of documents and sections around deleted parts, which must not repeat deleted words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, pairwise
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from weft.context.excerpts import repeats
from weft.core.queries import NodeFilter
from weft.core.slices import in_slices
from weft.core.types import NodeVersion, When
from weft.documents.keep.document_records import UNFINISHED
from weft.log.draft import Draft
from weft.log.kinds import document
from weft.retrieval.citations.document_parts import KINDS, wholes_around
from weft.retrieval.scoring.passages import is_of
from weft.runtime.call_context import CallContext
from weft.writing.build.deletions import MAX_AT_ONCE, pages

MAX_VERSIONS: Final = 8  # searched for the last summary
MAX_DELETED: Final = 10_000


class AffectedDocument(Struct, frozen=True, kw_only=True):
    """A document that stays, with changed sections and their parents' ids."""

    whole: NodeVersion
    sections: tuple[tuple[NodeVersion, str], ...] = ()

    @property
    def draft(self) -> Draft:
        """The event that writes them again."""
        node = self.whole
        payload = document.Ingested(
            id=node.id,
            source=str(node.props.get("source", "")),
            title=node.name,
            summary=node.summary,
            form=str(node.props.get("form", "")),
            sha256=str(node.props.get("sha256", "")),
            sections=tuple(_section(section, parent, node.id) for section, parent in self.sections),
            focus=node.focus,
            **asdict(node.guard),
        )
        return Draft(kind="document.ingested", payload=payload)


def _section(node: NodeVersion, parent: str, document_id: str) -> document.SectionText:
    level, line, end_line = (int(node.props.get(name) or 0) for name in ("level", "line", "end_line"))
    return document.SectionText(
        id=node.id,
        title=node.name,
        level=level,
        line=line,
        end_line=end_line,
        text=node.text,
        summary=node.summary,
        parent=None if parent == document_id else parent,
    )


def without_words(ctx: CallContext, going: Sequence[NodeVersion]) -> tuple[AffectedDocument, ...]:
    """The documents and sections around parts to delete, without the summaries that repeat their words."""
    found = []
    for whole, sections, parts in _by_document(ctx, going, frozenset(node.id for node in going)):
        bare = [
            (replace(section, summary=""), parent)
            for section, parent in sections
            if section.summary and any(repeats(section.summary, node.text) for node in parts)
        ]
        told = whole.summary and any(repeats(whole.summary, words) for words in _words(parts))
        if bare or told:
            summary = "" if told else whole.summary
            found.append(AffectedDocument(whole=replace(whole, summary=summary), sections=tuple(bare)))
    return tuple(found)


def with_summaries(ctx: CallContext, ids: Sequence[str], deleted_at: int) -> tuple[AffectedDocument, ...]:
    """The documents and sections around restored parts, with their former summaries unless still deleted words are in
    them.

    A document read again in the meantime is marked for comparison, as its parts have old line numbers.
    """
    nodes = [
        node for some in in_slices(ids, MAX_AT_ONCE) for node in pages(ctx, NodeFilter(ids=tuple(some), kinds=KINDS))
    ]
    found = []
    for whole, sections, _ in _by_document(ctx, nodes, frozenset(ids)):
        if whole.recorded_at > deleted_at:
            unfinished = replace(whole, props={**whole.props, "sha256": UNFINISHED})
            found.append(AffectedDocument(whole=unfinished))
            continue
        gone = tuple(_words(_still_deleted(ctx, whole)))
        made = [(_remade(ctx, section, gone), parent) for section, parent in sections]
        changed = tuple((section, parent) for section, parent in made if section.summary)
        remade = _remade(ctx, whole, gone)
        if changed or remade.summary != whole.summary:
            found.append(AffectedDocument(whole=remade, sections=changed))
    return tuple(found)


Found = tuple[NodeVersion, list[tuple[NodeVersion, str]], list[NodeVersion]]


def _by_document(ctx: CallContext, nodes: Iterable[NodeVersion], going: frozenset[str]) -> list[Found]:
    """Documents around sections and chunks that are not deleted themselves; the sections around, and the parts."""
    # Usually a whole document is deleted with all its parts: then nothing is around them.
    parts = {node.id: node for node in nodes if node.kind in KINDS and node.props.get("document") not in going}
    documents: dict[str, Found] = {}
    seen: set[str] = set()
    for some in in_slices(tuple(parts), MAX_AT_ONCE):
        for part_id, way in wholes_around(ctx, [parts[each] for each in some]).items():
            if not way or way[-1].kind != "Document" or way[-1].id in going:
                continue
            _, sections, inside = documents.setdefault(way[-1].id, (way[-1], [], []))
            inside.append(parts[part_id])
            for section, around in pairwise(way):
                if section.id not in going and section.id not in seen:
                    seen.add(section.id)
                    sections.append((section, around.id))
    return list(documents.values())


def _words(parts: Iterable[NodeVersion]) -> list[str]:
    """The words of parts: text of chunks, headings of sections."""
    return [words for node in parts for words in (node.text, node.name) if words]


def _still_deleted(ctx: CallContext, whole: NodeVersion) -> list[NodeVersion]:
    below = pages(ctx, NodeFilter(id_prefix=f"{whole.id}#", kinds=KINDS, deleted=True))
    return [node for node in islice(below, MAX_DELETED) if is_of(node, whole.id, whole.props.get("source"))]


def _remade(ctx: CallContext, node: NodeVersion, gone: Sequence[str]) -> NodeVersion:
    """The node with its last summary, unless that repeats deleted words."""
    before = node
    for _ in range(MAX_VERSIONS):
        if before.summary:
            told = any(repeats(before.summary, words) for words in gone)
            return node if told else replace(node, summary=before.summary)
        earlier = ctx.store.nodes(ctx.viewer, When(known_at=before.recorded_at - 1), [node.id])
        if not earlier:
            break
        before = earlier[0]
    return node
