"""The command line that starts this weft from another program and another directory."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath, PureWindowsPath
from typing import Final

from weft.core.errors import Misconfigured

COMMAND: Final = "weft"
PACKAGE: Final = "weft-memory"  # the name weft is taken on PyPI; this package has both commands
# Caches in which uv and pipx unpack a package for one run.
_PASSING: Final = (
    (re.compile(r"[/\\](?:archive|builds|environments)-v\d+[/\\]"), ("uvx", PACKAGE)),
    (re.compile(r"[/\\]pipx[/\\]\.cache[/\\]|[/\\]\.cache[/\\]pipx[/\\]"), ("pipx", "run", PACKAGE)),
)
_NAMED: Final = re.compile(r"weft(?:\.exe)?$", re.IGNORECASE)
_OURS: Final = re.compile(r"weft(?:-memory)?", re.IGNORECASE)
_ASSIGNED: Final = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)

Exists = Callable[[str], bool]
Which = Callable[[str], str | None]


def launcher(started: str, python: str, *, which: Which, exists: Exists, windows: bool = False) -> tuple[str, ...]:
    """The words that start weft: an absolute path, or a runner and the package's name.

    `started` is this process's argv[0], absolute, `python` its interpreter. Links are not followed: `~/.local/bin/weft`
    keeps working when its target is replaced. Raises Misconfigured if no command is found.
    """
    beside = _beside(python, windows=windows)
    found = [each for each in (started, beside, which(COMMAND)) if each and _NAMED.search(each) and exists(each)]
    lasting = [each for each in found if _runner(each) is None]
    if lasting:
        return (lasting[0],)
    runner = next((words for each in (*found, started, python) if (words := _runner(each))), None)
    if runner is None:
        raise Misconfigured("the weft command was not found", hint="`pip install .` in a checkout, then run this again")
    return (which(runner[0]) or runner[0], *runner[1:])


def shell_line(words: tuple[str, ...], environment: Mapping[str, str], *, windows: bool = False) -> str:
    """One line for a shell. On Windows without environment and with /, which every shell there accepts."""
    if windows:
        return " ".join(f'"{word}"' if " " in word else word for word in (each.replace("\\", "/") for each in words))
    given = ("env", *(f"{name}={value}" for name, value in environment.items())) if environment else ()
    return shlex.join((*given, *words))


def after_launch(words: Sequence[str]) -> tuple[str, ...] | None:
    """The arguments after the words that start weft, in any form of `launcher`; None for another program."""
    if not words:
        return None
    name = words[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
    if _OURS.fullmatch(name):
        return tuple(words[1:])
    for _, runner in _PASSING:
        if (name, *words[1 : len(runner)]) == runner:
            return tuple(words[len(runner) :])
    return None


def shell_words(line: str) -> tuple[str, ...]:
    """The words of one simple command, without a leading `env NAME=VALUE`; shell operators are words too.

    Empty for several lines or a line that cannot be parsed.
    """
    if "\n" in line or "\r" in line:
        return ()
    reader = shlex.shlex(line, posix=True, punctuation_chars=True)
    reader.whitespace_split, reader.commenters = True, ""
    try:
        words = list(reader)
    except ValueError:  # unbalanced quote
        return ()
    if words[:1] == ["env"]:
        del words[0]
        while words and _ASSIGNED.fullmatch(words[0]):
            del words[0]
    return tuple(words)


def _beside(python: str, *, windows: bool) -> str:
    path = PureWindowsPath(python) if windows else PurePosixPath(python)
    return str(path.with_name("weft.exe" if windows else "weft"))


def _runner(path: str) -> tuple[str, ...] | None:
    return next((words for pattern, words in _PASSING if pattern.search(path)), None)
