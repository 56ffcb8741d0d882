"""Names of relations: how they are written, and which mean something to weft itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final

from msgspec import Meta

from weft.errors import Invalid
from weft.retrieval.cognitive import FEEDBACK_RELATION

RelationName = Annotated[str, Meta(min_length=1, max_length=64, description="the relation, such as WORKS_AT")]

# Relations that weft reads a meaning from, and how each is made.
OWN: Final[Mapping[str, str]] = {
    "CONTAINS": "ingest and record_turns place what is inside something",
    "MENTIONS_CODE": "ingest joins what documents name to the code that they name",
    "NEXT": "record_turns keeps the order of what was said",
    "SUPERSEDES": "add_fact and save_decision say what they replace",
    "MERGES_INTO": "merge_entities joins two nodes for one thing",
    "PRODUCED": "give produced_by_task_id to the write",
    "RAISED_DURING": "work_create says in which conversation a task was raised",
    FEEDBACK_RELATION: "memory_feedback says what became of a memory",
}
# Relations that join the views of the graph: not between entities.
ACROSS: Final[Mapping[str, str]] = {
    "INVOLVES": "add_event and add_fact name the entities they involve",
    "REPRESENTS": "add_concept names the entities it stands for",
    "AFFECTS": "add_causal_link names the entities it affects",
    "REFERS_TO": "add_causal_link names the events it refers to",
    "CAUSES": "add_causal_link joins a cause and its effect",
    "FOLLOWS": "events are put in order by when they occurred",
    "CONFLICTS_WITH": "what contradicts what is settled by review",
}

_WRITTEN = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")


def check_relation(name: str, *, between_entities: bool) -> str:
    """Raises Invalid unless the name is written in UPPER_SNAKE, and free for callers to use."""
    if not _WRITTEN.fullmatch(name):
        better = "_".join(re.findall(r"[A-Z0-9]+", name.upper()))
        better = better if better[:1].isalpha() else "WORKS_AT"
        raise Invalid(f"{name[:64]!r} is not how a relation is written", hint=f"write it as {better}")
    instead = OWN.get(name) or (ACROSS.get(name) if between_entities else None)
    if instead is not None:
        raise Invalid(f"{name} has a meaning of its own", hint=instead)
    return name
