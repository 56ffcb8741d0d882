"""An agent's file, `agents/<slug>.toml` of a project: its scopes, keywords and use of live memory.

    title = "Ticket desk"
    description = "answers travellers"
    scopes = ["public"]
    keywords = ["timetable", "fares"]
    live_memory = false

It comes with the project from anyone, so it can only restrict what the settings of a process allow.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from weft.core.errors import Invalid, Misconfigured, NotFound
from weft.runtime.settings.values import flag, keywords, scopes, short_text

DIRECTORY: Final = "agents"
SUFFIX: Final = ".toml"
MAX_BYTES: Final = 16_384
MAX_AGENTS: Final = 200
SLUG: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
KNOWN: Final = ("title", "description", "scopes", "keywords", "live_memory")


class AgentProfile(Struct, frozen=True, kw_only=True):
    """The content of an agent's file; `scopes` is None if it sets none. `origin` is the file."""

    slug: str
    origin: str
    title: str = ""
    description: str = ""
    scopes: tuple[str, ...] | None = None
    keywords: tuple[str, ...] = ()
    live_memory: bool = True


def profile_path(root: Path, slug: str) -> Path:
    """The path of an agent's file."""
    return root / DIRECTORY / f"{slug}{SUFFIX}"


def find_profile(root: Path, agent: str) -> AgentProfile | None:
    """An agent's file in a project; None if there is none. Raises Misconfigured for a file with defects.

    File names have lower-case letters, digits and - only. An agent's name that differs from a file only in case is
    refused: it would evade the restrictions of the file.
    """
    name = f"{agent}{SUFFIX}"
    named = [each for each in _names(root) if each.casefold() == name.casefold()]
    if not named:
        return None
    if SLUG.fullmatch(agent) is None or named != [name]:
        raise Misconfigured(
            f"the agent {agent!r} and {root / DIRECTORY / named[0]} differ only in case",
            hint="use the same lower-case name for WEFT_AGENT and the file",
        )
    return read_profile(profile_path(root, agent))


def need_profile(root: Path, slug: str) -> AgentProfile:
    """The same for one that must be there. Raises Invalid for a bad slug, NotFound where there is no such file."""
    if SLUG.fullmatch(slug) is None:
        raise Invalid(
            f"{slug[:80]!r} is not a valid agent name", hint="lower-case letters and digits, with - in between"
        )
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
        raise Misconfigured("\n".join(defects), hint="correct the file; docs/agents.md describes its keys")
    return AgentProfile(slug=path.name.removesuffix(SUFFIX), origin=str(path), **values)


def widening(profile: AgentProfile, held: tuple[str, ...]) -> str:
    """The defect of a file that names scopes which the process does not hold; empty if there is none."""
    more = [each for each in profile.scopes or () if each not in held]
    if not more:
        return ""
    told = f"{profile.origin}: scopes may only restrict: {', '.join(more)} is not among {', '.join(held) or 'none'}"
    return f"{told}, which this process may see"


def narrowed(profile: AgentProfile, held: tuple[str, ...]) -> tuple[str, ...]:
    """These scopes as restricted by a file."""
    return held if profile.scopes is None else tuple(each for each in held if each in profile.scopes)


def _names(root: Path) -> Iterator[str]:
    """The names in the agents directory; none if it does not exist."""
    directory = root / DIRECTORY
    try:
        with os.scandir(directory) as entries:
            yield from (entry.name for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as problem:  # an unreadable directory may hold restrictions
        raise Misconfigured(f"{directory}: cannot be read: {problem.strerror}", hint="check its rights") from problem


def _take(values: dict[str, Any], defects: list[str], path: Path, said: dict[str, Any], name: str, read: Any) -> None:
    if name in said:
        try:
            values[name] = read(said[name])
        except Invalid as problem:
            defects.append(f"{path}: {name} {problem.message}")


def _true_or_false(value: Any) -> bool:
    """A TOML boolean only: a text such as "no" must not enable anything."""
    if not isinstance(value, bool):
        raise Invalid("is neither true nor false")
    return flag(value)


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.is_symlink() or path.parent.is_symlink() or not path.is_file():
            raise Misconfigured(f"{path}: is not a regular file", hint="replace it by the file itself, not a link")
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise Misconfigured(f"{path}: is larger than {MAX_BYTES:,} bytes", hint="it should have a few lines")
        return tomllib.loads(raw.decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as problem:
        raise Misconfigured(f"{path}: cannot be read: {problem!s:.200}", hint="fix the file or remove it") from problem


def _there(root: Path) -> str:
    known = slugs(root)
    return f"there are {', '.join(known[:10])}" if known else "there are none yet"
