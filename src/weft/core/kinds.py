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
RECORD_KINDS: Final[frozenset[str]] = frozenset(
    {"Tx", "ToolCall", "Feedback", "Receipt", "Proposal", "Approval", "ApprovalText", "Key", "Projection"}
    | {"Claim", "ClaimRefusal", "AgentRecord"}
)

# Prefix of the random ids that replace erased ones; their nodes are never visible again.
ERASED: Final = "erased:"

# Between a section's id and the number of a chunk of it.
CHUNK_MARK: Final = "¶"

# The HMAC key of sensitive names, stored encrypted: see `weft.writing.build.pseudonyms`.
KEY: Final = "Key"

# A request to write for all projects, which the operator decides on; and the words of that write.
APPROVAL: Final = "Approval"
APPROVAL_TEXT: Final = "ApprovalText"

# A summary compiled of an entity is kept in these properties and dropped when a source changes.
COMPILED_TRUTH: Final = "compiled_truth"
COMPILED_PROPS: Final[frozenset[str]] = frozenset({COMPILED_TRUTH, "compiled_from", "compiled_digest"})

# An entity that a text names and of which nothing else is known: it links texts and has no content of its own.
MENTION: Final = "Mention"
# Files of a project that work together; searched by default, its summary would displace the files themselves.
COMMUNITY: Final = "Community"
# The work of an agent on a target, and an attempt at what another holds: read by who asks for claims, not memories.
CLAIM: Final = "Claim"
CLAIM_REFUSAL: Final = "ClaimRefusal"
# An agent that recorded episodes, to which they are joined by BY.
AGENT_RECORD: Final = "AgentRecord"
# Kinds that word and vector search return only when asked for, and that document frequencies do not count.
UNSEARCHED_KINDS: Final[frozenset[str]] = RECORD_KINDS | {MENTION, COMMUNITY}

# Relations that place a node or replace it, and do not mention another: not counted as backlinks.
# Provenance: the task or conversation that produced a node, and the one in which a task was raised.
PROVENANCE_RELATIONS: Final[frozenset[str]] = frozenset({"PRODUCED", "RAISED_DURING"})
UNCOUNTED_RELATIONS: Final[frozenset[str]] = (
    frozenset({"CONTAINS", "NEXT", "NEXT_EPISODE", "SUPERSEDES"}) | PROVENANCE_RELATIONS
)

# Kinds that need provenance by default: see the settings `provenance` and `gated_kinds`.
GATED_KINDS: Final[frozenset[str]] = frozenset(
    {"Person", "Organization", "Service", "UserProfile", "AdminUser", "LocalBusiness"}
)

# Every kind belongs to one view or more; a kind not named here is open and lives in `semantic`.
VIEWS: Final[Mapping[str, frozenset[str]]] = {
    "semantic": frozenset(
        {"Concept", "Section", "Chunk", "Report", "Document", "Memory", "Preference", "Context", "Briefing"}
    ),
    "entity": frozenset({"Person", "Organization", "Entity", "Service", "Place", "Product", MENTION}),
    "temporal": frozenset({"Event", "Fact", "Episode", "Message", "Memory"}),
    "causal": frozenset({"Cause"}),
    "code": frozenset({"File", "Class", "Function", "Import", "Test", COMMUNITY}),
    "work": frozenset({"Task", "Feature", "Claim", "Decision", "Pattern", "Learning"}),
}


_PLACED: Final[frozenset[str]] = frozenset().union(*VIEWS.values())


_SPELT: Final[Mapping[str, str]] = {kind.casefold(): kind for kind in VIEWS["entity"] | GATED_KINDS}


def spelt(kind: str) -> str:
    """The canonical spelling of an entity kind (person is Person), so that ids agree. Other kinds are unchanged."""
    return _SPELT.get(kind.casefold(), kind)


def views_of(kind: str) -> tuple[str, ...]:
    """The views a kind belongs to, in the order of VIEWS."""
    return tuple(view for view, kinds in VIEWS.items() if kind in kinds) or ("semantic",)


def is_thing(kind: str) -> bool:
    """Whether events may involve nodes of this kind: entities, code, and kinds that callers define."""
    known = kind in _PLACED or kind in STRUCTURAL_KINDS or kind in RECORD_KINDS
    return kind in VIEWS["entity"] or kind in VIEWS["code"] or not known


DERIVED_FROM = "derived_from"  # the property that names the memory a node was extracted from
DESCRIBES = "describes"  # the property of a project's description that names the entity described

MULTIPLIERS: Final[Mapping[str, float]] = {"confirmed": 1.5, "surfaced": 1.05, "promoted": 2.0, "invalidated": 0.2}
FEEDBACK_KIND: Final = "Feedback"
FEEDBACK_RELATION: Final = "ABOUT"

# The property of a memory of something that was still ahead when it was kept: when it happens.
HAPPENS_AT: Final = "happens_at"
