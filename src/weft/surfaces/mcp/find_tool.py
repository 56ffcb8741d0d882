"""`find_tool`: a tool that finds, describes and calls all others that its caller may call.

It is made for each offer and not listed among the operations. A call through it is a call of the named tool: the same
checks, the same record, the same answer.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

from mcp.types import Tool, ToolAnnotations
from msgspec import Meta, Struct

from weft.core.errors import Invalid, NotFound
from weft.operations import operation as operation_of
from weft.runtime.call_context import CallContext
from weft.runtime.operation import Operation
from weft.surfaces.mcp.profiles import SAID
from weft.surfaces.mcp.tools import describe, description, input_schema, output_schema, title, whole_input
from weft.surfaces.toolsets import CORE, FIND_TOOL, Offer, lines, nearest
from weft.text.lexical import stems

MOST_FOUND: Final = 5
# What a word weighs by where it stands: in the name, in said.toml, in the summary, the arguments, the description.
NAME, PEOPLE_SAY, SUMMARY, ARGUMENTS, DESCRIPTION = 4.0, 2.5, 1.5, 1.0, 0.5
EXACT: Final = 4.0  # more, for a word that is the whole name: of all that tell of deleting, `delete` does it
# What the tools of a toolset are for, so that a model knows when to look for one.
ABOUT: Final = {
    "memory": "recording facts, entities, decisions and conversations; searching, correcting, forgetting, ingesting",
    "magma": "walking the graph step by step",
    "code": "the workspace's code: what to read for a task, callers, what a change breaks, what changed",
    "work": "tasks",
    "fleet": "working beside other agents: claims, episodes, plans, handing work on, what was learnt",
    "reports": "reports and alerts",
    "hygiene": "finding what is stale or doubled",
    "governance": "approvals, erasing",
    "admin": "upkeep of the store",
}
_PREFIX: Final = re.compile(r"mcp__(?:\w+?__)?")


class ToolFound(Struct, frozen=True, kw_only=True):
    """A tool in one line."""

    name: str
    toolset: str
    effect: str
    does: str


class ToolDescribed(Struct, frozen=True, kw_only=True):
    """A tool with everything that a caller needs to know."""

    name: str
    toolset: str
    effect: str
    description: str
    input_schema: dict[str, Any]


class ToolsFound(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tools that were found, best first; or one of them in full; or the names of all, by toolset."""

    found: tuple[ToolFound, ...] = ()
    described: ToolDescribed | None = None
    names: dict[str, tuple[str, ...]] = {}
    notes: tuple[str, ...] = ()


class FindTool(Struct, frozen=True, kw_only=True):
    """A search, or the tool to describe or call. Without any of them, the names of all tools."""

    query: Annotated[str, Meta(max_length=1_000, description="what the tool should do, in words")] = ""
    tool: Annotated[str, Meta(max_length=128, description="the name of a tool: describes it")] = ""
    arguments: Annotated[dict[str, Any], Meta(description="with tool: calls it with these; {} for none")] | None = None


def find_tool(offered: Offer) -> Operation:
    """The operation that finds and describes the tools of an offer; `settle` resolves what it calls."""

    def run(ctx: CallContext, given: FindTool) -> ToolsFound:
        if given.tool:
            return ToolsFound(described=described(_target(given.tool, offered), offered))
        if not given.query.strip():
            return ToolsFound(names=_by_toolset(offered.callable))
        found = search(given.query, offered)
        notes = () if found else ("find_tool without arguments names all tools",)
        return ToolsFound(found=found, notes=notes)

    run.__doc__ = _description(offered)
    return Operation(
        name=FIND_TOOL,
        summary="find, describe and call the tools that are not listed",
        input=FindTool,
        output=ToolsFound,
        effect="read",  # finding and describing; what it calls has its own
        toolset=CORE,
        run=run,
        eager=True,
        priorities={
            "found.does": "required",
            "described.input_schema": "required",
            "described.description": "required",
        },
    )


def tools_of(offered: Offer) -> list[Tool]:
    """Everything that is listed to a caller: its tools, then find_tool."""
    listed = [describe(each, offered) for each in offered.listed.values()]
    if not offered.finds:
        return listed
    finder = find_tool(offered)
    schema = output_schema(finder)
    schema["properties"]["data"] = {"type": "object"}  # of a call, it is the answer of the tool that was called
    made = Tool(
        name=finder.name,
        title=title(finder),
        description=finder.description,
        input_schema=input_schema(finder),
        output_schema=schema,
        annotations=ToolAnnotations(
            read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
        ),
        _meta={"anthropic/alwaysLoad": True},
    )
    return [*listed, made]


def settle(finder: Operation, sent: dict[str, Any], offered: Offer) -> tuple[Operation, dict[str, Any]]:
    """The operation that is called, and its arguments: those of the named tool, where tool and arguments are given.

    Raises NotFound for a tool that this caller cannot call, Invalid for arguments that are no object and for find_tool
    itself.
    """
    name, arguments = sent.get("tool"), sent.get("arguments")
    if arguments is None:
        return finder, {key: value for key, value in sent.items() if value is not None}
    if beside := [key for key in sent if key not in FindTool.__struct_fields__]:
        raise Invalid(
            f"find_tool has no argument {beside[0][:80]}", hint="put the arguments of the tool into `arguments`"
        )
    if not isinstance(name, str) or not name:
        raise Invalid("find_tool: arguments without a tool", hint="name the tool to call in `tool`")
    return _target(name, offered), _object(name, arguments)


def described(operation: Operation, offered: Offer) -> ToolDescribed:
    """A tool with its whole schema, rare arguments and bounds included."""
    return ToolDescribed(
        name=operation.name,
        toolset=operation.toolset,
        effect=operation.effect,
        description=description(operation, offered),
        input_schema=whole_input(operation),
    )


def search(query: str, offered: Offer) -> tuple[ToolFound, ...]:
    """Tools ranked by the query's words in their names, summaries, arguments and descriptions."""
    words = {name: _words(name) for name in offered.callable}
    spread = Counter(word for weighed in words.values() for word in weighed)
    spoken = re.findall(r"\w+", query.lower())
    asked = set(stems(query.replace("_", " "))) & spread.keys()
    rare = {word: math.sqrt(math.log(1.0 + len(words) / spread[word])) for word in asked}

    def score(name: str) -> float:
        return sum(words[name].get(word, 0.0) * rarity for word, rarity in rare.items()) + EXACT * (name in spoken)

    scores = {name: score(name) for name in words}
    best = sorted((name for name in words if scores[name] > 0.0), key=lambda name: -scores[name])[:MOST_FOUND]
    return tuple(_found(name) for name in best)


@cache
def _said() -> dict[str, str]:
    """The words that people say for what a tool does, by its name."""
    found: dict[str, str] = tomllib.loads((Path(__file__).parent / "said.toml").read_text(encoding="utf-8"))
    return found


@cache
def _words(name: str) -> dict[str, float]:
    """The stems by which a tool is found, with their weights."""
    operation = operation_of(name)
    fields = (
        (PEOPLE_SAY, _said().get(name, "")),
        (DESCRIPTION, operation.description),
        (ARGUMENTS, " ".join(operation.input.__struct_fields__)),
        (SUMMARY, operation.summary),
        (NAME / math.sqrt(name.count("_") + 1), name),
    )
    weighed: dict[str, float] = {}
    for weight, text in fields:
        for word in set(stems(text.replace("_", " "))):
            weighed[word] = weighed.get(word, 0.0) + weight
    return weighed


def _found(name: str) -> ToolFound:
    line = lines()[name]
    return ToolFound(name=name, toolset=line.toolset, effect=line.effect, does=line.summary)


def _target(written: str, offered: Offer) -> Operation:
    name = written if written in offered.callable else _PREFIX.sub("", written.strip()).replace("-", "_")
    if name == FIND_TOOL:
        raise Invalid("find_tool does not call itself", hint="send query, tool and arguments to it directly")
    if name in offered.stripped:
        raise NotFound(f"{name} is excluded on this server", hint="its operator excluded it; go on without it")
    if name not in offered.callable:
        raise NotFound(
            f"unknown tool {written[:80]!r}{nearest(name, offered.callable)}",
            hint="find_tool with query finds tools by words; without arguments it names them all",
        )
    return offered.callable[name]


def _object(tool: str, arguments: Any) -> dict[str, Any]:
    """Arguments as an object. Some models send them as JSON inside a text: that is accepted."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            arguments = None
    if not isinstance(arguments, dict):
        raise Invalid(f"find_tool: the arguments of {tool[:80]} are not an object", hint='send {"name": value, …}')
    return arguments


def _by_toolset(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    sets: dict[str, list[str]] = {}
    for name in names:
        sets.setdefault(lines()[name].toolset, []).append(name)
    return {toolset: tuple(held) for toolset, held in sets.items()}


def _description(offered: Offer) -> str:
    """Its description, with the subjects of the tools that are not listed."""
    beside = _by_toolset(name for name in offered.callable if name not in offered.listed)
    about = "; ".join(ABOUT.get(toolset, toolset) for toolset in beside)
    more = f" Not listed: {about}." if about else ""
    return (
        "Finds, describes and calls every tool, also those that are not listed: `query` finds tools by words, `tool` "
        "describes one with all its arguments, `tool` with `arguments` calls it and gives its own answer. "
        + SAID
        + more
    )
