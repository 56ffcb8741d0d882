"""An agent's own file, `agents/<slug>.toml` of a project: what it may see, what it follows, whether it asks live.

    title = "Ticket desk"
    description = "answers travellers"
    scopes = ["public"]
    keywords = ["timetable", "fares"]
    live_memory = false

It comes with the project, from whoever wrote it. So it only ever narrows what a process may do: what its settings do
not allow, no file of an agent gives.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from weft.errors import Invalid, Misconfigured, NotFound
from weft.setting_values import flag, keywords, scopes, short_text

DIRECTORY: Final = "agents"
SUFFIX: Final = ".toml"
MAX_BYTES: Final = 16_384
MAX_AGENTS: Final = 200
SLUG: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
KNOWN: Final = ("title", "description", "scopes", "keywords", "live_memory")


class AgentProfile(Struct, frozen=True, kw_only=True):
    """What an agent's file says; `scopes` is None where it says nothing of them. `origin` is the file."""

    slug: str
    origin: str
    title: str = ""
    description: str = ""
    scopes: tuple[str, ...] | None = None
    keywords: tuple[str, ...] = ()
    live_memory: bool = True


def profile_path(root: Path, slug: str) -> Path:
    """Where the file of an agent is."""
    return root / DIRECTORY / f"{slug}{SUFFIX}"


def find_profile(root: Path, agent: str) -> AgentProfile | None:
    """What the project says of an agent; None where it says nothing. Raises Misconfigured for a file with defects.

    Only small letters, digits and - make the name of a file: no other name has one. A name that differs from a file's
    in nothing but small and capital letters is refused: it would go round what the file narrows.
    """
    name = f"{agent}{SUFFIX}"
    named = [each for each in _names(root) if each.casefold() == name.casefold()]
    if not named:
        return None
    if SLUG.fullmatch(agent) is None or named != [name]:
        raise Misconfigured(
            f"the agent {agent!r} and {root / DIRECTORY / named[0]} differ in small and capital letters only",
            hint="call both the same, in small letters: WEFT_AGENT and the file",
        )
    return read_profile(profile_path(root, agent))


def need_profile(root: Path, slug: str) -> AgentProfile:
    """The same for one that must be there. Raises Invalid for a bad slug, NotFound where there is no such file."""
    if SLUG.fullmatch(slug) is None:
        raise Invalid(f"{slug[:80]!r} is no name of an agent", hint="small letters, digits and - in between")
    found = find_profile(root, slug)
    if found is None:
        raise NotFound(
            f"there is no {DIRECTORY}/{slug}{SUFFIX} in {root}",
            hint=f'write it: scopes = ["public"], keywords = ["…"] (at most 5), live_memory = true; {_there(root)}',
        )
    return found


def slugs(root: Path) -> tuple[str, ...]:
    """The agents that have a file in a project, in order."""
    names = sorted(name.removesuffix(SUFFIX) for name in _names(root) if name.endswith(SUFFIX))
    return tuple(name for name in names if SLUG.fullmatch(name))[:MAX_AGENTS]


def read_profile(path: Path) -> AgentProfile:
    """Reads a file. Raises Misconfigured with one line for each defect."""
    said = _read(path)
    defects = [f"{path}: unknown key {name[:60]!r}; known are {', '.join(KNOWN)}" for name in said if name not in KNOWN]
    values: dict[str, Any] = {}
    for name, read in (("title", short_text), ("description", short_text), ("scopes", scopes), ("keywords", keywords)):
        _take(values, defects, path, said, name, read)
    _take(values, defects, path, said, "live_memory", _true_or_false)
    if defects:
        raise Misconfigured("\n".join(defects), hint="correct the file; docs/agents.md says what it may hold")
    return AgentProfile(slug=path.name.removesuffix(SUFFIX), origin=str(path), **values)


def widening(profile: AgentProfile, held: tuple[str, ...]) -> str:
    """What is wrong with the scopes of a file where a process holds these: it may not name others. Nothing if right."""
    more = [each for each in profile.scopes or () if each not in held]
    if not more:
        return ""
    told = f"{profile.origin}: scopes may only narrow: {', '.join(more)} is not among {', '.join(held) or 'none'}"
    return f"{told}, which this process may see"


def narrowed(profile: AgentProfile, held: tuple[str, ...]) -> tuple[str, ...]:
    """What of these scopes a file leaves."""
    return held if profile.scopes is None else tuple(each for each in held if each in profile.scopes)


def _names(root: Path) -> Iterator[str]:
    """What stands in the directory of agents; nothing where there is none."""
    directory = root / DIRECTORY
    try:
        with os.scandir(directory) as entries:
            yield from (entry.name for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as problem:  # a directory that cannot be looked into may hold what would narrow
        raise Misconfigured(f"{directory}: cannot be read: {problem.strerror}", hint="check its rights") from problem


def _take(values: dict[str, Any], defects: list[str], path: Path, said: dict[str, Any], name: str, read: Any) -> None:
    if name in said:
        try:
            values[name] = read(said[name])
        except Invalid as problem:
            defects.append(f"{path}: {name} {problem.message}")


def _true_or_false(value: Any) -> bool:
    """In a file it is written as such: a word that only looks like no must not open anything."""
    if not isinstance(value, bool):
        raise Invalid("is neither true nor false")
    return flag(value)


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.is_symlink() or path.parent.is_symlink() or not path.is_file():
            raise Misconfigured(f"{path}: is no plain file", hint="put the file itself there, not a link")
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise Misconfigured(f"{path}: is larger than {MAX_BYTES:,} bytes", hint="it holds a few lines")
        return tomllib.loads(raw.decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as problem:
        raise Misconfigured(f"{path}: cannot be read: {problem!s:.200}", hint="fix the file or remove it") from problem


def _there(root: Path) -> str:
    known = slugs(root)
    return f"there are {', '.join(known[:10])}" if known else "there are none yet"
