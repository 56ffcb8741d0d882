"""What was read out of a memory stands back where the memory itself is found.

Extraction makes nodes of what a text names, claims and says of causes. They are ways through the graph. As answers they
would only repeat the text, so they are left to the questions that ask for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from weft.kinds import VIEWS
from weft.log.kinds.graph import NodeAssertion
from weft.loom import Loom
from weft.retrieval.pipeline import Answer
from weft.types import NodeVersion

DERIVED_FROM = "derived_from"  # the property that names the memory something was read out of
DESCRIBES = "describes"  # the property of a project's description of a thing that names the thing

Named = TypeVar("Named", NodeVersion, NodeAssertion)
THINGS = VIEWS["entity"]


def stands_back(answer: Answer, node: NodeVersion) -> bool:
    """Whether a node is a way through the graph rather than an answer to this question.

    Things that have a name and no words answer WHO and EXPLORE; what was read out of a memory answers nothing that the
    memory does not, but that causes are told apart for WHY. Whatever is asked for by its kind or id answers.
    """
    if answer.ask.kinds is not None or node.id == answer.ask.query.strip():
        return False
    if node.kind in THINGS and not (node.text or node.summary or node.props.get("compiled_truth")):
        return answer.intent not in ("WHO", "EXPLORE")
    return DERIVED_FROM in node.props and not (node.kind == "Cause" and answer.intent == "WHY")


class Derived(Struct, frozen=True):
    """Leaves out what stands back and came in by relation, unless it would be the only answer."""

    name: str = "derived"

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        pool = answer.pool
        rows = [at for at, node in enumerate(pool.nodes) if not stands_back(answer, node)]
        if not rows or len(rows) == len(pool.nodes):
            return answer
        evidence = answer.evidence if answer.evidence is None else answer.evidence[rows]
        return replace(answer, pool=pool.only(rows), evidence=evidence)


def description_id(loom: Loom, project: str | None, thing: str) -> str:
    """The id of what a project says that a thing is: one for each, whoever says it."""
    return loom.new_id(f"description/{project}/{thing}")  # no request id has a stroke in it


def without_descriptions(nodes: Sequence[Named]) -> tuple[Named, ...]:
    """Without those that describe another of them: a thing and what a project says that it is have one name."""
    ids = {node.id for node in nodes}
    return tuple(node for node in nodes if node.props.get(DESCRIBES) not in ids)
