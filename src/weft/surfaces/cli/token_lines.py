"""Tokens, as the command line prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.surfaces.cli.lines import dim, notes_below, one_line

if TYPE_CHECKING:
    from weft.operations.tokens import TokenCreated, TokenRevoked, TokenShown, TokensListed

COLOURS = {"live": "green", "expired": "yellow", "revoked": "red"}


def created_lines(answer: TokenCreated) -> None:
    """The token alone on standard output, so that it can go into a variable; what to know about it beside that."""
    click.echo(answer.token)
    made = answer.made
    lines = (
        f"token {made.id} for {_whose(made)}, {_end(made)}",
        "It is not shown again. `weft serve` admits who sends it: Authorization: Bearer …",
        f"To take it back: weft token revoke {made.id}",
        *answer.notes,
    )
    for line in lines:
        click.echo(dim(one_line(line)), err=True)


def listed_lines(answer: TokensListed) -> None:
    """One token on two lines: who it is, and what it may do."""
    for token in answer.tokens:
        status = click.style(f"{token.status:7}", fg=COLOURS[token.status])
        name = f"  {one_line(token.name)}" if token.name else ""
        click.echo(f"{token.id}  {status}  {_whose(token)}{name}")
        click.echo(dim(f"    {_may(token)}; made {token.created[:10]}, {_end(token)}"))
    if not answer.tokens:
        click.echo("there are no tokens: `weft token create --agent NAME` makes one")
    notes_below(answer.notes)


def revoked_lines(answer: TokenRevoked) -> None:
    """What was taken back."""
    token = answer.token
    when = f"was revoked {(token.revoked or '')[:19].replace('T', ' ')}" if answer.already else "is revoked"
    click.echo(f"token {token.id} of {_whose(token)} {when}")


def _whose(token: TokenShown) -> str:
    role = f" ({token.role})" if token.role != "agent" else ""
    return f"{token.agent}{role} in account {token.account}"


def _may(token: TokenShown) -> str:
    more = [f"project {token.project}"] if token.project else []
    more += [token.audience] if token.audience != "internal" else []
    more += ["sensitive"] if token.sensitive else []
    more += ["approves"] if token.approves else []
    tools = f"tools {','.join(token.toolsets)}" + (
        "" if token.allow == ("admin",) else f" allowed {','.join(token.allow)}"
    )
    return one_line(", ".join((f"scopes {','.join(token.scopes)}", tools, *more)))


def _end(token: TokenShown) -> str:
    if token.revoked:
        return f"revoked {token.revoked[:10]}"
    return f"until {token.expires[:16].replace('T', ' ')}" if token.expires else "until it is revoked"
