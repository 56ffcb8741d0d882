"""Reading a log compaction: its records with their present words, each with the citations of its sources.

A projection is no source. Every line is read from its node, as the caller may see it now: missing nodes are counted,
changed ones are marked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.checkout.compaction.compaction_rows import NOT_COMPACTED, WHOLE, PurposeName, says_something
from weft.core.clock import to_iso
from weft.core.queries import TextQuery, VectorQuery
from weft.core.types import MAX_IDS_PER_READ, NOW, Find, Guard, NodeVersion
from weft.retrieval.citations.file_ids import line_citation
from weft.retrieval.judging.superseded import replaced_among
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label, Limit, Query
from weft.runtime.operation import Operation
from weft.runtime.read_nodes import read_nodes

PROJECTION: Final = "Projection"
MAX_PROJECTIONS: Final = 1_000
RANKED: Final = 200  # by words, and by meaning
RANK_OFFSET: Final = 60  # of reciprocal ranks: how little the first of a list outdoes the second
COUNTED_SINCE: Final = 100
CHANGED: Final = "changed since it was compacted"
UNMARKED: Final = ("topic", "floor", "every record")  # why a record is kept that nothing but its topic speaks for


class ProjectedRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record of a projection with its present words. `sources` are its own citation and those of the nodes it
    represents.

    `event_ref` is the event that was compacted; `stale` says that the line rests on another one by now.
    """

    projection_id: str
    event_ref: str
    id: str
    kind: str
    text: str
    role: str
    why: str
    valid_from: str
    sources: tuple[str, ...]
    name: str = ""
    more: int = 0
    stale: str = ""


class Projected(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Records of the projections for a purpose, the best answers to the question first.

    `total` is how many there are, `dropped` counts missing ones by reason, `since` the memories added later (up to
    100).
    """

    purpose: str
    records: tuple[ProjectedRecord, ...]
    total: int = 0
    made_at: str | None = None
    since: int = 0
    dropped: dict[str, int] = {}
    notes: tuple[str, ...] = ()


class CompactionShow(Struct, frozen=True, kw_only=True):
    """Input of `compaction_show`."""

    purpose: PurposeName
    query: Annotated[Query | None, Meta(description="those that answer this first")] = None
    limit: Limit = 20
    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None


def compaction_show(ctx: CallContext, given: CompactionShow) -> Projected:
    """Shows the records that a compaction kept for a purpose, with their present words and sources."""
    return projected(ctx, given.purpose, query=given.query, limit=given.limit, project=given.project)


def projected(
    ctx: CallContext,
    purpose: str,
    *,
    query: str | None = None,
    limit: int = 20,
    project: str | None = None,
    selection: str | None = None,
) -> Projected:
    """The records of the projections for a purpose that the caller may see; none, and a note, where there are none."""
    nodes = projections_of(ctx, purpose, project=project, selection=selection)
    if not nodes:
        return Projected(
            purpose=purpose,
            records=(),
            notes=(f"nothing is compacted for {purpose} here: `weft compact --purpose {purpose}` does it",),
        )
    kept = _Kept(ctx, nodes)
    ranked = sorted(kept.records, key=_order(ctx, query, project))
    records, dropped = kept.shown(ranked, limit)
    since, told = _since(ctx, purpose, nodes, project or ctx.settings.project)
    return Projected(
        purpose=purpose,
        records=records,
        total=len(kept.records),
        made_at=to_iso(max(node.recorded_at for node in nodes)),
        since=since,
        dropped=dropped,
        notes=(*told, *uncited_note(records)),
    )


def projections_of(
    ctx: CallContext, purpose: str, *, project: str | None = None, selection: str | None = None
) -> tuple[NodeVersion, ...]:
    """The projections for a purpose that the caller may see; of one selection, if that is given. Looked up by id."""
    props = {} if selection is None else {"selection": selection}
    prefix = projection_prefix(project or ctx.settings.project, purpose)
    return ctx.store.find(
        ctx.viewer, NOW, Find(kinds=(PROJECTION,), id_prefix=prefix, props=props), limit=MAX_PROJECTIONS
    ).nodes


def projection_prefix(project: str, purpose: str) -> str:
    """How the ids of projections begin."""
    return f"compaction/{project}/{purpose}/"


def compacted_nodes(ctx: CallContext, purpose: str, query: str, *, limit: int) -> tuple[NodeVersion, ...]:
    """Memories that a compaction marked and that match a question, best first.

    For a prompt with little room: decisions, failed attempts, proofs. None, at the cost of one read, where nothing is
    compacted.
    """
    projections = projections_of(ctx, purpose)
    if not projections:
        return ()
    scores = _scores(ctx, query, None)
    marked = [each for each in _Kept(ctx, projections).records if each["why"] not in UNMARKED and each["id"] in scores]
    ids = [each["id"] for each in sorted(marked, key=lambda each: -scores[each["id"]])][: 2 * limit]
    replaced = replaced_among(ctx, NOW, ids)
    return tuple(node for node in read_nodes(ctx, NOW, ids) if node.id not in replaced)[:limit]


def uncited_note(records: Sequence[ProjectedRecord]) -> tuple[str, ...]:
    """A warning if lines of a projection have no source behind them: then they prove nothing."""
    bare = sum(not record.sources for record in records)
    return (f"{bare} of these lines cite no source: do not rely on them alone",) if bare else ()


class _Kept:
    """The records of some projections, each node once: as the newest projection has it."""

    def __init__(self, ctx: CallContext, projections: Sequence[NodeVersion]) -> None:
        self._ctx = ctx
        self._from: dict[str, str] = {}
        found: dict[str, Mapping[str, Any]] = {}
        for node in sorted(projections, key=lambda each: (-each.recorded_at, each.props.get("part", 0))):
            for record in node.props.get("records", ()):
                if found.setdefault(record["id"], record) is record:
                    self._from[record["id"]] = node.id
        self.records: list[Mapping[str, Any]] = list(found.values())

    def shown(
        self, ranked: Sequence[Mapping[str, Any]], limit: int
    ) -> tuple[tuple[ProjectedRecord, ...], dict[str, int]]:
        """The first `limit` that still exist, and how many were skipped by reason."""
        records: list[ProjectedRecord] = []
        dropped: Counter[str] = Counter()
        step = min(max(2 * limit, 20), MAX_IDS_PER_READ)
        for start in range(0, len(ranked), step):
            for each in self._read(ranked[start : start + step], dropped):
                if len(records) == limit:
                    return tuple(records), dict(dropped)
                records.append(each)
        return tuple(records), dict(dropped)

    def _read(self, some: Sequence[Mapping[str, Any]], dropped: Counter[str]) -> Iterator[ProjectedRecord]:
        ctx = self._ctx
        ids = list(dict.fromkeys(each for record in some for each in (record["id"], *record.get("of", ()))))
        nodes = {node.id: node for node in read_nodes(ctx, NOW, ids)}
        replaced = replaced_among(ctx, NOW, [record["id"] for record in some])
        citations = ctx.store.citations(ctx.viewer, [node.event for node in nodes.values()])
        for record in some:
            node = nodes.get(record["id"])
            if node is None or node.id in replaced:
                dropped["not there any more" if node is None else "replaced since"] += 1
                continue
            yield self._record(record, node, nodes, citations)

    def _record(
        self,
        record: Mapping[str, Any],
        node: NodeVersion,
        nodes: Mapping[str, NodeVersion],
        citations: Mapping[int, str],
    ) -> ProjectedRecord:
        own = citations.get(node.event, "")
        behind = [nodes[each] for each in record.get("of", ()) if each in nodes]
        sources = [own, *(citations.get(each.event, "") for each in behind)]
        return ProjectedRecord(
            projection_id=self._from[node.id],
            event_ref=record["event"],
            id=node.id,
            kind=node.kind,
            name=node.name,
            text=node.text or node.summary,
            role=record["role"],
            why=record["why"],
            valid_from=to_iso(node.interval.valid_from),
            sources=tuple(dict.fromkeys(each for each in (line_citation(node), *sources) if each)),
            more=record.get("more", 0),
            stale="" if own == record["event"] else CHANGED,
        )


def _order(ctx: CallContext, query: str | None, project: str | None) -> Any:
    """A sort key: by rank in the text and vector search, then marked records, then topics."""
    scores = _scores(ctx, query, project) if query and query.strip() else {}
    return lambda record: (-scores.get(record["id"], 0.0), record["why"] in UNMARKED)


def _scores(ctx: CallContext, query: str, project: str | None) -> Mapping[str, float]:
    from weft.models.embedding import asked
    from weft.text.lexical import query_terms

    projects = (project or ctx.settings.project, None)
    scores: dict[str, float] = {}
    terms = tuple(query_terms(query))
    hits = []
    if terms:
        words = TextQuery(terms=terms, projects=projects)
        hits.append([hit.node.id for hit in ctx.store.search_text(ctx.viewer, NOW, words, limit=RANKED).hits])
    data, _ = ctx.embedding.query(asked(query)) if ctx.embedding.model is not None else (None, "")
    if data is not None:
        near = VectorQuery(model=ctx.embedding.model or "", data=data, projects=projects)
        hits.append([hit.node.id for hit in ctx.store.search_vector(ctx.viewer, NOW, near, limit=RANKED).hits])
    for ranked in hits:
        for place, node_id in enumerate(ranked):
            scores[node_id] = scores.get(node_id, 0.0) + 1.0 / (RANK_OFFSET + place)
    return scores


def _since(
    ctx: CallContext, purpose: str, projections: Sequence[NodeVersion], project: str
) -> tuple[int, tuple[str, ...]]:
    """How many memories were added or changed since the project was compacted as a whole, and notes on that.

    Each is compared with the head of the log at the last compaction with the same rights. For a narrower selection this
    is unknown: its words are not kept.
    """
    whole = [node for node in projections if node.props.get("selection") == WHOLE]
    if not whole:
        return 0, (f"only parts of the project are compacted: `weft compact --purpose {purpose}` takes in all of it",)
    heads: dict[Guard, int] = {}
    for node in whole:
        heads[node.guard] = max(heads.get(node.guard, 0), _head(node))
    find = Find(projects=(project, None), without_kinds=NOT_COMPACTED)
    reader = replace(ctx.viewer, sensitive=False)
    newest = ctx.store.find(reader, NOW, find, limit=COUNTED_SINCE).nodes
    since = sum(
        says_something(node) and node.event > heads.get(replace(node.guard, project=project), 0) for node in newest
    )
    return since, _stale_note(purpose, since)


def _head(node: NodeVersion) -> int:
    covers = node.props.get("covers")
    head = covers.get("head") if isinstance(covers, Mapping) else None
    return head if isinstance(head, int) else 0


def _stale_note(purpose: str, since: int) -> tuple[str, ...]:
    if not since:
        return ()
    count = f"{COUNTED_SINCE} memories or more" if since == COUNTED_SINCE else f"{since} memories"
    count = "1 memory" if since == 1 else count
    return (f"{count} came since it was compacted: `weft compact --purpose {purpose}` takes them in",)


OPERATIONS = (
    Operation(
        name="compaction_show",
        summary="show the records that a compaction kept for a purpose, with their sources",
        input=CompactionShow,
        output=Projected,
        effect="read",
        toolset="memory",
        run=compaction_show,
        arguments=("purpose",),
    ),
)
