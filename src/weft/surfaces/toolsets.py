"""Which operations a server offers to a caller: by toolset, by allow-list, by what is excluded, by how it is reached.

Toolsets say what is listed, because every tool that is listed costs a model room. The allow-list says what may be
called; what is allowed and not listed is called through `find_tool`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from weft.agent_profile import find_profile
from weft.config import Settings
from weft.errors import Misconfigured
from weft.operations import operation
from weft.operations.listed import Listed, read_index

if TYPE_CHECKING:
    from weft.operations.registry import Operation
    from weft.tokens import Token

CORE: Final = "core"
ALL: Final = "all"
FIND_TOOL: Final = "find_tool"  # is about the other tools, so it is none of the operations
ADMIN: Final = "admin"
PUBLIC: Final = "public"
LISTS: Final = (ADMIN, PUBLIC)
# What anybody may call: it only reads, and only memories. How the store is kept, who called what, what waits for
# review and what was deleted are the operator's. A new operation is not for the public until it is named here.
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
NOT_LIVE: Final = "this agent works without live memory: `weft agent-knowledge` tells what was baked for it"
MAX_OFFERS: Final = 256  # different ones that are kept ready: one per kind of token


class Tools(Mapping[str, "Operation"]):
    """Operations by name. Each is imported when it is asked for: a server that lists four need not load a hundred."""

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
    """What one caller is offered: what it is shown, what it may call, and what was left out on purpose."""

    listed: Mapping[str, Operation]
    callable: Mapping[str, Operation]  # all that is listed, and what can be called through find_tool
    stripped: tuple[str, ...] = ()
    finds: bool = True  # whether find_tool is among its tools
    away: tuple[str, ...] = ()  # allowed by name, and not to be reached this way
    closed: str = ""  # why there is nothing at all


NOTHING: Final = Offer(listed=Tools(()), callable=Tools(()), finds=False, closed=NOT_LIVE)


def offer_of(settings: Settings, *, network: bool) -> Offer:
    """What these settings offer; nothing to an agent without live memory. Raises Misconfigured, as `offer` does."""
    if not settings.live_memory:
        return NOTHING
    return offer(settings.toolsets, allow=allowed_by(settings), exclude=settings.exclude, network=network)


def allowed_by(settings: Settings) -> tuple[str, ...]:
    """The allow-list that holds: where none was set, anybody at all may only read."""
    unset = settings.origins["allow"].origin == "default"
    return (PUBLIC,) if unset and settings.audience == "public" else settings.allow


def offer_of_token(settings: Settings, token: Token) -> Offer:
    """What a server of these settings offers to who shows a token: what both allow; what either lists is listed.

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
    """What is offered over the network, or on this machine.

    `toolsets` are listed, core always among them. `allow` names lists (admin: everything; public: PUBLIC_TOOLS) or
    tools, or both; `exclude` names tools. Raises Misconfigured with one line for each name that there is not.
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
    # One who names a few tools, all of them listed, gets those and nothing beside them.
    finds = len(shown) < len(kept) or any(name in (*LISTS, FIND_TOOL) for name in allow)
    return Offer(
        listed=Tools(shown),
        callable=Tools(kept),
        stripped=tuple(name for name in (*lines(), FIND_TOOL) if name in exclude),
        finds=finds and FIND_TOOL not in exclude,
        away=tuple(name for name in allow if name in lines() and name not in here),
    )


def within(server: tuple[str, ...], token: tuple[str, ...]) -> tuple[str, ...]:
    """The allow-list of a token at a server that has one of its own: what both allow."""
    if ADMIN in server:
        return token
    if ADMIN in token:
        return server
    return tuple(name for name in (*lines(), FIND_TOOL) if _allowed(name, server) and _allowed(name, token))


@cache
def lines() -> Mapping[str, Listed]:
    """A line about every operation, by name and in order. Benches are commands only."""
    return {name: each for name, each in read_index().items() if each.module.startswith("weft.operations.")}


@cache
def toolset_names() -> tuple[str, ...]:
    """Every toolset, core first."""
    return tuple(dict.fromkeys([CORE, *(each.toolset for each in lines().values())]))


def served_lines(offered: Offer) -> tuple[str, ...]:
    """What a server says of its tools when it starts: what was left out on purpose, and what it cannot offer here."""
    said = [f"no tools: {offered.closed}"] if offered.closed else []
    if offered.stripped:
        said.append(f"tools left out on purpose (exclude): {', '.join(offered.stripped)}")
    if offered.away:
        said.append(f"tools that are allowed and work only on the machine itself: {', '.join(offered.away)}")
    return tuple(said)


def unknown_tool(name: str, offered: Offer) -> str:
    """What to tell a caller of a tool that is not listed: how to call it, which is nearest, or what there is."""
    if offered.closed:
        return f"Unknown tool: {name[:80]!r}; {offered.closed}"
    if name in offered.callable:
        home = lines()[name].toolset
        if offered.finds:
            return f"Unknown tool: {name!r} is not listed; call it through {FIND_TOOL}: tool={name!r}, arguments={{…}}"
        return f"Unknown tool: {name!r} is in toolset {home}; start the server with --toolsets {home}"
    if name in offered.stripped:
        return f"Unknown tool: {name!r} is excluded on purpose, by the settings of the server"
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
    """What there is to choose from, of the first that was named wrongly; tools are too many to name."""
    if _unknown_toolsets(toolsets):
        there = f"toolsets are {', '.join((*toolset_names(), ALL))}"
    else:
        there = f"allow takes {', '.join(LISTS)} or names of tools, exclude names of tools; docs/reference has them all"
    return f"{there}; `weft config` shows the settings, and where each came from"


def _unknown_tools(setting: str, names: tuple[str, ...]) -> list[str]:
    lists = LISTS if setting == "allow" else ()
    known = (*lists, FIND_TOOL, *(name for name, each in lines().items() if each.reach != "terminal"))
    return [f"{setting}: {_why_none(name, known)}" for name in names if name not in known]


def _why_none(name: str, known: tuple[str, ...]) -> str:
    if name in lines():
        return f"{name!r} is a command only, and never a tool"
    if name in toolset_names():
        return f"{name!r} is a toolset, not a tool; name its tools"
    return f"there is no tool {name!r}{nearest(name, known)}"
