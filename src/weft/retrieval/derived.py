"""What was read out of a memory stands back where the memory itself is found.

Extraction makes nodes of what a text names, claims and says of causes. They are ways through the graph. As answers they
would only repeat the text, so they are left to the questions that ask for them.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.kinds import VIEWS
from weft.loom import Loom
from weft.retrieval.pipeline import Answer
from weft.types import NodeVersion

DERIVED_FROM = "derived_from"  # the property that names the memory something was read out of
THINGS = VIEWS["entity"]


class Derived(Struct, frozen=True):
    """Leaves out things that have a name and no words, and what was read out of a row that is there.

    Things stay for WHO and EXPLORE, causes for WHY, anything whose kind or id was asked for, and whatever would be left
    as the only answer.
    """

    name: str = "derived"

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        pool, ask = answer.pool, answer.ask
        if ask.kinds is not None:
            return answer
        there = {node.id for node in pool.nodes}
        asked = ask.query.strip()
        rows = [
            at
            for at, node in enumerate(pool.nodes)
            if node.id == asked or not (_bare(node, answer) or _repeats(node, answer, there))
        ]
        if not rows or len(rows) == len(pool.nodes):
            return answer
        evidence = answer.evidence if answer.evidence is None else answer.evidence[rows]
        return replace(answer, pool=pool.only(rows), evidence=evidence)


def _bare(node: NodeVersion, answer: Answer) -> bool:
    worded = node.text or node.summary or node.props.get("compiled_truth")
    return node.kind in THINGS and not worded and answer.intent not in ("WHO", "EXPLORE")


def _repeats(node: NodeVersion, answer: Answer, there: set[str]) -> bool:
    if node.props.get(DERIVED_FROM) not in there:
        return False
    return not (node.kind == "Cause" and answer.intent == "WHY")
