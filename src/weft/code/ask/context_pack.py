"""`context_pack`: a briefing for work on code, from a task, within a token budget."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.code.ask.at_work import AtWork, at_work_on
from weft.code.ask.known import DECISION_KINDS, known_of
from weft.code.ask.lookup import (
    MOST_OF_ONE,
    NOT_READ,
    all_joined,
    called_at,
    caller,
    is_indexed,
    is_test,
    ref_to,
)
from weft.code.ask.seeds import TaskSeeds, seeds_of
from weft.code.ask.workspaces import workspace_of
from weft.code.index.document_mentions import MENTIONS_CODE
from weft.context.budget import DEBUG_TOKENS
from weft.context.code_pack import CodeSlice, ContextPack, Dependency, Known, shown_name
from weft.context.pack_fitting import BESIDE, SHORT_TOKENS, fitted
from weft.core.clock import to_iso
from weft.core.errors import Invalid, NotFound, StoreError
from weft.core.queries import TextQuery, VectorQuery
from weft.core.types import MAX_QUERY_CHARACTERS, NOW, Find, Neighbour, NodeVersion, When
from weft.documents.keep.freshness import not_indexed, note_of
from weft.documents.keep.source_lines import Slices, citation_of, end_of, line_of, path_of, signature_of, told_of
from weft.recall.answer_limits import bounded
from weft.runtime.call_context import CallContext
from weft.runtime.fields import NodeName
from weft.runtime.operation import Operation
from weft.text.injection import flags_of, remark

CORE: Final = 14  # symbols of a pack
BODIES: Final = 6  # of them that may be shown whole
SHORT_CORE: Final = 6  # symbols of a short pack
SHORT_FILES: Final = 5
STRONG: Final = 0.5  # of the best one's score: a short pack ends before what has less
SHORT_BODY_LINES: Final = 6  # of the best symbol, if the task names it
NEIGHBOURS: Final = 12  # callers, callees and tests of one symbol that are listed
DEPENDENCIES: Final = 12
DECISIONS: Final = 6
EPISODES: Final = 3
LEAST_NEAR: Final = 0.35  # of a decision that is not joined to the code, to the task
MAX_BODY_LINES: Final = 400
LEAST_LINE_TOKENS: Final = 4  # a line of source seldom costs less
DEFAULT_TOKENS: Final = 1_200
AROUND: Final = ("CALLS", "EXTENDS", "IMPLEMENTS", "TESTS", "INVOLVES", MENTIONS_CODE)
EPISODE_KINDS: Final = ("Episode",)
NO_MATCH: Final = "No code of this workspace matches the task."


class ContextPackAsked(Struct, frozen=True, kw_only=True):
    """Input of `context_pack`."""

    task: Annotated[
        str,
        Meta(min_length=1, max_length=MAX_QUERY_CHARACTERS, description="the task, in your own words"),
    ]
    task_id: Annotated[NodeName | None, Meta(description="the id of a recorded task: its plan is included")] = None
    budget: Annotated[int, Meta(ge=50, le=DEBUG_TOKENS, description="the most tokens of the answer")] = DEFAULT_TOKENS
    include_decisions: Annotated[bool, Meta(description="include decisions about it")] = True
    include_episodes: Annotated[bool, Meta(description="include episodes around it")] = True
    include_learnings: Annotated[bool, Meta(description="include learnings about it")] = True
    claim: Annotated[bool, Meta(description="say how to claim the place to start")] = False


def context_pack(ctx: CallContext, given: ContextPackAsked) -> ContextPack:
    """Briefs an agent for a piece of work on this workspace's code: call it first, with the task in your own words.

    Returns the entry point; the relevant symbols with signatures, files and lines, the best of them with their source;
    their callers, callees and tests; and decisions about them. Names and paths in the task count most. It replaces
    separate searches, explanations and reads. A body that does not fit is omitted: `weft semantic-slice` prints it.
    """
    ctx = workspace_of(ctx)
    if not any(map(str.isalnum, given.task)):
        raise Invalid("the task is empty", hint="describe the task in your own words")
    when = ctx.store.pin(ctx.viewer, NOW)
    seeds = seeds_of(ctx, when, given.task)
    core = _core(seeds, given.budget)
    if not core:
        return _nothing(ctx, when, given, seeds)
    steps, notes = _around(ctx, when, core)
    slices = Slices(ctx, when)
    shown = _shown_whole(core, given)
    slices.know([node for node in core if node.id in shown])
    at_work = at_work_on(ctx, when, core, with_learnings=given.include_learnings)
    rows = tuple(_slice(slices, node, steps, seeds, at_work, with_code=node.id in shown) for node in core)
    decisions, episodes, untold = _known(ctx, when, given, steps, seeds)
    plan, unplanned = _plan(ctx, when, given)
    stale = tuple(dict.fromkeys((*slices.stale, *not_indexed(ctx, map(path_of, core)))))
    flagged = remark((each.id, flags_of(each.symbol_name, each.summary, each.code)) for each in rows)
    notes = (
        note_of(stale) or "",
        *seeds.unknown,
        *flagged,
        *notes,
        *untold,
        *unplanned,
        *seeds.notes,
        *at_work.notes,
        _how_to_claim(core[0]) if given.claim else "",
    )
    whole = ContextPack(
        summary=_summary(core, given.budget),
        entry_point=f"{citation_of(core[0])} {shown_name(core[0].name)}",
        core_symbols=rows,
        dependencies=_dependencies(core, steps, seeds),
        decisions=decisions,
        learnings=at_work.learnings,
        active_blockers=at_work.blockers,
        plan=plan,
        episodes=episodes,
        notes=tuple(dict.fromkeys(filter(None, notes))),
    )
    return bounded(fitted(whole, given.budget), "core_symbols", beside={"callers, callees and tests": BESIDE})


def _core(seeds: TaskSeeds, budget_tokens: int) -> list[NodeVersion]:
    """The symbols of a pack, best first. A short pack ends before weakly related symbols, even if there is room."""
    if budget_tokens > SHORT_TOKENS:
        return [node for node, _ in seeds.ranked[:CORE]]
    least = STRONG * max((score for _, score in seeds.ranked[:1]), default=0.0)
    core: list[NodeVersion] = []
    files: set[str] = set()
    for node, score in seeds.ranked:
        if len(core) < SHORT_CORE and score >= least and (path_of(node) in files or len(files) < SHORT_FILES):
            core.append(node)
            files.add(path_of(node))
    return core


def _summary(core: Sequence[NodeVersion], budget_tokens: int) -> str:
    files = list(dict.fromkeys(map(path_of, core)))
    if budget_tokens <= SHORT_TOKENS:  # the other files stand right below
        return f"Start at {_lines_of(core[0])} {shown_name(core[0].name)}"
    others = f"; also {', '.join(_apart(files[1:4], files))}" if len(files) > 1 else ""
    return f"Start in {shown_name(files[0])} at {shown_name(core[0].name)}{others}."


def _apart(paths: Sequence[str], files: Sequence[str]) -> list[str]:
    """Names of files; paths where two files have the same name."""
    counts = Counter(path.rpartition("/")[2] for path in files)
    lasts = [path.rpartition("/")[2] for path in paths]
    return [shown_name(last if counts[last] == 1 else path) for path, last in zip(paths, lasts, strict=True)]


def _nothing(ctx: CallContext, when: When, given: ContextPackAsked, seeds: TaskSeeds) -> ContextPack:
    """The note if no code matches or none can be read. Raises NotFound if none is indexed."""
    degraded = seeds.answer.degraded
    if not degraded and not is_indexed(ctx, when):
        raise NotFound("no code of this workspace is indexed", hint=NOT_READ)
    said = "The graph of this workspace's code cannot be read." if degraded else NO_MATCH
    return fitted(ContextPack(summary=said, notes=tuple(seeds.notes)), given.budget)


def _how_to_claim(start: NodeVersion) -> str:
    """A note on how to claim the starting point; a pack only reads, so it claims nothing itself."""
    return f"nothing is claimed by a pack; `weft agent-claim {start.id} INTENT` claims the place to start"


# Symbols


Steps = dict[str, list[Neighbour]]


def _around(ctx: CallContext, when: When, core: Sequence[NodeVersion]) -> tuple[tuple[Steps, Steps], tuple[str, ...]]:
    """The neighbours of each core symbol; none, with a note, if the graph is unavailable."""
    ids = [node.id for node in core]
    try:
        out, _ = all_joined(ctx, when, ids, AROUND, "out")
        into, many = all_joined(ctx, when, ids, AROUND, "in")
        note = f"{', '.join(sorted(many)[:3])}: more than {MOST_OF_ONE:,} of one relation; only these are followed"
        return (out, into), (note,) if many else ()
    except StoreError as problem:
        return ({}, {}), (f"relations of the symbols could not be read: {problem.message}",)


def _shown_whole(core: Sequence[NodeVersion], given: ContextPackAsked) -> set[str]:
    """The first symbols that may fit and do not overlap an earlier one; the source of the others is not read."""
    if given.budget <= SHORT_TOKENS:
        best = core[0]
        is_short = best.kind != "File" and end_of(best) - line_of(best) < SHORT_BODY_LINES
        return {best.id} if is_short and _names(given.task, best) else set()
    taken: dict[str, list[tuple[int, int]]] = {}
    shown: set[str] = set()
    most = min(MAX_BODY_LINES, given.budget // LEAST_LINE_TOKENS)
    for node in core:
        first, last = line_of(node), end_of(node)
        spans = taken.setdefault(path_of(node), [])
        apart = all(last < begin or end < first for begin, end in spans)
        if node.kind != "File" and last - first < most and apart and len(shown) < BODIES:
            shown.add(node.id)
            spans.append((first, last))
    return shown


def _names(task: str, node: NodeVersion) -> bool:
    """Whether the task names a symbol as code does, or its last name as a compound word."""
    last = node.name.rpartition(".")[2]
    return re.search(rf"(?<!\w){re.escape(last)}(?!\w)", task) is not None and (last != last.lower() or "_" in last)


def _slice(
    slices: Slices,
    node: NodeVersion,
    steps: tuple[Steps, Steps],
    seeds: TaskSeeds,
    at_work: AtWork,
    *,
    with_code: bool,
) -> CodeSlice:
    out, into = (each.get(node.id, ()) for each in steps)
    callers = [step for step in into if step.edge.rel == "CALLS" and not is_test(step.node)]
    callees = [step for step in out if step.edge.rel == "CALLS"]
    tests = [step for step in into if step.edge.rel == "TESTS"]
    return CodeSlice(
        symbol_name=node.name,
        kind=str(node.props.get("sort") or node.kind),
        file=path_of(node),
        start_line=line_of(node),
        end_line=end_of(node),
        citation=_lines_of(node),
        signature="" if node.kind == "File" else signature_of(node),
        summary=told_of(node),
        code=slices.text(node) if with_code else "",
        callers=tuple(caller(step) for step in callers[:NEIGHBOURS]),
        callees=tuple(ref_to(step.node) for step in callees[:NEIGHBOURS]),
        tests=tuple(ref_to(step.node) for step in tests[:NEIGHBOURS]),
        more_callers=max(len(callers) - NEIGHBOURS, 0),
        more_callees=max(len(callees) - NEIGHBOURS, 0),
        more_tests=max(len(tests) - NEIGHBOURS, 0),
        decisions=tuple(step.node.id for step in into if step.node.kind in DECISION_KINDS),
        learnings=at_work.of(node),
        ppr_score=round(seeds.walked.get(node.id, 0.0), 4),
        valid_from=to_iso(node.interval.valid_from),
        id=node.id,
    )


def _lines_of(node: NodeVersion) -> str:
    return f"{citation_of(node)}{f'-{end_of(node)}' if end_of(node) > line_of(node) else ''}"


def _dependencies(core: Sequence[NodeVersion], steps: tuple[Steps, Steps], seeds: TaskSeeds) -> tuple[Dependency, ...]:
    """Symbols outside the core that core symbols extend, implement or call, or the reverse; ranked by the walk."""
    inside = {node.id for node in core}
    by_id = {node.id: node for node in core}
    told = [step for way in steps for found in way.values() for step in found]
    told = [step for step in told if step.edge.rel in ("EXTENDS", "IMPLEMENTS") and step.node.id not in inside]
    told.sort(key=lambda step: -seeds.walked.get(step.node.id, 0.0))
    return tuple(_dependency(by_id[step.start], step) for step in told[:DEPENDENCIES])


def _dependency(start: NodeVersion, step: Neighbour) -> Dependency:
    out = step.edge.src == start.id
    line = line_of(step.node) if out else called_at(step) or line_of(step.node)
    return Dependency(
        source=start.name if out else step.node.name,
        relation=step.edge.rel,
        target=step.node.name if out else start.name,
        file=path_of(step.node),
        line=line,
        citation=citation_of(step.node, line) or step.node.id,
    )


# What is known about them


def _known(
    ctx: CallContext,
    when: When,
    given: ContextPackAsked,
    steps: tuple[Steps, Steps],
    seeds: TaskSeeds,
) -> tuple[tuple[Known, ...], tuple[Known, ...], tuple[str, ...]]:
    """Decisions and episodes: first those linked to the code, then those found by the task's words."""
    kinds = (*(DECISION_KINDS if given.include_decisions else ()), *(EPISODE_KINDS if given.include_episodes else ()))
    if not kinds:
        return (), (), ()
    try:
        linked = {
            step.node.id: step.node
            for way in steps
            for found in way.values()
            for step in found
            if step.node.kind in kinds
        }
        nodes = [*linked.values(), *(node for node in _found(ctx, when, kinds, seeds) if node.id not in linked)]
        cited = ctx.store.citations(ctx.viewer, [node.event for node in nodes])
    except StoreError as problem:
        return (), (), (f"decisions could not be read: {problem.message}",)
    decisions = [known_of(node, cited.get(node.event, "")) for node in nodes if node.kind in DECISION_KINDS]
    episodes = [known_of(node, cited.get(node.event, "")) for node in nodes if node.kind in EPISODE_KINDS]
    return tuple(decisions[:DECISIONS]), tuple(episodes[:EPISODES]), ()


def _found(ctx: CallContext, when: When, kinds: tuple[str, ...], seeds: TaskSeeds) -> list[NodeVersion]:
    """Nodes found by the words of the task and close to it in meaning."""
    answer = seeds.answer
    some = Find(kinds=kinds, projects=answer.ask.projects)
    if not answer.terms or not ctx.store.find(ctx.viewer, when, some, limit=1).nodes:
        return []  # most workspaces hold none, which one look at an index tells
    query = TextQuery(terms=answer.terms, kinds=kinds, projects=answer.ask.projects)
    hits = ctx.store.search_text(ctx.viewer, when, query, limit=2 * DECISIONS).hits
    if not hits or answer.vector is None or ctx.embedding.model is None:
        return list(ctx.store.nodes(ctx.viewer, when, [hit.node.id for hit in hits if len(hit.parts) > 1]))
    asked = VectorQuery(model=ctx.embedding.model, data=answer.vector)
    near = ctx.store.near(ctx.viewer, asked, tuple(hit.node.content_hash for hit in hits), parts=True)
    kept = [
        hit.node.id
        for hit in hits
        if (place := near.get(hit.node.content_hash)) is not None and place.cosine >= LEAST_NEAR
    ]
    return list(ctx.store.nodes(ctx.viewer, when, kept))


def _plan(ctx: CallContext, when: When, given: ContextPackAsked) -> tuple[Known | None, tuple[str, ...]]:
    if given.task_id is None:
        return None, ()
    node = next(iter(ctx.store.nodes(ctx.viewer, when, [given.task_id])), None)
    if node is None or node.kind != "Task":
        return None, (f"there is no task {given.task_id[:80]!r} that you may see: `weft work-list` lists them",)
    return known_of(node, ctx.store.citations(ctx.viewer, [node.event]).get(node.event, "")), ()


OPERATIONS = (
    Operation(
        name="context_pack",
        summary="brief for work on code: where to start, the symbols that matter, their callers and decisions",
        input=ContextPackAsked,
        output=ContextPack,
        effect="read",
        toolset="code",
        run=context_pack,
        arguments=("task",),
        rare=("task_id", "include_decisions", "include_episodes", "include_learnings", "claim"),
        budget="budget",
        spare=(
            "core_symbols.kind",
            "core_symbols.file",
            "core_symbols.start_line",
            "core_symbols.end_line",
            "core_symbols.id",
            "core_symbols.decisions",
            "core_symbols.learnings",
            "core_symbols.ppr_score",
            "core_symbols.valid_from",
            "core_symbols.callers.file",
            "core_symbols.callers.line",
            "core_symbols.tests.file",
            "core_symbols.tests.line",
            "summary",
            "token_estimate",
        ),
        priorities={
            "entry_point": "required",
            "core_symbols": "required",
            "core_symbols.symbol_name": "required",
            "core_symbols.signature": "required",
            "core_symbols.kind": "low",
            "core_symbols.file": "low",
            "core_symbols.start_line": "low",
            "core_symbols.end_line": "low",
            "core_symbols.id": "low",
            "core_symbols.summary": "medium",
            "core_symbols.code": "high",
            "core_symbols.callers": "low",
            "core_symbols.callees": "low",
            "core_symbols.tests": "low",
            "core_symbols.more_callers": "low",
            "core_symbols.more_callees": "low",
            "core_symbols.more_tests": "low",
            "core_symbols.decisions": "low",
            "core_symbols.learnings": "low",
            "core_symbols.ppr_score": "low",
            "core_symbols.valid_from": "low",
            "dependencies": "low",
            "episodes": "low",
            "decisions": "high",
            "learnings": "high",
            "active_blockers": "high",
            "token_estimate": "low",
        },
    ),
)
