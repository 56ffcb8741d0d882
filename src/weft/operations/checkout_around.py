"""What a checkout reads beside its question: what the hits are joined to, open work, what happened lately, whence.

A few indexed reads, each bounded; none looks through the store. What the store cannot serve costs that only, with a
note.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, TypeVar

from msgspec import Struct

from weft.context.arrange import Line, Step
from weft.context.checkout import WORK, briefing_lines
from weft.context.hits import in_file
from weft.errors import StoreError
from weft.instants import to_iso
from weft.kinds import PROVENANCE_RELATIONS, RECORD_KINDS, STRUCTURAL_KINDS
from weft.log.citation import EventCitation, parse_citation
from weft.loom import Loom
from weft.operations.conversations import LATEST
from weft.operations.stamping import DONE, RAISED_DURING, TASK, conversation_key, status_of
from weft.operations.task_order import by_priority
from weft.retrieval.derived import DERIVED_FROM
from weft.retrieval.pipeline import Answer
from weft.retrieval.superseded import RELATION as SUPERSEDES
from weft.types import Find, NodeVersion, When

NEWEST: Final = 40  # nodes of the project, of kinds that tell what happened, that are looked at for what did lately
TASKS_READ: Final = 400  # of the project, the newest, that are looked through for open ones
OPEN: Final = 12  # tasks at most that are only open: the most urgent
TURNS: Final = 12  # of the session, for what happened lately
LATELY: Final = 4  # lines of that
STEPS_OF_ONE: Final = 6
AROUND: Final = 8  # joined nodes at most
STARTS: Final = 8  # hits whose neighbours are read
CONFLICTS: Final = "CONFLICTS_WITH"
CONTRADICTED: Final = "what contradicts what"
REPLACED: Final = "what was replaced"
COMPACTED: Final = 5  # lines that a compaction adds
CHANGES_READ: Final = 40  # for provenance
# What stands around a hit and says nothing by itself.
NOT_AROUND: Final = RECORD_KINDS | STRUCTURAL_KINDS | {"Mention", "Chunk", "Message"}
LATELY_KINDS: Final = ("Digest", "Episode", "Event", "Memory", "Message", "Report")

Read = TypeVar("Read")


class Around(Struct, frozen=True, kw_only=True):
    """Nodes beside the hits: joined ones with the steps to them, tasks that go on, what happened lately (oldest first).

    `bound` are the ids of tasks that have to do with the hits, the session or the profile; `truncated` says that there
    is more than `lately` shows; `conflicts` are pairs of ids; `compacted` is what a compaction for the purpose marked
    as not to be lost and has to do with the question, be it among the hits or not. `unchecked` says that what
    contradicts or replaces what could not be read.
    """

    joined: tuple[tuple[NodeVersion, tuple[Step, ...]], ...] = ()
    tasks: tuple[NodeVersion, ...] = ()
    bound: frozenset[str] = frozenset()
    lately: tuple[NodeVersion, ...] = ()
    truncated: bool = False
    conflicts: tuple[tuple[str, str], ...] = ()
    compacted: tuple[NodeVersion, ...] = ()
    unchecked: bool = False
    notes: tuple[str, ...] = ()


class Origin(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where lines come from: a source by its number in the prompt, the event, and who recorded it when."""

    number: int
    citation: str
    lines: tuple[int, ...] = ()
    event: str = ""
    session: str = ""
    agent: str = ""
    recorded_at: str = ""


class _Reads:
    """Reads of which each may fail by itself."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.failed: set[str] = set()

    def read(self, what: str, ask: Callable[[], tuple[Read, ...]]) -> tuple[Read, ...]:
        try:
            return ask()
        except StoreError as problem:
            self.failed.add(what)
            self.notes.append(f"{what} cannot be told: {problem.message}")
            return ()


def around(loom: Loom, answer: Answer, *, session: str | None, task: str) -> Around:
    """What is beside the hits of an answer, of the projects and kinds asked for; nothing of one from the log."""
    if answer.degraded:
        return Around()
    when, reads = answer.ask.when, _Reads()
    hits = [candidate.node for candidate in answer.ranked or ()]
    starts = [node.id for node in hits[:STARTS]]
    steps = reads.read(
        "what hits are joined to",
        lambda: loom.store.neighbours(loom.viewer, when, starts, limit=STEPS_OF_ONE) if starts else (),
    )
    joined: dict[str, tuple[NodeVersion, list[Step]]] = {}
    tasks: dict[str, NodeVersion] = {}
    for step in steps:
        node, rel = step.node, step.edge.rel
        if not (_is_here(answer, node) and _is_wanted(answer, node)) or node.id in starts:
            continue
        if node.kind == TASK and rel in PROVENANCE_RELATIONS:
            tasks[node.id] = node  # it made what was found, or was raised where that was said
        elif node.kind not in NOT_AROUND and rel not in PROVENANCE_RELATIONS and (node.text or node.summary):
            way = Step(start=step.start, rel=rel, outward=step.edge.src == step.start)
            joined.setdefault(node.id, (node, []))[1].append(way)
    lately = reads.read("the session", lambda: _turns(loom, session, when) if session else ())
    lately = lately or reads.read("what happened lately", lambda: _newest(loom, answer, when))
    lately = tuple(node for node in lately if _is_wanted(answer, node))
    own = reads.read("tasks", lambda: _tasks(loom, when, session, task))
    tasks |= {node.id: node for node in own if _is_here(answer, node)}
    bound = frozenset(tasks)
    tasks |= {node.id: node for node in reads.read("open tasks", lambda: _open(loom, answer, when))}
    pairs = reads.read(CONTRADICTED, lambda: _conflicts(loom, when, [node.id for node in hits]))
    tasks = {each: node for each, node in tasks.items() if _is_wanted(answer, node)}
    ids = [*joined, *tasks, *(node.id for node in lately)]
    gone = set(reads.read(REPLACED, lambda: _replaced(loom, when, ids)))
    found = {node.id for node in hits} | gone
    marked = reads.read("what was compacted", lambda: _compacted(loom, answer))
    return Around(
        joined=tuple((node, tuple(ways)) for node, ways in joined.values() if node.id not in found)[:AROUND],
        bound=bound,
        tasks=tuple(node for node in tasks.values() if node.id not in found and goes_on(node)),
        lately=tuple(reversed([node for node in lately if node.id not in found][:LATELY])),
        truncated=len(lately) > LATELY,
        conflicts=pairs,
        compacted=marked,
        unchecked=bool(reads.failed & {CONTRADICTED, REPLACED}),
        notes=tuple(reads.notes),
    )


def goes_on(node: NodeVersion) -> bool:
    """Whether it is work that is not over."""
    return node.kind in WORK and status_of(node) not in DONE


def _is_here(answer: Answer, node: NodeVersion) -> bool:
    return answer.ask.projects is None or node.guard.project in answer.ask.projects


def _is_wanted(answer: Answer, node: NodeVersion) -> bool:
    return answer.ask.kinds is None or node.kind in answer.ask.kinds


def _compacted(loom: Loom, answer: Answer) -> tuple[NodeVersion, ...]:
    """Of today only: a compaction says nothing of other moments."""
    if answer.ask.purpose is None or answer.ask.as_of:
        return ()
    from weft.operations.projections import compacted_nodes

    nodes = compacted_nodes(loom, answer.ask.purpose, answer.ask.query, limit=COMPACTED)
    return tuple(node for node in nodes if _is_here(answer, node) and _is_wanted(answer, node))


def _newest(loom: Loom, answer: Answer, when: When) -> tuple[NodeVersion, ...]:
    find = Find(kinds=LATELY_KINDS, projects=answer.ask.projects)
    nodes = loom.store.find(loom.viewer, when, find, limit=NEWEST).nodes
    return tuple(node for node in nodes if DERIVED_FROM not in node.props)


def _open(loom: Loom, answer: Answer, when: When) -> tuple[NodeVersion, ...]:
    """The most urgent of the tasks that go on."""
    find = Find(kinds=(TASK,), projects=answer.ask.projects)
    found = loom.store.find(loom.viewer, when, find, limit=TASKS_READ).nodes
    return tuple(sorted(filter(goes_on, found), key=by_priority)[:OPEN])


def _turns(loom: Loom, session: str, when: When) -> tuple[NodeVersion, ...]:
    """The last turns of a conversation, newest first: by the beginning of their ids."""
    find = Find(kinds=("Message",), id_prefix=f"{conversation_key(loom, session)}#")
    return loom.store.find(loom.viewer, LATEST if when.valid_at is None else when, find, limit=TURNS).nodes


def _tasks(loom: Loom, when: When, session: str | None, named: str) -> tuple[NodeVersion, ...]:
    """Tasks raised in the session, and the one that a profile names by its title or id."""
    found: tuple[NodeVersion, ...] = ()
    if session:
        key = conversation_key(loom, session)
        steps = loom.store.neighbours(loom.viewer, when, [key], rels=(RAISED_DURING,), direction="in", limit=20)
        found += tuple(step.node for step in steps)
    if named.strip():
        by_name = loom.store.find(loom.viewer, when, Find(names=(named,), kinds=(TASK,)), limit=3).nodes
        found += (*by_name, *(node for node in loom.store.nodes(loom.viewer, when, [named]) if node.kind == TASK))
    return found


def _conflicts(loom: Loom, when: When, ids: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Pairs among these that contradict each other."""
    if len(ids) < 2:
        return ()
    steps = loom.store.neighbours(loom.viewer, when, ids, rels=(CONFLICTS,), direction="out")
    among = set(ids)
    return tuple(
        sorted({(step.start, step.node.id) for step in steps if step.node.id in among and step.node.id != step.start})
    )


def _replaced(loom: Loom, when: When, ids: Sequence[str]) -> tuple[str, ...]:
    """Those of these that something else replaces: they are as little shown as among the hits."""
    if not ids:
        return ()
    steps = loom.store.neighbours(loom.viewer, when, ids, rels=(SUPERSEDES,), direction="in", limit=1)
    return tuple(step.start for step in steps if step.node.id != step.start)


def briefing_for(loom: Loom, session: str, when: When) -> tuple[tuple[Line, ...], str, tuple[str, ...]]:
    """What a session left when its window ran full, as lines; when that was and by whom; and notes on it."""
    from weft.operations.briefings import left_by

    left = left_by(loom, session, when)
    if left is None:
        return (), "", ()
    briefed = f"{to_iso(left.node.recorded_at)[:10]}{f', by {left.by}' if left.by else ''}"
    return briefing_lines(left.node, left.citation), briefed, left.notes


def cited_by_id(loom: Loom, nodes: Sequence[NodeVersion]) -> dict[str, str]:
    """The citations of nodes by their ids, of the file where they are lines of one."""
    citations = loom.store.citations(loom.viewer, [node.event for node in nodes])
    return {node.id: in_file(node) or citations.get(node.event, "") for node in nodes}


def origins_of(
    loom: Loom, sources: Sequence[str], lines: Mapping[int, Sequence[int]], nodes: Mapping[str, NodeVersion]
) -> tuple[Origin, ...]:
    """Who recorded each source, and when; `lines` are by number of source, `nodes` by citation.

    Which agent it was is for those who may know what happens inside.
    """
    filed = {citation: node for citation, node in nodes.items() if in_file(node)}
    events = loom.store.citations(loom.viewer, [node.event for node in filed.values()]) if filed else {}
    agents = _agents(loom, {nodes[each].tx for each in sources if each in nodes})
    found = []
    for number, citation in enumerate(sources, start=1):
        node = nodes.get(citation)
        event = events.get(node.event, "") if node is not None and citation in filed else citation
        parsed = parse_citation(event) if event else None
        found.append(
            Origin(
                number=number,
                citation=citation,
                lines=tuple(lines.get(number, ())),
                event=event if event != citation else "",
                session=parsed.session if isinstance(parsed, EventCitation) else "",
                agent="" if node is None else agents.get(node.tx, ""),
                recorded_at="" if node is None else to_iso(node.recorded_at),
            )
        )
    return tuple(found)


def _agents(loom: Loom, transactions: Collection[str]) -> dict[str, str]:
    """Who made these changes, by their ids."""
    if loom.viewer.audience != "internal" or "admin" not in loom.viewer.scopes:
        return {}
    found = {each: loom.store.transaction(loom.viewer, each) for each in sorted(transactions)[:CHANGES_READ]}
    return {each: tx.agent for each, tx in found.items() if tx is not None}
