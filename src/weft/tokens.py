"""Tokens that admit callers over the network: who each stands for, and of the token itself only its hash."""

from __future__ import annotations

from msgspec import Struct

from weft.types import SCOPES, Audience


class Token(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who shows a token, and what that one may do. `hash` is all that is kept of the token itself."""

    id: str
    hash: str
    account: str
    agent: str
    created: str
    name: str = ""
    role: str = "agent"
    scopes: tuple[str, ...] = SCOPES
    audience: Audience = "internal"
    sensitive: bool = False
    project: str = ""  # the server's own if empty
    toolsets: tuple[str, ...] = ("core",)
    allow: tuple[str, ...] = ("admin",)
    approves: bool = False  # whether a yes of the person at the client is taken for the operator's approval
    expires: str = ""
    revoked: str = ""
