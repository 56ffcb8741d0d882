"""What `find_tool` answers with, and how that reads."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct


class ToolFound(Struct, frozen=True, kw_only=True):
    """A tool in one line."""

    name: str
    toolset: str
    effect: str
    does: str


class ToolDescribed(Struct, frozen=True, kw_only=True):
    """A tool with all that a caller has to know."""

    name: str
    toolset: str
    effect: str
    description: str
    input_schema: dict[str, Any]


class ToolsFound(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tools that were looked for, best first; or one of them in full; or the names of all, by toolset."""

    found: tuple[ToolFound, ...] = ()
    described: ToolDescribed | None = None
    names: dict[str, tuple[str, ...]] = {}
    notes: tuple[str, ...] = ()


def tool_summary(answer: ToolsFound) -> str:
    """One sentence, which says how to go on."""
    if answer.described is not None:
        return f"`find_tool` with tool={answer.described.name} and `arguments` calls it."
    if answer.names:
        return f"{sum(map(len, answer.names.values()))} tools; `tool` describes one."
    if not answer.found:
        return "No tool is found by these words."
    return "Best first; `tool` describes one, with `arguments` it is called."


def tool_blocks(answer: ToolsFound) -> tuple[str, ...]:
    """The tools in lines. They are weft's own words, so nothing is quoted."""
    if (tool := answer.described) is not None:
        schema = msgspec.json.encode(tool.input_schema).decode()
        return (f"{tool.name} (toolset {tool.toolset}, {tool.effect})\n{tool.description}", f"arguments: {schema}")
    found = [f"{each.name} (toolset {each.toolset}, {each.effect}): {each.does}" for each in answer.found]
    named = [f"{toolset}: {', '.join(names)}" for toolset, names in answer.names.items()]
    return ("\n".join(found + named),) if found or named else ()
