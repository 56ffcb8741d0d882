"""How answers look on a terminal: one function per output type, one visible table.

The function is imported when an answer of its type is shown, so that a command loads only its own. Modules of these
functions import the types they show under TYPE_CHECKING, for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import msgspec


def render(answer: msgspec.Struct) -> None:
    """Prints an answer for a person."""
    renderer(type(answer).__name__)(answer)


def renderer(output: str) -> Callable[[Any], None]:
    """The function that shows answers of a type, by the name of the type."""
    module, _, name = RENDERERS[output].partition(".")
    found: Callable[[Any], None] = getattr(import_module(f"weft.surfaces.cli.{module}"), name)
    return found


# The name of an output type, and the module and function that show it.
RENDERERS: Final[dict[str, str]] = {
    "Adopted": "log_lines.adopted_lines",
    "AgentKnowledge": "bake_lines.knowledge_lines",
    "AlertsListed": "report_lines.alerts_lines",
    "AnalysisRouted": "hygiene_lines.routed_lines",
    "ApprovalDecided": "approval_lines.decided_lines",
    "ApprovalList": "approval_lines.approvals_lines",
    "ApprovalRequested": "approval_lines.requested_lines",
    "Asked": "found.asked_lines",
    "BackedUp": "upkeep_lines.backed_up_lines",
    "Baked": "bake_lines.baked_lines",
    "BatchWritten": "batch_lines.batch_lines",
    "Changed": "log_lines.changed_lines",
    "Assembled": "checkout_lines.assembled_lines",
    "Checkout": "checkout_lines.checkout_lines",
    "Cited": "node_lines.cited_lines",
    "CodeChanged": "edge_lines.changed_lines",
    "CodeExplained": "slice_lines.explained_lines",
    "CommunitiesListed": "code_query_lines.communities_lines",
    "CommitIndexed": "edge_lines.commit_lines",
    "Compacted": "compact_lines.compacted_lines",
    "ConfigShown": "upkeep_lines.config_lines",
    "ConversationsShown": "conversation_lines.conversations_lines",
    "ContextPack": "slice_lines.pack_lines",
    "ContextLinearized": "view_lines.viewed_lines",
    "Deleted": "deletion_lines.deleted_lines",
    "DeletionList": "deletion_lines.deletions_lines",
    "Diagnosis": "upkeep_lines.diagnosis_lines",
    "DocsFound": "doc_lines.docs_lines",
    "EdgesListed": "edge_lines.edges_lines",
    "Erasure": "deletion_lines.erasure_lines",
    "Events": "log_lines.events_lines",
    "Explained": "found.explained_lines",
    "Exported": "log_lines.exported_lines",
    "ExtractedMemories": "upkeep_lines.extracted_lines",
    "GraphAnswer": "code_query_lines.answer_lines",
    "GraphHealth": "graph_lines.health_lines",
    "GraphRebuilt": "graph_lines.rebuilt_lines",
    "HeadShown": "log_lines.head_lines",
    "HygieneApplied": "hygiene_lines.applied_lines",
    "HygieneReport": "hygiene_lines.report_lines",
    "Ingested": "ingest_lines.ingested_lines",
    "Initialised": "upkeep_lines.initialised_lines",
    "KeyMade": "key_lines.key_made",
    "KeyRotated": "key_lines.key_rotated",
    "MessagesFound": "found.messages_lines",
    "NodeList": "node_lines.nodes_lines",
    "PendingDelivered": "place_lines.delivered_lines",
    "PendingShownAll": "place_lines.pending_lines",
    "PreviousContext": "checkout_lines.previous_lines",
    "ProjectContext": "place_lines.context_lines",
    "Projected": "compact_lines.projected_lines",
    "ProjectsShown": "place_lines.projects_lines",
    "ProposalList": "truth_lines.proposals_lines",
    "Published": "report_lines.published_lines",
    "Rebuilt": "log_lines.rebuilt_lines",
    "Received": "conversation_lines.received_lines",
    "Recalled": "found.recalled_lines",
    "RecalledRaw": "found.raw_lines",
    "Reindexed": "upkeep_lines.reindexed_lines",
    "Remembered": "node_lines.remembered_lines",
    "ReportsListed": "report_lines.report_list_lines",
    "ReportsRead": "report_lines.reports_lines",
    "RetrievalBenched": "upkeep_lines.benched_lines",
    "Screened": "screen_lines.screened_lines",
    "Searched": "found.searched_lines",
    "SemanticSearched": "view_lines.viewed_lines",
    "SessionCompacted": "compact_lines.session_compacted_lines",
    "SessionStatus": "compact_lines.session_status_lines",
    "SessionArchived": "conversation_lines.archived_lines",
    "Shown": "node_lines.shown_lines",
    "ImpactAnalyzed": "slice_lines.impact_lines",
    "SliceShown": "slice_lines.slice_lines",
    "SimilarCode": "code_query_lines.similar_lines",
    "SimilarFound": "found.similar_lines",
    "Statistics": "report_lines.statistics_lines",
    "Stats": "upkeep_lines.stats_lines",
    "SubgraphMerged": "view_lines.viewed_lines",
    "TokenCreated": "token_lines.created_lines",
    "TokenRevoked": "token_lines.revoked_lines",
    "TokensListed": "token_lines.listed_lines",
    "ToolCallsShown": "call_lines.calls_lines",
    "TranscriptsIngested": "transcript_lines.transcripts_lines",
    "TruthCompiled": "truth_lines.truth_lines",
    "TurnsRecorded": "ingest_lines.turns_lines",
    "Verified": "log_lines.verified_lines",
    "ViewExpanded": "view_lines.viewed_lines",
    "WorkspaceSet": "graph_lines.workspace_lines",
    "WorkListed": "work_lines.tasks_lines",
    "WorkMadeShown": "work_lines.made_lines",
    "WorkShown": "work_lines.work_lines",
}
