"""The values of the pipeline, and how stages are run: each timed, counted and named in the trace."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from weft.core.errors import StoreError, WeftError
from weft.core.kinds import UNSEARCHED_KINDS
from weft.core.queries import Lead, NameMatch, TextMatches, VectorMatches
from weft.core.types import Identity, NodeVersion, When
from weft.retrieval.pool import EMPTY, Pool
from weft.runtime.call_context import CallContext
from weft.text.extract.question.intent import Depths, Intent, RetrievalClass
from weft.text.extract.question.question import QuestionTraits, read_question
from weft.text.extract.question.time_frame import TimeFrame
from weft.text.extract.time.windows import TimeWindow

View = Literal["semantic", "entity", "temporal", "causal"]
VIEW_NAMES: Final[tuple[View, ...]] = ("semantic", "entity", "temporal", "causal")
# Stages that make the answer and filters that must hold: run whatever the time. The others only add.
ESSENTIAL: Final = frozenset(
    {"understand", "text", "gather", "base", "fuse", "scale", "enough", "within", "superseded", "retention"}
    | {"passages", "distinct", "derived", "rank"}
)
_log = logging.getLogger("weft.retrieval")
PARTS_OF: Final[Mapping[str, tuple[str, ...]]] = {"Session": ("Message",), "File": ("Function", "Class", "Test")}


class Ask(Struct, frozen=True, kw_only=True):
    """A question for the pipeline. `asked_at` is the time that "last week" is relative to, never a filter.

    `history` are the last messages before it, oldest first. `intent`, `depths` and `retrieval_class` are the caller's;
    where they are None, the question's own words decide. `cues` are the caller's mission, workspace, tool and phase;
    `purpose` names one of `weft.retrieval.purposes`. `as_of` says that the time in `when` was asked for, rather than
    being the present.
    """

    query: str
    when: When
    limit: int
    projects: tuple[str | None, ...] | None
    kinds: tuple[str, ...] | None = None
    focuses: tuple[str | None, ...] | None = None
    asked_at: int | None = None
    min_score: float | None = None
    history: tuple[str, ...] = ()
    intent: Intent | None = None
    depths: Mapping[str, int] | None = None
    retrieval_class: RetrievalClass | None = None
    cues: Mapping[str, str] = {}
    purpose: str | None = None
    as_of: bool = False
    deadline_s: float = 5.0


class ScoreSource(Struct, frozen=True, kw_only=True):
    """The part of a score from one source, and why: part = weight x raw, on a common scale."""

    name: str
    rank: int
    raw: float
    weight: float
    part: float
    detail: str = ""


class PartPlace(Struct, frozen=True, kw_only=True):
    """The sentence of a part that is nearest to the question: characters `start` to `end` of its text."""

    id: str
    start: int
    end: int


class Sighting(Struct, frozen=True, kw_only=True):
    """How a view found a node: its score there (entity 1/(d+1), causal the confidence, semantic the cosine), how many
    steps from a seed, and the way: in words, the ends and relations from the seed to the node, and as the ids of all
    ends.
    """

    view: View
    score: float
    depth: int = 0
    path: str = ""
    way: tuple[str, ...] = ()


class Judged(Struct, frozen=True, kw_only=True):
    """The answer judge's probabilities that a note tells what is asked, and that it belongs to an answer."""

    tells: float
    belongs: float


class Candidate(Struct, frozen=True, kw_only=True):
    """A node that may answer. Its score is the sum of its sources' parts.

    `best` are its parts that were found (turns of a session, symbols of a file), best first; `marks` are remarks for a
    reader, such as that a newer one answers the same. `seen` are the views that found it.
    """

    node: NodeVersion
    sources: tuple[ScoreSource, ...]
    best: tuple[PartPlace, ...] = ()
    marks: tuple[str, ...] = ()
    seen: tuple[Sighting, ...] = ()

    @property
    def score(self) -> float:
        return sum(source.part for source in self.sources)


class StageTrace(Struct, frozen=True, kw_only=True):
    """A stage's result: candidates after it, dropped ones, its time, and the reason if it failed."""

    stage: str
    count: int
    milliseconds: float
    dropped: int = 0
    failed: str = ""


class NameMention(Struct, frozen=True, kw_only=True):
    """A name in the question: its words, its key, the nodes with that name.

    For a misspelt name `written` is the word in the question, and `slip` the number of that word in the name.
    """

    start: int
    end: int
    key: str
    nodes: tuple[NameMatch, ...]
    written: str = ""
    slip: int = 0


class Answer(Struct, frozen=True, kw_only=True):
    """The state between stages: the question, the results of each source, one pool, then one ranked list.

    `query` is the question as it is searched for: as asked, with references written out, or with a name respelt.
    `expansions` are other wordings of it, with weights; `expanded` their results by words and by meaning. `skip` is
    the reason for not searching, `refused` why nothing found answers, told where nothing is left. `sightings` are
    by node id. `followed` are nodes that only a followed topic brought in: the viewer may see these very nodes, and
    nothing around them. `unserved` are the stages whose reads failed, with the message. `judged` is by node id.
    `degraded` says why the log was searched instead of the graph; `citations` are those of such an answer, by
    event. `expired` candidates were dropped by retention. `notes` are for every answer, `details` for explanations.
    """

    ask: Ask
    query: str
    question: QuestionTraits
    asked_at: int
    windows: tuple[TimeWindow, ...] = ()
    frame: TimeFrame = TimeFrame()
    terms: tuple[tuple[str, float], ...] = ()
    vector: bytes | None = None
    title_vector: bytes | None = None
    text: TextMatches | None = None
    near: VectorMatches | None = None
    dated: tuple[Lead, ...] = ()
    mentions: tuple[NameMention, ...] = ()
    sentences: bool = True
    gated: bool = True
    linked: Mapping[str, float] = {}
    evidence: Any = None
    judged: Mapping[str, Judged] = {}
    intent: Intent = "WHAT"
    depths: Depths = Depths()
    retrieval_class: RetrievalClass = "general"
    topic_change: float | None = None
    expansions: tuple[tuple[str, float], ...] = ()
    expanded: tuple[tuple[str, float, TextMatches | None, VectorMatches | None], ...] = ()
    skip: str = ""
    refused: str = ""
    sightings: Mapping[str, tuple[Sighting, ...]] = {}
    followed: frozenset[str] = frozenset()
    degraded: str = ""
    unserved: Mapping[str, str] = {}
    citations: Mapping[int, str] = {}
    expired: int = 0
    pool: Pool = EMPTY
    ranked: tuple[Candidate, ...] | None = None
    notes: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    trace: tuple[StageTrace, ...] = ()

    def noted(self, *notes: str) -> Answer:
        """With notes added, which every answer shows."""
        return replace(self, notes=(*self.notes, *notes))

    def detailed(self, *details: str) -> Answer:
        """With notes on how the answer was found, which only explanations show."""
        return replace(self, details=(*self.details, *details))

    @property
    def count(self) -> int:
        """The number of remaining candidates."""
        found = len(self.text.hits) if self.text else 0
        found += len(self.near.hits) if self.near else 0
        return len(self.ranked) if self.ranked is not None else len(self.pool.nodes) or found


class Stage(Protocol):
    """One step: takes an answer, returns the next.

    `name` is its name in the trace and the explanation. A step that fails is skipped, with a note.
    """

    @property
    def name(self) -> str: ...

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer: ...


def run(recipe: Sequence[Stage], ctx: CallContext, ask: Ask) -> Answer:
    """Runs the stages in order at one pinned time, so that all of them see one state.

    A stage that fails, whatever it raised, is skipped with a note. Where no stage can read the graph, the log is
    searched. Past the deadline only essential stages run. Raises StoreError if not even the log can be read.
    """
    answer = _run(recipe, ctx, ask)
    if ctx.call_stats is not None:
        ctx.call_stats.took((step.stage, step.milliseconds) for step in answer.trace)
    return answer


def _run(recipe: Sequence[Stage], ctx: CallContext, ask: Ask) -> Answer:
    try:
        ask = replace(ask, when=ctx.store.pin(ctx.viewer, ask.when))
    except StoreError as problem:
        return _from_log(ctx, ask, problem.message)
    asked_at = ask.asked_at if ask.asked_at is not None else ask.when.valid_at or 0
    answer = Answer(ask=ask, query=ask.query, question=read_question(""), asked_at=asked_at)
    began, late = time.monotonic(), []
    with ctx.store.one_state(ctx.viewer):
        for stage in recipe:
            if answer.skip:
                break
            if time.monotonic() - began > ask.deadline_s and stage.name not in ESSENTIAL:
                late.append(stage.name)
                continue
            answer = _step(stage, ctx, answer)
    if late:
        answer = answer.noted(
            f"after {ask.deadline_s:g} s, the time limit, these steps were skipped: {', '.join(late)}"
        )
    if _graph_is_down(answer):
        said = "; ".join(dict.fromkeys(answer.unserved.values()))
        found = _from_log(ctx, replace(answer.ask, query=answer.query), said)
        told = {step.failed for step in answer.trace}  # one fault is reported once
        notes = (*found.notes, *(note for note in answer.notes if note not in told))
        return replace(found, ask=answer.ask, notes=notes, trace=(*answer.trace, *found.trace))
    return answer if answer.ranked is not None else replace(answer, ranked=())


def _graph_is_down(answer: Answer) -> bool:
    """Whether neither words nor meaning could be searched, or the results could not be read."""
    by_meaning = answer.near is not None and bool(answer.near.hits)
    return "gather" in answer.unserved or ("text" in answer.unserved and not by_meaning)


def _from_log(ctx: CallContext, ask: Ask, problem: str) -> Answer:
    from weft.retrieval.fallback.from_log import search_log  # it answers as the pipeline does, so it knows this module

    began = time.perf_counter()
    found = search_log(ctx, ask, problem=problem)
    took = (time.perf_counter() - began) * 1000
    return replace(found, trace=(StageTrace(stage="log", count=found.count, milliseconds=round(took, 3)),))


def _step(stage: Stage, ctx: CallContext, answer: Answer) -> Answer:
    began = time.perf_counter()
    failed = ""
    try:
        after = stage(ctx, answer)
    except StoreError as problem:
        failed = f"the step {stage.name} could not read the store and was skipped: {problem.message}"
        answer = replace(answer, unserved={**answer.unserved, stage.name: problem.message})
    except WeftError as problem:
        failed = f"the step {stage.name} failed and was skipped: {problem.message}"
    except Exception as problem:  # noqa: BLE001 - any fault of a part costs that part only; told in a note and the log
        _log.exception("stage %s failed", stage.name)
        failed = f"the step {stage.name} failed by a fault in weft ({type(problem).__name__}) and was skipped"
    if failed:
        after = answer.noted(failed)
    took = (time.perf_counter() - began) * 1000
    dropped = max(0, len(answer.pool.nodes) - after.count) if answer.pool.nodes else 0
    step = StageTrace(stage=stage.name, count=after.count, milliseconds=round(took, 3), dropped=dropped, failed=failed)
    return replace(after, trace=(*after.trace, step))


def is_wanted(ask: Ask, node: NodeVersion | Identity) -> bool:
    """Whether the node is of the requested kinds, projects and focus areas, if the search did not filter by them.

    Internal records are wanted only if their kind is requested.
    """
    of_kind = node.kind not in UNSEARCHED_KINDS if ask.kinds is None else node.kind in ask.kinds
    in_focus = ask.focuses is None or not isinstance(node, NodeVersion) or node.focus in ask.focuses
    return of_kind and in_focus and (ask.projects is None or node.guard.project in ask.projects)


def kinds_to_search(ask: Ask) -> tuple[str, ...] | None:
    """The kinds to search: for a composite kind also those of its parts, by which it is found."""
    if ask.kinds is None:
        return None
    return tuple(dict.fromkeys([*ask.kinds, *(part for kind in ask.kinds for part in PARTS_OF.get(kind, ()))]))
