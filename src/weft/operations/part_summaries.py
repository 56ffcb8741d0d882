"""Summaries of documents and sections around parts that are deleted: they must not repeat what is out of sight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, pairwise
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from weft.context.repeated import repeats
from weft.log.draft import Draft
from weft.log.kinds import document
from weft.loom import Loom
from weft.operations.deletions import pages, slices
from weft.operations.document_parts import KINDS, wholes_around
from weft.operations.document_records import UNFINISHED
from weft.queries import Which
from weft.retrieval.passages import is_of
from weft.types import NodeVersion, When

MAX_VERSIONS: Final = 8  # that are looked at for the last summary
MAX_DELETED: Final = 10_000


class Around(Struct, frozen=True, kw_only=True):
    """A document that stays, with sections of it that change, each with its parent's id."""

    whole: NodeVersion
    sections: tuple[tuple[NodeVersion, str], ...] = ()

    @property
    def draft(self) -> Draft:
        """The event that says it anew."""
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


def without_words(loom: Loom, going: Sequence[NodeVersion]) -> tuple[Around, ...]:
    """What stays around parts that go, without the summaries that repeat their words; nothing where none does."""
    found = []
    for whole, sections, parts in _by_document(loom, going, frozenset(node.id for node in going)):
        bare = [
            (replace(section, summary=""), parent)
            for section, parent in sections
            if section.summary and any(repeats(section.summary, node.text) for node in parts)
        ]
        told = whole.summary and any(repeats(whole.summary, words) for words in _words(parts))
        if bare or told:
            summary = "" if told else whole.summary
            found.append(Around(whole=replace(whole, summary=summary), sections=tuple(bare)))
    return tuple(found)


def with_summaries(loom: Loom, ids: Sequence[str], deleted_at: int) -> tuple[Around, ...]:
    """What stands around parts that came back, with the summaries that it had, as far as nothing is out of sight still.

    Of a document that was read again in the meantime its parts have the lines of before: it is to be compared again.
    """
    nodes = [node for some in slices(ids) for node in pages(loom, Which(ids=tuple(some), kinds=KINDS))]
    found = []
    for whole, sections, _ in _by_document(loom, nodes, frozenset(ids)):
        if whole.recorded_at > deleted_at:
            unfinished = replace(whole, props={**whole.props, "sha256": UNFINISHED})
            found.append(Around(whole=unfinished))
            continue
        gone = tuple(_words(_still_deleted(loom, whole)))
        made = [(_remade(loom, section, gone), parent) for section, parent in sections]
        changed = tuple((section, parent) for section, parent in made if section.summary)
        remade = _remade(loom, whole, gone)
        if changed or remade.summary != whole.summary:
            found.append(Around(whole=remade, sections=changed))
    return tuple(found)


Found = tuple[NodeVersion, list[tuple[NodeVersion, str]], list[NodeVersion]]


def _by_document(loom: Loom, nodes: Iterable[NodeVersion], going: frozenset[str]) -> list[Found]:
    """Documents around sections and chunks that are not among those themselves; the sections around, and the parts."""
    # Most often a whole document goes, with all its parts: then nothing is around them.
    parts = {node.id: node for node in nodes if node.kind in KINDS and node.props.get("document") not in going}
    documents: dict[str, Found] = {}
    seen: set[str] = set()
    for some in slices(tuple(parts)):
        for part_id, way in wholes_around(loom, [parts[each] for each in some]).items():
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
    """What parts say: chunks their text, sections their heading."""
    return [words for node in parts for words in (node.text, node.name) if words]


def _still_deleted(loom: Loom, whole: NodeVersion) -> list[NodeVersion]:
    below = pages(loom, Which(id_prefix=f"{whole.id}#", kinds=KINDS, deleted=True))
    return [node for node in islice(below, MAX_DELETED) if is_of(node, whole.id, whole.props.get("source"))]


def _remade(loom: Loom, node: NodeVersion, gone: Sequence[str]) -> NodeVersion:
    """With the last summary that it had, unless that repeats what is deleted."""
    before = node
    for _ in range(MAX_VERSIONS):
        if before.summary:
            told = any(repeats(before.summary, words) for words in gone)
            return node if told else replace(node, summary=before.summary)
        earlier = loom.store.nodes(loom.viewer, When(known_at=before.recorded_at - 1), [node.id])
        if not earlier:
            break
        before = earlier[0]
    return node
