"""A check, when a server starts, that the tools named in agents' files exist.

Without it an agent whose file names a missing tool would fail during its work, without a reason.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from msgspec import Struct

from weft.core.errors import Invalid, Misconfigured
from weft.runtime.settings.load import Settings
from weft.surfaces.front_matter import tools_of
from weft.surfaces.toolsets import FIND_TOOL, Offer, lines

MAX_FILES: Final = 1_000
MAX_LOOKED_AT: Final = 20_000  # entries of directories
MAX_FILE_BYTES: Final = 1_048_576
MAX_TOLD: Final = 50  # defects listed; one more line counts the rest
MAX_NAME_CHARACTERS: Final = 120
# Names in clients: mcp__weft__recall, or mcp__plugin_<plugin>_weft__recall for weft in a plugin.
_OURS: Final = re.compile(r"(?P<server>mcp__(?:plugin_[\w.-]+_)?weft)(?:__(?P<tool>[\w*?-]+))?")
_LIKE_OURS: Final = re.compile(r"mcp[_-]+(?:plugin[_-].*[_-])?weft(?:[_-].*)?", re.IGNORECASE)


class _Seen(Struct, frozen=True, kw_only=True):
    """The result for one name: a defect, a deliberately excluded tool, a remark, or nothing."""

    defect: str = ""
    stripped: str = ""
    remark: str = ""


def check_agent_files(settings: Settings, offered: Offer) -> tuple[str, ...]:
    """What is to be said of the files that the setting `agent_files` names; nothing if there are none.

    Names of weft's tools must be of tools that this server lists or can call. Those that were excluded on purpose are
    said and passed; tools of other servers and of the agent's own program are none of our business. Raises
    Misconfigured with one line for each defect, with path, name, reason and the nearest name.
    """
    if not settings.agent_files:
        return ()
    defects: list[str] = []
    said: list[str] = []
    looked_at = 0
    for file in _files(settings, defects, said):
        looked_at += 1
        _look(file, offered, defects, said)
    if defects:
        told = defects[:MAX_TOLD]
        beside = [f"and {len(defects) - MAX_TOLD} more"] if len(defects) > MAX_TOLD else []
        hint = "correct the `tools` of these files, or the setting agent_files; `weft config` shows where that is set"
        raise Misconfigured("\n".join([*told, *beside]), hint=hint)
    return (*said, f"agent files: {looked_at} checked; every weft tool in them exists")


def _look(file: Path, offered: Offer, defects: list[str], said: list[str]) -> None:
    try:
        names = tools_of(_read(file))
    except Invalid as problem:
        defects.append(f"{_shown(file)}: {problem.message}")
        return
    seen = [_classified(name, offered) for name in dict.fromkeys(names)]
    defects += [f"{_shown(file)}: {each.defect}" for each in seen if each.defect]
    if stripped := [each.stripped for each in seen if each.stripped]:
        said.append(f"{_shown(file)}: excluded by the settings: {', '.join(stripped)}")
    if not any(name.endswith(f"weft__{FIND_TOOL}") for name in names):
        said += [f"{_shown(file)}: {each.remark}" for each in seen if each.remark]


def _classified(name: str, offered: Offer) -> _Seen:
    ours = _OURS.fullmatch(name)
    if ours is None:
        return _Seen(defect=_malformed(name, offered)) if _is_malformed(name) else _Seen()
    server, tool = ours["server"], ours["tool"]
    known = (*offered.callable, *([FIND_TOOL] if offered.finds else ()))
    if tool is None or any(fnmatchcase(each, tool) for each in known):  # the whole server, a tool, or a pattern
        unlisted = tool in offered.callable and tool not in offered.listed
        home = lines()[tool].toolset if unlisted else ""
        remark = f"{name} is not listed: serve toolset {home}, or name {server}__{FIND_TOOL}, which can call it"
        return _Seen(remark=remark if unlisted else "")
    if tool in offered.stripped:
        return _Seen(stripped=name)
    return _Seen(defect=f"{_name(name)}: {_why_not(tool)}{_nearest(server, tool, known)}")


def _is_malformed(name: str) -> bool:
    """Whether it is meant as a weft tool. `weft_x` followed by a tool may be another server."""
    server, _, tool = name.removeprefix("mcp__").partition("__")
    if name.startswith("mcp__") and (not server or (tool and server.lower() != "weft")):
        return not server or server.lower().endswith("_weft")
    return _LIKE_OURS.fullmatch(name) is not None


def _why_not(tool: str) -> str:
    if "*" in tool or "?" in tool:
        return "matches no tool"
    if (line := lines().get(tool)) is None:
        return "weft has no tool of that name"
    if line.reach == "terminal":
        return "is a command, not a tool"
    far = "is not allowed here, or works only on the local machine"
    return "is not allowed here (settings allow and exclude)" if line.reach == "anywhere" else far


def _malformed(name: str, offered: Offer) -> str:
    bare = re.sub(r"^mcp[_-]+(?:plugin[_-].*?[_-])?weft[_-]*", "", name, flags=re.IGNORECASE)
    near = _nearest("mcp__weft", bare, tuple(offered.callable))
    return f"{_name(name)}: malformed: weft tools are written mcp__weft__<tool>{near}"


def _nearest(server: str, tool: str, known: tuple[str, ...]) -> str:
    plain = tool[:MAX_NAME_CHARACTERS].lower().replace("-", "_")
    near = difflib.get_close_matches(plain, known, n=1)
    return f"; did you mean {server}__{near[0]}?" if near else ""


def _files(settings: Settings, defects: list[str], said: list[str]) -> Iterator[Path]:
    """The files to check, each once. An unreadable one is a defect."""
    seen: set[str] = set()
    for written in settings.agent_files:
        path = Path(os.path.abspath(settings.root / Path(written).expanduser()))  # noqa: PTH100 - links stay as written
        if not os.path.isdir(path) and not os.path.isfile(path):  # noqa: PTH112, PTH113 - these raise for nothing
            defects.append(f"{_shown(path)}: no such file or directory (setting agent_files)")
            continue
        for file in _below(path, defects, said) if path.is_dir() else (path,):
            real = os.path.realpath(file)
            if len(seen) >= MAX_FILES:
                defects.append(f"{_shown(path)}: the setting agent_files names over {MAX_FILES:,} files; name fewer")
                return
            if real not in seen:
                seen.add(real)
                yield file


def _below(directory: Path, defects: list[str], said: list[str]) -> Iterator[Path]:
    """The Markdown files below a directory; links out of it are skipped with a remark."""

    def unreadable(problem: OSError) -> None:
        defects.append(f"{_shown(Path(problem.filename or directory))}: cannot be read: {problem.strerror}")

    inside = os.path.realpath(directory)
    looked_at = 0
    for at, below, files in os.walk(directory, onerror=unreadable):
        below.sort()
        looked_at += len(below) + len(files)
        if looked_at > MAX_LOOKED_AT:
            defects.append(f"{_shown(directory)}: has over {MAX_LOOKED_AT:,} entries; name a smaller directory")
            return
        for file in sorted(Path(at) / name for name in files if name.lower().endswith(".md")):
            if not Path(os.path.realpath(file)).is_relative_to(inside):
                said.append(f"{_shown(file)}: skipped: it links to a file outside {_shown(directory)}")
            elif os.path.isfile(file):  # noqa: PTH113
                yield file
            elif file.is_symlink():
                defects.append(f"{_shown(file)}: is a broken link")


def _read(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            raw = stream.read(MAX_FILE_BYTES + 1)
    except OSError as problem:
        raise Invalid(f"cannot be read: {problem.strerror}") from problem
    if len(raw) > MAX_FILE_BYTES:
        raise Invalid(f"is larger than {MAX_FILE_BYTES:,} bytes")
    try:
        return raw.decode()
    except UnicodeDecodeError as problem:
        raise Invalid("cannot be read: it is not UTF-8") from problem


def _shown(path: Path) -> str:
    return str(path) if str(path).isprintable() else repr(str(path))


def _name(written: str) -> str:
    short = written[:MAX_NAME_CHARACTERS]
    return short if short.isprintable() else repr(short)
