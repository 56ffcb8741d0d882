"""JavaScript and TypeScript: the names that patterns and parameters bind, and how each is reached from the value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from weft.code.readers.ecmascript_types import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_PATTERN_DEPTH: Final = 8
MAX_ASKED: Final = 8  # names in one condition
_IDENTIFIERS: Final = frozenset({"identifier", "shorthand_property_identifier_pattern"})


class Bound(NamedTuple):
    """A name in a pattern: the steps to it (`.a[0]`), what it is by default, whether it gathers what is left."""

    name: Node
    path: str
    default: Node | None = None
    gathers: bool = False


def names_in(pattern: Node, path: str = "", default: Node | None = None, depth: int = 0) -> Iterator[Bound]:
    """The names of a pattern, in order; of one that is nested very deep, those further out."""
    kind = pattern.type
    if kind in _IDENTIFIERS:
        yield Bound(pattern, path, default)
    elif depth > MAX_PATTERN_DEPTH:
        return
    elif kind in ("assignment_pattern", "object_assignment_pattern"):
        left, right = pattern.child_by_field_name("left"), pattern.child_by_field_name("right")
        if left is not None:
            own = f"{path}.{text_of(left)}" if left.type == "shorthand_property_identifier_pattern" else path
            yield from names_in(left, own, right, depth + 1)
    elif kind == "object_pattern":
        for each in pattern.named_children:
            yield from _part(each, path, depth)
    elif kind == "array_pattern":
        at = 0
        for each in pattern.children:  # places may be left empty
            at += each.type == ","
            if each.is_named:
                yield from names_in(each, f"{path}[{at}]", None, depth + 1)
    elif kind == "rest_pattern" and pattern.named_child_count:
        for bound in names_in(pattern.named_children[0], path, None, depth + 1):
            yield bound._replace(gathers=True)


def _part(part: Node, path: str, depth: int) -> Iterator[Bound]:
    """The names of one part of `{a, b: c, d = 1, ...rest}`."""
    if part.type == "shorthand_property_identifier_pattern":
        yield Bound(part, f"{path}.{text_of(part)}")
    elif part.type == "pair_pattern":
        key, inner = part.child_by_field_name("key"), part.child_by_field_name("value")
        if key is not None and inner is not None:
            yield from names_in(inner, f"{path}.{text_of(key)}", None, depth + 1)
    elif part.type in ("object_assignment_pattern", "rest_pattern"):
        yield from names_in(part, path, None, depth + 1)


def is_this(parameter: Node) -> bool:
    """Whether a parameter only states the type of `this`."""
    pattern = parameter.child_by_field_name("pattern")
    return pattern is not None and pattern.type == "this"


def name_of(parameter: Node) -> str:
    """The name of a parameter that is a name alone, with or without what it is by default."""
    left = parameter.child_by_field_name("left") if parameter.type == "assignment_pattern" else parameter
    return "" if left is None else text_of(left)


def passed_functions(call: Node) -> Iterator[tuple[Node, Node, int]]:
    """The functions that are written out among the arguments of a call, what is called, and their places."""
    arguments = call.child_by_field_name("arguments")
    called = call.child_by_field_name("function") or call.child_by_field_name("constructor")
    if arguments is None or called is None or arguments.type != "arguments":
        return
    for at, each in enumerate(child for child in arguments.named_children if child.type != "comment"):
        for option in each.named_children if each.type == "ternary_expression" else [each]:
            if option.type in ("arrow_function", "function_expression"):
                yield option, called, at


def asked_types(block: Node) -> list[tuple[Node, str]]:
    """The names that the condition before a block asks `instanceof` of, each with the class."""
    around = block.parent
    condition = (
        around.child_by_field_name("condition") if around is not None and around.type == "if_statement" else None
    )
    if around is None or condition is None or around.child_by_field_name("consequence") != block:
        return []
    found: list[tuple[Node, str]] = []
    waiting = [condition]
    while waiting and len(found) < MAX_ASKED:
        each = waiting.pop()
        left, right = each.child_by_field_name("left"), each.child_by_field_name("right")
        operator = each.child_by_field_name("operator")
        if each.type == "parenthesized_expression":
            waiting += each.named_children
        elif left is not None and right is not None and operator is not None:
            if operator.type == "&&":
                waiting += [left, right]
            elif operator.type == "instanceof" and left.type == "identifier" and _is_dotted(right):
                found.append((left, text_of(right)))
    return found


def _is_dotted(node: Node) -> bool:
    return text_of(node).replace(".", "").isidentifier()
