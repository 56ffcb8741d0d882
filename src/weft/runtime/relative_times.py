"""Resolve relative times among the arguments of a call: "yesterday" becomes a date before anything else reads it."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.core.clock import parse_instant, to_iso
from weft.core.errors import Invalid
from weft.runtime.fields import POINT_IN_TIME


def with_resolved_times(made: Struct, now_us: int) -> Struct:
    """The input with each relative time as ISO 8601. What names no time is left for the operation to refuse."""
    resolved = {}
    for name in _time_fields(type(made)):
        written = getattr(made, name)
        if isinstance(written, str) and (iso := _resolved(written, now_us)) is not None:
            resolved[name] = iso
    return replace(made, **resolved) if resolved else made


def _resolved(written: str, now_us: int) -> str | None:
    try:
        parse_instant(written)
    except Invalid:
        from weft.text.extract.time.relative import read_relative

        found = read_relative(written, now_us)
        return None if found is None else to_iso(found)
    return None


@cache
def _time_fields(taken: type[Struct]) -> tuple[str, ...]:
    hints = get_type_hints(taken, include_extras=True)
    return tuple(name for name, hint in hints.items() if _is_time(hint))


def _is_time(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        inner, *metas = get_args(hint)
        if any(isinstance(meta, Meta) and (meta.extra or {}).get(POINT_IN_TIME) for meta in metas):
            return True
        return _is_time(inner)
    return any(_is_time(each) for each in get_args(hint))
