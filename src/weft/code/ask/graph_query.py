"""Questions about a workspace's code, answered by files and symbols (local), communities (global), or both (hybrid)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from weft.code.ask.workspaces import workspace_of
from weft.code.communities.show import PRIORITIES, TO_DO, CommunityShown, communities_shown
from weft.core.errors import Invalid
from weft.core.kinds import COMMUNITY
from weft.core.types import Find, NodeVersion, When
from weft.documents.keep.freshness import freshness_note
from weft.documents.keep.source_lines import citation_of, line_of, path_of, told_of
from weft.recall.answer_limits import bounded
from weft.retrieval import recipes
from weft.retrieval.pipeline import Answer, Ask, Candidate, run
from weft.runtime.call_context import CallContext
from weft.runtime.fields import AsOf, KnownAt, Limit, Query
from weft.runtime.moments import as_of_note, read_when
from weft.runtime.operation import Operation
from weft.text.injection import flags_of, remark
from weft.text.lexical import stems

CODE_TYPES: Final = ("File", "Class", "Function", "Test")
DOCUMENT_TYPES: Final = ("Document", "Section", "Chunk")
SYMBOLS_SHOWN: Final = 4  # of a file
BESIDE_HITS: Final = 3  # communities of an answer that has hits too
LARGEST: Final = 12  # communities that an open question is answered from, at most
NOT_READ: Final = "no code of this workspace is indexed: run `weft index` in it, then ask again"
# What questions about all of it are made of: one that says nothing else asks for nothing in particular.
_OPEN_TEXT: Final = """
overview architecture architectural structure structured codebase code base project repository repo system application
program software main major important key core concern concerns part parts component components module modules piece
pieces area areas community communities organised organized organisation organization layout design high level summary
summarise summarize describe explain show list tell give understand work works working whole entire everything big
picture general about tour introduction start begin look looks
"""
OPEN_WORDS: Final = frozenset(stems(_OPEN_TEXT))

Mode = Literal["local", "global", "hybrid"]
Language = Literal["natural", "cypher"]


class GraphQuery(Struct, frozen=True, kw_only=True):
    """Input of `graph_query`."""

    query: Query
    mode: Annotated[Mode, Meta(description="files and symbols, groups of files, or both")] = "local"
    language: Annotated[Language, Meta(description="plain words; Cypher only where the store speaks it")] = "natural"
    limit: Limit = 10
    types: Annotated[
        tuple[str, ...],
        Meta(max_length=8, description="File, Class, Function, Test, Document, Section, Chunk; code if unset"),
    ] = ()
    as_of: Annotated[AsOf, Meta(description="as of this time; also a git commit or Tx id")] = None
    known_at: KnownAt = None


class SymbolHit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A symbol of a file that answers, and what it is for."""

    name: str
    line: int
    summary: str = ""


class CodeHit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file, symbol or passage that answers. `symbols` are those of a file that do, the best first."""

    id: str
    type: str
    name: str
    path: str
    line: int
    score: float
    citation: str
    summary: str = ""
    symbols: tuple[SymbolHit, ...] = ()


class GraphAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What answers: `communities` for the whole, `hits` for the detail, each best first."""

    summary: str
    mode: Mode
    communities: tuple[CommunityShown, ...] = ()
    hits: tuple[CodeHit, ...] = ()
    notes: tuple[str, ...] = ()


def graph_query(ctx: CallContext, given: GraphQuery) -> GraphAnswer:
    """Answers a question about this workspace's code, in plain words.

    local finds matching files and symbols, by words and meaning. global answers from communities (files that work
    together): the matching ones, or all, largest first, for a question such as "overview of the codebase". hybrid gives
    both. With as_of, the answer is as of a time, a git commit or a transaction.
    """
    ctx = workspace_of(ctx)
    if given.language == "cypher":
        raise Invalid(
            "this store does not speak Cypher",
            hint="ask in plain words, with language natural",
        )
    kinds = _kinds(given.types)
    when = ctx.store.pin(ctx.viewer, read_when(ctx, as_of=given.as_of, known_at=given.known_at))
    ask = Ask(
        query=given.query,
        when=when,
        limit=given.limit,
        projects=(ctx.settings.project,),
        kinds=kinds,
        as_of=given.as_of is not None,
    )
    notes: list[str] = []
    communities = () if given.mode == "local" else _global(ctx, ask, notes)
    communities = communities[:BESIDE_HITS] if given.mode == "hybrid" else communities
    hits = () if given.mode == "global" else _local(ctx, ask, notes)
    if given.as_of is None and given.known_at is None:
        touched = [hit.path for hit in hits] + [path for each in communities for path in each.paths]
        stale = freshness_note(ctx, touched)
        notes += [stale] if stale else []
    notes += remark((hit.id, flags_of(_words(hit))) for hit in hits)
    answer = GraphAnswer(
        summary=_summary(given, communities, hits),
        mode=given.mode,
        communities=communities,
        hits=hits,
        notes=tuple(dict.fromkeys((*notes, *as_of_note(ctx, given.as_of)))),
    )
    return bounded(answer, "hits" if hits else "communities")


def _kinds(asked: tuple[str, ...]) -> tuple[str, ...]:
    known = {kind.lower(): kind for kind in (*CODE_TYPES, *DOCUMENT_TYPES)}
    if unknown := [each for each in asked if each.lower() not in known]:
        raise Invalid(f"unknown type {unknown[0][:40]!r}", hint=f"types are {', '.join(known.values())}")
    return tuple(known[each.lower()] for each in asked) or CODE_TYPES


# In detail


def _local(ctx: CallContext, ask: Ask, notes: list[str]) -> tuple[CodeHit, ...]:
    """Hits of the recall pipeline of the requested kinds."""
    answer = run(recipes.DEFAULT, ctx, ask)
    ranked = answer.ranked or ()
    notes += answer.notes
    best = {place.id for candidate in ranked for place in candidate.best}
    symbols = {node.id: node for node in ctx.store.nodes(ctx.viewer, ask.when, sorted(best))} if best else {}
    if not ranked and not answer.degraded and not _has_files(ctx, ask.when):
        notes.append(NOT_READ)
    return tuple(_hit(candidate, symbols) for candidate in ranked)


def _has_files(ctx: CallContext, when: When) -> bool:
    find = Find(kinds=("File",), projects=(ctx.settings.project,))
    return bool(ctx.store.find(ctx.viewer, when, find, limit=1).nodes)


def _hit(candidate: Candidate, symbols: Mapping[str, NodeVersion]) -> CodeHit:
    node = candidate.node
    inside = [symbols[place.id] for place in candidate.best if place.id in symbols and place.id != node.id]
    return CodeHit(
        id=node.id,
        type=node.kind,
        name=node.name,
        path=path_of(node) or str(node.props.get("source") or ""),
        line=line_of(node),
        score=round(candidate.score, 4),
        citation=citation_of(node) or node.id,
        summary="" if node.kind == "File" else told_of(node),
        symbols=tuple(
            SymbolHit(name=each.name, line=line_of(each), summary=told_of(each)) for each in inside[:SYMBOLS_SHOWN]
        ),
    )


def _words(hit: CodeHit) -> str:
    return "\n".join((hit.summary, *(symbol.summary for symbol in hit.symbols)))


# As a whole


def is_open(query: str) -> bool:
    """Whether a question asks for an overview, with no particular subject."""
    return not set(stems(query)) - OPEN_WORDS


def _global(ctx: CallContext, ask: Ask, notes: list[str]) -> tuple[CommunityShown, ...]:
    """Communities that match a question, best first; all of them, largest first, for an overview."""
    known = communities_shown(ctx, ask.when)
    if not known:
        notes.append(f"no communities are computed yet: {TO_DO}")
        return ()
    if is_open(ask.query):
        return known[: max(ask.limit, LARGEST)]
    wanted = Ask(
        query=ask.query,
        when=ask.when,
        limit=ask.limit,
        projects=ask.projects,
        kinds=(COMMUNITY,),
        min_score=0.0,
        as_of=ask.as_of,
    )
    answer: Answer = run(recipes.DEFAULT, ctx, wanted)
    by_id = {each.id: each for each in known}
    found = tuple(by_id[each.node.id] for each in answer.ranked or () if each.node.id in by_id)
    if not found:
        notes.append("no community matches: these are the largest")
    return found or known[: ask.limit]


def _summary(given: GraphQuery, communities: Sequence[CommunityShown], hits: Sequence[CodeHit]) -> str:
    told = []
    if communities:
        told.append(", ".join(f"{each.label} ({each.files:,})" for each in communities[:5]))
    if hits:
        best = hits[0]
        inside = f": {best.symbols[0].name}" if best.symbols else ""
        told.append(f"{best.path or best.name}{inside}" + (f", and {len(hits) - 1} more" if len(hits) > 1 else ""))
    return "; ".join(told) or f"no match for {given.query[:80]!r}"


OPERATIONS = (
    Operation(
        name="graph_query",
        summary="find files and symbols by a question in plain words, or get an overview of the code",
        input=GraphQuery,
        output=GraphAnswer,
        effect="read",
        toolset="code",
        run=graph_query,
        arguments=("query",),
        rare=("known_at", "language"),
        priorities={
            **{f"communities.{field}": priority for field, priority in PRIORITIES.items()},
            "communities": "required",
            "hits": "required",
            **dict.fromkeys(("hits.path", "hits.line", "hits.symbols", "hits.symbols.line"), "required"),
            **dict.fromkeys(("hits.id", "hits.citation", "hits.score", "hits.type"), "low"),
            "hits.symbols.summary": "medium",
        },
    ),
)
