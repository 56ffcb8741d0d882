"""Log compaction: for one purpose, which memories to read first when there is room for few. No event is replaced.

A projection holds no words. Its records point at nodes and at the events that said them, so that whoever reads it is
given the words of today past their own guards: what was erased, deleted or replaced since is not there any more. What
different people may see stands in projections apart, each with exactly the rights of what it points at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict

from weft.context.compaction import NAMED, POLICIES, Sorted, sort_out
from weft.context.topics import topics_of
from weft.errors import NotFound
from weft.log.draft import Draft
from weft.log.kinds.graph import Asserted, Ended, NodeAssertion
from weft.loom import Loom
from weft.operations.committing import commit
from weft.operations.compaction_files import check_output, write_compaction
from weft.operations.compaction_rows import (
    PurposeName,
    Selection,
    by_guard,
    gather,
    rows_of,
    waiting_rows,
    words_of,
)
from weft.operations.fields import Label, Moment, Name, Query
from weft.operations.once import occasion_id
from weft.operations.projections import PROJECTION, projection_prefix, projections_of
from weft.operations.registry import Operation
from weft.types import MAX_IDS_PER_READ, Guard, NodeVersion

PART_BYTES: Final = 300_000  # of one event
MAX_REPORTED: Final = 50


class Compact(Struct, frozen=True, kw_only=True):
    """Input of `compact`."""

    purpose: PurposeName
    query: Annotated[Query | None, Meta(description="only memories with a word of this")] = None
    since: Annotated[Moment | None, Meta(description="only what began to hold then or later")] = None
    session: Annotated[Name | None, Meta(description="only the turns of this conversation")] = None
    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    output: (
        Annotated[
            str, Meta(min_length=1, max_length=4096, description="a file, *.compaction.json, for the records as well")
        ]
        | None
    ) = None


class Covered(Struct, frozen=True, kw_only=True):
    """Of which events a compaction is made: positions, and where the log stood."""

    first: int
    last: int
    head: int
    digest: str


class Reported(Struct, frozen=True, kw_only=True):
    """A row that is told of and not kept: pending, rejected, deferred or stale."""

    id: str
    kind: str
    state: str
    citation: str


class Compacted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a compaction kept of how many memories, and why the rest is not in it.

    `kept` is by reason, `left` what was left out by reason; `collapsed` stand behind an exemplar, which cites them.
    """

    status: str
    purpose: str
    project: str
    memories: int
    records: int
    collapsed: int
    kept: dict[str, int]
    covered: Covered
    projections: tuple[str, ...]
    left: dict[str, int] = {}
    reported: tuple[Reported, ...] = ()
    citation: str = ""
    file: str | None = None
    notes: tuple[str, ...] = ()


def compact(loom: Loom, given: Compact) -> Compacted:
    """Chooses for a purpose what to read of a project first, as a projection that cites; no event is replaced.

    security, release and review keep every record; coding and research keep decisions, failed attempts, tests, claims,
    sources, contradictions, open questions and an exemplar of every other topic; coordinate keeps accepted state,
    proofs and handoffs. `weft compaction-show` prints it. Run it again when there is more.
    """
    place = None if given.output is None else check_output(loom, given.output)
    made = _Compaction(loom, given)
    parts = list(made.parts())
    status, citation, notes = _write(loom, given.purpose, made.selection, parts)
    if place is not None:
        write_compaction(loom, place, given.purpose, made.selection, msgspec.to_builtins(made.covered))
    return made.told(status, citation, tuple(part.id for part in parts), place, notes)


class _Compaction:
    """What of the memories that are meant is kept, for each guard apart."""

    def __init__(self, loom: Loom, given: Compact) -> None:
        self._loom, self._purpose = loom, given.purpose
        self.selection = Selection(
            project=given.project or loom.settings.project,
            query=given.query or "",
            since=given.since or "",
            session=given.session or "",
        )
        head = loom.store.head(loom.viewer)
        gathered = gather(loom, self.selection)
        if not gathered.nodes:
            raise NotFound(
                f"there is nothing to compact in project {self.selection.project}",
                hint="`weft recent` shows what is there; without --query, --since and --session it is all of it",
            )
        self._nodes, self._notes = gathered.nodes, gathered.notes
        positions = [node.event for node in self._nodes]
        self.covered = Covered(first=min(positions), last=max(positions), head=head.pos, digest=head.digest.hex())
        self._citations = _citations(loom, self._nodes)
        self._groups = by_guard(self._nodes, self.selection.project)
        self._sorted = {guard: _sorted(loom, given.purpose, nodes) for guard, nodes in self._groups.items()}

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
                    + occasion_id(self._loom, guard, PROJECTION, self._purpose, key, str(number)),
                    kind=PROJECTION,
                    name=f"compaction for {self._purpose}, part {number}",
                    props={**about, "part": number, "records": part},
                    **asdict(guard),
                )

    def _records(self, guard: Guard, found: Sorted) -> Iterator[dict[str, Any]]:
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

    def _reported(self) -> Iterator[Reported]:
        """What is not settled. It stands in the answer, and in no projection."""
        for guard, found in self._sorted.items():
            for at, state in found.reported:
                node = self._groups[guard][at]
                citation = self._citations.get(node.event, "")
                yield Reported(id=node.id, kind=node.kind, state=state, citation=citation)
        waiting = waiting_rows(self._loom, self.selection.project)
        cited = _citations(self._loom, waiting)
        for node in waiting:
            state = str(node.props.get("status"))
            yield Reported(id=node.id, kind=node.kind, state=state, citation=cited.get(node.event, ""))


def _sorted(loom: Loom, purpose: str, nodes: Sequence[NodeVersion]) -> Sorted:
    def topics(numbers: Sequence[int]) -> list[list[int]]:
        some = [nodes[at] for at in numbers]
        vectors = _vectors(loom, some)
        found = topics_of([words_of(node) for node in some], [vectors.get(node.content_hash) for node in some])
        return [[numbers[each] for each in group] for group in found]

    return sort_out(POLICIES[purpose], rows_of(loom, nodes), topics)


def _vectors(loom: Loom, nodes: Sequence[NodeVersion]) -> Mapping[bytes, bytes]:
    model, hashes = loom.embedding.model, list(dict.fromkeys(node.content_hash for node in nodes))
    found: dict[bytes, bytes] = {}
    for start in range(0, len(hashes) if model else 0, MAX_IDS_PER_READ):
        found |= loom.store.vectors(loom.viewer, model or "", hashes[start : start + MAX_IDS_PER_READ])
    return found


def _citations(loom: Loom, nodes: Sequence[NodeVersion]) -> dict[int, str]:
    positions = list(dict.fromkeys(node.event for node in nodes))
    found: dict[int, str] = {}
    for start in range(0, len(positions), MAX_IDS_PER_READ):
        found |= loom.store.citations(loom.viewer, positions[start : start + MAX_IDS_PER_READ])
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
    loom: Loom, purpose: str, selection: Selection, parts: Sequence[NodeAssertion]
) -> tuple[str, str, tuple[str, ...]]:
    """Writes the parts that are new or other than they were, and ends those that are no more."""
    there = projections_of(loom, purpose, project=selection.project, selection=selection.key)
    before = {node.id: node for node in there}
    fresh = [part for part in parts if part.id not in before or not _same(part, before[part.id])]
    gone = tuple(sorted(before.keys() - {part.id for part in parts}))
    drafts = [Draft(kind="graph.asserted", payload=Asserted(nodes=(part,))) for part in fresh]
    drafts += [Draft(kind="graph.ended", payload=Ended(nodes=gone, reason="compacted again"))] if gone else []
    if not drafts:
        return "unchanged", "", ("nothing came since it was compacted last: in the store it stays as it is",)
    done = commit(loom, drafts)
    return done.status, done.citation, done.notes


def _same(part: NodeAssertion, node: NodeVersion) -> bool:
    """Whether it says the same of the same memories, wherever the log stands by now.

    A memory that was changed is not the same, be it one that stands behind another: then the log is noted anew.
    """
    there = msgspec.to_builtins(dict(node.props))
    before, now = there.get("covers", {}), part.props["covers"]
    same = all(before.get(name) == now[name] for name in ("memories", "last"))
    return bool(same and part.props["records"] == there.get("records"))


OPERATIONS = (
    Operation(
        name="compact",
        summary="choose for a purpose what to read of a project first, as a projection that cites",
        input=Compact,
        output=Compacted,
        effect="write",
        toolset="admin",
        reach="machine",
        run=compact,
    ),
)
