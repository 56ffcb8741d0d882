"""After installing: offers to take in the conversations that the client has kept so far."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

import click

from weft.errors import NotFound
from weft.memory import open  # noqa: A004 - the package's front door

if TYPE_CHECKING:
    from msgspec import Struct

    from weft.operations.registry import Operation

OPERATION: Final = "import_history"


def offer_history(client: str, *, wanted: bool | None, ask: bool) -> Struct | None:
    """Imports the client's history if that is wanted, or if somebody who is asked says yes. What came of it.

    Raises NotFound if it is wanted and there is none.
    """
    operation, count = _operation(), _kept(client)
    if wanted and (operation is None or not count):
        raise NotFound(f"no history of {client} was found", hint="leave out --import-history")
    if operation is None or not count or wanted is False:
        return None
    files = f"{count} file{'' if count == 1 else 's'}"
    if not wanted and not (ask and click.confirm(f"import the conversations it has kept ({files})?", default=False)):
        return None
    from weft.surfaces.cli.progress import shown_progress

    with open() as memory, shown_progress(operation.command, wanted=ask) as progress:
        return memory.run(operation, {"client": client}, progress=progress, surface="cli")


def _operation() -> Operation | None:
    from weft import operations

    try:
        return operations.operation(OPERATION)
    except KeyError:
        return None


def _kept(client: str) -> int:
    """How many files of conversations the client has on this machine."""
    from weft.transcripts.places import Client, histories

    known: tuple[Client, ...] = get_args(Client)
    return sum(len(histories(each, Path.home(), platform=sys.platform)) for each in known if each == client)
