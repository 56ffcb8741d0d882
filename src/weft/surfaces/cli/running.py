"""Runs an operation for a person at a terminal: shows its answer, or why there is none.

However an operation refuses, it looks the same: a red line that says what is wrong, then what to do, then exit code 1.
"""

from __future__ import annotations

import logging
import sys
from typing import Any, NoReturn

import click
import msgspec

from weft.context.budget import DEBUG_TOKENS, PROFILE_TOKENS, Profile
from weft.context.priorities import TEXTS
from weft.errors import Forbidden, Invalid, NotFound, WeftError
from weft.memory import Memory, open  # noqa: A004 - the package's front door
from weft.operations.registry import Operation
from weft.surfaces.cli.commands import ASKED_FIRST
from weft.surfaces.cli.progress import shown_progress

ONE_A_LINE = "graph_edges"  # may be very many: printed as they are read
REFUSED = ("failed", "blocked_scope")  # an answer that says that nothing was done


def run_short(operation: Operation, values: dict[str, Any], profile: Profile, *, as_json: bool) -> None:
    """Runs an operation that writes a text within a budget, with that of a profile, and prints the text alone."""
    if values.get(operation.budget) is None:
        values[operation.budget] = PROFILE_TOKENS[profile] or DEBUG_TOKENS
    run(operation, values, as_json=as_json, text_only=True)


def run(operation: Operation, values: dict[str, Any], *, as_json: bool, text_only: bool = False) -> None:
    """Runs an operation with what was typed. Exits with 1 or 2 where it failed or found a problem."""
    from weft.surfaces.cli.options import given_arguments

    if not click.get_current_context().find_root().params.get("debug"):
        logging.lastResort = _told_in_a_line()
    try:
        yes = values.pop("yes", False) if operation.name == ASKED_FIRST else False
        given = given_arguments(operation.input, values)
        with open() as memory:
            if operation.name == ONE_A_LINE:
                from weft.surfaces.cli.edge_lines import print_edges

                print_edges(memory, operation, given, as_json=as_json)
                return
            answer = _answer(memory, operation, given, as_json=as_json, yes=yes)
            if not (operation.name == "log_export" and values.get("path") == "-"):  # standard output holds the log
                _show(
                    answer, as_json=as_json, text_only=text_only
                )  # before the store is closed: nobody waits for the audit
    except WeftError as problem:
        fail(problem, as_json=as_json)
    if not _sound(answer):
        sys.exit(1)


def _told_in_a_line() -> logging.Handler:
    """Shows what is logged and goes nowhere else, as a server's would: one line, without the trace of an error."""
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.setFormatter(_OneLine())
    return handler


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        problem = record.exc_info[1] if record.exc_info else None
        return f"note:  {record.getMessage()}" + (f": {type(problem).__name__}: {problem}" if problem else "")


def fail(problem: WeftError, *, as_json: bool) -> NoReturn:
    """Says what is wrong and what to do about it, and exits: with 2 if the command line was wrong, else with 1."""
    tell(problem.message, problem.hint, code=problem.code, as_json=as_json)
    sys.exit(2 if isinstance(problem, Invalid) and not isinstance(problem, NotFound | Forbidden) else 1)


def tell(message: str, hint: str, *, code: str, as_json: bool) -> None:
    """An error in its one form: for a program as JSON on standard output, for a person on standard error."""
    if as_json:
        body = {"ok": False, "error_code": code, "error": message, "hint": hint}
        click.echo(msgspec.json.format(msgspec.json.encode(body), indent=2))
        return
    click.secho(f"error: {message}", fg="red", err=True)
    if hint:
        click.echo(f"hint:  {hint}", err=True)


def _answer(memory: Memory, operation: Operation, given: dict[str, Any], *, as_json: bool, yes: bool) -> msgspec.Struct:
    if operation.name == ASKED_FIRST:
        from weft.surfaces.cli.approving import approve_asking

        return approve_asking(memory, operation, given, yes=yes, plain=as_json)
    with shown_progress(operation.command, wanted=not as_json) as progress:
        return memory.run(operation, given, progress=progress, surface="cli")


def _show(answer: msgspec.Struct, *, as_json: bool, text_only: bool) -> None:
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(answer), indent=2))
        return
    if (notes := _refusal(answer)) is not None:
        first, *rest = notes
        tell(first, rest[0] if rest else "", code="", as_json=False)
        for note in rest[1:]:
            click.echo(f"note:  {note}", err=True)
        return
    text = next((held for name in (*TEXTS, "text") if (held := getattr(answer, name, ""))), "")
    if text_only and text:
        click.echo(text)
        return
    from weft.surfaces.cli.render import render

    render(answer)


def _refusal(answer: msgspec.Struct) -> tuple[str, ...] | None:
    """What an answer says that has nothing to say but that it was refused; None for any other."""
    notes: tuple[str, ...] = getattr(answer, "notes", ())
    if getattr(answer, "status", "") not in REFUSED or not notes:
        return None
    for name in answer.__struct_fields__:
        value = getattr(answer, name)
        told_again = name in ("items", "failed") and {getattr(each, "error", notes[0]) for each in value} <= {notes[0]}
        if value and name not in ("status", "notes") and not told_again:
            return None
    return notes


def _sound(answer: msgspec.Struct) -> bool:
    """False where the answer itself reports a problem: a broken chain, a failed self-test, a citation that differs,
    or files of which none could be read.
    """
    return (
        getattr(answer, "problem", None) is None
        and getattr(answer, "ok", True)
        and getattr(answer, "matches", True)
        and getattr(answer, "equal", True) is not False
        and getattr(answer, "status", "") not in (*REFUSED, "partial")
        and not getattr(answer, "nothing_read", False)
    )
