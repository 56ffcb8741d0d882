"""`extract_memories`: extraction from existing documents, conversations and memories."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from weft.core.errors import Conflict
from weft.core.kinds import DERIVED_FROM
from weft.core.types import Guard, NodeVersion
from weft.log.canonical import canonical
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.runtime.call_context import CallContext
from weft.runtime.fields import KindNames
from weft.runtime.operation import Operation
from weft.writing.build.commit import commit
from weft.writing.build.extracted_facts import SourceText, extract_many

BATCH: Final = 100  # texts per batch
KINDS: Final = ("Memory", "Document", "Section", "Chunk", "Message", "Event", "Decision")


class ExtractMemories(Struct, frozen=True, kw_only=True):
    """Input of `extract_memories`."""

    kinds: KindNames = KINDS
    project: Annotated[str, Meta(min_length=1, max_length=128, description="only of this project")] | None = None


class ExtractedMemories(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many texts were read, what was extracted, and how many batches had been read before."""

    texts: int
    things: int
    relations: int
    read_before: int
    notes: tuple[str, ...] = ()


def extract_memories(ctx: CallContext, given: ExtractMemories) -> ExtractedMemories:
    """Extracts entities, preferences and causes from existing texts and joins them.

    For documents and conversations, which are not read on ingest, and after an upgrade of the extractor. It ends no
    fact and proposes none. Texts that were read before are skipped; an interrupted call continues when repeated.
    """
    from weft.text.extract.extraction import VERSION

    ctx = replace(ctx, viewer=ctx.operator("extract from all memories"))
    texts = things = relations = before = 0
    for name, batch in _batches(ctx, given):
        read = extract_many(ctx, [_memory(node) for node in batch])
        nodes = {node.id: node for each in read for node in each.nodes}
        edges = {(edge.src, edge.rel, edge.dst): edge for each in read for edge in each.edges}
        texts += len(batch)
        if not edges:
            continue
        draft = Draft(
            kind="graph.asserted", payload=graph.Asserted(nodes=tuple(nodes.values()), edges=tuple(edges.values()))
        )
        try:
            done = commit(ctx, [draft], request_id=f"extract:{VERSION.replace('/', '-')}:{name}")
        except Conflict:  # read before, with other texts in the batch
            before += 1
            continue
        before += done.repeated
        things += 0 if done.repeated else len(nodes)
        relations += 0 if done.repeated else len(edges)
        ctx.progress("reading", texts, 0)
    return ExtractedMemories(texts=texts, things=things, relations=relations, read_before=before)


def _batches(ctx: CallContext, given: ExtractMemories) -> Iterator[tuple[str, list[NodeVersion]]]:
    """Current texts in named batches: neighbouring rows with the same guard.

    Row numbers are permanent, so a full batch keeps its name; the last one is named by its last row.
    """
    found: dict[tuple[int, Guard], list[NodeVersion]] = {}
    last = 0
    for row in ctx.store.graph_rows(ctx.viewer):
        if not isinstance(row, NodeVersion):
            continue
        here = given.project is None or row.guard.project == given.project
        stands = row.retired_at is None and row.deleted_at is None and DERIVED_FROM not in row.props
        stands = stands and not row.guard.sensitive  # nothing is extracted from encrypted texts
        if here and stands and row.kind in given.kinds and row.text.strip():
            found.setdefault((row.row // BATCH, row.guard), []).append(row)
            last = max(last, row.row)
    told = canonical(list(given.kinds)).decode()
    for (block, guard), batch in found.items():
        upto = "" if block < last // BATCH else f"/{last}"
        words = f"{block}{upto}/{canonical(asdict(guard)).decode()}/{told}"
        yield hashlib.sha256(words.encode()).hexdigest()[:40], batch


def _memory(node: NodeVersion) -> SourceText:
    speaker = node.props.get("speaker")
    return SourceText(
        id=node.id,
        stem=node.id,
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
