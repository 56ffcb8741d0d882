"""Command lines as calls of tools: what a person types, in the words of a caller over MCP."""

from __future__ import annotations

import re
import shlex
from functools import cache
from typing import Final

from msgspec import Struct

from weft.runtime.operation_index import Listed, command_words, read_index

COMMAND: Final = re.compile(r"`weft ([a-z][^`]*)`")
_BY_A_PERSON: Final = re.compile(r"(?:operator|person|host)\W(?:[\w']+\W){0,6}$")


class Command(Struct, frozen=True, kw_only=True):
    """A command line of an operation: its name, the arguments that are given, and whether only its help is meant."""

    name: str
    arguments: dict[str, str]
    asks_help: bool = False

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self.arguments.items())
        return f"`{self.name}` with {given}" if given else f"`{self.name}`"


def read_command(line: str) -> Command | None:
    """The operation that a command line (without `weft`) runs; None for a command that is no operation."""
    try:
        words = shlex.split(line)
    except ValueError:  # an open quote
        words = line.split()
    for length in (2, 1):
        known = _operations().get(tuple(words[:length]))
        if known is not None and len(words) >= length:
            return _read(known, words[length:])
    return None


def _read(known: Listed, words: list[str]) -> Command:
    given: dict[str, str] = {}
    positional = list(known.arguments)
    while words:
        word = words.pop(0)
        if word.startswith("--"):
            name = word.removeprefix("--").replace("-", "_")
            given[name] = words.pop(0) if words and not words[0].startswith("--") else "true"
        elif word != "…" and positional:
            given[positional.pop(0)] = word
    asks_help = given.pop("help", None) is not None
    return Command(name=known.name, arguments=given, asks_help=asks_help)


@cache
def _operations() -> dict[tuple[str, ...], Listed]:
    named = {command_words(each.name): each for each in read_index().values()}
    # `weft index` does more than one operation; what notes ask for, these do.
    told = {("index",): read_index()["graph_rebuild"], ("index", "--commit"): read_index()["graph_index_commit"]}
    return {(each.name.replace("_", "-"),): each for each in read_index().values()} | named | told


def as_tool_call(line: str) -> str:
    """A command line (with or without `weft`) as a tool call; a command that only a person can run stays one."""
    bare = line.removeprefix("weft ")
    command = read_command(bare)
    return str(command) if command is not None else f"the operator's `weft {bare}`"


def of_a_person(text: str, start: int, line: str) -> str:
    """Marks a command that this caller cannot call with `the operator's`, once."""
    return f"`weft {line}`" if _BY_A_PERSON.search(text[:start]) else f"the operator's `weft {line}`"
