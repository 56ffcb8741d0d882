"""Argument types that operations share, with bounds and help texts."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from weft.core.errors import Invalid
from weft.core.types import MAX_LIMIT, MAX_QUERY_CHARACTERS, Scope
from weft.runtime.call_context import CallContext

Limit = Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="how many at most")]
Query = Annotated[
    str, Meta(min_length=1, max_length=MAX_QUERY_CHARACTERS, description="what to look for, in your own words")
]
POINT_IN_TIME: Final = "point in time"  # marks fields whose relative times ("yesterday") are resolved for every call
Moment = Annotated[
    str,
    Meta(
        max_length=40,
        description="a time: 2026-05-08, 2026-05-08T09:30:00Z, yesterday",
        extra={POINT_IN_TIME: True},
    ),
]
Name = Annotated[str, Meta(min_length=1, max_length=512)]
NodeName = Annotated[str, Meta(min_length=1, max_length=1024, description="a node's id, its name, or a citation")]
Label = Annotated[str, Meta(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@+-]*$")]
Tags = Annotated[tuple[Label, ...], Meta(max_length=64)]
KindName = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
KindNames = Annotated[tuple[KindName, ...], Meta(max_length=64, description="only nodes of these kinds")]
ScopeKept = Annotated[
    Scope | None, Meta(description="who may see it; if unset the one it has, at first the narrowest that you hold")
]
ScopeAsked = Annotated[Scope | None, Meta(description="who may see it; the narrowest scope you hold if unset")]
GovernanceToken = Annotated[
    Annotated[str, Meta(min_length=1, max_length=128)] | None,
    Meta(description="the token of request_global_write_approval, once the operator has approved"),
]
RequestId = Annotated[Label | None, Meta(description="repeat a call with the same id and it is written once")]
Reason = Annotated[str, Meta(max_length=2_000, description="why, in a few words")]
ProducedBy = Annotated[NodeName | None, Meta(description="the task that produced this, by id or title")]

MAX_HISTORY: Final = 20
Message = Annotated[str, Meta(max_length=8_192)]
History = Annotated[tuple[Message, ...], Meta(max_length=MAX_HISTORY, description="earlier messages, oldest first")]

Anywhere = Annotated[bool, Meta(description="search every project")]
OtherProject = Annotated[Label | None, Meta(description="another project than this directory's")]
AsOf = Annotated[Moment | None, Meta(description="as it was true then")]
KnownAt = Annotated[Moment | None, Meta(description="as weft knew it then")]


def projects_asked(ctx: CallContext, project: str | None, *, everywhere: bool) -> tuple[str | None, ...] | None:
    """The projects to search, with None for global memories; None alone for every project."""
    return None if everywhere else (project or ctx.settings.project, None)


def check_text(text: str, field: str) -> None:
    """Raises Invalid for an empty query or one with NUL characters."""
    if "\x00" in text:
        raise Invalid(f"{field} holds a NUL character", hint="remove it: NUL is not text")
    if not text.strip():
        raise Invalid(f"{field} is empty", hint="say what to look for")
