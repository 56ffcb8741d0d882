"""Links from documents to code: a chunk that names a file or symbol of its project is joined to it.

The order of indexing does not matter: after either side was read, the affected chunks are resolved again against all
present code, and only differences from the existing links are written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import asdict

from weft.code.index.names import CodeNames
from weft.core.queries import NodeFilter
from weft.core.slices import in_slices
from weft.core.types import MAX_IDS_PER_READ, NOW, Find, NodeVersion, Way, When
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.retrieval.citations.file_ids import SYMBOL_KINDS
from weft.runtime.call_context import CallContext
from weft.writing.build.commit import append_stamped
from weft.writing.build.deletions import pages

MENTIONS_CODE: Final = "MENTIONS_CODE"
CODE_KINDS: Final = ("File", *SYMBOL_KINDS)
PAGE: Final = 5_000
MAX_NODES: Final = 500_000  # of a project's code, and of its chunks, that are looked at
MAX_LINKS: Final = 100  # of one chunk
EDGES_PER_EVENT: Final = 500
FILES_COMPARED: Final = 50  # changed at once: of more, all chunks are looked at without asking whether names changed
REASON: Final = "no longer what the document names"

Link = tuple[str, str]  # from a chunk, to a file or symbol
Item = TypeVar("Item")


class MentionsLinked(Struct, frozen=True, kw_only=True):
    """The number of links made and ended, and a note if something failed."""

    made: int = 0
    ended: int = 0
    note: str = ""


def link_mentions(
    ctx: CallContext, *, documents: Collection[str], files: Collection[str], since: int | None = None
) -> MentionsLinked:
    """Updates the links after these documents and source files were read or ended.

    `since` is an earlier moment, by which names that changed since are found. Writes nothing if nothing relevant
    changed.
    """
    if not documents and not files:
        return MentionsLinked()
    everywhere = bool(files) and _names_changed(ctx, files, since)
    chunks = [node for node in _chunks(ctx, documents, everywhere=everywhere) if _mentions(node)]
    gone = set(_gone_links(ctx, documents, files))
    wanted = _wanted(ctx, chunks) if chunks else {}
    standing = set(_standing(ctx, [node.id for node in chunks]))
    ended = sorted((standing | gone) - wanted.keys())
    made = [wanted[link] for link in sorted(wanted.keys() - standing)]
    return MentionsLinked(made=len(made), ended=len(ended), note=_write(ctx, made, ended))


def _chunks(ctx: CallContext, documents: Collection[str], *, everywhere: bool) -> Iterator[NodeVersion]:
    """The current chunks of these documents, or of all."""
    if everywhere:
        yield from _all(ctx, ("Chunk",))
        return
    for document in documents:
        found = ctx.store.find(ctx.viewer, NOW, Find(kinds=("Chunk",), id_prefix=f"{document}#"), limit=MAX_NODES)
        yield from found.nodes


def _all(ctx: CallContext, kinds: tuple[str, ...]) -> Iterator[NodeVersion]:
    """The current nodes of these kinds in this project, page by page."""
    when = ctx.store.pin(ctx.viewer, NOW)
    before: int | None = None
    for _ in range(MAX_NODES // PAGE):
        find = Find(kinds=kinds, projects=(ctx.settings.project,), before=before)
        nodes = ctx.store.find(ctx.viewer, when, find, limit=PAGE).nodes
        yield from nodes
        if len(nodes) < PAGE:
            return
        before = nodes[-1].row


def _mentions(chunk: NodeVersion) -> tuple[str, ...]:
    """Names that a chunk writes as code; encrypted text yields none."""
    listed = chunk.props.get("mentions")
    if chunk.guard.sensitive or not isinstance(listed, list | tuple):
        return ()
    return tuple(each for each in listed if isinstance(each, str))[:MAX_LINKS]


def _wanted(ctx: CallContext, chunks: Sequence[NodeVersion]) -> dict[Link, graph.EdgeAssertion]:
    """The links that should exist, each with the rights of its chunk."""
    names = CodeNames(_all(ctx, CODE_KINDS), lambda file: _text(ctx, file))
    if names.empty:
        return {}
    found = {}
    for chunk in chunks:
        for mention in _mentions(chunk):
            meant = names.meaning(mention, chunk.text)
            if meant is not None:
                edge = graph.EdgeAssertion(src=chunk.id, rel=MENTIONS_CODE, dst=meant, **asdict(chunk.guard))
                found[chunk.id, meant] = edge
    return found


def _text(ctx: CallContext, file: str) -> str:
    return next((node.text for node in ctx.store.nodes(ctx.viewer, NOW, [file])), "")


def _standing(ctx: CallContext, chunks: Sequence[str]) -> Iterator[Link]:
    """The existing links of these chunks."""
    for some in in_slices(chunks, MAX_IDS_PER_READ):
        steps = ctx.store.neighbours(ctx.viewer, NOW, some, rels=(MENTIONS_CODE,), direction="out", limit=MAX_LINKS * 2)
        yield from ((step.start, step.node.id) for step in steps)


# What is gone


def _gone_links(ctx: CallContext, documents: Collection[str], files: Collection[str]) -> Iterator[Link]:
    """Existing links whose chunk or target has ended."""
    for node in _ended(ctx, documents, ("Chunk",), "#"):
        if _mentions(node):
            yield from _links(ctx, node.id, "out", MAX_LINKS)
    for node in _ended(ctx, files, CODE_KINDS, "::"):
        yield from _links(ctx, node.id, "in", PAGE)


def _links(ctx: CallContext, node_id: str, way: Way, most: int) -> Iterator[Link]:
    edges = ctx.store.edges(ctx.viewer, NOW, node_id, rel=MENTIONS_CODE, direction=way, before=None, limit=most)
    yield from ((edge.src, edge.dst) for edge in edges)


def _ended(ctx: CallContext, wholes: Collection[str], kinds: tuple[str, ...], mark: str) -> Iterator[NodeVersion]:
    """Ended nodes among these, or parts of them: by id if there are few, else in one pass over the project."""
    if len(wholes) > FILES_COMPARED:
        which = [NodeFilter(kinds=kinds, projects=(ctx.settings.project,), deleted=False)]
    else:
        which = [NodeFilter(ids=tuple(wholes), kinds=kinds, deleted=False)] if wholes else []
        which += [NodeFilter(id_prefix=f"{each}{mark}", kinds=kinds, deleted=False) for each in wholes]
    for each in which:
        for node in pages(ctx, each):
            if node.retired_at is not None or node.interval.valid_to is not None:
                yield node


def _names_changed(ctx: CallContext, files: Collection[str], since: int | None) -> bool:
    """Whether files, symbols or the exports of a package changed."""
    if since is None or len(files) > FILES_COMPARED:
        return True
    then = When(known_at=since)
    for file in files:
        inside = Find(kinds=SYMBOL_KINDS, id_prefix=f"{file}::")
        now, before = (
            {node.id for node in ctx.store.find(ctx.viewer, when, inside, limit=PAGE).nodes} for when in (NOW, then)
        )
        texts = [
            [node.text if "__init__" in file else "" for node in ctx.store.nodes(ctx.viewer, when, [file])]
            for when in (NOW, then)
        ]
        if now != before or texts[0] != texts[1]:
            return True
    return False


# Writing


def _write(ctx: CallContext, made: Sequence[graph.EdgeAssertion], ended: Sequence[Link]) -> str:
    """Writes one event per batch; returns a note if something failed."""
    note = ""
    for edges in in_slices(made, EDGES_PER_EVENT):
        draft = Draft(kind="graph.asserted", payload=graph.Asserted(edges=tuple(edges)))
        note = note or append_stamped(ctx, [draft]).note
    for links in in_slices(ended, EDGES_PER_EVENT):
        names = tuple(graph.EdgeName(src=src, rel=MENTIONS_CODE, dst=dst) for src, dst in links)
        draft = Draft(kind="graph.ended", payload=graph.Ended(edges=names, reason=REASON))
        note = note or append_stamped(ctx, [draft]).note
    return note
