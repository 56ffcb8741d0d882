"""One rendering of every answer to text, for people at a terminal and for models.

`RENDERERS` names the function of each type of answer. Its module is imported when an answer of that type is shown, so a
command or a server loads only what it shows; modules import the types under TYPE_CHECKING for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, Literal

from msgspec import Struct

from weft.surfaces.render.page import Rendered, TextPage, as_json

__all__ = ["RENDERERS", "Rendered", "TextPage", "render"]


def render(answer: Struct, reader: Literal["person", "model"], *, width: int = 0) -> Rendered:
    """An answer in words, without its notes. One of a type without a renderer as its JSON."""
    page = TextPage(reader, width=width)
    name = type(answer).__name__
    if name in RENDERERS:
        renderer(name)(page, answer)
    else:
        page.say("Done.")
        page.block()
        page.quote(as_json(answer))
    return page.rendered()


def renderer(output: str) -> Callable[[TextPage, Any], None]:
    """The function that writes answers of a type, by the name of the type."""
    module, _, name = RENDERERS[output].partition(".")
    found: Callable[[TextPage, Any], None] = getattr(import_module(f"weft.surfaces.render.{module}"), name)
    return found


RENDERERS: Final[dict[str, str]] = {
    "AgentStatus": "fleet.status",
    "EpisodeAdded": "fleet.episode_added",
    "EpisodesRecalled": "fleet.episodes",
    "Claimed": "fleet.claimed",
    "Overview": "fleet.overview",
    "Reflected": "fleet.reflected",
    "FeatureShown": "tasks.feature",
    "HandedOff": "tasks.handed_off",
    "Issues": "tasks.issues",
    "PlanSaved": "tasks.plan",
    "TaskProgress": "tasks.progress",
    "TaskUpdated": "tasks.updated",
    "FindingsListed": "tasks.findings",
    "Released": "fleet.released",
    "AgentKnowledge": "contexts.knowledge",
    "AlertsListed": "work.alerts",
    "AnalysisRouted": "work.routed",
    "ApprovalDecided": "changes.approval_decided",
    "ApprovalList": "changes.approvals",
    "ApprovalRequested": "changes.approval_requested",
    "AskResult": "recall.recalled",
    "AssembledContext": "contexts.assembled",
    "BackedUp": "store.backed_up",
    "Baked": "contexts.baked",
    "BatchWritten": "changes.batch",
    "Changed": "store.changed",
    "Checkout": "contexts.checkout",
    "Cited": "nodes.cited",
    "CodeChanged": "code.changed",
    "CodeExplained": "code.explained",
    "CommitIndexed": "code.commit",
    "CommunitiesListed": "code.communities",
    "Compacted": "contexts.compacted",
    "ConfigShown": "store.config",
    "ContextLinearized": "recall.linearized",
    "ContextPack": "code.pack",
    "ConversationsShown": "ingest.conversations",
    "DeletionResult": "changes.deleted",
    "DeletionList": "changes.deletions",
    "Diagnosis": "store.diagnosis",
    "DocsFound": "code.docs",
    "EdgesListed": "code.edges",
    "Erasure": "changes.erasure",
    "Events": "store.events",
    "Explained": "recall.explained",
    "Exported": "store.exported",
    "ExtractedMemories": "ingest.extracted",
    "GraphAnswer": "code.graph_answer",
    "GraphHealth": "code.health",
    "GraphRebuilt": "code.rebuilt",
    "HeadShown": "store.head",
    "HygieneApplied": "store.hygiene_applied",
    "HygieneReport": "store.hygiene",
    "ImpactAnalyzed": "code.impact",
    "ImportResult": "store.adopted",
    "IngestResult": "ingest.ingested",
    "Initialised": "store.initialised",
    "KeyMade": "store.key_made",
    "KeyRotated": "store.key_rotated",
    "MessagesFound": "recall.messages",
    "NodeList": "nodes.nodes",
    "PendingDelivered": "changes.delivered",
    "PendingShownAll": "changes.pending",
    "PreviousContext": "contexts.previous",
    "ProjectContext": "contexts.project_context",
    "Projected": "contexts.projected",
    "ProjectsShown": "contexts.projects",
    "ProposalList": "changes.proposals",
    "SitePublished": "work.published",
    "Rebuilt": "store.rebuilt",
    "Recalled": "recall.recalled",
    "RecalledRaw": "recall.recalled_raw",
    "ReceiveResult": "ingest.received",
    "Reindexed": "store.reindexed",
    "WriteResult": "nodes.remembered",
    "Forgotten": "nodes.forgotten",
    "ReportsListed": "work.reports_listed",
    "ReportsRead": "work.reports_read",
    "RetrievalBenched": "store.retrieval_benched",
    "Screened": "ingest.screened",
    "Searched": "recall.searched",
    "SemanticSearched": "recall.semantic_searched",
    "SessionArchived": "ingest.archived",
    "SessionCompacted": "contexts.session_compacted",
    "SessionStatus": "contexts.session_status",
    "NodeDetails": "nodes.shown",
    "SimilarCode": "code.similar",
    "SimilarFound": "nodes.similar",
    "SliceShown": "code.slice_",
    "Statistics": "store.statistics",
    "Stats": "store.stats",
    "SubgraphMerged": "recall.subgraph_merged",
    "TokenCreated": "access.token_created",
    "TokenRevoked": "access.token_revoked",
    "TokensListed": "access.tokens",
    "ToolCallsShown": "access.calls",
    "ToolsFound": "access.tools_found",
    "TranscriptsIngested": "ingest.transcripts",
    "TruthCompiled": "changes.truth",
    "TurnsRecorded": "ingest.turns",
    "VerifyResult": "store.verified",
    "ViewExpanded": "recall.view_expanded",
    "WorkListed": "work.tasks",
    "WorkMadeShown": "work.made",
    "WorkShown": "work.task",
    "WorkspaceSet": "code.workspace",
}
