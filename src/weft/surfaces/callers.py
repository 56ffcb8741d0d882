"""The callers of a server: one store, opened with the first call, and a `Memory` with the rights of each caller.

The identity of a caller comes from the server's environment or its token, never from a request.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from weft.access.tokens import Token
from weft.core.clock import Clock, to_iso
from weft.runtime.background import Background, Kind
from weft.runtime.settings.agent_profile import find_profile
from weft.runtime.settings.load import Effective, Settings, narrowing
from weft.surfaces.toolsets import allowed_by, within

if TYPE_CHECKING:
    from weft.memory.facade import Memory

NAMELESS: Final = "agent"
MAX_NAME_CHARACTERS: Final = 64
MAX_CALLERS: Final = 1_024  # an evicted one gets a new session with its next call


class Callers:
    """The memories of a server's callers. Store and models are opened with the first call. Thread-safe.

    `directory` is where the server works, and may be set until then.
    """

    def __init__(self, kind: Kind = "stdio") -> None:
        self.directory = Path()
        self._background = Background(kind)
        self._lock = threading.Lock()
        self._store: Memory | None = None
        self._known: OrderedDict[tuple[Token | None, str], Memory] = OrderedDict()

    @property
    def is_open(self) -> bool:
        """Whether the store was opened by a call."""
        return self._store is not None

    def operator(self) -> Memory:
        """The memory of the server's own environment, for health checks and metrics."""
        with self._lock:
            return self._opened()

    def environment(self, client: str) -> Memory:
        """For the client that started this process; `client` is the name it gave itself."""
        with self._lock:
            return self._of((None, ""), lambda base: as_agent(base.ctx.settings, client, base.ctx.clock))

    def bearer(self, token: Token, conversation: str = "") -> Memory:
        """For the holder of a token; each of its conversations has its own log session."""
        with self._lock:
            # Keyed by the whole token: a changed token is another caller at once.
            return self._of((token, conversation), lambda base: as_bearer(base.ctx.settings, token, base.ctx.clock))

    def rest(self, seconds: float) -> bool:
        """Stops background work, waiting at most `seconds`; returns whether it has ended."""
        return self._background.close(seconds)

    def close(self) -> None:
        """Closes the store. No call or background work may be running."""
        with self._lock:
            if self._store is not None:
                self._store.close()

    def _opened(self) -> Memory:
        if self._store is None:
            from weft.memory.facade import open  # noqa: A004 - weft's front door, with the first call

            self._store = open(directory=self.directory).with_background(self._background)
        return self._store

    def _of(self, key: tuple[Token | None, str], settings: Callable[[Memory], Settings]) -> Memory:
        base = self._opened()
        if key not in self._known:
            self._known[key] = base.serving(settings(base))
            if len(self._known) > MAX_CALLERS:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key]


def as_agent(settings: Settings, client: str, clock: Clock) -> Settings:
    """Settings that were left alone get an agent's defaults, not the operator's.

    Every process writes into a session of its own, so that two servers on one store never interleave one chain.
    """
    defaults = {
        "role": "agent",
        "session": new_session("mcp", clock),
        "agent": _agent(settings, client),
        "allow": allowed_by(settings),
    }
    unset = {name: value for name, value in defaults.items() if settings.origins[name].origin == "default"}
    return _with(settings, unset, "weft mcp")


def as_bearer(settings: Settings, token: Token, clock: Clock) -> Settings:
    """The server's settings with the identity and rights of a token."""
    said = {
        "account": token.account,
        "agent": token.agent,
        "role": token.role,
        "scopes": token.scopes,
        "audience": token.audience,
        "sensitive": token.sensitive,
        "toolsets": token.toolsets,
        "allow": within(settings.allow, token.allow),
        "elicit": settings.elicit and token.approves,
        "session": new_session("http", clock),
        "conversation": "",
        "keywords": (),
        **({"project": token.project, "focus": ""} if token.project else {}),
    }
    return _narrowed(_with(settings, said, f"token {token.id}"), token)


def _narrowed(settings: Settings, token: Token) -> Settings:
    """What the file of the token's agent leaves, if the server's project has one. Raises Misconfigured for a bad one.

    It is read when the caller first comes: a server that runs takes a change of it when it is started again.
    """
    profile = find_profile(settings.root, token.agent)
    if profile is None:
        return settings
    held = {name: getattr(settings, name) for name in ("scopes", "keywords", "live_memory")}
    return _with(settings, narrowing(profile, follows=True, **held), profile.origin)


def new_session(surface: str, clock: Clock) -> str:
    """A new session name: sorts by time, and is short enough for citations."""
    return f"{surface}-{re.sub('[-:]', '', to_iso(clock.now_us())[:19])}-{secrets.token_hex(3)}"


def _with(settings: Settings, changed: dict[str, Any], origin: str) -> Settings:
    origins = {name: Effective(value=value, origin=origin) for name, value in changed.items()}
    return replace(settings, **changed, origins={**settings.origins, **origins})


def _agent(settings: Settings, client: str) -> str:
    """The client's name as an agent name. Not for public agents, whose name decides what they may see."""
    if settings.audience == "public":
        return NAMELESS
    return re.sub(r"[^a-z0-9._-]+", "-", client.lower()).strip("._-")[:MAX_NAME_CHARACTERS] or NAMELESS
