"""`weft context` and `weft capture`: add memories before an agent's turn, and save what was said.

Nothing heavy is imported before one of them runs: hooks run before every turn. Where a resident process of this store
is alive, `entry` has asked it already, and this is what runs where it gave no answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from weft.surfaces.cli.fail_open import OpenCommand, Say, deadline_option, run_open
from weft.surfaces.hooks.hook import CLIENTS, empty_answer, read_input
from weft.surfaces.hooks.plain_arguments import BUDGET_TOKENS, MAX_BUDGET_TOKENS, MIN_BUDGET_TOKENS
from weft.surfaces.hooks.work import HookCall, run_hook

if TYPE_CHECKING:
    from weft.memory.facade import Memory

BUDGETS: Final = click.IntRange(MIN_BUDGET_TOKENS, MAX_BUDGET_TOKENS)


@click.command("context", cls=OpenCommand, short_help="print what to add before an agent's turn; fails quietly")
@click.argument("query", required=False, metavar="[QUERY]")
@click.option("--hook", "client", type=click.Choice(CLIENTS), help="read a hook's JSON, answer in this client's form")
@deadline_option
@click.option("--budget", type=BUDGETS, default=BUDGET_TOKENS, show_default=True, help="tokens at most")
def context_command(query: str | None, client: str | None, deadline: float, budget: int) -> None:
    """Prints what is remembered of QUERY, cited and quoted; without one, what to know of this project.

    For programs that run it before an agent's turn. The environment sets the caller's identity, as for `weft mcp`. On
    any failure it prints nothing, writes the reason to standard error, and exits with 0: the agent goes on without it.
    """

    def work(say: Say) -> None:
        call = HookCall("context", client, Path.cwd(), query, budget)
        run_hook(call, read_input, _opened, say)

    run_open("context", work, deadline_s=deadline, otherwise=empty_answer(client))


@click.command("capture", cls=OpenCommand, short_help="save what was said in an agent's session; fails quietly")
@click.option("--hook", "client", type=click.Choice(CLIENTS), required=True, help="the client that runs this hook")
@deadline_option
def capture_command(client: str, deadline: float) -> None:
    """Saves what was said since the last time: from the transcript that the hook names, or from the hook's own text.

    Tools, their answers, and what weft itself put before a turn are not saved. On any failure it writes the reason to
    standard error and exits with 0; what was not saved is saved the next time.
    """

    def work(say: Say) -> None:
        run_hook(HookCall("capture", client, Path.cwd()), read_input, _opened, say)

    run_open("capture", work, deadline_s=deadline, otherwise=empty_answer(client))


@contextmanager
def _opened(directory: Path) -> Iterator[Memory]:
    from weft.memory.facade import open as open_memory

    with open_memory(directory=directory) as memory:
        yield memory
