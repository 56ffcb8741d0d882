"""Every operation, in the order in which help lists them: the visible list from which all surfaces are derived.

Loading them all takes a fifth of a second, so nothing is loaded until it is asked for:

- `operation("recall")` imports the one module that holds it;
- `weft.runtime.operation_index.read_index()` lists name, summary, toolset and reach of each and imports none: enough
  for help, completion and search;
- `OPERATIONS` imports them all, for schemas and the reference.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from weft.runtime.operation import Operation

    OPERATIONS: tuple[Operation, ...]

# One verb family each: every module here holds its own OPERATIONS.
MODULES: Final = (
    "writing.remember",
    "writing.facts",
    "writing.entities",
    "writing.events",
    "writing.concepts",
    "writing.memory_write",
    "writing.batches",
    "writing.decisions",
    "recall.recall",
    "checkout.checkout",
    "checkout.assemble_context",
    "checkout.previous_context",
    "recall.ask",
    "recall.recall_raw",
    "conversations.screen",
    "recall.memory_search",
    "recall.conversation_search",
    "recall.similar",
    "recall.explain",
    "recall.answer_again",
    "writing.feedback",
    "writing.revise",
    "erasure.forget",
    "erasure.delete",
    "erasure.purge",
    "erasure.erase",
    "writing.curate",
    "writing.proposals",
    "access.approve",
    "fleet.reports",
    "fleet.alerts",
    "fleet.publish",
    "recall.views.view_steps",
    "recall.views.merge_views",
    "recall.look",
    "recall.cite",
    "recall.priority",
    "fleet.projects",
    "ingest.ingest",
    "ingest.ingest_text",
    "code.ask.workspaces",
    "code.ask.rebuild",
    "code.ask.graph_health",
    "code.ask.graph_edges",
    "code.ask.graph_query",
    "code.ask.similar_code",
    "code.communities.show",
    "ingest.index_docs",
    "code.ask.docs",
    "code.ask.diff",
    "code.index.history",
    "conversations.record",
    "conversations.receive",
    "conversations.import_conversations",
    "conversations.lists",
    "conversations.archive",
    "checkout.compaction.session_compact",
    "checkout.compaction.compact",
    "checkout.compaction.compaction_show",
    "checkout.agent_file",
    "fleet.claiming",
    "fleet.overview",
    "fleet.episodes.adding",
    "fleet.episodes.recall",
    "fleet.reflecting.reflect",
    "fleet.work.creating",
    "fleet.work.updating",
    "fleet.work.progress",
    "fleet.work.blocking",
    "fleet.work.handoff",
    "fleet.findings",
    "fleet.tasks",
    "fleet.work_products",
    "upkeep.log",
    "access.audit",
    "upkeep.store",
    "upkeep.statistics",
    "upkeep.pending",
    "upkeep.hygiene.run",
    "upkeep.hygiene.apply",
    "recall.reasoning_style",
    "upkeep.reindex",
    "writing.extract_memories",
    "upkeep.configuration",
    "code.ask.context_pack",
    "code.ask.semantic_slice",
    "code.ask.explain",
    "code.ask.impact",
    "upkeep.keys",
    "access.token_commands",
)


@cache
def operation(name: str) -> Operation:
    """One operation, by importing the module that holds it and no other. Raises KeyError for a name that is none."""
    from weft.runtime.operation_index import read_index

    known = read_index().get(name)
    home = known.module.removeprefix("weft.") if known is not None else ""
    # What is not where the index says, or not in it, came since that was written.
    for module in sorted(MODULES, key=lambda each: each != home):
        for each in _of(module):
            if each.name == name:
                return each
    raise KeyError(name)


def _of(module: str) -> tuple[Operation, ...]:
    found: tuple[Operation, ...] = import_module(f"weft.{module}").OPERATIONS
    return found


def __getattr__(name: str) -> Any:
    if name == "OPERATIONS":
        globals()[name] = tuple(each for module in MODULES for each in _of(module))
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
