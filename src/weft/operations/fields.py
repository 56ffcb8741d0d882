"""The argument types that operations share, each with its bounds and its words of help."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from weft.types import MAX_LIMIT, MAX_QUERY_CHARACTERS, Scope

Limit = Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="how many at most")]
Query = Annotated[
    str, Meta(min_length=1, max_length=MAX_QUERY_CHARACTERS, description="what to look for, in your own words")
]
Moment = Annotated[str, Meta(max_length=40, description="a moment: 2026, 2026-05, 2026-05-08 or 2026-05-08T09:30:00Z")]
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
ProducedBy = Annotated[NodeName | None, Meta(description="the task that this comes of: its id, or its title")]
