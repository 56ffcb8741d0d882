"""The options that every write takes, and the answer that it gives."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from weft.core.clock import parse_instant, to_iso
from weft.core.errors import Invalid
from weft.core.types import Guard
from weft.runtime.call_context import CallContext
from weft.runtime.fields import GovernanceToken, Label, Moment, ProducedBy, RequestId, ScopeAsked, Tags
from weft.writing.build.commit import WriteStatus
from weft.writing.checks.dedup import SimilarEntry
from weft.writing.checks.rights import write_guard
from weft.writing.checks.scope import default_focus, write_scope

OPTION_PROPS: Final = ("keywords", "expires_at", "importance", "purpose")  # what is extracted has them too
Props = dict[str, str | int | float | bool | None]
Keyword = Annotated[str, Meta(min_length=1, max_length=64)]
Keywords = Annotated[tuple[Keyword, ...], Meta(max_length=32, description="topics it belongs to")]


class WriteOptions(Struct, frozen=True, kw_only=True):
    """The options that all writes share."""

    scope: ScopeAsked = None
    agents: Annotated[Tags, Meta(description="agents that it is meant for")] = ()
    sensitive: Annotated[bool, Meta(description="store it encrypted, out of ordinary reads")] = False
    level: Annotated[Literal["project", "global"], Meta(description="project: for this project; global: for all")] = (
        "project"
    )
    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    focus: Annotated[Label | None, Meta(description="a focus area of the project")] = None
    keywords: Keywords = ()
    expires_at: Annotated[Moment | None, Meta(description="when it expires")] = None
    importance: Annotated[float, Meta(ge=0.0, le=10.0, description="weight in ranking; 1 is usual")] | None = None
    purpose: Annotated[str, Meta(min_length=1, max_length=64, description="what it is kept for")] | None = None
    request_id: RequestId = None
    governance_token: GovernanceToken = None
    produced_by_task_id: ProducedBy = None


def guard_of(ctx: CallContext, given: WriteOptions) -> Guard:
    """The guard of what is written, with its project; `focus_of` returns its focus area.

    Raises Forbidden for a scope the caller does not hold, BlockedScope for an unknown project or focus area.
    """
    project = write_scope(ctx, project=given.project, focus=given.focus, level=given.level).project
    return write_guard(ctx, scope=given.scope, agents=given.agents, sensitive=given.sensitive, project=project)


def focus_of(ctx: CallContext, given: WriteOptions) -> str | None:
    """The focus area of what is written: the one named, else this process's own; None for all projects."""
    if given.level == "global":
        return None
    return given.focus or default_focus(ctx, given.project or ctx.settings.project)


def props_of(ctx: CallContext, given: WriteOptions) -> dict[str, Any]:
    """The options as properties of the node; unset ones are omitted. Raises Invalid if it expires before it begins."""
    told = {
        "keywords": list(given.keywords) or None,
        "expires_at": None if given.expires_at is None else to_iso(_end_of(ctx, given, given.expires_at)),
        "importance": given.importance,
        "purpose": given.purpose,
    }
    return {name: value for name, value in told.items() if value is not None}


def _end_of(ctx: CallContext, given: WriteOptions, written: str) -> int:
    """When it expires. What is said to have begun or happened earlier may have expired by now."""
    end = parse_instant(written, field="expires_at")
    began = [parse_instant(at) for name in ("valid_from", "occurred_at") if (at := getattr(given, name, None))]
    if end <= min((ctx.clock.now_us(), *began)):
        raise Invalid(
            f"expires_at is in the past: {written[:60]!r}",
            hint="give a later time; what was true or happened once has a valid_from, valid_to or occurred_at",
        )
    return end


class WriteResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of a write. For `manual_review`, when nothing was written, `candidates` are the similar nodes.

    `linked` are the ids of the nodes that it was joined to, in the order given.
    """

    status: WriteStatus
    id: str = ""
    citation: str = ""
    supersedes: tuple[str, ...] = ()
    candidates: tuple[SimilarEntry, ...] = ()
    linked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
