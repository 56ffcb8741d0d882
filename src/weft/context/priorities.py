"""Which fields of an answer go first when room is short, and which never go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

Priority = Literal["required", "high", "medium", "low"]
# In which order they go. Rows of what is required go last, from the end, and never the first one.
LEVELS: Final[tuple[Priority, ...]] = ("low", "medium", "high", "required")
Priorities = Mapping[str, Priority]
TEXTS: Final = ("context", "prompt")  # fields that say in words what the rest of an answer says as data

# By the name of a field, wherever it stands: most answers are made of the same few things.
_NAMES: Final[Mapping[Priority, str]] = {
    # What it is, what it says, until when that held, where it came from: without one of these a row is of no use.
    "required": """id kind name title heading text citation valid_to marks flags status src rel dst direction verdict
        reason error context prompt answer instruction node hit event message task token""",
    # What changes how the words are to be taken.
    "high": "summary parts level speaker role by description next_offset",
    "medium": """valid_from occurred_at changed_at since at until score rank similarity note result related before after
        detail hint degraded left_out total""",
    # How it is kept and how it was found: of use to who examines the answer, not to who reads it.
    "low": """props payload why stages seen views path depth hash digest pos query recorded_at retired_at valid_at
        known_at intent retrieval_class read_as topic_change project scope agents sensitive source inputs outputs agent
        request_id depths expansions caused_by conversation session content_hash characters""",
}
USUAL: Final[Priorities] = {name: priority for priority, names in _NAMES.items() for name in names.split()}


def priority_of(path: str, held: Any, declared: Priorities, *, is_first_list: bool = False) -> Priority:
    """How much a field matters. `path` is its names from the top, joined by dots, without the places in lists.

    As declared for it, else as fields of its name usually do. What is neither: the first list of an answer is what was
    asked for, an object holds such; further lists and other values are high.
    """
    if found := declared.get(path) or USUAL.get(path.rpartition(".")[2]):
        return found
    return "required" if is_first_list or isinstance(held, dict) else "high"
