"""How requests to write for all projects look on a terminal: all that would be written, and who asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from weft.retrieval.views.ground import flat
from weft.surfaces.cli.lines import dim, notes_below, quoted_lines

if TYPE_CHECKING:
    from weft.operations.approvals import ApprovalShown
    from weft.operations.approving import ApprovalDecided, ApprovalList, ApprovalRequested

COLOURS: Final = {"waiting": "yellow", "approved": "green", "used": "green", "denied": "red", "expired": "red"}


def approval_lines(shown: ApprovalShown) -> None:
    """One request, with every word of it: nobody approves what is not shown."""
    status = click.style(shown.status, fg=COLOURS[shown.status])
    asker = click.style(f"{flat(shown.agent)} ({flat(shown.role)})", bold=True)
    click.echo(f"{status}  {click.style(shown.operation, bold=True)} for all projects, by {asker}")
    if shown.sealed:
        click.secho("  what it says is sensitive, and its key is not here", fg="red")
    for name, value in shown.arguments.items():
        _argument(name, value)
    if shown.why:
        click.echo(f"  because\n{_indented(quoted_lines(shown.why))}")
    until = "until" if shown.status in ("waiting", "approved") else "was until"
    click.echo(dim(f"  id {shown.id}  asked {shown.requested_at[:19]}Z  {until} {shown.until[:19]}Z  {shown.citation}"))
    if shown.decided_by:
        by = "automatically, by the setting" if shown.automatic else "by"
        said = f": {flat(shown.reason)}" if shown.reason else ""
        click.echo(dim(f"  decided {shown.decided_at[:19]}Z {by} {flat(shown.decided_by)}{said}"))


def _argument(name: str, value: Any) -> None:
    if isinstance(value, str):
        lines = quoted_lines(value)
        if "\n" not in lines:
            click.echo(f"  {flat(name)} {lines}")
        else:
            click.echo(f"  {flat(name)}\n{_indented(lines)}")
    elif isinstance(value, list | tuple) and any(isinstance(each, dict) for each in value):
        click.echo(f"  {flat(name)}: {len(value)}")
        for each in value:
            click.echo(f"    > {flat(msgspec.json.encode(each).decode())}")
    else:
        click.echo(f"  {flat(name)} > {flat(msgspec.json.encode(value).decode())}")


def _indented(lines: str) -> str:
    return "\n".join(f"    {line}" for line in lines.split("\n"))


def approvals_lines(answer: ApprovalList) -> None:
    """Requests, each as a whole."""
    for shown in answer.approvals:
        approval_lines(shown)
    notes_below(answer.notes)


def decided_lines(answer: ApprovalDecided) -> None:
    """What became of a request."""
    shown = answer.approval
    click.echo(f"{click.style(shown.status, fg=COLOURS[shown.status])}  {shown.operation} by {flat(shown.agent)}")
    click.echo(dim(f"id {shown.id}  {shown.citation}"))
    notes_below(answer.notes)


def requested_lines(answer: ApprovalRequested) -> None:
    """The token first: it is told only here."""
    click.echo(f"{click.style(answer.status, fg=COLOURS[answer.status])}  token {answer.token}")
    click.echo(dim(f"id {answer.id}  {answer.operation} by {answer.agent} ({answer.role})  until {answer.until[:19]}Z"))
    click.echo(dim(f"bound to {answer.content_hash}"))
    notes_below(answer.notes)
