"""What every write may say: who may see it, what it is tagged with, how long it lasts, what it is for."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from weft.instants import parse_instant, to_iso
from weft.loom import Loom
from weft.operations.fields import GovernanceToken, Label, Moment, ProducedBy, ScopeAsked, Tags
from weft.operations.rights import write_guard
from weft.operations.scoping import default_focus, write_scope
from weft.types import Guard

Keyword = Annotated[str, Meta(min_length=1, max_length=64)]
Keywords = Annotated[tuple[Keyword, ...], Meta(max_length=32, description="topics it belongs to")]


class WriteOptions(Struct, frozen=True, kw_only=True):
    """The options that all writes share."""

    scope: ScopeAsked = None
    agents: Annotated[Tags, Meta(description="agents it is meant for")] = ()
    sensitive: Annotated[bool, Meta(description="sealed with WEFT_SENSITIVE_KEY, left out of ordinary reads")] = False
    level: Annotated[Literal["project", "global"], Meta(description="for this project, or for all")] = "project"
    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    focus: Annotated[Label | None, Meta(description="a focus area of the project")] = None
    keywords: Keywords = ()
    expires_at: Annotated[Moment | None, Meta(description="when it is over")] = None
    importance: Annotated[float, Meta(ge=0.0, le=10.0, description="how much it weighs; 1 is usual")] | None = None
    purpose: Annotated[str, Meta(min_length=1, max_length=64, description="what it is kept for")] | None = None
    request_id: Annotated[Label | None, Meta(description="repeat a call with the same id and it is written once")] = (
        None
    )
    governance_token: GovernanceToken = None
    produced_by_task_id: ProducedBy = None


def guard_of(loom: Loom, given: WriteOptions) -> Guard:
    """Who may see what is written, and in which project it is; its focus area is `focus_of`.

    Raises Forbidden for a scope the caller does not hold, BlockedScope for a project or focus area that is not known.
    """
    project = write_scope(loom, project=given.project, focus=given.focus, level=given.level).project
    return write_guard(loom, scope=given.scope, agents=given.agents, sensitive=given.sensitive, project=project)


def focus_of(loom: Loom, given: WriteOptions) -> str | None:
    """The focus area of what is written: the one named, else this process's own; none of what is for all projects."""
    if given.level == "global":
        return None
    return given.focus or default_focus(loom, given.project or loom.settings.project)


def props_of(given: WriteOptions) -> dict[str, Any]:
    """The options as properties of what is written; those left alone are none."""
    told = {
        "keywords": list(given.keywords) or None,
        "expires_at": None if given.expires_at is None else to_iso(parse_instant(given.expires_at, field="expires_at")),
        "importance": given.importance,
        "purpose": given.purpose,
    }
    return {name: value for name, value in told.items() if value is not None}
