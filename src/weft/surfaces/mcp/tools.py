"""Tools from operations: name, description, schemas and hints are all derived."""

from __future__ import annotations

import inspect
import re
from typing import Any, Final

import msgspec
from mcp.types import Tool, ToolAnnotations

from weft.runtime.operation import Operation
from weft.runtime.priorities import TEXTS, priority_of
from weft.surfaces.mcp.answer import Envelope
from weft.surfaces.mcp.fitting import LOW
from weft.surfaces.mcp.profiles import ARGUMENT, SCHEMA, takes_profile
from weft.surfaces.render.commands import COMMAND, of_a_person, read_command
from weft.surfaces.toolsets import FIND_TOOL, Offer

_FLAG = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")
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
        title=title(operation),
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


def title(operation: Operation) -> str:
    """The name of a tool for people: `memory_checkout` is Memory checkout."""
    return operation.name.replace("_", " ").capitalize()


def description(operation: Operation, offered: Offer) -> str:
    """The description of a tool in a caller's words."""
    return _unwrap(in_tool_words(inspect.cleandoc(operation.description), operation, offered))


def in_tool_words(text: str, operation: Operation, offered: Offer) -> str:
    """Text of the command line in a tool caller's words: `--as-of` becomes `as_of`, `weft cite URI` becomes `cite`.

    Commands that this caller cannot call as tools are marked as the operator's.
    """

    def argument(match: re.Match[str]) -> str:
        name = match[1].replace("-", "_")
        return f"`{name}`" if name in operation.input.__struct_fields__ else match[0]

    def command(match: re.Match[str]) -> str:
        meant = read_command(match[1])
        if meant is None or meant.name not in offered.callable:
            return of_a_person(text, match.start(), match[1])
        if meant.asks_help and meant.name in offered.listed:
            return f"the input schema of `{meant.name}`"
        if meant.asks_help and offered.finds:
            return f"`{FIND_TOOL}` with tool={meant.name}"
        return str(meant)

    return _FLAG.sub(argument, COMMAND.sub(command, text))


def _unwrap(text: str) -> str:
    """Paragraphs without the line breaks of the source."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def input_schema(operation: Operation) -> Schema:
    """The schema of the arguments. One that may be null is optional, and shown as its type.

    Rare arguments and bounds are omitted to save every agent the tokens: `whole_input` has them all.
    """
    schema = whole_input(operation)
    told = {name: each for name, each in schema["properties"].items() if name not in operation.rare}
    schema["properties"] = _said_once(_unbounded(told))
    return schema if operation.rare else schema | {"additionalProperties": False}


def whole_input(operation: Operation) -> Schema:
    """The schema of every argument, with its bounds."""
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
    """Describes what several arguments have in common, such as the form of a time, at the first of them only."""
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
    """The envelope around the operation's output: its fields, and those of listed items, no deeper."""
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
    """Whether a field of every full answer is in every shortened one too."""
    name = path.rpartition(".")[2]
    if name in (*BESIDE, *LOW, *TEXTS) or path in operation.told:
        return False
    held: Schema | None = {} if any("object" in each.get("type", ()) for each in part.get("anyOf", (part,))) else None
    return priority_of(path, held, operation.priorities, is_first_list=is_first_list) == "required"


def _shallow(name: str, part: Schema, operation: Operation) -> Schema:
    """A field: of a list the required fields of its items, by type; of an object only its type."""
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
    """The values of an enumeration, else the type."""
    return part if set(part) <= {"type", "enum"} else _kind(part)


def _kind(part: Schema) -> Schema:
    """Its type; empty where it may be of any."""
    kinds = [each.get("type") for each in part.get("anyOf", (part,))]
    if not all(isinstance(each, str) for each in kinds):
        return {"type": part["type"]} if isinstance(part.get("type"), list) else {}
    return {"type": kinds[0] if len(kinds) == 1 else kinds}


def _to_read(part: Any) -> Any:
    """The schema of answers, shortened, since every caller has it in its context.

    Defaults are of no use to readers, and names are descriptive.
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
    """A schema without references: clients differ in their support for them. The types are not recursive."""
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
    """`anyOf` of a type and null as the type; the outer description, then the inner one.

    A default of nothing (false, empty text, empty list) is omitted.
    """
    if part.get("default") is False or part.get("default") in ("", [], (), {}):
        part = {key: value for key, value in part.items() if key != "default"}
    kinds = [each for each in part.get("anyOf", ()) if each != {"type": "null"}]
    if len(kinds) != 1 or part.get("default", part) is not None:
        return part
    said = [each["description"] for each in (part, kinds[0]) if "description" in each]
    return {**kinds[0], **({"description": "; ".join(said)} if said else {})}
