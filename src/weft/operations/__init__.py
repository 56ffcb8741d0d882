"""Every operation, in the order in which help lists them: the visible list from which all surfaces are derived.

Loading them all takes a fifth of a second, so nothing is loaded until it is asked for:

- `operation("recall")` imports the one module that holds it;
- `weft.operations.listed.read_index()` gives a line about each (its name, summary, toolset, reach) and imports none:
  enough for help, for completion and for a list to search in;
- `OPERATIONS` imports them all, for what needs every type: schemas, the reference.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from weft.operations.registry import Operation

    OPERATIONS: tuple[Operation, ...]

# One verb family each: every module here holds its own OPERATIONS.
MODULES: Final = (
    "remembering",
    "facts",
    "entities",
    "happenings",
    "concepts",
    "memory_write",
    "batches",
    "decisions",
    "recalling",
    "checking_out",
    "assembling",
    "previous",
    "questions",
    "raw",
    "screening",
    "searching",
    "finding",
    "alike",
    "explaining",
    "answering",
    "feedback",
    "revising",
    "deleting",
    "purging",
    "erasing",
    "tending",
    "proposals",
    "approving",
    "reports",
    "alerts",
    "publishing",
    "viewing",
    "merging",
    "reading",
    "citing",
    "priority",
    "projects",
    "ingesting",
    "text_documents",
    "workspaces",
    "rebuilding",
    "graph_health",
    "graph_edges",
    "graph_query",
    "similar_code",
    "community_reading",
    "code_docs",
    "code_diff",
    "code_history",
    "recording",
    "receiving",
    "transcripts",
    "conversation_lists",
    "archiving",
    "compacting_sessions",
    "compacting",
    "projections",
    "baking",
    "work",
    "products",
    "logbook",
    "auditing",
    "upkeep",
    "statistics",
    "pending",
    "hygiene",
    "hygiene_apply",
    "routing",
    "indexing",
    "extracting",
    "setting_up",
    "code_packing",
    "slicing",
    "code_explaining",
    "impact",
    "keys",
    "tokens",
)


@cache
def operation(name: str) -> Operation:
    """One operation, by importing the module that holds it and no other. Raises KeyError for a name that is none."""
    from weft.operations.listed import read_index

    known = read_index().get(name)
    home = known.module.rpartition(".")[2] if known is not None else ""
    # What is not where the index says, or not in it, came since that was written.
    for module in sorted(MODULES, key=lambda each: each != home):
        for each in _of(module):
            if each.name == name:
                return each
    raise KeyError(name)


def _of(module: str) -> tuple[Operation, ...]:
    found: tuple[Operation, ...] = import_module(f"weft.operations.{module}").OPERATIONS
    return found


def __getattr__(name: str) -> Any:
    if name == "OPERATIONS":
        globals()[name] = tuple(each for module in MODULES for each in _of(module))
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
