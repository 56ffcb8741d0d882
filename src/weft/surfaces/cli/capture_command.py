"""`weft capture`: for hooks that keep what was said in an agent's session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.surfaces.cli.fail_open import OpenCommand, Say, deadline_option, run_open
from weft.surfaces.cli.hooks import CLIENTS, Hook, HookError, empty_answer, opened, read_hook, read_input

if TYPE_CHECKING:
    from weft.memory import Memory


@click.command("capture", cls=OpenCommand, short_help="keep what was said in an agent's session; fails quietly")
@click.option("--hook", "client", type=click.Choice(CLIENTS), required=True, help="whose hook runs this")
@deadline_option
def capture_command(client: str, deadline: float) -> None:
    """Keeps what was said since the last time: from the transcript that the hook names, or from what it tells itself.

    Tools, what they answered, and what weft itself put before a turn are not kept. On any failure it says why on
    standard error and exits with 0; what was not kept is kept the next time.
    """

    def work(say: Say) -> None:
        hook = read_hook(client, read_input())
        with opened(hook.directory, client) as memory:
            _keep(memory, hook)
            say(empty_answer(client))

    run_open("capture", work, deadline_s=deadline, otherwise=empty_answer(client))


def _keep(memory: Memory, hook: Hook) -> None:
    from weft.errors import Invalid, NotFound
    from weft.operations import operation
    from weft.transcripts.sessions import session_name

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
    """What the hook tells itself, once: told again, nothing is written."""
    import hashlib

    from weft.operations import operation
    from weft.transcripts.entries import bounded
    from weft.transcripts.sessions import session_name
    from weft.transcripts.spoken import said

    if not hook.session:
        raise HookError("the hook does not say which session this is")
    turns = [
        {"role": each.role, "text": words}
        for each in hook.said
        if (words := bounded(said(each.text, hook.client, each.role))[0])
    ]
    if not turns:
        return
    told = "\x00".join((hook.session, hook.event, hook.turn, *(turn["text"] for turn in turns)))
    request = f"{hook.client}:{hashlib.sha256(told.encode()).hexdigest()[:32]}"
    given = {"session": session_name(hook.client, hook.session), "turns": turns, "request_id": request}
    memory.run(operation("record_turns"), given, surface="cli")
