"""What to do about an error that says nothing of it itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NEXT_STEPS: Final[Mapping[str, str]] = {
    "error": "send it again; if it fails again, `weft doctor` examines the store",
    "invalid": "send the arguments as the tool's input schema says; find_tool with the tool's name describes it",
    "too_large": "send less at a time: several calls, or a shorter text",
    "blocked_scope": "`weft project-list` names the projects and focus areas that there are",
    "unproven": "send produced_by_task_id, the task that this came of",
    "over_budget": "ask with profile debug",
    "conflict": "read how it stands now, and send it again",
    "not_found": "`weft recall` finds what there is by words; an id or a citation must be as an answer gave it",
    "forbidden": "do without it, or ask the operator for the right to it",
    "needs_approval": "ask for approval with `weft request-global-write-approval`, or write it for this project",
    "misconfigured": "`weft config` shows every setting and where it comes from",
    "model_error": "go on without it: memories are kept and found without a model; `weft doctor` says what is wrong",
    "store_error": "send it again in a moment; if it fails again, `weft doctor` examines the store",
    "not_a_store": "`weft config` shows which store is meant",
    "schema_mismatch": "ask the operator to update weft",
    "busy": "nothing was written: send it again in a moment",
    "away": "nothing was written: send it again later",
    "read_only": "ask the operator for a store that can be written",
    "disk_full": "nothing was written: ask the operator to free some space",
    "corrupt": "ask the operator to run `weft doctor`",
    "internal": "the server's standard error says how; the call may be repeated",
}
