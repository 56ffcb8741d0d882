"""Log compaction: for one purpose, the memories to read first when there is little room. No event is replaced.

A projection holds no words. Its records point at nodes and events, so a reader gets today's words under today's guards:
erased, deleted and replaced memories are gone from it. Each set of rights has projections of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict

from weft.checkout.compaction.compaction_rows import (
    PurposeName,
    Selection,
    by_guard,
    gather,
    rows_of,
    waiting_rows,
    words_of,
)
from weft.checkout.compaction.compaction_show import PROJECTION, Projected, projected, projection_prefix, projections_of
from weft.checkout.compaction.topics import topics_of
from weft.context.compaction import NAMED, POLICIES, CompactionResult, sort_out
from weft.core.errors import Invalid, NotFound
from weft.core.types import MAX_IDS_PER_READ, Guard, NodeVersion
from weft.files.paths import read_path
from weft.log.draft import Draft
from weft.log.kinds.graph import Asserted, Ended, NodeAssertion
from weft.retrieval.sources.subscriptions import cited
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label, Moment, Name, Query
from weft.runtime.operation import Operation
from weft.writing.build.commit import commit
from weft.writing.build.write_once import occasion_id
from weft.writing.build.written_files import FileText, check_free, put_file

PART_BYTES: Final = 300_000  # of one event
MAX_REPORTED: Final = 50


class Compact(Struct, frozen=True, kw_only=True):
    """Input of `compact`."""

    purpose: PurposeName
    query: Annotated[Query | None, Meta(description="only memories with a word of this")] = None
    since: Annotated[Moment | None, Meta(description="only memories that began to hold then or later")] = None
    session: Annotated[Name | None, Meta(description="only the turns of this conversation")] = None
    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    output: (
        Annotated[
            str, Meta(min_length=1, max_length=4096, description="a file, *.compaction.json, for the records as well")
        ]
        | None
    ) = None


class CoveredEvents(Struct, frozen=True, kw_only=True):
    """The events that a compaction covers: positions, and the head of the log."""

    first: int
    last: int
    head: int
    digest: str


class UnsettledRow(Struct, frozen=True, kw_only=True):
    """A row that is reported and not kept: pending, rejected, deferred or stale."""

    id: str
    kind: str
    state: str
    citation: str


class Compacted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many memories a compaction kept, and why it left out the rest.

    `kept` and `left` are by reason; `collapsed` memories are represented by an exemplar, which cites them.
    """

    status: str
    purpose: str
    project: str
    memories: int
    records: int
    collapsed: int
    kept: dict[str, int]
    covered: CoveredEvents
    projections: tuple[str, ...]
    left: dict[str, int] = {}
    reported: tuple[UnsettledRow, ...] = ()
    citation: str = ""
    file: str | None = None
    notes: tuple[str, ...] = ()


def compact(ctx: CallContext, given: Compact) -> Compacted:
    """Chooses for a purpose the memories of a project to read first, as a projection that cites; no event is replaced.

    security, release and review keep every record; coding and research keep decisions, failed attempts, tests, claims,
    sources, contradictions, open questions and an exemplar of every other topic; coordinate keeps accepted state,
    proofs and handoffs. `weft compaction-show` prints it. Run it again when there are more memories.
    """
    place = None if given.output is None else check_output(ctx, given.output)
    made = _Compaction(ctx, given)
    parts = list(made.parts())
    status, citation, notes = _write(ctx, given.purpose, made.selection, parts)
    if place is not None:
        write_compaction(ctx, place, given.purpose, made.selection, msgspec.to_builtins(made.covered))
    return made.told(status, citation, tuple(part.id for part in parts), place, notes)


class _Compaction:
    """The selected memories, compacted for each guard apart."""

    def __init__(self, ctx: CallContext, given: Compact) -> None:
        self._ctx, self._purpose = ctx, given.purpose
        self.selection = Selection(
            project=given.project or ctx.settings.project,
            query=given.query or "",
            since=given.since or "",
            session=given.session or "",
        )
        head = ctx.store.head(ctx.viewer)
        gathered = gather(ctx, self.selection)
        if not gathered.nodes:
            raise NotFound(
                f"there is nothing to compact in project {self.selection.project}",
                hint="`weft recent` shows the memories; omit --query, --since and --session to compact all of them",
            )
        self._nodes, self._notes = gathered.nodes, gathered.notes
        positions = [node.event for node in self._nodes]
        self.covered = CoveredEvents(first=min(positions), last=max(positions), head=head.pos, digest=head.digest.hex())
        self._citations = cited(ctx, self._nodes)
        self._groups = by_guard(self._nodes, self.selection.project)
        self._sorted = {guard: _sorted(ctx, given.purpose, nodes) for guard, nodes in self._groups.items()}

    def parts(self) -> Iterator[NodeAssertion]:
        """The projections: the records of each guard, in as many nodes as their size asks for."""
        key = self.selection.key
        for guard, found in self._sorted.items():
            nodes = self._groups[guard]
            last = max(node.event for node in nodes)
            about = {
                "purpose": self._purpose,
                "selection": key,
                "covers": {**msgspec.to_builtins(self.covered), "last": last, "memories": len(nodes)},
                "policy": {"collapsed": found.collapsed, "left": dict(found.left)},
            }
            for number, part in enumerate(_by_size(self._records(guard, found)), start=1):
                yield NodeAssertion(
                    id=projection_prefix(self.selection.project, self._purpose)
                    + occasion_id(self._ctx, guard, PROJECTION, self._purpose, key, str(number)),
                    kind=PROJECTION,
                    name=f"compaction for {self._purpose}, part {number}",
                    props={**about, "part": number, "records": part},
                    **asdict(guard),
                )

    def _records(self, guard: Guard, found: CompactionResult) -> Iterator[dict[str, Any]]:
        nodes = self._groups[guard]
        for record in found.records:
            node = nodes[record.row]
            yield {
                "id": node.id,
                "event": self._citations.get(node.event, ""),
                "role": record.role,
                "why": record.why,
                **({"of": [nodes[at].id for at in record.of[:NAMED]]} if record.of else {}),
                **({"more": len(record.of) - NAMED} if len(record.of) > NAMED else {}),
            }

    def told(
        self, status: str, citation: str, projections: tuple[str, ...], place: Path | None, notes: tuple[str, ...]
    ) -> Compacted:
        found = self._sorted.values()
        left: Counter[str] = Counter()
        for each in found:
            left.update(each.left)
        return Compacted(
            status=status,
            purpose=self._purpose,
            project=self.selection.project,
            memories=len(self._nodes),
            records=sum(len(each.records) for each in found),
            collapsed=sum(each.collapsed for each in found),
            kept=dict(sorted(Counter(record.why for each in found for record in each.records).items())),
            left=dict(sorted(left.items())),
            covered=self.covered,
            projections=projections,
            reported=tuple(self._reported())[:MAX_REPORTED] if self._purpose == "coordinate" else (),
            citation=citation,
            file=None if place is None else str(place),
            notes=(*self._notes, *notes),
        )

    def _reported(self) -> Iterator[UnsettledRow]:
        """Rows that are not settled: in the answer, and in no projection."""
        for guard, found in self._sorted.items():
            for at, state in found.reported:
                node = self._groups[guard][at]
                citation = self._citations.get(node.event, "")
                yield UnsettledRow(id=node.id, kind=node.kind, state=state, citation=citation)
        waiting = waiting_rows(self._ctx, self.selection.project)
        found_at = cited(self._ctx, waiting)
        for node in waiting:
            state = str(node.props.get("status"))
            yield UnsettledRow(id=node.id, kind=node.kind, state=state, citation=found_at.get(node.event, ""))


def _sorted(ctx: CallContext, purpose: str, nodes: Sequence[NodeVersion]) -> CompactionResult:
    def topics(numbers: Sequence[int]) -> list[list[int]]:
        some = [nodes[at] for at in numbers]
        vectors = _vectors(ctx, some)
        found = topics_of([words_of(node) for node in some], [vectors.get(node.content_hash) for node in some])
        return [[numbers[each] for each in group] for group in found]

    return sort_out(POLICIES[purpose], rows_of(ctx, nodes), topics)


def _vectors(ctx: CallContext, nodes: Sequence[NodeVersion]) -> Mapping[bytes, bytes]:
    model, hashes = ctx.embedding.model, list(dict.fromkeys(node.content_hash for node in nodes))
    found: dict[bytes, bytes] = {}
    for start in range(0, len(hashes) if model else 0, MAX_IDS_PER_READ):
        found |= ctx.store.vectors(ctx.viewer, model or "", hashes[start : start + MAX_IDS_PER_READ])
    return found


# ---- as they are kept


def _by_size(records: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    part: list[dict[str, Any]] = []
    size = 0
    for record in records:
        more = len(msgspec.json.encode(record)) + 1
        if part and size + more > PART_BYTES:
            yield part
            part, size = [], 0
        part.append(record)
        size += more
    yield part


def _write(
    ctx: CallContext, purpose: str, selection: Selection, parts: Sequence[NodeAssertion]
) -> tuple[str, str, tuple[str, ...]]:
    """Writes the parts that are new or other than they were, and ends those that are no more."""
    there = projections_of(ctx, purpose, project=selection.project, selection=selection.key)
    before = {node.id: node for node in there}
    fresh = [part for part in parts if part.id not in before or not _same(part, before[part.id])]
    gone = tuple(sorted(before.keys() - {part.id for part in parts}))
    drafts = [Draft(kind="graph.asserted", payload=Asserted(nodes=(part,))) for part in fresh]
    drafts += [Draft(kind="graph.ended", payload=Ended(nodes=gone, reason="compacted again"))] if gone else []
    if not drafts:
        return "unchanged", "", ("nothing was added since the last compaction, which stays as it is",)
    done = commit(ctx, drafts)
    return done.status, done.citation, done.notes


def _same(part: NodeAssertion, node: NodeVersion) -> bool:
    """Whether it has the same records of the same memories, whatever the head of the log.

    A changed memory counts as another one, also behind an exemplar: then the projection is written again.
    """
    there = msgspec.to_builtins(dict(node.props))
    before, now = there.get("covers", {}), part.props["covers"]
    same = all(before.get(name) == now[name] for name in ("memories", "last"))
    return bool(same and part.props["records"] == there.get("records"))


SUFFIX: Final = ".compaction.json"
BEGINNING: Final = '{\n  "format": "weft-compaction-1"'
MAX_RECORDS: Final = 50_000
UNTAGGED: Final = "what is for all agents"


def check_output(ctx: CallContext, written: str) -> Path:
    """The file to write. Raises Invalid for another suffix, Conflict for a link or a file that weft did not write.

    Raises Forbidden for a file that was written with more rights.
    """
    place = read_path(written).absolute()
    if not place.name.endswith(SUFFIX) or place.name == SUFFIX:
        raise Invalid(f"{place.name!r} does not end in {SUFFIX}", hint=f"call it, for example, ferry{SUFFIX}")
    check_free(ctx.settings, place, below=place.parent.parent, rights=_rights(ctx))
    return place


def write_compaction(
    ctx: CallContext, place: Path, purpose: str, selection: Selection, covered: dict[str, Any]
) -> None:
    """Writes the records of the projections for a purpose, with their present words."""
    found = projected(ctx, purpose, limit=MAX_RECORDS, project=selection.project, selection=selection.key)
    holds = FileText(
        text=_text(found, selection, covered),
        marker=BEGINNING,
        nodes=tuple(record.id for record in found.records),
        rights=_rights(ctx),
    )
    put_file(ctx.settings, place, holds, below=place.parent.parent)


def _rights(ctx: CallContext) -> tuple[str, ...]:
    """The rights that a file was written with: a caller with fewer must not replace it."""
    return (*sorted(ctx.viewer.scopes), *(() if ctx.viewer.tagged_only else (UNTAGGED,)))


def _text(found: Projected, selection: Selection, covered: dict[str, Any]) -> str:
    body = {
        "format": "weft-compaction-1",
        "purpose": found.purpose,
        "project": selection.project,
        "selection": {name: each for name in ("query", "since", "session") if (each := getattr(selection, name))},
        "covered": covered,
        "made_at": found.made_at,
        "records": [msgspec.to_builtins(record) for record in found.records],
    }
    return msgspec.json.format(msgspec.json.encode(body), indent=2).decode() + "\n"


OPERATIONS = (
    Operation(
        name="compact",
        summary="select the memories of a project to read first for a purpose",
        input=Compact,
        output=Compacted,
        effect="write",
        toolset="admin",
        reach="machine",
        run=compact,
    ),
)
