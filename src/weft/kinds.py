"""Kinds of nodes: which carry structure, which are weft's own records, and the views they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# Kinds that carry structure rather than content: an agent limited to what is tagged for it may still
# pass through these when they are untagged (a section's document, a symbol's file).
STRUCTURAL_KINDS: Final[frozenset[str]] = frozenset(
    {"Document", "Section", "File", "Project", "Focus", "Conversation", "Session"}
)
# Records about weft's own working: never in adjacency, never in default recall.
RECORD_KINDS: Final[frozenset[str]] = frozenset({"Tx", "ToolCall", "Feedback", "Receipt", "Proposal"})

# A thing that some text named, and of which nothing else is known. It leads from text to text, and says nothing itself.
MENTION: Final = "Mention"
# Kinds that are looked for by words and meaning only where they are asked for, and do not count for how rare words are.
UNSEARCHED_KINDS: Final[frozenset[str]] = RECORD_KINDS | {MENTION}

# Relations that say where a thing stands or what replaced it, not that one thing speaks of another: no backlinks.
UNCOUNTED_RELATIONS: Final[frozenset[str]] = frozenset({"CONTAINS", "NEXT", "SUPERSEDES"})

# Every kind belongs to one view or more; a kind not named here is open and lives in `semantic`.
VIEWS: Final[Mapping[str, frozenset[str]]] = {
    "semantic": frozenset({"Concept", "Section", "Chunk", "Report", "Document", "Memory", "Preference", "Context"}),
    "entity": frozenset({"Person", "Organization", "Entity", "Service", "Place", "Product", MENTION}),
    "temporal": frozenset({"Event", "Fact", "Episode", "Message", "Memory"}),
    "causal": frozenset({"Cause"}),
    "code": frozenset({"File", "Class", "Function", "Import", "Test"}),
    "work": frozenset({"Task", "Feature", "Claim", "Decision", "Pattern", "Learning"}),
}


def views_of(kind: str) -> tuple[str, ...]:
    """The views a kind belongs to, in the order of VIEWS."""
    return tuple(view for view, kinds in VIEWS.items() if kind in kinds) or ("semantic",)
