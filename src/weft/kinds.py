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
)

# How the ids of what was erased begin: tokens that tell nothing, of nodes that nobody sees again.
ERASED: Final = "erased:"

# Between a section's id and the number of a chunk of it.
CHUNK_MARK: Final = "¶"

# The key of names that are sensitive, itself sealed: see `weft.operations.hidden`.
KEY: Final = "Key"

# What an agent asked for and the operator decides on: a write for all projects; and the words of that write.
APPROVAL: Final = "Approval"
APPROVAL_TEXT: Final = "ApprovalText"

# What was compiled of a thing stands in these properties of it, and goes when a source changes.
COMPILED_TRUTH: Final = "compiled_truth"
COMPILED_PROPS: Final[frozenset[str]] = frozenset({COMPILED_TRUTH, "compiled_from", "compiled_digest"})

# A thing that some text named, and of which nothing else is known. It leads from text to text, and says nothing itself.
MENTION: Final = "Mention"
# Files of a project that work together: what is told of all of them would crowd out what each says.
COMMUNITY: Final = "Community"
# Kinds that are looked for by words and meaning only where they are asked for, and do not count for how rare words are.
UNSEARCHED_KINDS: Final[frozenset[str]] = RECORD_KINDS | {MENTION, COMMUNITY}

# Relations that say where a thing stands or what replaced it, not that one thing speaks of another: no backlinks.
# And those that say where it came from: which task or conversation made it, during which one the task was raised.
PROVENANCE_RELATIONS: Final[frozenset[str]] = frozenset({"PRODUCED", "RAISED_DURING"})
UNCOUNTED_RELATIONS: Final[frozenset[str]] = frozenset({"CONTAINS", "NEXT", "SUPERSEDES"}) | PROVENANCE_RELATIONS

# Kinds that an agent should not write without saying what they came of: see the settings provenance and gated_kinds.
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
    """A kind of thing as weft spells it: person is Person, and has the same ids. Other kinds are as they are given."""
    return _SPELT.get(kind.casefold(), kind)


def views_of(kind: str) -> tuple[str, ...]:
    """The views a kind belongs to, in the order of VIEWS."""
    return tuple(view for view, kinds in VIEWS.items() if kind in kinds) or ("semantic",)


def is_thing(kind: str) -> bool:
    """Whether happenings may involve nodes of this kind: entities, code, and kinds of the caller's own making."""
    known = kind in _PLACED or kind in STRUCTURAL_KINDS or kind in RECORD_KINDS
    return kind in VIEWS["entity"] or kind in VIEWS["code"] or not known
