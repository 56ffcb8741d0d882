"""`weft context` and `weft capture`: add memories before an agent's turn, and save what was said.

Nothing heavy is imported before one of them runs: hooks run before every turn.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

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

if TYPE_CHECKING:
    from weft.memory.facade import Memory

BUDGET_TOKENS: Final = 1_200
HEAD, TAIL = 3_000, 1_000  # characters of a long prompt: what it begins with, and what it comes to
_COMMAND = re.compile(r"/[A-Za-z][\w:-]*(?=\s|\Z)")  # of the client's own; what follows it is asked


@click.command("context", cls=OpenCommand, short_help="print what to add before an agent's turn; fails quietly")
@click.argument("query", required=False, metavar="[QUERY]")
@click.option("--hook", "client", type=click.Choice(CLIENTS), help="read a hook's JSON, answer in this client's form")
@deadline_option
@click.option(
    "--budget", type=click.IntRange(100, 100_000), default=BUDGET_TOKENS, show_default=True, help="tokens at most"
)
def context_command(query: str | None, client: str | None, deadline: float, budget: int) -> None:
    """Prints what is remembered of QUERY, cited and quoted; without one, what to know of this project.

    For programs that run it before an agent's turn. The environment sets the caller's identity, as for `weft mcp`. On
    any failure it prints nothing, writes the reason to standard error, and exits with 0: the agent goes on without it.
    """

    def work(say: Say) -> None:
        if client is None:
            _answer(say, None, query, budget)
            return
        hook = read_hook(client, read_input())
        if hook.event not in (*PROMPTS, *STARTS):
            raise HookError(f"there is nothing to add at {hook.event or 'an event without a name'}")
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
            memory.ctx.embedding.begin(query)  # loads the model while the rest is loaded
        from weft.checkout.prompt_context import CONTEXT, ContextGiven
        from weft.conversations.formats.entries import session_name

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
    """The question in a prompt, in its author's words."""
    from weft.conversations.formats.client_markup import without_markup

    words = without_markup(prompt, client)
    words = words[found.end() :].strip() if (found := _COMMAND.match(words)) else words
    return words if len(words) <= HEAD + TAIL else f"{words[:HEAD]} … {words[-TAIL:]}"


@click.command("capture", cls=OpenCommand, short_help="save what was said in an agent's session; fails quietly")
@click.option("--hook", "client", type=click.Choice(CLIENTS), required=True, help="whose hook runs this")
@deadline_option
def capture_command(client: str, deadline: float) -> None:
    """Saves what was said since the last time: from the transcript that the hook names, or from the hook's own text.

    Tools, their answers, and what weft itself put before a turn are not saved. On any failure it writes the reason to
    standard error and exits with 0; what was not saved is saved the next time.
    """

    def work(say: Say) -> None:
        hook = read_hook(client, read_input())
        with opened(hook.directory, client) as memory:
            _keep(memory, hook)
            say(empty_answer(client))

    run_open("capture", work, deadline_s=deadline, otherwise=empty_answer(client))


def _keep(memory: Memory, hook: Hook) -> None:
    from weft.conversations.formats.entries import session_name
    from weft.core.errors import Invalid, NotFound
    from weft.operations import operation

    if hook.transcript:
        try:
            given = {"path": hook.transcript, "format": hook.client}
            if hook.client == "cursor" and hook.session:  # its files do not say whose they are
                given["session"] = session_name(hook.client, hook.session)
            memory.run(operation("ingest_transcript"), given, surface="cli")
        except (Invalid, NotFound):
            if not hook.said:
                raise
        else:
            return
    _keep_told(memory, hook)


def _keep_told(memory: Memory, hook: Hook) -> None:
    """Saves the hook's own text, once: a repeated call writes nothing."""
    import hashlib

    from weft.conversations.formats.client_markup import without_markup
    from weft.conversations.formats.entries import bounded, session_name
    from weft.operations import operation

    if not hook.session:
        raise HookError("the hook does not say which session this is")
    turns = [
        {"role": each.role, "text": words}
        for each in hook.said
        if (words := bounded(without_markup(each.text, hook.client, each.role))[0])
    ]
    if not turns:
        return
    told = "\x00".join((hook.session, hook.event, hook.turn, *(turn["text"] for turn in turns)))
    request = f"{hook.client}:{hashlib.sha256(told.encode()).hexdigest()[:32]}"
    given = {"session": session_name(hook.client, hook.session), "turns": turns, "request_id": request}
    memory.run(operation("record_turns"), given, surface="cli")
