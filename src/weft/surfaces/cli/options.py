"""Click parameters from an operation's input type."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_origin

import click
import msgspec
from msgspec import Meta, Struct

from weft.core.errors import Invalid
from weft.runtime.operation import Operation
from weft.surfaces.cli.commands import READ_FROM_INPUT

KEY_VALUE = "KEY=VALUE"
SENTENCES = frozenset(  # lists of which each is a sentence or more; others are lists of names
    {"alternatives", "asked", "decided", "done", "examples", "history", "in_progress", "learned", "turns"}
)
PATHS = frozenset({"path", "more"})  # arguments that name files


def parameters(operation: Operation) -> list[click.Parameter]:
    """Arguments in the order the operation names them, then options, each with its help."""
    hints = typing.get_type_hints(operation.input, include_extras=True)
    fields = {field.name: field for field in msgspec.structs.fields(operation.input)}
    found: list[click.Parameter] = []
    for name in operation.arguments:
        required = fields[name].required
        several = get_origin(_unwrap(hints[name])[0]) is tuple  # takes all the words that are left
        metavar = f"[{name.upper()}]..." if several else name.upper() if required else f"[{name.upper()}]"
        kind = click.Path() if name in PATHS else str
        completing = _completion_of(hints[name])
        found.append(
            click.Argument(
                [name],
                required=required,
                type=kind,
                nargs=-1 if several else 1,
                metavar=metavar,
                shell_complete=completing,
            )
        )
    found.extend(_option(name, hints[name], field) for name, field in fields.items() if name not in operation.arguments)
    return found


def argument_lines(operation: Operation) -> list[tuple[str, str]]:
    """Descriptions of the arguments for the help page: click itself only names them."""
    hints = typing.get_type_hints(operation.input, include_extras=True)
    lines = []
    for name in operation.arguments:
        described = _described(hints[name])
        more = "; - reads standard input" if name in READ_FROM_INPUT and described else ""
        lines += [(name.upper(), f"{described}{more}")] if described else []
    return lines


def _described(hint: Any) -> str:
    plain, description, _ = _unwrap(hint)
    return description or " or ".join(_words(plain))


def _words(plain: Any) -> tuple[str, ...]:
    return tuple(map(str, get_args(plain))) if get_origin(plain) is typing.Literal else ()


def _completion_of(hint: Any) -> Callable[[click.Context, click.Parameter, str], list[Any]] | None:
    """Completion of an argument with a fixed set of values. The operation refuses other values."""
    words = _words(_unwrap(hint)[0])
    return (lambda _ctx, _param, begun: [word for word in words if word.startswith(begun)]) if words else None


def _option(name: str, hint: Any, field: msgspec.structs.FieldInfo) -> click.Option:
    plain, description, bounds = _unwrap(hint)
    flag = "--" + name.replace("_", "-")
    if field.default not in (None, (), "", False, msgspec.NODEFAULT, msgspec.UNSET):
        description += f" [default: {field.default}]"
    common: dict[str, Any] = {"help": description, "default": None, "required": field.required}
    if plain is bool and field.default is True:
        return click.Option([f"{flag}/--no-{flag[2:]}"], **common)
    if plain is bool:
        return click.Option([flag], is_flag=True, **common)
    if _of_structs(plain):
        return click.Option([flag], type=str, metavar="JSON", **common)
    if get_origin(plain) is tuple:
        metavar = "TEXT" if name in SENTENCES else "NAME"
        return click.Option([flag], multiple=True, type=str, metavar=metavar, help=description, default=())
    if get_origin(plain) is dict:
        return click.Option([flag], multiple=True, type=str, metavar=KEY_VALUE, help=description, default=())
    if get_origin(plain) is typing.Literal:
        return click.Option([flag], type=click.Choice([str(choice) for choice in get_args(plain)]), **common)
    if plain is int:
        return click.Option([flag], type=_WholeNumber(bounds.get("ge"), bounds.get("le")), **common)
    if plain is float:
        return click.Option([flag], type=_Number(bounds.get("ge"), bounds.get("le")), **common)
    return click.Option([flag], type=str, **common)


class _WholeNumber(click.IntRange):
    name = "number"


class _Number(click.FloatRange):
    name = "number"


def _unwrap(hint: Any) -> tuple[Any, str, dict[str, Any]]:
    """The bare type under Annotated and Optional, with the innermost bounds and the outermost description."""
    description = ""
    bounds: dict[str, Any] = {}
    while True:
        if get_origin(hint) is typing.Annotated:
            hint, *metas = get_args(hint)
            for meta in metas:
                if isinstance(meta, Meta):
                    description = description or (meta.description or "")
                    bounds |= {key: value for key in ("ge", "le") if (value := getattr(meta, key)) is not None}
        elif get_origin(hint) in (typing.Union, types.UnionType):
            present = [each for each in get_args(hint) if each is not type(None)]
            if len(present) != 1:
                return hint, description, bounds
            hint = present[0]
        else:
            return hint, description, bounds


def given_arguments(input_type: type[Struct], values: dict[str, Any]) -> dict[str, Any]:
    """The arguments that the caller set, in the operation's own types; unset options get the operation's defaults.

    A list that is given as one empty word is empty.
    """
    hints = typing.get_type_hints(input_type, include_extras=True)
    given: dict[str, Any] = {}
    for name, value in values.items():
        if value is None or value == ():
            continue
        plain, _, _ = _unwrap(hints[name])
        if _of_structs(plain):
            given[name] = _json(name, value, like="[{...}]")
        else:
            given[name] = _pairs(name, value) if get_origin(plain) is dict else () if value == ("",) else value
    return given


def _of_structs(plain: Any) -> bool:
    """Whether it is a list of structs, which one word cannot express."""
    of = _unwrap(get_args(plain)[0])[0] if get_origin(plain) is tuple else None
    return get_origin(of) is dict or (isinstance(of, type) and issubclass(of, Struct))


def _json(name: str, written: str, *, like: str) -> Any:
    """What is written as JSON, such as `like`, or in a file as `@path`."""
    flag = name.replace("_", "-")
    try:
        if written.startswith("@"):
            written = Path(written[1:]).expanduser().read_text(encoding="utf-8")
        return msgspec.json.decode(written)
    except msgspec.DecodeError as problem:
        hint = f"write --{flag} '{like}', on one line, or --{flag} @file.json"
        raise Invalid(f"--{flag} is not JSON: {problem}", hint=hint) from problem
    except (OSError, UnicodeDecodeError) as problem:
        raise Invalid(f"--{flag}: the file cannot be read: {problem!s:.200}", hint="name a file of JSON") from problem


def _pairs(name: str, written: tuple[str, ...]) -> dict[str, Any]:
    """KEY=VALUE pairs, a value that is JSON (a number, true, null) taken as such; or all of them as one JSON object."""
    found: dict[str, Any] = {}
    for pair in written:
        if pair.lstrip().startswith("{"):
            whole = _json(name, pair, like='{"name": "value"}')
            found |= whole if isinstance(whole, dict) else {}
            continue
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise Invalid(f"--{name} {pair!r} is not {KEY_VALUE}", hint=f"write --{name} colour=blue")
        try:
            found[key] = msgspec.json.decode(value)
        except msgspec.DecodeError:
            found[key] = value
    return found
