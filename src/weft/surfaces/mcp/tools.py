"""Tools from operations: name, description, schemas and hints are all derived; nothing is written twice."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from mcp.types import Tool, ToolAnnotations

from weft.errors import Misconfigured
from weft.operations import OPERATIONS
from weft.operations.registry import Operation
from weft.surfaces.mcp.answer import Envelope

CORE: Final = "core"
ALL: Final = "all"
TOOLSETS: Final = tuple(dict.fromkeys([CORE, *(each.toolset for each in OPERATIONS)]))
_FLAG = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")
_COMMAND = re.compile(r"`weft ([a-z]+(?:[ -][a-z]+)*)( --help)?`")
_DEFINITIONS = "#/$defs/"

Schema = dict[str, Any]


Served = Mapping[str, Operation]


def served_by(toolsets: Sequence[str]) -> Served:
    """The operations of these toolsets by name, core always among them. Raises Misconfigured for one there is not."""
    unknown = [name for name in toolsets if name not in (*TOOLSETS, ALL)]
    if unknown:
        raise Misconfigured(
            f"there is no toolset {', '.join(map(repr, unknown))}", hint=f"there are {', '.join((*TOOLSETS, ALL))}"
        )
    wanted = TOOLSETS if ALL in toolsets else (CORE, *toolsets)
    return {each.name: each for each in OPERATIONS if each.toolset in wanted}


SERVED: Final[Served] = served_by((CORE,))


def unknown_tool(name: str, served: Served) -> str:
    """What to tell a caller of a tool that is not served: which toolset has it, or what there is."""
    home = next((each.toolset for each in OPERATIONS if each.name == name), None)
    if home is not None:
        return f"Unknown tool: {name!r} is in toolset {home}; start the server with --toolsets {home}"
    return f"Unknown tool: {name[:80]!r}; there are {', '.join(served)}"


def describe(operation: Operation, served: Served = SERVED) -> Tool:
    """The tool of an operation."""
    reads = operation.effect == "read"
    return Tool(
        name=operation.name,
        description=_unwrap(in_tool_words(inspect.cleandoc(operation.description), operation, served)),
        input_schema=input_schema(operation),
        output_schema=output_schema(operation),
        annotations=ToolAnnotations(
            read_only_hint=reads,
            destructive_hint=operation.effect == "destructive",
            idempotent_hint=reads,
            open_world_hint=False,
        ),
        _meta={"anthropic/alwaysLoad": True} if operation.eager else None,
    )


def in_tool_words(text: str, operation: Operation, served: Served = SERVED) -> str:
    """The command line's words for a tool's caller: `--as-of` is `as_of` here, `weft cite` is `cite`.

    Commands that are not served as tools stay as they are: a person can run them.
    """

    def argument(match: re.Match[str]) -> str:
        name = match[1].replace("-", "_")
        return f"`{name}`" if name in operation.input.__struct_fields__ else match[0]

    def command(match: re.Match[str]) -> str:
        name = re.sub("[ -]", "_", match[1])
        if name not in served:
            return match[0]
        return f"the input schema of `{name}`" if match[2] else f"`{name}`"

    return _FLAG.sub(argument, _COMMAND.sub(command, text))


def _unwrap(text: str) -> str:
    """Paragraphs without the line breaks of the source."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def input_schema(operation: Operation) -> Schema:
    """What a caller may send. An argument that may be null is one that may be left out, and is shown as its type.

    Rare ones are taken all the same: the reference lists them, and every agent is spared reading them.
    """
    schema = _inlined(operation.input)
    schema.pop("description", None)  # the tool's own description says more
    told = {name: each for name, each in schema["properties"].items() if name not in operation.rare}
    schema["properties"] = {name: _plain(each) for name, each in told.items()}
    return schema if operation.rare else schema | {"additionalProperties": False}


def output_schema(operation: Operation) -> Schema:
    """The envelope around the operation's output."""
    schema: Schema = _to_read(_inlined(Envelope))
    data: Schema = _to_read(_inlined(operation.output))
    said = _unwrap(inspect.cleandoc(operation.output.__doc__ or "")).partition("\n\n")[0]
    schema["properties"]["data"] = {"description": said, **data}
    return schema


def _to_read(part: Any) -> Any:
    """A schema of answers, as short as it can be: every caller carries it along.

    What a value would be if it were left out is of use to those who send, not who read; what things are, their names
    say.
    """
    if isinstance(part, list):
        return [_to_read(each) for each in part]
    if not isinstance(part, dict):
        return part
    if (kinds := part.get("anyOf")) and len(kinds) == 2 and kinds[1] == {"type": "null"} and set(kinds[0]) == {"type"}:
        return {"type": [kinds[0]["type"], "null"]}
    return {
        key: {name: _to_read(each) for name, each in value.items()} if key == "properties" else _to_read(value)
        for key, value in part.items()
        if key not in ("default", "description")
    }


def _inlined(struct: type[msgspec.Struct]) -> Schema:
    """A schema without references: clients differ in what they make of those. The types are no trees, so it ends."""
    (reference,), definitions = msgspec.json.schema_components([struct], ref_template=_DEFINITIONS + "{name}")

    def inline(part: Any) -> Any:
        if isinstance(part, list):
            return [inline(each) for each in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return inline(definitions[part["$ref"].removeprefix(_DEFINITIONS)])
        # A title only repeats the name of our class; a property may be called title, and its value is no string.
        return {key: inline(value) for key, value in part.items() if key != "title" or not isinstance(value, str)}

    schema: Schema = inline(reference)
    return schema


def _plain(part: Schema) -> Schema:
    """`anyOf` of a type and null, as the type; the outer description, with the inner one behind it.

    A default of nothing (false, no words, an empty list) is not told.
    """
    if part.get("default") is False or part.get("default") in ("", [], {}):
        part = {key: value for key, value in part.items() if key != "default"}
    kinds = [each for each in part.get("anyOf", ()) if each != {"type": "null"}]
    if len(kinds) != 1 or part.get("default", part) is not None:
        return part
    said = [each["description"] for each in (part, kinds[0]) if "description" in each]
    return {**kinds[0], **({"description": "; ".join(said)} if said else {})}
