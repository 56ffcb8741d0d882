"""What flows through the pipeline, and how stages are run: each timed, counted and named in the trace."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from weft.errors import StoreError, WeftError
from weft.extract.intent import Depths, Intent, RetrievalClass
from weft.extract.question import Question, read_question
from weft.extract.windows import Window
from weft.kinds import UNSEARCHED_KINDS
from weft.loom import Loom
from weft.queries import Lead, Named, TextMatches, VectorMatches
from weft.retrieval.pool import EMPTY, Pool
from weft.types import Identity, NodeVersion, When

View = Literal["semantic", "entity", "temporal", "causal"]
VIEW_NAMES: Final[tuple[View, ...]] = ("semantic", "entity", "temporal", "causal")
# What an answer is made of, and what keeps out of it what must not be there: run whatever the time. The rest adds.
ESSENTIAL: Final = frozenset(
    {"understand", "text", "gather", "base", "fuse", "scale", "enough", "within", "superseded", "retention"}
    | {"passages", "distinct", "derived", "rank"}
)
_log = logging.getLogger("weft.retrieval")
PARTS_OF: Final[Mapping[str, tuple[str, ...]]] = {"Session": ("Message",), "File": ("Function", "Class", "Test")}


class Ask(Struct, frozen=True, kw_only=True):
    """A question, as the pipeline takes it. `asked_at` is when: what "last week" is relative to, never a filter.

    `history` are the last messages before it, oldest first. `intent`, `depths` and `retrieval_class` are what the
    caller says of it; where they are None, the question's own words decide. `cues` say where the asker stands
    (mission, workspace, tool, phase); `purpose` what for. `as_of` says that the moment in `when` was asked for, rather
    than being the present.
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


class Source(Struct, frozen=True, kw_only=True):
    """What one source gave to a score, and why: part = weight x raw, on a common scale."""

    name: str
    rank: int
    raw: float
    weight: float
    part: float
    detail: str = ""


class Place(Struct, frozen=True, kw_only=True):
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


class Candidate(Struct, frozen=True, kw_only=True):
    """A node that may answer. Its score is the sum of its sources' parts.

    `best` are the parts of it that were found (turns of a session, symbols of a file), best first; `marks` say what a
    reader should know of it, such as that a newer one answers the same. `seen` are the views that found it.
    """

    node: NodeVersion
    sources: tuple[Source, ...]
    best: tuple[Place, ...] = ()
    marks: tuple[str, ...] = ()
    seen: tuple[Sighting, ...] = ()

    @property
    def score(self) -> float:
        return sum(source.part for source in self.sources)


class StageTrace(Struct, frozen=True, kw_only=True):
    """What a stage did: how many came out, how many went, how long it took, and why it failed if it did."""

    stage: str
    count: int
    milliseconds: float
    dropped: int = 0
    failed: str = ""


class Mention(Struct, frozen=True, kw_only=True):
    """A name that stands in the question: which of its words, as what, and what goes by it.

    Of a misspelt one `written` is the word as it was written, and `slip` which word of the name that is.
    """

    start: int
    end: int
    key: str
    nodes: tuple[Named, ...]
    written: str = ""
    slip: int = 0


class Answer(Struct, frozen=True, kw_only=True):
    """The state between stages: what the question says, what each source found, one pool, then one ranked list.

    `query` is the question as it is worked with: as asked, with what it refers to written out, or with a name in it
    spelt as the names here are. `expansions` are other wordings of it, with weights; `expanded` what they found, by
    words and by meaning. `skip` says why there is nothing to search for. `sightings` are by node id. `followed` are
    those that only a topic that is followed brought in: the viewer may see these very nodes, and nothing around them.
    `unserved` are the stages that the store refused, and what it said. `degraded` says why the graph could not answer
    and the log did; `citations` are those of such an answer, by event.
    """

    ask: Ask
    query: str
    question: Question
    asked_at: int
    windows: tuple[Window, ...] = ()
    terms: tuple[tuple[str, float], ...] = ()
    vector: bytes | None = None
    title_vector: bytes | None = None
    text: TextMatches | None = None
    near: VectorMatches | None = None
    dated: tuple[Lead, ...] = ()
    mentions: tuple[Mention, ...] = ()
    sentences: bool = True
    gated: bool = True
    linked: Mapping[str, float] = {}
    evidence: Any = None
    intent: Intent = "WHAT"
    depths: Depths = Depths()
    retrieval_class: RetrievalClass = "general"
    topic_change: float | None = None
    expansions: tuple[tuple[str, float], ...] = ()
    expanded: tuple[tuple[str, float, TextMatches | None, VectorMatches | None], ...] = ()
    skip: str = ""
    sightings: Mapping[str, tuple[Sighting, ...]] = {}
    followed: frozenset[str] = frozenset()
    degraded: str = ""
    unserved: Mapping[str, str] = {}
    citations: Mapping[int, str] = {}
    pool: Pool = EMPTY
    ranked: tuple[Candidate, ...] | None = None
    notes: tuple[str, ...] = ()
    trace: tuple[StageTrace, ...] = ()

    def noted(self, *notes: str) -> Answer:
        """With notes added."""
        return replace(self, notes=(*self.notes, *notes))

    @property
    def count(self) -> int:
        """How many are still in it."""
        found = len(self.text.hits) if self.text else 0
        found += len(self.near.hits) if self.near else 0
        return len(self.ranked) if self.ranked is not None else len(self.pool.nodes) or found


class Stage(Protocol):
    """One step: takes an answer, returns the next. `name` is what the trace and the explanation call it.

    What it cannot do it leaves undone, with a note.
    """

    @property
    def name(self) -> str: ...

    def __call__(self, loom: Loom, answer: Answer) -> Answer: ...


def run(recipe: Sequence[Stage], loom: Loom, ask: Ask) -> Answer:
    """Runs the stages in order over one pinned moment, so that all of them see one state.

    A stage that fails costs its part of the answer and leaves a note, whatever it raised: the rest goes on. Where the
    store can serve none that finds anything, the log itself is searched. Past the deadline only what no answer can do
    without is run. Raises StoreError if not even the log can be read.
    """
    answer = _run(recipe, loom, ask)
    if loom.tally is not None:
        loom.tally.took((step.stage, step.milliseconds) for step in answer.trace)
    return answer


def _run(recipe: Sequence[Stage], loom: Loom, ask: Ask) -> Answer:
    try:
        ask = replace(ask, when=loom.store.pin(loom.viewer, ask.when))
    except StoreError as problem:
        return _from_log(loom, ask, problem.message)
    asked_at = ask.asked_at if ask.asked_at is not None else ask.when.valid_at or 0
    answer = Answer(ask=ask, query=ask.query, question=read_question(""), asked_at=asked_at)
    began, late = time.monotonic(), []
    for stage in recipe:
        if answer.skip:
            break
        if time.monotonic() - began > ask.deadline_s and stage.name not in ESSENTIAL:
            late.append(stage.name)
            continue
        answer = _step(stage, loom, answer)
    if late:
        answer = answer.noted(f"after {ask.deadline_s:g} s these were left out: {', '.join(late)}")
    if _graph_is_down(answer):
        said = "; ".join(dict.fromkeys(answer.unserved.values()))
        found = _from_log(loom, replace(answer.ask, query=answer.query), said)
        told = {step.failed for step in answer.trace}  # all of one fault: it is told once
        notes = (*found.notes, *(note for note in answer.notes if note not in told))
        return replace(found, ask=answer.ask, notes=notes, trace=(*answer.trace, *found.trace))
    return answer if answer.ranked is not None else replace(answer, ranked=())


def _graph_is_down(answer: Answer) -> bool:
    """Whether the store could not look for words, and meaning found nothing, or could not show what was found."""
    by_meaning = answer.near is not None and bool(answer.near.hits)
    return "gather" in answer.unserved or ("text" in answer.unserved and not by_meaning)


def _from_log(loom: Loom, ask: Ask, problem: str) -> Answer:
    from weft.retrieval.from_log import search_log  # it answers as the pipeline does, so it knows this module

    began = time.perf_counter()
    found = search_log(loom, ask, problem=problem)
    took = (time.perf_counter() - began) * 1000
    return replace(found, trace=(StageTrace(stage="log", count=found.count, milliseconds=round(took, 3)),))


def _step(stage: Stage, loom: Loom, answer: Answer) -> Answer:
    began = time.perf_counter()
    failed = ""
    try:
        after = stage(loom, answer)
    except StoreError as problem:
        failed = f"the store could not serve {stage.name}: {problem.message}"
        answer = replace(answer, unserved={**answer.unserved, stage.name: problem.message})
    except WeftError as problem:
        failed = f"{stage.name} failed and is left out: {problem.message}"
    except Exception as problem:  # noqa: BLE001 - any fault of a part costs that part only; told in a note and the log
        _log.exception("stage %s failed", stage.name)
        failed = f"{stage.name} failed inside ({type(problem).__name__}) and is left out"
    if failed:
        after = answer.noted(failed)
    took = (time.perf_counter() - began) * 1000
    dropped = max(0, len(answer.pool.nodes) - after.count) if answer.pool.nodes else 0
    step = StageTrace(stage=stage.name, count=after.count, milliseconds=round(took, 3), dropped=dropped, failed=failed)
    return replace(after, trace=(*after.trace, step))


def is_wanted(ask: Ask, node: NodeVersion | Identity) -> bool:
    """Whether the node is of the kinds, projects and focus areas asked for, where a search's own filter did not look.

    Records of weft's own working are wanted only where their kind is asked for.
    """
    of_kind = node.kind not in UNSEARCHED_KINDS if ask.kinds is None else node.kind in ask.kinds
    in_focus = ask.focuses is None or not isinstance(node, NodeVersion) or node.focus in ask.focuses
    return of_kind and in_focus and (ask.projects is None or node.guard.project in ask.projects)


def kinds_to_search(ask: Ask) -> tuple[str, ...] | None:
    """The kinds to look for: with a whole, those of its parts, by which it is found."""
    if ask.kinds is None:
        return None
    return tuple(dict.fromkeys([*ask.kinds, *(part for kind in ask.kinds for part in PARTS_OF.get(kind, ()))]))
