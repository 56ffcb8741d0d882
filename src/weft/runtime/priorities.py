"""Priorities of answer fields: which are omitted first when an answer must be shortened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

Priority = Literal["required", "high", "medium", "low"]
# Order of omission. Rows of required lists go last, from the end; the first row stays.
LEVELS: Final[tuple[Priority, ...]] = ("low", "medium", "high", "required")
Priorities = Mapping[str, Priority]
TEXTS: Final = ("context", "prompt")  # fields that repeat the rest of an answer as text

# By field name at any depth: most answers are made of the same types.
_NAMES: Final[Mapping[Priority, str]] = {
    # Identity, content, validity and source: a row is useless without them.
    "required": """id kind name title heading text citation valid_to marks flags status src rel dst direction verdict
        reason error context prompt answer instruction node hit event message task token""",
    # Fields that change how the content is understood.
    "high": "summary parts level speaker role by description next_offset",
    "medium": """valid_from occurred_at changed_at since at until score rank similarity note result related before after
        detail hint degraded left_out total""",
    # Storage and search details, for examining an answer.
    "low": """props payload why stages seen views path depth hash digest pos query recorded_at retired_at valid_at
        known_at intent retrieval_class read_as topic_change project scope agents sensitive source inputs outputs agent
        request_id depths expansions caused_by conversation session content_hash characters""",
}
USUAL: Final[Priorities] = {name: priority for priority, names in _NAMES.items() for name in names.split()}


def priority_of(path: str, held: Any, declared: Priorities, *, is_first_list: bool = False) -> Priority:
    """The priority of a field. `path` is its dotted path without list indexes.

    A declared priority counts first, then the usual one of the name. Otherwise the first list of an answer and objects
    are required; further lists and other values are high.
    """
    if found := declared.get(path) or USUAL.get(path.rpartition(".")[2]):
        return found
    return "required" if is_first_list or isinstance(held, dict) else "high"


Profile = Literal["compact", "balanced", "debug"]
