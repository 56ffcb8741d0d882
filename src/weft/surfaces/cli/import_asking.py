"""After installing: offers to take in the conversations that the client has kept so far."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from weft.config import surroundings
from weft.errors import Invalid, WeftError
from weft.memory import open  # noqa: A004 - the package's front door
from weft.operations import operation
from weft.surfaces.cli.progress import shown_progress

if TYPE_CHECKING:
    from weft.memory import Memory
    from weft.operations.transcripts import TranscriptsIngested

IMPORT: Final = "import_history"
ITS_OWN: Final = ("WEFT_ROLE", "WEFT_AGENT", "WEFT_SESSION")  # of the agent: it is the operator who imports


def must_have_history(client: str) -> None:
    """Raises Invalid for a client that keeps no conversations on this machine."""
    from weft.transcripts.places import CLIENTS

    if client not in CLIENTS:
        raise Invalid(
            f"{client} keeps no conversations on this machine",
            hint="`weft ingest-transcript conversations.json` takes the export of its account",
        )


def offer_history(
    client: str, *, wanted: bool | None, ask: bool, settings: Mapping[str, str]
) -> TranscriptsIngested | None:
    """Imports the client's history if that is wanted, or if somebody who is asked says yes. What came of it.

    `settings` are those that were installed: conversations go to the account and the store that the client uses.
    """
    if not wanted and not (ask and _kept(client)):
        return None
    own = {name: value for name, value in settings.items() if name not in ITS_OWN}
    with open(environment={**surroundings(), **own}) as memory:
        if not wanted:
            if not _has_more(memory, client):
                return None
            found = _run(memory, {"client": client, "dry_run": True}, shown=ask)
            count = f"{found.conversations:,} conversation{'' if found.conversations == 1 else 's'}"
            if not found.conversations or not click.confirm(f"import its history: {count}?", default=False):
                return None
        return _run(memory, {"client": client}, shown=ask)


def _run(memory: Memory, given: dict[str, Any], *, shown: bool) -> TranscriptsIngested:
    history = operation(IMPORT)
    with shown_progress(history.command, wanted=shown) as progress:
        found: Any = memory.run(history, given, progress=progress, surface="cli")
    answer: TranscriptsIngested = found
    return answer


def _has_more(memory: Memory, client: str) -> bool:
    """Whether a file of the client's history has anything that was not imported yet."""
    from weft.operations.transcript_turns import Home, Intake, Transcript
    from weft.transcripts.formats import format_of
    from weft.transcripts.places import histories

    nowhere = Home(session="", project=None)
    for history in histories(client, Path.home(), platform=sys.platform, known=(memory.loom.settings.root,)):  # type: ignore[arg-type]
        with suppress(WeftError, OSError):  # what cannot be read cannot be imported either
            form = format_of(history.path, client)
            lazy = memory.loom.settings.conversations == "lazy"
            read = Transcript(memory.loom, history.path, form, lambda _: nowhere, Intake(), None, None, lazy=lazy)
            if not read.unchanged:
                return True
    return False


def _kept(client: str) -> bool:
    """Whether the client has any file of conversations on this machine: a look that costs nothing."""
    from weft.transcripts.places import CLIENTS, histories

    return client in CLIENTS and bool(histories(client, Path.home(), platform=sys.platform))  # type: ignore[arg-type]
