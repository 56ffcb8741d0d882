"""Tools from operations: name, description, schemas and hints are all derived; nothing is written twice."""

from __future__ import annotations

import inspect
import re
from typing import Any, Final

import msgspec
from mcp.types import Tool, ToolAnnotations

from weft.operations import OPERATIONS
from weft.operations.registry import Operation
from weft.surfaces.mcp.answer import Envelope

TOOLSET: Final = "core"
SERVED: Final[dict[str, Operation]] = {each.name: each for each in OPERATIONS if each.toolset == TOOLSET}
_FLAG = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")
_COMMAND = re.compile(rf"`weft ({'|'.join(SERVED)})`")
_HELP = re.compile(rf"`weft ({'|'.join(SERVED)}) --help`")
_DEFINITIONS = "#/$defs/"

Schema = dict[str, Any]


def describe(operation: Operation) -> Tool:
    """The tool of an operation."""
    reads = operation.effect == "read"
    return Tool(
        name=operation.name,
        description=_unwrap(in_tool_words(inspect.cleandoc(operation.description), operation)),
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


def in_tool_words(text: str, operation: Operation) -> str:
    """The command line's words for a tool's caller: `--as-of` is `as_of` here, `weft cite` is `cite`."""

    def argument(match: re.Match[str]) -> str:
        name = match[1].replace("-", "_")
        return f"`{name}`" if name in operation.input.__struct_fields__ else match[0]

    return _FLAG.sub(argument, _COMMAND.sub(r"`\1`", _HELP.sub(r"the input schema of `\1`", text)))


def _unwrap(text: str) -> str:
    """Paragraphs without the line breaks of the source."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def input_schema(operation: Operation) -> Schema:
    """What a caller may send. An argument that may be null is one that may be left out, and is shown as its type."""
    schema = _inlined(operation.input)
    schema.pop("description", None)  # the tool's own description says more
    schema["properties"] = {name: _plain(each) for name, each in schema["properties"].items()}
    return schema | {"additionalProperties": False}


def output_schema(operation: Operation) -> Schema:
    """The envelope around the operation's output."""
    schema = _inlined(Envelope)
    schema["properties"]["data"] = _inlined(operation.output)
    plain: Schema = _without_defaults(schema)
    return plain


def _without_defaults(part: Any) -> Any:
    """A schema of answers: what a value would be if it were left out is of use to those who send, not who read."""
    if isinstance(part, list):
        return [_without_defaults(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        key: {name: _without_defaults(each) for name, each in value.items()}
        if key == "properties"
        else _without_defaults(value)
        for key, value in part.items()
        if key != "default"
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
    """`anyOf` of a type and null, as the type; the outer description, with the inner one behind it."""
    kinds = [each for each in part.get("anyOf", ()) if each != {"type": "null"}]
    if len(kinds) != 1 or part.get("default", part) is not None:
        return part
    said = [each["description"] for each in (part, kinds[0]) if "description" in each]
    return {**kinds[0], **({"description": "; ".join(said)} if said else {})}
