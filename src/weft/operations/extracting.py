"""Reading out of what is there already: documents, conversations, and memories of an older extractor."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from weft.errors import Conflict
from weft.log.canonical import canonical
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.operations.committing import commit
from weft.operations.fields import KindNames
from weft.operations.reading_out import Memory, read_many
from weft.operations.registry import Operation
from weft.retrieval.derived import DERIVED_FROM
from weft.types import Guard, NodeVersion

BATCH: Final = 100  # texts that are read and written at a time
KINDS: Final = ("Memory", "Document", "Section", "Chunk", "Message", "Event", "Decision")


class ExtractMemories(Struct, frozen=True, kw_only=True):
    """Input of `extract_memories`."""

    kinds: KindNames = KINDS
    project: Annotated[str, Meta(min_length=1, max_length=128, description="only of this project")] | None = None


class ExtractedMemories(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many texts were read, what came of it, and how many batches had been read before."""

    texts: int
    things: int
    relations: int
    read_before: int
    notes: tuple[str, ...] = ()


def extract_memories(loom: Loom, given: ExtractMemories) -> ExtractedMemories:
    """Reads names, preferences and causes out of what is kept already, and joins them to it.

    For documents and conversations, which are not read when they are ingested, and after a better extractor. It ends
    no fact and proposes none. What was read before is not read again; stopped halfway, it goes on from there.
    """
    from weft.extract.extraction import VERSION

    loom = replace(loom, viewer=loom.operator("read out of everything"))
    texts = things = relations = before = 0
    for name, batch in _batches(loom, given):
        read = read_many(loom, [_memory(node) for node in batch])
        nodes = {node.id: node for each in read for node in each.nodes}
        edges = {(edge.src, edge.rel, edge.dst): edge for each in read for edge in each.edges}
        texts += len(batch)
        if not edges:
            continue
        draft = Draft(
            kind="graph.asserted", payload=graph.Asserted(nodes=tuple(nodes.values()), edges=tuple(edges.values()))
        )
        try:
            done = commit(loom, [draft], request_id=f"extract:{VERSION.replace('/', '-')}:{name}")
        except Conflict:  # read before, when other texts stood there
            before += 1
            continue
        before += done.repeated
        things += 0 if done.repeated else len(nodes)
        relations += 0 if done.repeated else len(edges)
        loom.progress("reading", texts, 0)
    return ExtractedMemories(texts=texts, things=things, relations=relations, read_before=before)


def _batches(loom: Loom, given: ExtractMemories) -> Iterator[tuple[str, list[NodeVersion]]]:
    """Texts that hold now, by name: rows of one guard that stand side by side.

    Rows keep their numbers, so a batch that is full has its name for good; the last one goes by how far it reaches.
    """
    found: dict[tuple[int, Guard], list[NodeVersion]] = {}
    last = 0
    for row in loom.store.graph_rows(loom.viewer):
        if not isinstance(row, NodeVersion):
            continue
        here = given.project is None or row.guard.project == given.project
        stands = row.retired_at is None and row.deleted_at is None and DERIVED_FROM not in row.props
        stands = stands and not row.guard.sensitive  # nothing is read out of what is sealed
        if here and stands and row.kind in given.kinds and row.text.strip():
            found.setdefault((row.row // BATCH, row.guard), []).append(row)
            last = max(last, row.row)
    told = canonical(list(given.kinds)).decode()
    for (block, guard), batch in found.items():
        upto = "" if block < last // BATCH else f"/{last}"
        words = f"{block}{upto}/{canonical(asdict(guard)).decode()}/{told}"
        yield hashlib.sha256(words.encode()).hexdigest()[:40], batch


def _memory(node: NodeVersion) -> Memory:
    speaker = node.props.get("speaker")
    return Memory(
        id=node.id,
        text=node.text,
        guard=node.guard,
        at=node.interval.valid_from,
        speaker=speaker if isinstance(speaker, str) else None,
    )


OPERATIONS = (
    Operation(
        name="extract_memories",
        summary="read names, preferences and causes out of documents and conversations",
        input=ExtractMemories,
        output=ExtractedMemories,
        effect="write",
        toolset="admin",
        run=extract_memories,
    ),
)
