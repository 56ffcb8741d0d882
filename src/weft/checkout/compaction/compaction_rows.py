"""The input of a log compaction: current memories of a project that the caller may see, in order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.context.compaction import CompactionRow
from weft.core.clock import parse_instant
from weft.core.errors import Invalid, NotFound
from weft.core.kinds import DERIVED_FROM, RECORD_KINDS, STRUCTURAL_KINDS, VIEWS
from weft.core.queries import TextQuery
from weft.core.types import NOW, Find, Guard, NodeVersion, When
from weft.retrieval.scoring.retention import expires_at
from weft.runtime.call_context import CallContext
from weft.runtime.read_nodes import read_nodes
from weft.text.lexical import query_terms, text_to_embed
from weft.writing.checks.provenance import conversation_key, conversation_named

PurposeName = Annotated[
    Literal["coding", "review", "release", "security", "research", "coordinate"],
    Meta(description="the purpose of the memories"),
]
WHOLE: Final = "whole"
PAGE: Final = 1_000
MAX_ROWS: Final = 50_000  # the newest, of one compaction
MAX_FOUND: Final = 5_000  # by the words of a query
MAX_PROPOSALS: Final = 1_000
# Structure, code and entities are no statements; briefings and extracted nodes repeat other memories.
NOT_COMPACTED: Final = tuple(
    sorted((STRUCTURAL_KINDS - {"Section"}) | RECORD_KINDS | VIEWS["entity"] | VIEWS["code"] | {"Briefing"})
)


class Selection(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which memories of a project are meant; all of them if nothing is set."""

    project: str
    query: str = ""
    since: str = ""
    session: str = ""

    @property
    def key(self) -> str:
        """Identifies a selection without its words: WHOLE for the whole project."""
        parts = (self.query, self.since, self.session)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16] if any(parts) else WHOLE


class CompactionNodes(Struct, frozen=True, kw_only=True):
    """Nodes in the order of their events, and notes on the search for them."""

    nodes: tuple[NodeVersion, ...]
    notes: tuple[str, ...] = ()


def gather(ctx: CallContext, selection: Selection) -> CompactionNodes:
    """The selected memories, without sensitive ones. Raises NotFound for an unknown session."""
    reader = replace(ctx, viewer=replace(ctx.viewer, sensitive=False))
    when = reader.store.pin(reader.viewer, NOW)
    nodes, whole = _nodes(reader, selection, when)
    kept = sorted((node for node in nodes if says_something(node)), key=lambda node: (node.event, node.row))
    if selection.since:
        begin = parse_instant(selection.since, field="since")
        kept = [node for node in kept if node.interval.valid_from >= begin]
    notes = () if whole else (f"only the newest {len(nodes):,} were looked at",)
    return CompactionNodes(nodes=tuple(kept), notes=notes)


def _nodes(ctx: CallContext, selection: Selection, when: When) -> tuple[list[NodeVersion], bool]:
    find = Find(projects=(selection.project, None), without_kinds=NOT_COMPACTED)
    if selection.session:
        node = conversation_named(ctx, selection.session)
        if node is None:
            raise NotFound(
                f"there is no conversation {selection.session[:80]!r} that you may see",
                hint="name it as record_turns does; `weft conversation-search` finds messages",
            )
        find = replace(find, id_prefix=f"{conversation_key(ctx, node.id)}#")
    if selection.query:
        return _by_words(ctx, selection, when, find)
    found: list[NodeVersion] = []
    for page in _pages(ctx, when, find):
        found += page
        if len(found) >= MAX_ROWS:
            return found[:MAX_ROWS], False
    return found, True


def _pages(ctx: CallContext, when: When, find: Find) -> Iterator[Sequence[NodeVersion]]:
    while page := ctx.store.find(ctx.viewer, when, find, limit=PAGE).nodes:
        yield page
        if len(page) < PAGE:
            return
        find = replace(find, before=page[-1].row)


def _by_words(ctx: CallContext, selection: Selection, when: When, find: Find) -> tuple[list[NodeVersion], bool]:
    terms = tuple(query_terms(selection.query))
    if not terms:
        raise Invalid("the query has no words to look for", hint="give words that the memories have")
    query = TextQuery(terms=terms, projects=find.projects)
    hits = ctx.store.search_text(ctx.viewer, when, query, limit=MAX_FOUND).hits
    prefix = find.id_prefix or ""
    ids = [hit.node.id for hit in hits if hit.node.kind not in NOT_COMPACTED and hit.node.id.startswith(prefix)]
    return list(read_nodes(ctx, when, ids)), len(hits) < MAX_FOUND


def says_something(node: NodeVersion) -> bool:
    """Whether a node has words of its own to compact."""
    in_words = bool(node.text.strip() or (node.summary.strip() and node.kind != "Section"))
    return in_words and DERIVED_FROM not in node.props


# ---- as a policy sees them


def rows_of(ctx: CallContext, nodes: Sequence[NodeVersion]) -> list[CompactionRow]:
    """Nodes as rows, in order."""
    disputed = _disputed(ctx)
    now = ctx.clock.now_us()
    return [_row(node, node.id in disputed, now) for node in nodes]


def waiting_rows(ctx: CallContext, project: str) -> list[NodeVersion]:
    """Pending and rejected proposals: reported for the purpose `coordinate`, and never kept."""
    find = Find(kinds=("Proposal",), projects=(project, None))
    found = ctx.store.find(ctx.viewer, NOW, find, limit=MAX_PROPOSALS).nodes
    return [node for node in found if node.props.get("status") != "accepted"]


def by_guard(nodes: Sequence[NodeVersion], project: str) -> Mapping[Guard, tuple[NodeVersion, ...]]:
    """Nodes by guard; those for all projects are compacted in this one."""
    found: dict[Guard, list[NodeVersion]] = {}
    for node in nodes:
        found.setdefault(replace(node.guard, project=project), []).append(node)
    return {guard: tuple(found[guard]) for guard in sorted(found, key=lambda guard: (guard.scope, guard.agents))}


def words_of(node: NodeVersion) -> str:
    """All words of a node."""
    return text_to_embed(node.name, node.summary, node.text)


def _row(node: NodeVersion, disputed: bool, now: int) -> CompactionRow:  # noqa: FBT001
    return CompactionRow(
        id=node.id,
        kind=node.kind,
        text=words_of(node),
        status=_text(node.props.get("status")).casefold(),
        topics=(*_texts(node.props.get("keywords")), _text(node.props.get("purpose"))),
        expired=expires_at(node) <= now,
        disputed=disputed,
    )


def _disputed(ctx: CallContext) -> frozenset[str]:
    """The memories that a pending proposal contradicts, and its sources."""
    find = Find(kinds=("Proposal",), projects=(ctx.settings.project, None), props={"status": "pending"})
    found = ctx.store.find(ctx.viewer, NOW, find, limit=MAX_PROPOSALS).nodes
    return frozenset(str(node.props[name]) for node in found for name in ("old_fact", "source") if name in node.props)


def _text(held: Any) -> str:
    return held if isinstance(held, str) else ""


def _texts(held: Any) -> tuple[str, ...]:
    return tuple(each for each in held if isinstance(each, str)) if isinstance(held, list | tuple) else ()
