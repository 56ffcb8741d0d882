"""The documents of a workspace beside its code: read them, and find what they say of a question or of a symbol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.context.wording import excerpt
from weft.errors import Invalid
from weft.loom import Loom
from weft.operations.asking import Asking, read_ask
from weft.operations.bounds import bounded
from weft.operations.doc_links import MENTIONS_CODE
from weft.operations.fields import Limit
from weft.operations.ingesting import Ingested, ingest_documents
from weft.operations.paths import read_path
from weft.operations.registry import Operation
from weft.operations.showing import show_node
from weft.operations.workspaces import workspace_of
from weft.retrieval import recipes
from weft.retrieval.pipeline import run
from weft.retrieval.subscriptions import cited
from weft.types import NOW, Find, NodeVersion

DOCUMENT_KINDS: Final = ("Document", "Section", "Chunk")
CODE_KINDS: Final = ("File", "Class", "Function", "Test")
SHOWN_CHARACTERS: Final = 600
MOST_MENTIONS: Final = 200


class IndexDocs(Struct, frozen=True, kw_only=True):
    """Input of `index_docs`."""

    path: Annotated[str, Meta(max_length=4096, description="a file or folder of the workspace; else all")] = ""


def index_docs(loom: Loom, given: IndexDocs) -> Ingested:
    """Reads the documents of this workspace: Markdown, reStructuredText, text, PDF, DOCX, HTML. No source code.

    They are joined to the code that they name. Unchanged ones cost nothing. `weft ingest` reads both.
    """
    loom = workspace_of(loom)
    return ingest_documents(loom, str(loom.settings.root / read_path(given.path or ".")))


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


def search_docs(loom: Loom, given: SearchDocs) -> DocsFound:
    """Finds passages of this workspace's documents: by a question, by a symbol that they name, or by both.

    A symbol is named by its id (path::Class::method) or its name; only passages that name it count then, and with a
    question too, the best of those.
    """
    loom = workspace_of(loom)
    if not given.query.strip() and not given.symbol.strip():
        raise Invalid("nothing is asked for", hint="give query, or symbol, or both")
    if given.symbol.strip():
        named, notes = _naming(loom, given.symbol.strip())
        ranked = named if not given.query.strip() else _ranked(loom, given, among={node.id for node in named})
    else:
        ranked, notes = _ranked(loom, given, among=None), ()
    ranked = ranked[: given.limit]
    citations = cited(loom, ranked, followed=frozenset())
    passages = tuple(_passage(node, citations) for node in ranked)
    found = f"{len(passages)} passages" if len(passages) != 1 else "1 passage"
    if not passages and not notes:
        notes = ("nothing found: `weft index-docs` reads the documents of this workspace",)
    answer = DocsFound(summary=f"{found} of this workspace's documents", passages=passages, notes=notes)
    return bounded(answer, "passages")


def _ranked(loom: Loom, given: SearchDocs, among: set[str] | None) -> list[NodeVersion]:
    """What the ordinary pipeline finds among documents; with `among`, of these only."""
    wide = given.limit if among is None else min(100, given.limit * 10)
    asking = Asking(query=given.query, limit=wide, kinds=DOCUMENT_KINDS)
    answer = run(recipes.RECIPES["default"], loom, read_ask(loom, asking))
    nodes = [candidate.node for candidate in answer.ranked or ()]
    return nodes if among is None else [node for node in nodes if node.id in among]


def _naming(loom: Loom, symbol: str) -> tuple[list[NodeVersion], tuple[str, ...]]:
    """The passages that name a symbol or file, in the order of their documents."""
    known = _meant(loom, symbol)
    if not known:
        return [], (f"{symbol[:80]!r} is no symbol or file that is indexed: `weft index` reads the code",)
    ids = [node.id for node in known]
    steps = loom.store.neighbours(loom.viewer, NOW, ids, rels=(MENTIONS_CODE,), direction="in", limit=MOST_MENTIONS)
    found = {step.node.id: step.node for step in steps}
    ordered = sorted(found.values(), key=lambda node: (str(node.props.get("source", "")), _line(node)))
    if ordered:
        return ordered, ()
    why = f"{len(known)} symbols go by that name, and only what means one thing is joined" if len(known) > 1 else ""
    return [], (f"no document is joined to {known[0].name}{f': {why}; ask by query' if why else ''}",)


def _meant(loom: Loom, symbol: str) -> tuple[NodeVersion, ...]:
    project = loom.settings.project
    ids = (symbol,) if project is None else (symbol, f"{project}/{symbol}")
    if exact := loom.store.nodes(loom.viewer, NOW, ids):
        return exact
    find = Find(names=(symbol,), kinds=CODE_KINDS, projects=(project,))
    return loom.store.find(loom.viewer, NOW, find, limit=20).nodes


def _passage(node: NodeVersion, citations: Mapping[int, str]) -> DocPassage:
    words = node.text or node.summary
    shown = show_node(node, citations)
    return DocPassage(
        heading=node.summary if node.kind == "Chunk" else node.name,
        source=str(node.props.get("source", "")),
        text=excerpt(words, 0, SHOWN_CHARACTERS, 0),
        citation=shown.citation,
        line=_line(node),
        flags=shown.flags,
    )


def _line(node: NodeVersion) -> int:
    line = node.props.get("line")
    return line if isinstance(line, int) else 0


OPERATIONS = (
    Operation(
        name="index_docs",
        summary="read the documents of this workspace, without its source code",
        input=IndexDocs,
        output=Ingested,
        effect="write",
        toolset="code",
        reach="machine",
        run=index_docs,
        arguments=("path",),
    ),
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
