"""The operations that a server offers to a caller: by toolset, allow-list, exclusions and reach.

Toolsets decide what is listed, because every listed tool costs the model context. The allow-list decides what may be
called; allowed tools that are not listed are called through `find_tool`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from weft.core.errors import Misconfigured
from weft.operations import operation
from weft.runtime.operation_index import Listed, read_index
from weft.runtime.settings.agent_profile import find_profile
from weft.runtime.settings.load import Settings

if TYPE_CHECKING:
    from weft.access.tokens import Token
    from weft.runtime.operation import Operation

CORE: Final = "core"
ALL: Final = "all"
FIND_TOOL: Final = "find_tool"  # about the other tools, so not an operation
ADMIN: Final = "admin"
PUBLIC: Final = "public"
LISTS: Final = (ADMIN, PUBLIC)
# Callable by anyone: reads of memories only. Maintenance, audit, reviews and deletions are the operator's. A new
# operation is not public until it is named here.
PUBLIC_TOOLS: Final = frozenset(
    {
        "answer",
        "causal_expand",
        "cite",
        "conversation_search",
        "entity_lookup",
        "find_similar",
        "linearize_context",
        "memory_search",
        "recall",
        "recall_raw",
        "semantic_search",
        "show",
        "subgraph_merge",
        "temporal_expand",
    }
)
NOT_LIVE: Final = "this agent works without live memory; `weft agent-knowledge` shows the knowledge baked for it"
MAX_OFFERS: Final = 256  # cached offers: one per kind of token


class Tools(Mapping[str, "Operation"]):
    """Operations by name, each imported on first access."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = dict.fromkeys(names)

    def __getitem__(self, name: str) -> Operation:
        if name not in self._names:
            raise KeyError(name)
        return operation(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Offer(Struct, frozen=True, kw_only=True):
    """The tools of one caller: listed, callable, and deliberately excluded."""

    listed: Mapping[str, Operation]
    callable: Mapping[str, Operation]  # listed ones, and those called through find_tool
    stripped: tuple[str, ...] = ()
    finds: bool = True  # whether find_tool is listed
    away: tuple[str, ...] = ()  # allowed by name, but not over this connection
    closed: str = ""  # why there are no tools


NOTHING: Final = Offer(listed=Tools(()), callable=Tools(()), finds=False, closed=NOT_LIVE)


def offer_of(settings: Settings, *, network: bool) -> Offer:
    """What these settings offer; nothing to an agent without live memory. Raises Misconfigured, as `offer` does."""
    if not settings.live_memory:
        return NOTHING
    return offer(settings.toolsets, allow=allowed_by(settings), exclude=settings.exclude, network=network)


def allowed_by(settings: Settings) -> tuple[str, ...]:
    """The effective allow-list: by default, a public audience may only read."""
    unset = settings.origins["allow"].origin == "default"
    return (PUBLIC,) if unset and settings.audience == "public" else settings.allow


def offer_of_token(settings: Settings, token: Token) -> Offer:
    """The tools that a server with these settings offers to a token: allowed by both, listed by either.

    Nothing to an agent whose file in the server's project turns live memory off.
    """
    profile = find_profile(settings.root, token.agent)
    if not settings.live_memory or (profile is not None and not profile.live_memory):
        return NOTHING
    return offer(
        dict.fromkeys((*token.toolsets, *settings.toolsets)),
        allow=within(settings.allow, token.allow),
        exclude=settings.exclude,
        network=True,
    )


def offer(
    toolsets: Iterable[str], *, allow: Iterable[str] = (ADMIN,), exclude: Iterable[str] = (), network: bool
) -> Offer:
    """The tools offered over the network, or on this machine.

    `toolsets` are listed, core always among them. `allow` names lists (admin: everything; public: PUBLIC_TOOLS) or
    tools, or both; `exclude` names tools. Raises Misconfigured with one line per unknown name.
    """
    return _offer(tuple(toolsets), tuple(allow), tuple(exclude), network)


@lru_cache(maxsize=MAX_OFFERS)
def _offer(toolsets: tuple[str, ...], allow: tuple[str, ...], exclude: tuple[str, ...], network: bool) -> Offer:  # noqa: FBT001
    if defects := [*_unknown_toolsets(toolsets), *_unknown_tools("allow", allow), *_unknown_tools("exclude", exclude)]:
        raise Misconfigured("\n".join(defects), hint=_hint(toolsets))
    here = [name for name, each in lines().items() if each.reach in _reaches(network)]
    allowed = [name for name in here if _allowed(name, allow)]
    kept = [name for name in allowed if name not in exclude]
    wanted = toolset_names() if ALL in toolsets else (CORE, *toolsets)
    shown = [name for name in kept if lines()[name].toolset in wanted]
    # A caller that names a few tools, all of them listed, gets only these.
    finds = len(shown) < len(kept) or any(name in (*LISTS, FIND_TOOL) for name in allow)
    return Offer(
        listed=Tools(shown),
        callable=Tools(kept),
        stripped=tuple(name for name in (*lines(), FIND_TOOL) if name in exclude),
        finds=finds and FIND_TOOL not in exclude,
        away=tuple(name for name in allow if name in lines() and name not in here),
    )


def within(server: tuple[str, ...], token: tuple[str, ...]) -> tuple[str, ...]:
    """The allow-list of a token at a server with its own: what both allow."""
    if ADMIN in server:
        return token
    if ADMIN in token:
        return server
    return tuple(name for name in (*lines(), FIND_TOOL) if _allowed(name, server) and _allowed(name, token))


@cache
def lines() -> Mapping[str, Listed]:
    """The index line of every operation except benches, by name and in order."""
    return {name: each for name, each in read_index().items() if each.toolset != "bench"}


@cache
def toolset_names() -> tuple[str, ...]:
    """Every toolset, core first."""
    return tuple(dict.fromkeys([CORE, *(each.toolset for each in lines().values())]))


def served_lines(offered: Offer) -> tuple[str, ...]:
    """Lines about excluded and unreachable tools for the start of a server."""
    said = [f"no tools: {offered.closed}"] if offered.closed else []
    if offered.stripped:
        said.append(f"excluded tools (setting exclude): {', '.join(offered.stripped)}")
    if offered.away:
        said.append(f"allowed tools that work only on the local machine: {', '.join(offered.away)}")
    return tuple(said)


def unknown_tool(name: str, offered: Offer) -> str:
    """The error for a tool that is not listed: how to call it, the nearest name, or the list."""
    if offered.closed:
        return f"Unknown tool: {name[:80]!r}; {offered.closed}"
    if name in offered.callable:
        home = lines()[name].toolset
        if offered.finds:
            return f"Unknown tool: {name!r} is not listed; call it through {FIND_TOOL}: tool={name!r}, arguments={{…}}"
        return f"Unknown tool: {name!r} is in toolset {home}; start the server with --toolsets {home}"
    if name in offered.stripped:
        return f"Unknown tool: {name!r} is excluded by the settings of the server"
    there = ", ".join((*offered.listed, *([FIND_TOOL] if offered.finds else ())))
    return f"Unknown tool: {name[:80]!r}{nearest(name, offered.callable)}; there are {there}"


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean recall?`, or nothing where none is near."""
    plain = name[:80].lower().replace("-", "_")
    near = difflib.get_close_matches(plain, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _reaches(network: bool) -> tuple[str, ...]:  # noqa: FBT001
    return ("anywhere",) if network else ("anywhere", "machine")


def _allowed(name: str, allow: tuple[str, ...]) -> bool:
    return ADMIN in allow or name in allow or (PUBLIC in allow and name in PUBLIC_TOOLS)


def _unknown_toolsets(toolsets: tuple[str, ...]) -> list[str]:
    known = (*toolset_names(), ALL)
    return [f"there is no toolset {name!r}{nearest(name, known)}" for name in toolsets if name not in known]


def _hint(toolsets: tuple[str, ...]) -> str:
    """The valid choices for the first wrong name; tools are too many to list."""
    if _unknown_toolsets(toolsets):
        there = f"toolsets are {', '.join((*toolset_names(), ALL))}"
    else:
        there = f"allow takes {', '.join(LISTS)} or names of tools, exclude names of tools; docs/reference lists all"
    return f"{there}; `weft config` shows the settings and their origins"


def _unknown_tools(setting: str, names: tuple[str, ...]) -> list[str]:
    lists = LISTS if setting == "allow" else ()
    known = (*lists, FIND_TOOL, *(name for name, each in lines().items() if each.reach != "terminal"))
    return [f"{setting}: {_why_none(name, known)}" for name in names if name not in known]


def _why_none(name: str, known: tuple[str, ...]) -> str:
    if name in lines():
        return f"{name!r} is a command, not a tool"
    if name in toolset_names():
        return f"{name!r} is a toolset, not a tool; name its tools"
    return f"there is no tool {name!r}{nearest(name, known)}"
