"""Writes from the registry: docs/reference, the index of operations in the package, and the signatures of `Memory`.

    python docs/generate_reference.py

The index lets help and completion work without importing any operation. The tidy tests run `pages`, `index` and
`signatures` and compare.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import click
import msgspec

import weft.memory
from weft.memory.methods import positional
from weft.operations import MODULES, OPERATIONS
from weft.runtime.fields import POINT_IN_TIME
from weft.runtime.operation import Operation
from weft.runtime.operation_index import INDEX, Listed, read_index
from weft.runtime.settings.declared import SETTINGS
from weft.runtime.settings.load import load_settings
from weft.surfaces.bench import OPERATIONS as BENCHES
from weft.surfaces.cli.front_page import EXIT_CODES

COMMANDS = (*OPERATIONS, *BENCHES)
SIGNATURES = Path(weft.memory.__path__[0]) / "methods.pyi"
REFERENCE = Path(__file__).parent / "reference"
NOTICE = "<!-- Written by docs/generate_reference.py; edit the code, then run it again. -->\n"
EFFECTS = {"read": "reads", "write": "writes", "destructive": "destroys"}
HELP_COLUMNS = 100


def pages() -> dict[str, str]:
    """Each page's name and text."""
    return {"commands.md": _commands(), "operations.md": _operations(), "settings.md": _settings()}


def main() -> None:
    """Writes the index, then the pages, which show the help that is made of it."""
    INDEX.write_text(index(), encoding="utf-8")
    SIGNATURES.write_text(signatures(), encoding="utf-8")
    read_index.cache_clear()
    REFERENCE.mkdir(exist_ok=True)
    for name, text in pages().items():
        (REFERENCE / name).write_text(text, encoding="utf-8")


def index() -> str:
    """The index, as JSON: one operation a line."""
    homes = {
        operation.name: f"weft.{module}"
        for module in MODULES
        for operation in import_module(f"weft.{module}").OPERATIONS
    }
    rows = [_row(each, homes.get(each.name, each.run.__module__)) for each in COMMANDS]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def _row(operation: Operation, module: str) -> str:
    row = Listed(
        name=operation.name,
        module=module,
        effect=operation.effect,
        toolset=operation.toolset,
        reach=operation.reach,
        arguments=operation.arguments,
        summary=operation.summary,
    )
    return json.dumps(row._asdict(), ensure_ascii=False)


def signatures() -> str:
    """The stub of `OperationMethods`: every operation as a typed method."""
    modules = sorted({operation.output.__module__ for operation in OPERATIONS})
    return "\n".join(
        [
            "# Written by docs/generate_reference.py; edit the operations, then run `make reference`.",
            "from collections.abc import Sequence",
            "from datetime import date",
            "from pathlib import Path",
            "from typing import Any, Literal",
            "",
            *(f"import {module}" for module in modules),
            "from weft.runtime.operation import Operation",
            "",
            "def plain(value: Any) -> Any: ...",
            "def positional(called: Operation) -> tuple[str, ...]: ...",
            "",
            "class OperationMethods:",
            *map(_signature, OPERATIONS),
            "",
        ]
    )


def _signature(operation: Operation) -> str:
    fields = {field.name: field for field in msgspec.structs.fields(operation.input)}
    hints = typing.get_type_hints(operation.input, include_extras=True)
    first = positional(operation)
    rest = [name for name in fields if name not in first]
    taken = [*first, *(["*"] if rest else []), *rest]
    shown = ", ".join(each if each == "*" else f"{each}: {_hint(each, hints[each], fields[each])}" for each in taken)
    output = f"{operation.output.__module__}.{operation.output.__name__}"
    return (
        f"    def {operation.name}(self{', ' if shown else ''}{shown}) -> {output}:\n"
        f'        """{operation.summary[0].upper()}{operation.summary[1:]}."""\n'
    )


def _hint(name: str, hint: Any, field: msgspec.structs.FieldInfo) -> str:
    written = _annotation(hint) + (" | Path" if name == "path" else "")
    if field.required:
        return written
    simple = isinstance(field.default, str | int | float | None)
    return f"{written} = {field.default!r}" if simple else f"{written} = ..."


def _annotation(hint: Any) -> str:
    """A type as a caller writes it: any sequence for a tuple, a dict for a struct."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _annotation(inside[0]) + (" | date" if _is_moment(inside[1:]) else "")
    if hint is None or hint is type(None):
        return "None"
    if origin in (typing.Union, types.UnionType):
        return " | ".join(dict.fromkeys(map(_annotation, inside)))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, inside))}]"
    if origin in (tuple, list):
        return f"Sequence[{_annotation(inside[0])}]"
    if origin is dict:
        return f"dict[{', '.join(map(_annotation, inside))}]"
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return "dict[str, Any]"
    return "Any" if hint is Any else str(hint.__name__)


def _is_moment(metadata: tuple[Any, ...]) -> bool:
    return any(isinstance(each, msgspec.Meta) and (each.extra or {}).get(POINT_IN_TIME) for each in metadata)


def _commands() -> str:
    """The command line: its front page, its exit codes, and the commands that are no operations."""
    from weft.surfaces.cli.main import weft as root  # not before the index is written

    context = _context(root, None, "weft")
    codes = "".join(f"| {code} | {meaning} |\n" for code, meaning in EXIT_CODES.items())
    parts = [
        NOTICE,
        "# The command line\n",
        "Every operation is a command: see [operations](operations.md). With `--json` a command prints the answer"
        ' described there, and an error as `{"ok": false, "error_code": …, "error": …, "hint": …}`.'
        " `weft COMMAND --help` or `weft help COMMAND` says what one takes.\n",
        f"```text\n{root.get_help(context)}\n```\n",
        "## Exit codes\n",
        f"| code | meaning |\n|---|---|\n{codes}",
        "## Commands that are no operations\n",
        *_surface_commands(root, context, ("weft",)),
    ]
    return "\n".join(parts)


def _surface_commands(group: click.Group, context: click.Context, words: tuple[str, ...]) -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        path = (*words, name)
        inner = _context(command, context, name)
        yield f"### {' '.join(path)}\n\n```text\n{command.get_help(inner)}\n```\n"
        if isinstance(command, click.Group):
            yield from _surface_commands(command, inner, path)


def _context(command: click.Command, parent: click.Context | None, name: str) -> click.Context:
    return click.Context(
        command, parent=parent, info_name=name, terminal_width=HELP_COLUMNS, **command.context_settings
    )


def _operations() -> str:
    parts = [
        NOTICE,
        "# Operations\n",
        "Every operation is a command of `weft` and a method of `weft.Memory` ([Python](../python.md)). With"
        " `--json` a command prints the answer described here. See [the command line](commands.md) for exit codes and"
        " for commands that are no operations.\n",
        *map(_operation, COMMANDS),
        "## Values in answers\n",
        *_values(),
    ]
    return "\n".join(parts)


def _operation(operation: Operation) -> str:
    arguments = " ".join(name.upper() for name in operation.arguments)
    parts = [
        f"## {operation.name}\n",
        f"`{operation.command}{' ' + arguments if arguments else ''}` · {EFFECTS[operation.effect]}"
        f" · toolset {operation.toolset}\n",
        _prose(operation.description) + "\n",
    ]
    if rows := _fields(operation.input, optional=True):
        parts += ["| argument | type | default | meaning |\n|---|---|---|---|\n" + "".join(rows)]
    parts += ["| answer | type |\n|---|---|\n" + "".join(_fields(operation.output, optional=False))]
    return "\n".join(parts)


def _values() -> list[str]:
    """The types that answers are made of, by name."""
    outputs = {operation.output.__name__ for operation in COMMANDS}
    schemas = [msgspec.json.schema(operation.output)["$defs"] for operation in COMMANDS]
    named = {name: definitions for definitions in schemas for name in definitions if name not in outputs}
    parts = []
    for name, definitions in sorted(named.items()):
        body = definitions[name]
        rows = [f"| `{field}` | {_type(what, definitions)} |\n" for field, what in body.get("properties", {}).items()]
        if rows:
            parts.append(f"### {name}\n\n{body.get('description', '')}\n\n| field | type |\n|---|---|\n{''.join(rows)}")
    return parts


def _prose(docstring: str) -> str:
    paragraphs = docstring.split("\n\n")
    return "\n\n".join(" ".join(line.strip() for line in paragraph.splitlines()) for paragraph in paragraphs)


def _fields(struct: type[msgspec.Struct], *, optional: bool) -> list[str]:
    """Table rows of a type's fields, from its JSON schema."""
    schema = msgspec.json.schema(struct)
    definitions = schema["$defs"]
    body = definitions[schema["$ref"].rsplit("/", 1)[-1]]
    rows = []
    for name, field in body.get("properties", {}).items():
        cells = [f"`{name}`", _type(field, definitions)]
        if optional:
            default = "required" if name in body.get("required", ()) else _default(field.get("default"))
            cells += [default, _cell(_described(field))]
        rows.append(f"| {' | '.join(cells)} |\n")
    return rows


def _described(field: dict[str, Any]) -> str:
    inside = (each.get("description", "") for each in field.get("anyOf", ()))
    return field.get("description") or next((each for each in inside if each), "")


def _default(value: object) -> str:
    return "" if value in (None, (), [], {}, "", False) else f"`{value}`"


def _type(field: dict[str, Any], definitions: dict[str, Any]) -> str:
    """A schema in a few words."""
    if "anyOf" in field:
        kinds = [_type(each, definitions) for each in field["anyOf"] if each.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "$ref" in field:
        name = field["$ref"].rsplit("/", 1)[-1]
        return _type(definitions[name], definitions) if "enum" in definitions[name] else name
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"] if value is not None)
    kind = field.get("type", "anything")
    if kind == "array":
        return f"list of {_type(field.get('items') or {}, definitions)}"
    if kind == "object" and isinstance(field.get("additionalProperties"), dict):
        return f"{_type(field['additionalProperties'], definitions)} by name"
    bounds = [f"{sign} {field[key]}" for key, sign in (("minimum", "≥"), ("maximum", "≤")) if key in field]
    names = {"string": "text", "boolean": "flag", "integer": "integer", "number": "number", "null": "nothing"}
    return " ".join([names.get(kind, kind), *bounds])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _settings() -> str:
    example = Path("/home/you/ferry")
    held = load_settings(example, {"HOME": "/home/you"})
    rows = []
    for setting in SETTINGS:
        value = held.origins[setting.name].value
        default = f"`{shown}`" if (shown := _default(value)) else ""
        rows.append(f"| `{setting.name}` | `{setting.variable}` | {default} | {_cell(setting.summary)} |\n")
    return "\n".join(
        [
            NOTICE,
            "# Settings\n",
            "Later sources win: the built-in default, your own `~/.config/weft/weft.toml`, the project's `weft.toml`"
            " (which may set only `project`: it comes with whatever repository you cloned), the environment."
            " `weft config` shows each setting with its origin. An unknown setting in a file, a variable that is"
            " almost a setting, or a bad value stops the start with a line for each defect. Defaults are those of a"
            f" user `you` in `{example}`.\n",
            "| in `weft.toml` | in the environment | default | meaning |\n|---|---|---|---|\n" + "".join(rows),
        ]
    )


def _default(value: Any) -> str:
    """A setting's default as a file of settings has it; empty for one that is unset."""
    if isinstance(value, tuple):
        return ", ".join(value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    main()
