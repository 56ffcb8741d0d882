"""What flows through the pipeline, and how stages are run: each timed, counted and named in the trace."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from weft.loom import Loom
from weft.types import NodeVersion, When

MAX_CANDIDATES = 50  # from one source, unless more are asked for


class Ask(Struct, frozen=True, kw_only=True):
    """A question, as the pipeline takes it."""

    query: str
    when: When
    limit: int
    projects: tuple[str | None, ...] | None
    kinds: tuple[str, ...] | None = None


class Find(Struct, frozen=True, kw_only=True):
    """One way a node was found: by which source, at which rank, with which score of its own."""

    source: str
    node: NodeVersion
    rank: int
    raw: float
    detail: str = ""


class Source(Struct, frozen=True, kw_only=True):
    """What one source gave to a score, and why: part = weight x raw, on a common scale."""

    name: str
    rank: int
    raw: float
    weight: float
    part: float
    detail: str = ""


class Candidate(Struct, frozen=True, kw_only=True):
    """A node that may answer. Its score is the sum of its sources' parts."""

    node: NodeVersion
    sources: tuple[Source, ...]

    @property
    def score(self) -> float:
        return sum(source.part for source in self.sources)


class StageTrace(Struct, frozen=True, kw_only=True):
    """What a stage did: how many came out, and how long it took."""

    stage: str
    count: int
    milliseconds: float


class Answer(Struct, frozen=True, kw_only=True):
    """The state between stages: what was found by each source, then one ranked list."""

    ask: Ask
    terms: tuple[tuple[str, float], ...] = ()
    vector: bytes | None = None
    found: tuple[Find, ...] = ()
    ranked: tuple[Candidate, ...] = ()
    notes: tuple[str, ...] = ()
    trace: tuple[StageTrace, ...] = ()


class Stage(Protocol):
    """One step: takes an answer, returns the next. `name` is what the trace and the explanation call it."""

    @property
    def name(self) -> str: ...

    def __call__(self, loom: Loom, answer: Answer) -> Answer: ...


def run(recipe: Sequence[Stage], loom: Loom, ask: Ask) -> Answer:
    """Runs the stages in order over one pinned moment, so that all of them see one state."""
    answer = Answer(ask=replace(ask, when=loom.store.pin(loom.viewer, ask.when)))
    for stage in recipe:
        began = time.perf_counter()
        answer = stage(loom, answer)
        took = (time.perf_counter() - began) * 1000
        step = StageTrace(stage=stage.name, count=len(answer.ranked) or len(answer.found), milliseconds=round(took, 3))
        answer = replace(answer, trace=(*answer.trace, step))
    return answer


def candidates_wanted(ask: Ask) -> int:
    """How many each source should bring."""
    return max(min(MAX_CANDIDATES, 4 * ask.limit), ask.limit)


def is_wanted(ask: Ask, node: NodeVersion) -> bool:
    """Whether the node is of the kinds and projects asked for. For nodes reached by id, past a search's own filter."""
    return (ask.kinds is None or node.kind in ask.kinds) and (
        ask.projects is None or node.guard.project in ask.projects
    )
