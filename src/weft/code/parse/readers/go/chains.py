"""Go expressions and types as chains.

Types are written without pointers and type arguments: `T`, `pkg.T`, `[]T` (slice, array), `[K]V` (map, `iter.Seq2`),
`<-T` (channel, `iter.Seq`), `()R` (function with result R; `()(R,error)` for several results), `#9` (anonymous struct
at byte 9; its fields are bound as `#9.field`), `?` (any other type). In chains, `T{}` is a value of a named type
(literal, assertion, `new`); `.1` is the second result of a call; `[key]` is the first variable of a `range`, or a value
received from a channel.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from weft.code.parse.readers.blocks import TypeParameters
from weft.code.parse.readers.syntax import UNKNOWN, ChainRules, after, compact, first_inside, member, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH: Final = 40  # of a type inside a type

_DOTTED: Final = re.compile(rb"[^\W\d]\w*(?:\.[^\W\d]\w*)*", re.ASCII)
_NAMES: Final = frozenset({"identifier", "type_identifier", "field_identifier", "package_identifier"})
_LISTS: Final = frozenset({"slice_type", "array_type", "implicit_length_array_type"})
_TYPES: Final = frozenset(
    ["qualified_type", "pointer_type", "generic_type", "map_type", "channel_type", "function_type", *_LISTS]
)


def type_text(node: Node | None, parameters: TypeParameters, depth: int = 0) -> str:
    """A type in the notation of facts."""
    if node is None or depth > MAX_DEPTH:
        return UNKNOWN
    kind = node.type
    if kind in _NAMES:
        name = text_of(node)
        return parameters.get(name, name) if parameters else name
    if kind == "qualified_type":
        return compact(node)
    if kind in ("pointer_type", "parenthesized_type", "type_elem"):
        inner = node.named_child(0) if node.named_child_count == 1 else None
        return type_text(inner, parameters, depth + 1)
    if kind == "generic_type":
        return _generic(node, parameters, depth)
    if kind in _LISTS:
        return "[]" + type_text(node.child_by_field_name("element"), parameters, depth + 1)
    if kind == "map_type":
        key = type_text(node.child_by_field_name("key"), parameters, depth + 1)
        value = type_text(node.child_by_field_name("value"), parameters, depth + 1)
        return f"[{UNKNOWN if '[' in key else key}]{value}"
    if kind == "channel_type":
        return "<-" + type_text(node.child_by_field_name("value"), parameters, depth + 1)
    if kind == "function_type":
        return function_text(node, parameters, depth + 1)
    if kind == "interface_type" and not node.named_child_count:
        return "any"
    return f"#{node.start_byte}" if kind == "struct_type" else UNKNOWN


def _generic(node: Node, parameters: TypeParameters, depth: int) -> str:
    """A type without its arguments. `range` over an iterator is written as over a channel or a map."""
    name = type_text(node.child_by_field_name("type"), parameters, depth + 1)
    if name not in ("iter.Seq", "iter.Seq2"):
        return name
    listed = node.child_by_field_name("type_arguments")
    held = [type_text(each, parameters, depth + 1) for each in listed.named_children] if listed is not None else []
    if len(held) == 2:
        return f"[{UNKNOWN if '[' in held[0] else held[0]}]{held[1]}"
    return f"<-{held[0]}" if held else UNKNOWN


def function_text(node: Node, parameters: TypeParameters, depth: int = 0) -> str:
    """The type of a function, by its results."""
    results = results_text(node, parameters, depth)
    return f"()({results})" if "," in results else f"(){results}"


def results_text(node: Node, parameters: TypeParameters, depth: int = 0) -> str:
    """The results of a function, joined by commas; empty without any."""
    result = node.child_by_field_name("result")
    if result is None:
        return ""
    if result.type != "parameter_list":
        return type_text(result, parameters, depth)
    return ",".join(listed_types(result, parameters, depth))


def listed_types(listed: Node, parameters: TypeParameters, depth: int = 0) -> list[str]:
    """The type of each parameter, or result, of a list."""
    found: list[str] = []
    for each in listed.named_children:
        if each.type not in ("parameter_declaration", "variadic_parameter_declaration"):
            continue
        written = type_text(each.child_by_field_name("type"), parameters, depth)
        if each.type == "variadic_parameter_declaration":
            written = f"[]{written}"
        found += [written] * max(len(each.children_by_field_name("name")), 1)
    return found


def converted(node: Node, parameters: TypeParameters) -> str:
    """`F[int](x)` may be a call; `[]byte(x)` is a value of its type."""
    written = node.child_by_field_name("type")
    is_generic = written is not None and written.type == "generic_type"
    return type_text(written, parameters) + ("()" if is_generic else "{}")


def _unary(node: Node, _: TypeParameters) -> tuple[str, Node | str | None]:
    operator = node.child(0)
    sign = operator.type if operator is not None else "&"
    if sign not in ("&", "*", "<-"):
        return "", UNKNOWN
    return "[key]" if sign == "<-" else "", node.child_by_field_name("operand")


def _call(node: Node, parameters: TypeParameters) -> tuple[str, Node | str | None]:
    function = node.child_by_field_name("function")
    if function is not None and function.type == "identifier" and function.text in (b"new", b"make", b"append"):
        arguments = node.child_by_field_name("arguments")
        first = arguments.named_child(0) if arguments is not None and arguments.named_child_count else None
        return "", first if function.text == b"append" else type_text(first, parameters) + "{}"
    return "()", function


def _start(node: Node, parameters: TypeParameters) -> str:
    kind = node.type
    if kind in _NAMES:
        return text_of(node)
    if kind in ("composite_literal", "type_assertion_expression"):
        return type_text(node.child_by_field_name("type"), parameters) + "{}"
    if kind == "type_conversion_expression":
        return converted(node, parameters)
    if kind == "func_literal":
        return function_text(node, parameters) + "{}"
    return type_text(node, parameters) if kind in _TYPES else UNKNOWN


CHAINS: Final[ChainRules[TypeParameters]] = ChainRules(
    {
        "call_expression": _call,
        "index_expression": after("operand", "[]"),
        "parenthesized_expression": first_inside,
        "selector_expression": member("operand", "field"),
        "slice_expression": after("operand"),
        "unary_expression": _unary,
    },
    _start,
    dotted=("identifier", "selector_expression"),
    plain=_DOTTED,
)
