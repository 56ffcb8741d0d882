"""The front page of `weft --help`: every command in one section, everyday ones first.

A test sees to it that every operation is in exactly one, and that every name here is a command.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Section(NamedTuple):
    """A title, the commands that get a line each, and those that are only named."""

    title: str
    shown: tuple[str, ...]
    more: tuple[str, ...] = ()


SECTIONS: Final = (
    Section(
        "Everyday", ("remember", "recall", "ask", "checkout", "recent", "show", "cite", "ingest", "correct", "forget")
    ),
    Section(
        "Writing",
        ("add-fact", "add-entity", "link-entities", "add-event", "add-causal-link", "save-decision", "save-preference"),
        (
            "add-concept",
            "save-pattern",
            "save-context",
            "memory-write",
            "memory-ingest",
            "memory-edit",
            "memory-invalidate",
            "memory-feedback",
            "tag",
            "pin",
            "merge-entities",
            "split-entities",
            "remember-many",
            "add-facts",
            "add-entities",
            "add-events",
            "add-concepts",
            "add-causal-links",
            "link-many",
            "save-decisions",
            "save-patterns",
            "save-contexts",
            "save-preferences",
            "project-create",
            "focus-create",
        ),
    ),
    Section(
        "Finding",
        ("memory-search", "conversation-search", "find-similar", "explain", "answer", "diff"),
        (
            "recall-raw",
            "screen",
            "compile-truth",
            "semantic-search",
            "entity-lookup",
            "temporal-expand",
            "causal-expand",
            "subgraph-merge",
            "linearize-context",
            "assemble-context",
            "previous-context",
            "project-list",
            "project-context",
        ),
    ),
    Section(
        "Documents, conversations and code",
        (
            "index",
            "watch",
            "graph",
            "diff-since",
            "community-list",
            "context-pack",
            "semantic-slice",
            "code-explain",
            "impact-analyze",
            "find-similar-code",
            "search-docs",
            "record-turns",
            "ingest-transcript",
            "import-history",
            "extract-memories",
            "compact",
            "bake",
            "publish",
        ),
        (
            "index-docs",
            "conversation-list",
            "session-archive",
            "receive-message",
            "session-compact",
            "session-status",
            "compaction-show",
            "agent-knowledge",
        ),
    ),
    Section(
        "Looking after it",
        ("init", "config", "doctor", "stats", "backup", "hygiene", "log", "migrate"),
        (
            "rebuild",
            "reindex",
            "get-statistics",
            "delete",
            "restore",
            "deletion-list",
            "purge",
            "erase",
            "clear-graph",
            "pending-list",
            "deliver-pending",
            "key-new",
            "key-rotate",
        ),
    ),
    Section(
        "Reports and work",
        ("report", "work-create", "work-list"),
        (
            "work-update",
            "work-complete",
            "work-show",
            "work-made",
            "digest-write",
            "alert-raise",
            "alert-list",
            "alert-suppress",
            "analysis-route",
        ),
    ),
    Section(
        "Governance",
        ("approval-list", "approve", "deny", "tool-calls"),
        ("proposal-list", "proposal-review", "request-global-write-approval"),
    ),
    Section("Serving", ("mcp", "serve", "token", "context", "capture", "completion", "help")),
    Section("For whoever works on weft", ("bench",)),
)
# What a group is, in a line.
GROUPS: Final = {
    "log": "the log itself: show, verify, head, export, import",
    "bench": "measurements, each in a store of its own",
    "report": "what workflows report: write, read-latest, list",
    "graph": "the graph of this workspace's code",
    "hygiene": "what should be mended in a project: run, apply",
    "token": "tokens of those who call over the network: create, list, revoke",
}
# The command of a group that is run where none is named: `weft hygiene` is `weft hygiene run`.
DEFAULTS: Final = {"hygiene": "run"}
