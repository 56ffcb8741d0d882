"""Extracted nodes, which give way to the memory they were extracted from.

Extraction makes nodes of names, claims and causes in a text. They connect the graph. As answers they would only repeat
the text, so only questions that ask for them get them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from weft.core.kinds import DERIVED_FROM, DESCRIBES, VIEWS
from weft.core.types import NodeVersion
from weft.log.kinds.graph import NodeAssertion
from weft.retrieval.pipeline import Answer
from weft.runtime.call_context import CallContext

Named = TypeVar("Named", NodeVersion, NodeAssertion)
THINGS = VIEWS["entity"]


def stands_back(answer: Answer, node: NodeVersion) -> bool:
    """Whether a node only connects the graph and does not answer this question.

    Entities without words answer WHO and EXPLORE; extracted nodes do not answer, except causes for WHY. A node that is
    asked for by kind or id always answers.
    """
    if answer.ask.kinds is not None or node.id == answer.ask.query.strip():
        return False
    if node.kind in THINGS and not (node.text or node.summary or node.props.get("compiled_truth")):
        return answer.intent not in ("WHO", "EXPLORE")
    return DERIVED_FROM in node.props and not (node.kind == "Cause" and answer.intent == "WHY")


class Derived(Struct, frozen=True):
    """Drops such nodes that came in by relation, unless they are the only answers."""

    name: str = "derived"

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        pool = answer.pool
        rows = [at for at, node in enumerate(pool.nodes) if not stands_back(answer, node)]
        if not rows or len(rows) == len(pool.nodes):
            return answer
        evidence = answer.evidence if answer.evidence is None else answer.evidence[rows]
        return replace(answer, pool=pool.only(rows), evidence=evidence)


def description_id(ctx: CallContext, project: str | None, thing: str) -> str:
    """The id of a project's description of a thing: one for each."""
    return ctx.new_id(f"description/{project}/{thing}")  # no request id has a stroke in it


def without_descriptions(nodes: Sequence[Named]) -> tuple[Named, ...]:
    """Without nodes that describe another of them: a thing and its description have one name."""
    ids = {node.id for node in nodes}
    return tuple(node for node in nodes if node.props.get(DESCRIBES) not in ids)
