"""Who this server serves: one process, one caller, one session of the log."""

from __future__ import annotations

import re
import secrets
import threading

from msgspec.structs import replace

from weft.config import Effective, Settings
from weft.instants import Clock, to_iso
from weft.memory import Memory, open, viewer_of  # noqa: A004 - weft's front door
from weft.types import Actor

ORIGIN = "weft mcp"
NAMELESS = "agent"
MAX_NAME_CHARACTERS = 64


class Caller:
    """The memory as the caller sees it, opened with the first call: only then are the database and models loaded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memory: Memory | None = None

    def memory(self, client: str) -> Memory:
        """The open memory. `client` is the name under which the client introduced itself. Any thread may ask."""
        with self._lock:
            if self._memory is None:
                self._memory = serve_as_agent(open(), client)
            return self._memory

    def close(self) -> None:
        """Releases files, when no call is running any more."""
        with self._lock:
            if self._memory is not None:
                self._memory.close()


def serve_as_agent(memory: Memory, client: str) -> Memory:
    """The same memory for an agent: settings that were left alone get an agent's defaults, not the operator's.

    Every process writes into a session of its own, so that two servers on one store never interleave one chain.
    """
    loom = memory.loom
    defaults = {"role": "agent", "session": new_session(loom.clock), "agent": _agent(loom.settings, client)}
    unset = {name: value for name, value in defaults.items() if loom.settings.origins[name].origin == "default"}
    origins = {name: Effective(value=value, origin=ORIGIN) for name, value in unset.items()}
    settings = replace(loom.settings, **unset, origins={**loom.settings.origins, **origins})
    writer = replace(loom.writer, session=settings.session, actor=Actor(agent=settings.agent, role=settings.role))
    return Memory(replace(loom, settings=settings, viewer=viewer_of(settings), writer=writer))


def new_session(clock: Clock) -> str:
    """A session's name: in order of time, short enough to stand in every citation."""
    return f"mcp-{re.sub('[-:]', '', to_iso(clock.now_us())[:19])}-{secrets.token_hex(3)}"


def _agent(settings: Settings, client: str) -> str:
    """The client's own name, made safe. Not for public agents: there the name decides what may be seen."""
    if settings.audience == "public":
        return NAMELESS
    return re.sub(r"[^a-z0-9._-]+", "-", client.lower()).strip("._-")[:MAX_NAME_CHARACTERS] or NAMELESS
