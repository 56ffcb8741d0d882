"""Operations as methods. Signatures are in `methods.pyi`, which `make reference` writes from the registry."""

from __future__ import annotations

import functools
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from weft.operations import operation
from weft.runtime.operation import Operation
from weft.runtime.operation_index import read_index


class OperationMethods:
    """Each operation as a method of its name: positional arguments as on the command line, then the required ones."""

    def __getattr__(self, name: str) -> Any:
        line = read_index().get(name)
        if line is None or line.toolset == "bench":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute or operation {name!r}")
        called = operation(name)
        method = functools.partial(self._call_method, called)
        method.__doc__ = called.description
        return method

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(line.name for line in read_index().values() if line.toolset != "bench")]

    def _call_method(self, called: Operation, /, *values: Any, **named: Any) -> Struct:
        names = _positional(called.name)
        if len(values) > len(names) or not named.keys().isdisjoint(names[: len(values)]):
            raise TypeError(f"{called.name}() takes {', '.join(names) or 'no arguments'} by position, each once")
        given = dict(zip(names, values, strict=False)) | named
        return self.run(called, plain(given))  # type: ignore[attr-defined, no-any-return]  # of Memory


def plain(value: Any) -> Any:
    """Paths, dates and times as the text that operations take, inside lists and dictionaries, too."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, Path) else value


@functools.cache
def _positional(name: str) -> tuple[str, ...]:
    return positional(operation(name))


def positional(called: Operation) -> tuple[str, ...]:
    """The arguments that may be given by position, in order: no required one after an optional one."""
    required = [field.name for field in msgspec.structs.fields(called.input) if field.required]
    if not set(called.arguments) <= set(required):
        return called.arguments
    return tuple(dict.fromkeys((*called.arguments, *required)))
