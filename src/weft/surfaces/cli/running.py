"""Runs an operation for a person at a terminal: prints its answer, or why there is none.

However an operation refuses, it looks the same: a red line that says what is wrong, a line that says what to do, exit
code 1. `weft approve` shows each request and asks first.
"""

from __future__ import annotations

import logging
import re
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click
import msgspec
from msgspec.structs import replace

from weft.context.budget import DEBUG_TOKENS, PROFILE_TOKENS
from weft.core.errors import Forbidden, Invalid, NotFound, WeftError
from weft.memory.facade import Memory, open  # noqa: A004 - the package's front door
from weft.runtime.operation import Operation
from weft.runtime.priorities import TEXTS, Profile
from weft.surfaces.cli.commands import ASKED_FIRST, INPUT, READ_FROM_INPUT
from weft.surfaces.cli.progress import shown_progress

_ABOUT_ONE = re.compile(r"(?:^|(?<=: ))([a-z]+)(?= (?:is|has|cannot)\b)")

if TYPE_CHECKING:
    from weft.writing.checks.approvals import ApprovalShown

ONE_A_LINE: Final = "graph_edges"  # may be very many: printed as they are read
REFUSED: Final = ("failed", "blocked_scope", "conflict")  # an answer that says that nothing was done
MOST_REQUESTS: Final = 100
MAX_INPUT_BYTES: Final = 8 << 20


def run_short(operation: Operation, values: dict[str, Any], profile: Profile, *, as_json: bool) -> None:
    """Runs an operation that writes a text within a budget, with that of a profile, and prints the text alone."""
    if values.get(operation.budget) is None:
        values[operation.budget] = PROFILE_TOKENS[profile] or DEBUG_TOKENS
    run(operation, values, as_json=as_json, text_only=True)


def run(operation: Operation, values: dict[str, Any], *, as_json: bool, text_only: bool = False) -> None:
    """Runs an operation with what was typed. Exits with 1 or 2 where it failed or found a problem."""
    from weft.surfaces.cli.options import given_arguments

    if not click.get_current_context().find_root().params.get("debug"):
        logging.lastResort = _one_line_handler()
    try:
        yes = values.pop("yes", False) if operation.name == ASKED_FIRST else False
        given = _with_input(operation, given_arguments(operation.input, values))
        with open() as memory:
            if operation.name == ONE_A_LINE:
                from weft.surfaces.cli.code_commands import print_edges

                print_edges(memory, operation, given, as_json=as_json)
                return
            answer = _answer(memory, operation, given, as_json=as_json, yes=yes)
            if not (operation.name == "log_export" and values.get("path") == "-"):  # standard output holds the log
                # Before the store is closed: nobody waits for the audit.
                _show(answer, operation, as_json=as_json, text_only=text_only)
    except WeftError as problem:
        fail(problem, as_json=as_json, of=operation)
    if not _is_sound(answer):
        sys.exit(1)


def _with_input(operation: Operation, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments, with standard input in place of a text that is `-`. Raises Invalid where nothing comes in."""
    for name in READ_FROM_INPUT:
        if name in operation.arguments and given.get(name) == INPUT:
            raw = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
            if len(raw) > MAX_INPUT_BYTES:
                raise Invalid(f"standard input holds more than {MAX_INPUT_BYTES:,} bytes", hint="`weft ingest FILE`")
            try:
                text = raw.decode("utf-8").strip("\n")
            except UnicodeDecodeError as problem:
                raise Invalid("standard input is not UTF-8", hint="convert it first, as with iconv") from problem
            if not text.strip():
                raise Invalid("standard input is empty", hint=f"pipe the {name} in, or write it in place of -")
            given = {**given, name: text}
    return given


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        problem = record.exc_info[1] if record.exc_info else None
        return f"note:  {record.getMessage()}" + (f": {type(problem).__name__}: {problem}" if problem else "")


def _one_line_handler() -> logging.Handler:
    """Shows what is logged and goes nowhere else: one line, without the trace of an error."""
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.setFormatter(_OneLine())
    return handler


def fail(problem: WeftError, *, as_json: bool, of: Operation | None = None) -> NoReturn:
    """Prints what is wrong and what to do about it, and exits: with 2 if the command line was wrong, else with 1."""
    message, hint = in_option_words(problem.message, of), in_option_words(problem.hint, of)
    tell(message, hint, code=problem.code, as_json=as_json)
    sys.exit(2 if isinstance(problem, Invalid) and not isinstance(problem, NotFound | Forbidden) else 1)


def tell(message: str, hint: str, *, code: str, as_json: bool) -> None:
    """Prints an error: for a program as JSON on standard output, for a person on standard error."""
    if as_json:
        print_json({"ok": False, "error_code": code, "error": message, "hint": hint})
        return
    click.secho(f"error: {message}", fg="red", err=True)
    if hint:
        click.echo(f"hint:  {hint}", err=True)


def print_json(answer: Any) -> None:
    """Prints an answer as JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(answer), indent=2))


def _answer(memory: Memory, operation: Operation, given: dict[str, Any], *, as_json: bool, yes: bool) -> msgspec.Struct:
    if operation.name == ASKED_FIRST:
        return _approve(memory, operation, given, yes=yes, as_json=as_json)
    with shown_progress(operation.command, wanted=not as_json) as progress:
        return memory.run(operation, given, progress=progress, surface="cli")


def _show(answer: msgspec.Struct, operation: Operation, *, as_json: bool, text_only: bool) -> None:
    if as_json:
        print_json(answer)
        return
    if notes := getattr(answer, "notes", ()):
        answer = replace(answer, notes=tuple(in_option_words(each, operation) for each in notes))
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
    from weft.surfaces.cli.printing import render

    render(answer)


def _refusal(answer: msgspec.Struct) -> tuple[str, ...] | None:
    """The notes of an answer that says nothing but that it was refused; None for any other."""
    notes: tuple[str, ...] = getattr(answer, "notes", ())
    if getattr(answer, "status", "") not in REFUSED or not notes:
        return None
    for name in answer.__struct_fields__:
        value = getattr(answer, name)
        repeated = name in ("items", "failed") and {getattr(each, "error", notes[0]) for each in value} <= {notes[0]}
        if value and name not in ("status", "notes") and not repeated:
            return None
    return notes


def _is_sound(answer: msgspec.Struct) -> bool:
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


# ---- `weft approve`


def _approve(
    memory: Memory, operation: Operation, given: dict[str, Any], *, yes: bool, as_json: bool
) -> msgspec.Struct:
    """Approves one request, or goes through all that wait. With `yes` it does not ask, and needs the request's id.

    Raises Invalid where it cannot ask: without a terminal, or for an answer as JSON.
    """
    from weft.access.approve import ApprovalList

    memory.ctx.operator("approve requests")
    name = given.get("id")
    waiting = [] if name is not None and yes else _waiting_requests(memory, name)
    if not waiting and name is not None:
        return memory.run(operation, given, surface="cli")  # which says what is wrong with it, if anything is
    if not waiting:
        return ApprovalList(approvals=(), notes=("no request waits for an approval",))
    if as_json or yes or not sys.stdin.isatty():
        for shown in () if as_json else waiting:
            _show_request(shown)
        raise Invalid(
            "nothing was approved: there is no terminal to ask on", hint=f"`weft approve {waiting[0].id} --yes`"
        )
    done = [_decide(memory, shown) for shown in waiting]
    counts = ", ".join(f"{done.count(each)} {each}" for each in ("approved", "denied", "left"))
    return ApprovalList(approvals=(), notes=(counts,))


def _waiting_requests(memory: Memory, name: str | None) -> list[ApprovalShown]:
    listed: Any = memory.run(_operation("approval_list"), {"limit": MOST_REQUESTS}, surface="cli")
    return [each for each in listed.approvals if name in (None, each.id)]


def _decide(memory: Memory, shown: ApprovalShown) -> str:
    """Shows a request and does what the operator says."""
    _show_request(shown)
    choice = click.prompt("approve? (y)es, (n)o, (l)eave it", type=click.Choice(["y", "n", "l"]), default="l")
    if choice == "l":
        return "left"
    reason = click.prompt("why not", default="", show_default=False) if choice == "n" else ""
    arguments = {"id": shown.id} | ({"reason": reason} if reason else {})
    answer: Any = memory.run(_operation("approve" if choice == "y" else "deny"), arguments, surface="cli")
    status: str = answer.approval.status
    click.echo(status)
    return status


def _show_request(shown: ApprovalShown) -> None:
    """A request with every word of it: nobody approves what is not shown."""
    from weft.surfaces.cli.printing import page, show
    from weft.surfaces.render.changes import approval

    written = page()
    approval(written, shown)
    show(written.rendered())


def _operation(name: str) -> Operation:
    from weft.operations import operation

    return operation(name)


def in_option_words(text: str, operation: Operation | None) -> str:
    """Rewrites a message, a hint or a note for the command line, where arguments are options.

    A name of one word may be an ordinary word, so it counts as an argument only at the beginning: `limit is less than
    1`.
    """
    if operation is None:
        return text
    options = frozenset(operation.input.__struct_fields__) - frozenset(operation.arguments)

    def option(match: re.Match[str]) -> str:
        name = match[1]
        return f"--{name.replace('_', '-')}" if name in options else match[0]

    spelt = _names(tuple(sorted(each for each in options if "_" in each)))
    return _ABOUT_ONE.sub(option, spelt.sub(option, text) if spelt else text)


@cache
def _names(names: tuple[str, ...]) -> re.Pattern[str] | None:
    return re.compile(rf"(?<![\w'-])({'|'.join(names)})(?![\w'-])") if names else None
