"""Search in the documents of a workspace, by a question or by a symbol that they name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.code.ask.workspaces import workspace_of
from weft.code.index.document_mentions import MENTIONS_CODE
from weft.context.excerpts import excerpt
from weft.core.errors import Invalid
from weft.core.types import NOW, Find, NodeVersion
from weft.recall.answer_limits import bounded
from weft.recall.request import Asking, read_ask
from weft.recall.show_values import show_node
from weft.retrieval import recipes
from weft.retrieval.pipeline import run
from weft.retrieval.scoring.passages import first_line
from weft.retrieval.sources.subscriptions import cited
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Limit
from weft.runtime.operation import Operation

DOCUMENT_KINDS: Final = ("Document", "Section", "Chunk")
CODE_KINDS: Final = ("File", "Class", "Function", "Test")
SHOWN_CHARACTERS: Final = 600
MOST_MENTIONS: Final = 200


class SearchDocs(Struct, frozen=True, kw_only=True):
    """Input of `search_docs`."""

    query: Annotated[str, Meta(max_length=8_192, description="what to look for, in words")] = ""
    symbol: Annotated[str, Meta(max_length=1_024, description="a symbol or file that the documents name")] = ""
    limit: Limit = 5


class DocPassage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A passage of a document, under its headings."""

    heading: str
    source: str
    text: str
    citation: str
    line: int = 0
    flags: tuple[str, ...] = ()


class DocsFound(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Passages, best first."""

    summary: str
    passages: tuple[DocPassage, ...]
    notes: tuple[str, ...] = ()


def search_docs(ctx: CallContext, given: SearchDocs) -> DocsFound:
    """Finds passages of this workspace's documents: by a question, by a symbol that they name, or by both.

    A symbol is given by its id (path::Class::method) or its name: only passages that name it are found. With a
    question too, the best of those are listed.
    """
    ctx = workspace_of(ctx)
    if not given.query.strip() and not given.symbol.strip():
        raise Invalid("no question and no symbol", hint="give query, or symbol, or both")
    if given.symbol.strip():
        named, notes = _naming(ctx, given.symbol.strip())
        ranked = named if not given.query.strip() else _ranked(ctx, given, among={node.id for node in named})
    else:
        ranked, notes = _ranked(ctx, given, among=None), ()
    ranked = ranked[: given.limit]
    citations = cited(ctx, ranked, followed=frozenset())
    passages = tuple(_passage(node, citations) for node in ranked)
    found = f"{len(passages)} passages" if len(passages) != 1 else "1 passage"
    if not passages and not notes:
        notes = ("nothing found; `weft index-docs` reads the documents of this workspace",)
    answer = DocsFound(summary=f"{found} of this workspace's documents", passages=passages, notes=notes)
    return bounded(answer, "passages")


def _ranked(ctx: CallContext, given: SearchDocs, among: set[str] | None) -> list[NodeVersion]:
    """Documents found by the recall pipeline; only those in `among` if given."""
    wide = given.limit if among is None else min(100, given.limit * 10)
    asking = Asking(query=given.query, limit=wide, kinds=DOCUMENT_KINDS)
    answer = run(recipes.RECIPES["default"], ctx, read_ask(ctx, asking))
    nodes = [candidate.node for candidate in answer.ranked or ()]
    return nodes if among is None else [node for node in nodes if node.id in among]


def _naming(ctx: CallContext, symbol: str) -> tuple[list[NodeVersion], tuple[str, ...]]:
    """Passages that name a symbol or file, in document order."""
    known = _meant(ctx, symbol)
    if not known:
        return [], (f"{symbol[:80]!r} is not an indexed symbol or file; `weft index` indexes the code",)
    ids = [node.id for node in known]
    steps = ctx.store.neighbours(ctx.viewer, NOW, ids, rels=(MENTIONS_CODE,), direction="in", limit=MOST_MENTIONS)
    found = {step.node.id: step.node for step in steps}
    ordered = sorted(found.values(), key=lambda node: (str(node.props.get("source", "")), first_line(node)))
    if ordered:
        return ordered, ()
    why = f"{len(known)} symbols have that name, and only unambiguous names are linked" if len(known) > 1 else ""
    return [], (f"no document is linked to {known[0].name}{f': {why}; ask by query' if why else ''}",)


def _meant(ctx: CallContext, symbol: str) -> tuple[NodeVersion, ...]:
    project = ctx.settings.project
    ids = (symbol,) if project is None else (symbol, f"{project}/{symbol}")
    if exact := ctx.store.nodes(ctx.viewer, NOW, ids):
        return exact
    find = Find(names=(symbol,), kinds=CODE_KINDS, projects=(project,))
    return ctx.store.find(ctx.viewer, NOW, find, limit=20).nodes


def _passage(node: NodeVersion, citations: Mapping[int, str]) -> DocPassage:
    words = node.text or node.summary
    shown = show_node(node, citations)
    return DocPassage(
        heading=node.summary if node.kind == "Chunk" else node.name,
        source=str(node.props.get("source", "")),
        text=excerpt(words, 0, SHOWN_CHARACTERS, 0),
        citation=shown.citation,
        line=first_line(node),
        flags=shown.flags,
    )


OPERATIONS = (
    Operation(
        name="search_docs",
        summary="find passages of this workspace's documents, by a question or by a symbol that they name",
        input=SearchDocs,
        output=DocsFound,
        effect="read",
        toolset="code",
        run=search_docs,
        arguments=("query",),
    ),
)
