"""`weft context`: for programs that put memories before an agent's turn."""

from __future__ import annotations

import re
from typing import Any, Final

import click

from weft.surfaces.cli.fail_open import OpenCommand, Say, deadline_option, run_open
from weft.surfaces.cli.hooks import (
    CLIENTS,
    MAX_PATH_CHARACTERS,
    PROMPTS,
    STARTS,
    Hook,
    HookError,
    context_answer,
    empty_answer,
    opened,
    read_hook,
    read_input,
)

BUDGET_TOKENS: Final = 1_200
HEAD, TAIL = 3_000, 1_000  # characters of a long prompt: what it begins with, and what it comes to
_COMMAND = re.compile(r"/[A-Za-z][\w:-]*(?=\s|\Z)")  # of the client's own; what follows it is asked


@click.command("context", cls=OpenCommand, short_help="what to put before an agent's turn; fails quietly")
@click.argument("query", required=False, metavar="[QUERY]")
@click.option("--hook", "client", type=click.Choice(CLIENTS), help="read a hook's JSON, answer in this client's form")
@deadline_option
@click.option(
    "--budget", type=click.IntRange(100, 100_000), default=BUDGET_TOKENS, show_default=True, help="tokens at most"
)
def context_command(query: str | None, client: str | None, deadline: float, budget: int) -> None:
    """Prints what is remembered of QUERY, cited and quoted; without one, what to know of this project.

    It is for programs that run it before an agent's turn. Who asks is said by the environment, as for `weft mcp`. On
    any failure it prints nothing, says why on standard error, and exits with 0: the agent goes on without it.
    """

    def work(say: Say) -> None:
        if client is None:
            _answer(say, None, query, budget)
            return
        hook = read_hook(client, read_input())
        if hook.event not in (*PROMPTS, *STARTS):
            raise HookError(f"nothing is to be said at {hook.event or 'an event without a name'}")
        prompt = _asked(hook.prompt, client)
        if hook.event in PROMPTS and not prompt:
            say(empty_answer(client))
        else:
            _answer(say, hook, prompt if hook.event in PROMPTS else None, budget)

    run_open("context", work, deadline_s=deadline, otherwise=empty_answer(client))


def _answer(say: Say, hook: Hook | None, query: str | None, budget: int) -> None:
    from pathlib import Path

    with opened(Path.cwd() if hook is None else hook.directory, "" if hook is None else hook.client) as memory:
        if query:
            memory.loom.embedding.begin(query)  # loads the model while the rest is loaded
        from weft.operations.contexts import CONTEXT, ContextGiven
        from weft.transcripts.sessions import session_name

        given: dict[str, Any] = {"query": query or None, "max_tokens": budget}
        if hook is not None and hook.session:
            given |= {
                "session": session_name(hook.client, hook.session),
                "transcript": hook.transcript[:MAX_PATH_CHARACTERS],
            }
        found = memory.run(CONTEXT, given, surface="cli")
        assert isinstance(found, ContextGiven)
        say(found.text if hook is None else context_answer(hook, found.text))


def _asked(prompt: str, client: str) -> str:
    """What a prompt asks, in the words of who wrote it."""
    from weft.transcripts.spoken import said

    words = said(prompt, client)
    words = words[found.end() :].strip() if (found := _COMMAND.match(words)) else words
    return words if len(words) <= HEAD + TAIL else f"{words[:HEAD]} … {words[-TAIL:]}"
