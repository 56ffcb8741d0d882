"""Rust: the names that a function binds, where each of them can be seen, and what it holds.

A name that is bound again in the same function is called `name~2`: chains name exactly one of them.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from weft.code.readers.rust_types import inner, text_of, type_text

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_PATTERN_DEPTH: Final = 16
MAX_LOOKED_AT: Final = 100  # of the locals of one name in one function
_HELD: Final = {"Some": "?", "Ok": "?", "Err": "!", "Option::Some": "?", "Result::Ok": "?", "Result::Err": "!"}
_SEEN_THROUGH: Final = frozenset({"ref_pattern", "mut_pattern", "reference_pattern"})


class Local(Struct):
    """A name, seen from byte `start` to `end`. What it holds: `source` (a node or a chain), then `steps` from there."""

    owner: int
    name: str
    start: int
    end: int
    row: int
    source: Node | str
    steps: str = ""


class Locals:
    """All names that the functions of a file bind: first all are added, then they are looked up."""

    def __init__(self) -> None:
        self._by_name: dict[tuple[int, str], list[Local]] = {}
        self._starts: dict[tuple[int, str], list[int]] = {}
        self.all: list[Local] = []

    def add(self, local: Local) -> None:
        """Binds a name."""
        known = self._by_name.setdefault((local.owner, local.name), [])
        known.append(local)
        self.all.append(local)
        if len(known) > 1:
            local.name = f"{local.name}~{len(known)}"

    def name_at(self, owner: int, name: str, byte: int) -> str | None:
        """What the name is called that is seen at a byte: the last one bound before it; None if no local is."""
        known = self._by_name.get((owner, name))
        if known is None:
            return None
        starts = self._starts.get((owner, name))
        if starts is None:
            known.sort(key=lambda each: each.start)
            starts = self._starts[owner, name] = [each.start for each in known]
        last = bisect_right(starts, byte)
        for each in reversed(known[max(last - MAX_LOOKED_AT, 0) : last]):
            if byte < each.end:
                return each.name
        return None

    def is_known(self, owner: int, name: str) -> bool:
        """Whether some local of the function has the name."""
        return (owner, name) in self._by_name


class Scope(Struct, frozen=True):
    """Where a pattern's names are seen, and whose they are."""

    owner: int
    start: int
    end: int


def bind(into: Locals, scope: Scope, pattern: Node | None, source: Node | str, steps: str = "", depth: int = 0) -> None:
    """Binds all names of a pattern to the parts of what is matched."""
    if pattern is None or depth > MAX_PATTERN_DEPTH:
        return
    kind = pattern.type
    if kind in ("identifier", "shorthand_field_identifier"):
        name = text_of(pattern)
        if not name[:1].isupper():  # a constant or a variant otherwise
            row = pattern.start_point[0]
            into.add(Local(scope.owner, name, scope.start, scope.end, row, source, steps))
        return
    if kind in _SEEN_THROUGH or kind == "match_pattern":
        bind(into, scope, _inner(pattern), source, steps, depth + 1)
    elif kind == "captured_pattern":
        for each in pattern.named_children:
            bind(into, scope, each, source, steps, depth + 1)
    elif kind == "tuple_pattern" and (elements := _elements(source, pattern)) and not steps:
        for each, element in zip(_parts(pattern), elements, strict=True):
            bind(into, scope, each, element, "", depth + 1)
    elif kind in ("tuple_pattern", "slice_pattern"):
        for place, each in enumerate(_parts(pattern)):
            part = f".{place}" if kind == "tuple_pattern" else "[]"
            bind(into, scope, each, source, steps + part, depth + 1)
    elif kind == "or_pattern":
        bind(into, scope, inner(pattern), source, steps, depth + 1)
    elif kind == "tuple_struct_pattern":
        _bind_tuple_struct(into, scope, pattern, source, steps, depth)
    elif kind == "struct_pattern":
        _bind_fields(into, scope, pattern, source, steps, depth)


def _bind_tuple_struct(into: Locals, scope: Scope, pattern: Node, source: Node | str, steps: str, depth: int) -> None:
    head = pattern.child_by_field_name("type")
    if head is None:
        return
    path = type_text(head)
    parts = [each for each in _parts(pattern) if each.start_byte >= head.end_byte]
    for place, each in enumerate(parts):
        step = _HELD.get(path) or f"{{{path}}}.{place}"
        bind(into, scope, each, source, steps + step, depth + 1)


def _bind_fields(into: Locals, scope: Scope, pattern: Node, source: Node | str, steps: str, depth: int) -> None:
    path = type_text(pattern.child_by_field_name("type"))
    for each in pattern.named_children:
        if each.type != "field_pattern":
            continue
        name = each.child_by_field_name("name")
        if name is not None:
            target = each.child_by_field_name("pattern") or name
            bind(into, scope, target, source, f"{steps}{{{path}}}.{text_of(name)}", depth + 1)


def _elements(source: Node | str, pattern: Node) -> list[Node]:
    """The elements of a tuple that is written out, one for each part of a pattern; none if it is another thing."""
    if isinstance(source, str) or source.type != "tuple_expression":
        return []
    found = [each for each in source.named_children if each.type not in ("line_comment", "block_comment")]
    return found if len(found) == len(_parts(pattern)) else []


def _inner(pattern: Node) -> Node | None:
    return next((each for each in pattern.named_children if each.type != "mutable_specifier"), None)


def _parts(pattern: Node) -> list[Node]:
    """The parts of a tuple's pattern by place: `_` is one, although it has no name."""
    return [each for each in pattern.children if each.is_named or each.type == "_"]
