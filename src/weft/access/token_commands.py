"""`token_create`, `token_list`, `token_revoke`: access tokens for callers over the network, at a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, TypeVar

from msgspec import Meta, Struct

from weft.access.tokens import Token, book_of, mint
from weft.core.clock import MAX_INSTANT_US, parse_instant, to_iso
from weft.core.errors import Forbidden, Invalid
from weft.core.types import SCOPES, Audience
from weft.runtime.call_context import CallContext
from weft.runtime.operation import Operation
from weft.runtime.settings.values import name_or_none, one_name, scopes, short_text

CORE: Final = "core"
ALL: Final = "all"
LISTS: Final = ("admin", "public")  # named allow-lists
FIND_TOOL: Final = "find_tool"  # offered by servers besides operations
NEVER: Final = "never"
MAX_NAMES: Final = 100
HOUR_US: Final = 3_600_000_000
UNITS_US: Final = {"h": HOUR_US, "d": 24 * HOUR_US, "w": 7 * 24 * HOUR_US, "y": 365 * 24 * HOUR_US}
_SPAN = re.compile(r"(\d{1,5})([hdwy])")

T = TypeVar("T")
Names = Annotated[tuple[Annotated[str, Meta(max_length=4_096)], ...], Meta(max_length=MAX_NAMES)]


class TokenCreate(Struct, frozen=True, kw_only=True):
    """Input of `token_create`."""

    agent: Annotated[str, Meta(min_length=1, max_length=128, description="the agent name of its holder")]
    name: Annotated[str, Meta(max_length=128, description="a name for the token itself")] = ""
    account: (
        Annotated[str, Meta(max_length=128, description="the account that it opens; this process's account if unset")]
        | None
    ) = None
    role: Annotated[
        Literal["agent", "operator"], Meta(description="operator: has your rights, except for commands of the terminal")
    ] = "agent"
    scopes: Annotated[Names, Meta(description="scopes that it may see: public, shared, admin; all if unset")] = ()
    audience: Annotated[Audience, Meta(description="public: sees only memories tagged for this agent")] = "internal"
    sensitive: Annotated[bool, Meta(description="whether it may see sensitive memories")] = False
    project: (
        Annotated[str, Meta(max_length=128, description="the project that it writes to; the server's if unset")] | None
    ) = None
    toolsets: Annotated[Names, Meta(description="toolsets that it is offered besides core, or all")] = ()
    allow: (
        Annotated[
            Names,
            Meta(
                description="tools that it may call: admin (all), public (read-only ones), or names of tools; "
                "if unset, public for a public audience, else admin"
            ),
        ]
        | None
    ) = None
    approves: Annotated[
        bool, Meta(description="whether a confirmation by its user counts as the operator's approval")
    ] = False
    expires: Annotated[str, Meta(max_length=64, description="when it expires: 12h, 90d, 4w, 1y, a date, or never")] = (
        "90d"
    )


class TokenShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A token, without its secret."""

    id: str
    name: str
    status: Literal["live", "expired", "revoked"]
    agent: str
    account: str
    role: str
    scopes: tuple[str, ...]
    audience: str
    toolsets: tuple[str, ...]
    allow: tuple[str, ...]
    created: str
    expires: str | None = None
    revoked: str | None = None
    project: str | None = None
    sensitive: bool = False
    approves: bool = False


class TokenCreated(Struct, frozen=True, kw_only=True):
    """A new token. `token` is shown only this once: weft stores a hash of it."""

    token: str
    made: TokenShown
    notes: tuple[str, ...] = ()


class TokenList(Struct, frozen=True, kw_only=True):
    """Input of `token_list`."""

    limit: Annotated[int, Meta(ge=1, le=1_000, description="how many of the newest at most")] = 100


class TokensListed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens, newest first, and how many there are."""

    tokens: tuple[TokenShown, ...]
    total: int
    live: int
    notes: tuple[str, ...] = ()


class TokenRevoke(Struct, frozen=True, kw_only=True):
    """Input of `token_revoke`."""

    id: Annotated[str, Meta(min_length=1, max_length=256, description="the id of the token, or its name if one has it")]


class TokenRevoked(Struct, frozen=True, kw_only=True):
    """The revoked token, and whether it had been revoked before."""

    token: TokenShown
    already: bool


def token_create(ctx: CallContext, given: TokenCreate) -> TokenCreated:
    """Creates a token for a caller of `weft serve` and prints it, only this once: weft stores a hash of it.

    It determines the holder's account, agent and scopes, which the holder cannot change. The holder sends it with every
    request, as `Authorization: Bearer …`. It is valid until it expires or is revoked.
    """
    ctx.operator("create tokens")
    now_us = ctx.clock.now_us()
    who = _wanted(ctx, given, now_us)
    book = book_of(ctx.settings)
    token, bearer = mint(who)
    book.add(token, now_us)
    notes = (f"its hash is stored in {book.path}",)
    return TokenCreated(token=bearer, made=_shown(token, now_us), notes=notes)


def token_list(ctx: CallContext, given: TokenList) -> TokensListed:
    """Lists the tokens of this store: their holders, their rights, and whether they are still valid."""
    ctx.operator("list tokens")
    now_us = ctx.clock.now_us()
    kept = sorted(book_of(ctx.settings).tokens(), key=lambda token: token.created, reverse=True)
    more = len(kept) - given.limit
    return TokensListed(
        tokens=tuple(_shown(token, now_us) for token in kept[: given.limit]),
        total=len(kept),
        live=sum(token.live(now_us) for token in kept),
        notes=(f"{more} older tokens are not shown: raise --limit",) if more > 0 else (),
    )


def token_revoke(ctx: CallContext, given: TokenRevoke) -> TokenRevoked:
    """Revokes a token for good. A running server refuses it from the next request on."""
    ctx.operator("revoke tokens")
    now_us = ctx.clock.now_us()
    token, fresh = book_of(ctx.settings).revoke(given.id.strip(), now_us)
    return TokenRevoked(token=_shown(token, now_us), already=not fresh)


def _wanted(ctx: CallContext, given: TokenCreate, now_us: int) -> Token:
    """The token to create. Raises Invalid or Forbidden for contradicting or impossible rights."""
    account = _read("account", one_name, given.account or ctx.settings.account)
    if ctx.settings.accounts and account not in ctx.settings.accounts:
        raise Forbidden(
            f"account {account!r} is not among the configured accounts",
            hint=f"the setting accounts lists {', '.join(ctx.settings.accounts)}",
        )
    held = _read("scopes", scopes, _flat(given.scopes)) if given.scopes else SCOPES
    if given.role == "operator" and (given.audience == "public" or set(held) != set(SCOPES)):
        raise Invalid("an operator is internal and has every scope", hint="omit audience and scopes, or the role")
    return Token(
        id="",
        hash="",
        account=account,
        agent=_read("agent", one_name, given.agent),
        created=to_iso(now_us),
        name=_read("name", short_text, given.name),
        role=given.role,
        scopes=tuple(each for each in SCOPES if each in held),
        audience=given.audience,
        sensitive=given.sensitive,
        project=_read("project", name_or_none, given.project or ""),
        toolsets=_toolsets(_flat(given.toolsets)),
        allow=_allowed(_flat(given.allow)) if given.allow is not None else _list_of(given.audience),
        approves=given.approves,
        expires=_end(given.expires, now_us),
    )


def _flat(written: tuple[str, ...]) -> tuple[str, ...]:
    """Names that were given one by one or separated by commas."""
    listed = tuple(dict.fromkeys(part.strip() for each in written for part in each.split(",") if part.strip()))
    if len(listed) > MAX_NAMES:
        raise Invalid(f"{len(listed)} names were given; the limit is {MAX_NAMES}", hint=f"give at most {MAX_NAMES}")
    return listed


def _read(field: str, read: Callable[[Any], T], value: Any) -> T:
    """A value validated as settings validate it; errors name the field."""
    try:
        return read(value)
    except Invalid as problem:
        raise Invalid(f"{field} {problem.message}", hint=problem.hint) from problem


def _toolsets(wanted: tuple[str, ...]) -> tuple[str, ...]:
    from weft.operations import OPERATIONS  # which imports this module

    known = dict.fromkeys((CORE, ALL, *(each.toolset for each in OPERATIONS)))
    if unknown := [name for name in wanted if name not in known]:
        raise Invalid(f"there is no toolset {', '.join(map(repr, unknown))}", hint=f"choose from {', '.join(known)}")
    return (ALL,) if ALL in wanted else tuple(dict.fromkeys((CORE, *wanted)))


def _allowed(wanted: tuple[str, ...]) -> tuple[str, ...]:
    from weft.operations import OPERATIONS

    reach = {each.name: each.reach for each in OPERATIONS}
    if unknown := [name for name in wanted if name not in (*LISTS, FIND_TOOL, *reach)]:
        raise Invalid(
            f"there is no tool {', '.join(map(repr, unknown))}",
            hint=f"allow takes {' or '.join(LISTS)}, or names of operations such as recall",
        )
    if near := [name for name in wanted if reach.get(name, "anywhere") != "anywhere"]:
        raise Invalid(f"{', '.join(near)} cannot be called over the network", hint="omit it")
    if not wanted:
        raise Invalid("the token would not be allowed to call any tool", hint="omit allow to permit all offered tools")
    return wanted


def _list_of(audience: Audience) -> tuple[str, ...]:
    return ("public",) if audience == "public" else ("admin",)


def _end(written: str, now_us: int) -> str:
    """When it expires, as an ISO time; empty for never."""
    word = written.strip().lower()
    if word == NEVER:
        return ""
    if span := _SPAN.fullmatch(word):
        end_us = now_us + int(span[1]) * UNITS_US[span[2]]
    else:
        try:
            end_us = parse_instant(written, field="expires")
        except Invalid as problem:
            hint = "write 12h, 90d, 4w, 1y, a date such as 2027-01-31, or never"
            raise Invalid(problem.message, hint=hint) from problem
    if not now_us < end_us <= MAX_INSTANT_US:
        raise Invalid(f"expires is not in the future: {written[:60]!r}", hint="give a later date, or never")
    return to_iso(end_us)


def _shown(token: Token, now_us: int) -> TokenShown:
    return TokenShown(
        id=token.id,
        name=token.name,
        status="live" if token.live(now_us) else "revoked" if token.revoked else "expired",
        agent=token.agent,
        account=token.account,
        role=token.role,
        scopes=token.scopes,
        audience=token.audience,
        toolsets=token.toolsets,
        allow=token.allow,
        created=token.created,
        expires=token.expires or None,
        revoked=token.revoked or None,
        project=token.project or None,
        sensitive=token.sensitive,
        approves=token.approves,
    )


OPERATIONS = (
    Operation(
        name="token_create",
        summary="create an access token for a caller of `weft serve`",
        input=TokenCreate,
        output=TokenCreated,
        effect="write",
        toolset="admin",
        audited_words="arguments",
        reach="terminal",
        run=token_create,
        arguments=("name",),
    ),
    Operation(
        name="token_list",
        summary="list access tokens with their holders and rights",
        input=TokenList,
        output=TokensListed,
        effect="read",
        toolset="admin",
        reach="terminal",
        run=token_list,
    ),
    Operation(
        name="token_revoke",
        summary="revoke an access token for good",
        input=TokenRevoke,
        output=TokenRevoked,
        effect="destructive",
        toolset="admin",
        reach="terminal",
        run=token_revoke,
        arguments=("id",),
    ),
)
