"""Tools from operations: name, description, schemas and hints are all derived; nothing is written twice."""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import Any, Final

import msgspec
from mcp.types import Tool, ToolAnnotations

from weft.context.priorities import TEXTS, priority_of
from weft.operations.listed import command_words
from weft.operations.registry import Operation
from weft.surfaces.mcp.answer import Envelope
from weft.surfaces.mcp.fitting import LOW
from weft.surfaces.mcp.profiles import ARGUMENT, SCHEMA, takes_profile
from weft.surfaces.toolsets import FIND_TOOL, Offer, lines

_FLAG = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")
_COMMAND = re.compile(r"`weft ([a-z]+(?:[ -][a-z]+)*)( --help)?`")
_DEFINITIONS = "#/$defs/"
# What a server checks and says well when it does not hold; a model sends the same with or without having read it.
BOUNDS: Final = frozenset({"maxItems", "maxLength", "maxProperties", "minItems", "minLength", "pattern"})
BESIDE: Final = ("notes",)  # of an output that is no part of the data

Schema = dict[str, Any]


def describe(operation: Operation, offered: Offer) -> Tool:
    """The tool of an operation."""
    reads = operation.effect == "read"
    return Tool(
        name=operation.name,
        description=description(operation, offered),
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


def description(operation: Operation, offered: Offer) -> str:
    """What a tool does, in the words of who calls it."""
    return _unwrap(in_tool_words(inspect.cleandoc(operation.description), operation, offered))


def in_tool_words(text: str, operation: Operation, offered: Offer) -> str:
    """The command line's words for a tool's caller: `--as-of` is `as_of` here, `weft cite` is `cite`.

    Commands that this caller cannot call as tools stay as they are: a person can run them.
    """

    def argument(match: re.Match[str]) -> str:
        name = match[1].replace("-", "_")
        return f"`{name}`" if name in operation.input.__struct_fields__ else match[0]

    def command(match: re.Match[str]) -> str:
        name = _commands().get(match[1], "")
        if name in offered.listed or name == FIND_TOOL:
            return f"the input schema of `{name}`" if match[2] else f"`{name}`"
        if name in offered.callable and offered.finds:
            return f"`{FIND_TOOL}` with tool={name}" if match[2] else f"`{name}`"
        return match[0]

    return _FLAG.sub(argument, _COMMAND.sub(command, text))


@cache
def _commands() -> dict[str, str]:
    """Names of tools by the words of their commands: `log show` is log_show."""
    return {" ".join(command_words(name)): name for name in (*lines(), FIND_TOOL)}


def _unwrap(text: str) -> str:
    """Paragraphs without the line breaks of the source."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def input_schema(operation: Operation) -> Schema:
    """What a caller may send. An argument that may be null is one that may be left out, and is shown as its type.

    Rare ones and bounds are left out, and every agent is spared reading them: `whole_input` has them all.
    """
    schema = whole_input(operation)
    told = {name: each for name, each in schema["properties"].items() if name not in operation.rare}
    schema["properties"] = _said_once(_unbounded(told))
    return schema if operation.rare else schema | {"additionalProperties": False}


def whole_input(operation: Operation) -> Schema:
    """Everything that a caller may send, with its bounds."""
    schema = inlined(operation.input)
    schema.pop("description", None)  # the tool's own description says more
    schema["properties"] = {name: _plain(each) for name, each in schema["properties"].items()}
    if takes_profile(operation):
        schema["properties"][ARGUMENT] = SCHEMA
    return schema


def _unbounded(part: Any) -> Any:
    if isinstance(part, list):
        return [_unbounded(each) for each in part]
    if not isinstance(part, dict):
        return part
    # An argument may be called `pattern`: what is said of it is a schema, where a bound is a number or a text.
    kept = {key: _unbounded(value) for key, value in part.items() if key not in BOUNDS or isinstance(value, dict)}
    if all(set(each) == {"type"} for each in kept.get("anyOf", ({},))):
        kept["type"] = [each["type"] for each in kept.pop("anyOf")]
    return kept


def _said_once(arguments: dict[str, Schema]) -> dict[str, Schema]:
    """What several arguments have in common, such as how a moment is written, is told of the first of them only."""
    told: set[str] = set()
    short = {}
    for name, each in arguments.items():
        own, _, common = each.get("description", "").rpartition("; ")
        kind, colon, _ = common.partition(": ")
        again = bool(own and colon) and common in told
        short[name] = each | {"description": f"{own}; {kind}"} if again else each
        told.add(common)
    return short


def output_schema(operation: Operation) -> Schema:
    """The envelope around the operation's output: its fields, and those of the items that they list, no deeper."""
    schema: Schema = _to_read(inlined(Envelope))
    data: Schema = _to_read(inlined(operation.output))
    lists = [name for name, each in data["properties"].items() if each.get("type") == "array" and name not in BESIDE]
    always = {
        name
        for name in data.get("required", ())
        if _stays(name, data["properties"][name], operation, is_first_list=name in lists[:1])
    }
    fields = {
        name: _shallow(name, each, operation) if name in always else _outer(each)
        for name, each in data["properties"].items()
        if name not in BESIDE
    }
    required = [name for name in data.get("required", ()) if name in always]
    schema["properties"]["data"] = {"type": "object", "properties": fields} | (
        {"required": required} if required else {}
    )
    return schema


def _stays(path: str, part: Schema, operation: Operation, *, is_first_list: bool = False) -> bool:
    """Whether a field that every whole answer has is in every short one too."""
    name = path.rpartition(".")[2]
    if name in (*BESIDE, *LOW, *TEXTS) or path in operation.told:
        return False
    held: Schema | None = {} if any("object" in each.get("type", ()) for each in part.get("anyOf", (part,))) else None
    return priority_of(path, held, operation.priorities, is_first_list=is_first_list) == "required"


def _shallow(name: str, part: Schema, operation: Operation) -> Schema:
    """A field: of a list what its items always have, by type; of an object only that it is one."""
    items = part.get("items", {}) if part.get("type") == "array" else {}
    always = {
        each: _kind(items["properties"][each])
        for each in items.get("required", ())
        if _stays(f"{name}.{each}", items["properties"][each], operation)
    }
    if always:
        return {"type": "array", "items": {"properties": always, "required": list(always)}}
    return _outer(part)


def _outer(part: Schema) -> Schema:
    """Words of a fixed set, else its type."""
    return part if set(part) <= {"type", "enum"} else _kind(part)


def _kind(part: Schema) -> Schema:
    """Of which type it is; nothing is said where it may be of any."""
    kinds = [each.get("type") for each in part.get("anyOf", (part,))]
    if not all(isinstance(each, str) for each in kinds):
        return {"type": part["type"]} if isinstance(part.get("type"), list) else {}
    return {"type": kinds[0] if len(kinds) == 1 else kinds}


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


def inlined(struct: type[msgspec.Struct]) -> Schema:
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
    if part.get("default") is False or part.get("default") in ("", [], (), {}):
        part = {key: value for key, value in part.items() if key != "default"}
    kinds = [each for each in part.get("anyOf", ()) if each != {"type": "null"}]
    if len(kinds) != 1 or part.get("default", part) is not None:
        return part
    said = [each["description"] for each in (part, kinds[0]) if "description" in each]
    return {**kinds[0], **({"description": "; ".join(said)} if said else {})}
