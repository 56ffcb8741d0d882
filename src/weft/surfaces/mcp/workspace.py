"""The client's working directory: not all clients start their servers there, so those that can are asked, once."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp.types import ListRootsRequest, Result
from pydantic import ValidationError

from weft.core.errors import WeftError
from weft.runtime.settings.load import Settings, is_project_settled, load_settings
from weft.surfaces.callers import Callers
from weft.surfaces.mcp.asking import is_modern

ROOTS_SECONDS: Final = 2.0
_log = logging.getLogger("weft.mcp")


class _Roots(Result):
    """The reply. The SDK rejects all of it for one root that is not a file, such as a remote workspace."""

    roots: list[dict[str, Any]]


class ClientWorkspace:
    """The directory whose project a local server serves: the client's first root, else the server's own directory."""

    def __init__(self, callers: Callers, settings: Settings) -> None:
        self._callers, self._settings = callers, settings
        self._lock = asyncio.Lock()
        self._found = False

    async def find(self, context: ServerRequestContext) -> None:
        """Runs before anything is opened. The first call asks; calls that come meanwhile wait for it."""
        async with self._lock:
            if self._found:
                return
            settings = self._settings
            if not is_project_settled(settings) and (root := await _first_root(context)) is not None:
                self._callers.directory = root
                try:
                    settings = load_settings(root)
                except WeftError:  # each call says so
                    _log.warning("the settings of %s cannot be read", root)
            self._found = True
            sys.stderr.write(f"weft mcp: project {settings.project}, in {settings.root}\n")


async def _first_root(context: ServerRequestContext) -> Path | None:
    """None from a client that cannot name roots, does not in time, or names no directory of this machine."""
    told = context.session.client_capabilities
    if told is None or told.roots is None or is_modern(context) or not context.session.can_send_request:
        return None
    with anyio.move_on_after(ROOTS_SECONDS):
        try:
            reply = await context.session.send_request(
                ListRootsRequest(),
                _Roots,
                metadata=ServerMessageMetadata(related_request_id=context.request_id),
            )
        except (MCPError, ValidationError) as problem:
            _log.debug("the client could not name its roots: %s", problem)
            return None
        return _first_directory(str(root.get("uri")) for root in reply.roots)
    return None


def _first_directory(addresses: Iterable[str]) -> Path | None:
    for address in addresses:
        parts = urlsplit(address)
        if parts.scheme == "file" and parts.netloc in ("", "localhost"):
            path = Path(url2pathname(parts.path))
            try:
                if path.is_absolute() and path.is_dir():
                    return path
            except (OSError, ValueError):  # no path of this machine
                continue
    return None
