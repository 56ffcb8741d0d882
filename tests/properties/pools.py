"""Pools made by hand: rows of any kind with any score, for stages that only look at what is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tests.properties.running import memory_store
from tests.retrieval.small_worlds import context_over
from weft.core.types import NOW, Guard, Interval, NodeVersion
from weft.retrieval.pipeline import Answer, Ask
from weft.retrieval.pool import Pool
from weft.runtime.call_context import CallContext
from weft.testing.clock import ManualClock, day
from weft.text.extract.question.question import read_question
from weft.text.lexical import content_hash


class Row(NamedTuple):
    """What a test says of a row."""

    id: str
    score: float
    kind: str = "Memory"
    name: str = ""
    text: str = ""
    props: Mapping[str, Any] = {}
    project: str | None = "p"
    days: int = 0


def node_of(row: Row, number: int) -> NodeVersion:
    begins = day(row.days)
    guard = Guard(project=row.project, scope="public")
    return NodeVersion(
        row=number,
        id=row.id,
        kind=row.kind,
        name=row.name,
        summary="",
        text=row.text,
        props=row.props,
        focus=None,
        slot="",
        guard=guard,
        recorded_guard=guard,
        interval=Interval(valid_from=begins, valid_to=None, asserted_from=begins, asserted_to=None),
        recorded_at=begins,
        born=number,
        tx="tx",
        retired_at=None,
        retired_pos=None,
        retired_tx=None,
        deleted_at=None,
        event=number,
        content_hash=content_hash(row.name, "", row.text),
    )


def pool_of(rows: Sequence[Row]) -> Pool:
    """Rows with their scores in two parts, each saying of which row it is."""
    nodes = [node_of(row, number) for number, row in enumerate(rows)]
    pool = Pool().extended(nodes, [()] * len(nodes), {})
    scores = np.array([row.score for row in rows], float)
    pool = pool.with_part("text", scores, 0.25, lambda at: f"text of {rows[at].id}")
    return pool.with_part("vector", scores, np.full(len(rows), 0.75), lambda at: f"vector of {rows[at].id}")


def answer_of(rows: Sequence[Row], *, limit: int = 10) -> Answer:
    ask = Ask(query="what is there?", when=NOW, limit=limit, projects=None)
    return Answer(ask=ask, query=ask.query, question=read_question(ask.query), asked_at=0, pool=pool_of(rows))


def empty_context() -> CallContext:
    clock = ManualClock()
    return context_over(memory_store(clock), clock)


def ids(answer: Answer) -> list[str]:
    """Ids of the pool's rows, best first; of equals the newer, as they are ranked."""
    scores, nodes = answer.pool.scores(), answer.pool.nodes
    order = sorted(range(len(nodes)), key=lambda at: (-scores[at], -nodes[at].row))
    return [nodes[at].id for at in order]
