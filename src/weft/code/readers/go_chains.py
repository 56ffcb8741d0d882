"""Go's expressions and types, as chains.

Types are written without pointers and type arguments: `T`, `pkg.T`, `[]T` (slices, arrays), `[K]V` (maps, `iter.Seq2`),
`<-T` (channels, `iter.Seq`), `()R` (functions, with what they return; `()(R,error)` if it is more), `#9` (a struct
without a name, by where it stands: its fields are bound as `#9.field`), `?` (all others). In chains, `T{}` is a value
of a type that the source names (a literal, an assertion, `new`); `.1` is the second of the values that a call returns;
`[key]` is what `range` puts into its first variable, or what comes out of a channel.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_CHAIN_CHARACTERS: Final = 400  # what is longer is not followed
MAX_CHAIN_STEPS: Final = 200
MAX_DEPTH: Final = 40  # of a type inside a type
UNKNOWN: Final = "?"

Parameters = Mapping[str, str]  # type parameters in sight, and what bounds them

_DOTTED: Final = re.compile(rb"[^\W\d]\w*(?:\.[^\W\d]\w*)*", re.ASCII)
_NAMES: Final = frozenset({"identifier", "type_identifier", "field_identifier", "package_identifier"})
_LISTS: Final = frozenset({"slice_type", "array_type", "implicit_length_array_type"})
_TYPES: Final = frozenset(
    ["qualified_type", "pointer_type", "generic_type", "map_type", "channel_type", "function_type", *_LISTS]
)


def text_of(raw: bytes, node: Node) -> str:
    """What stands there."""
    return raw[node.start_byte : node.end_byte].decode(errors="replace")


def type_text(raw: bytes, node: Node | None, parameters: Parameters, depth: int = 0) -> str:
    """A type as it is written in facts."""
    if node is None or depth > MAX_DEPTH:
        return UNKNOWN
    kind = node.type
    if kind in _NAMES:
        name = text_of(raw, node)
        return parameters.get(name, name) if parameters else name
    if kind == "qualified_type":
        return "".join(text_of(raw, node).split())
    if kind in ("pointer_type", "parenthesized_type", "type_elem"):
        inner = node.named_child(0) if node.named_child_count == 1 else None
        return type_text(raw, inner, parameters, depth + 1)
    if kind == "generic_type":
        return _generic(raw, node, parameters, depth)
    if kind in _LISTS:
        return "[]" + type_text(raw, node.child_by_field_name("element"), parameters, depth + 1)
    if kind == "map_type":
        key = type_text(raw, node.child_by_field_name("key"), parameters, depth + 1)
        value = type_text(raw, node.child_by_field_name("value"), parameters, depth + 1)
        return f"[{UNKNOWN if '[' in key else key}]{value}"
    if kind == "channel_type":
        return "<-" + type_text(raw, node.child_by_field_name("value"), parameters, depth + 1)
    if kind == "function_type":
        return function_text(raw, node, parameters, depth + 1)
    if kind == "interface_type" and not node.named_child_count:
        return "any"
    return f"#{node.start_byte}" if kind == "struct_type" else UNKNOWN


def _generic(raw: bytes, node: Node, parameters: Parameters, depth: int) -> str:
    """A type without its arguments. What `range` takes from an iterator, it takes as from a channel or a map."""
    name = type_text(raw, node.child_by_field_name("type"), parameters, depth + 1)
    if name not in ("iter.Seq", "iter.Seq2"):
        return name
    listed = node.child_by_field_name("type_arguments")
    held = [type_text(raw, each, parameters, depth + 1) for each in listed.named_children] if listed is not None else []
    if len(held) == 2:
        return f"[{UNKNOWN if '[' in held[0] else held[0]}]{held[1]}"
    return f"<-{held[0]}" if held else UNKNOWN


def function_text(raw: bytes, node: Node, parameters: Parameters, depth: int = 0) -> str:
    """The type of a function, by what it returns."""
    results = results_text(raw, node, parameters, depth)
    return f"()({results})" if "," in results else f"(){results}"


def results_text(raw: bytes, node: Node, parameters: Parameters, depth: int = 0) -> str:
    """What a function returns, joined by commas; nothing if it returns nothing."""
    result = node.child_by_field_name("result")
    if result is None:
        return ""
    if result.type != "parameter_list":
        return type_text(raw, result, parameters, depth)
    return ",".join(listed_types(raw, result, parameters, depth))


def listed_types(raw: bytes, listed: Node, parameters: Parameters, depth: int = 0) -> list[str]:
    """The type of each parameter, or result, of a list."""
    found: list[str] = []
    for each in listed.named_children:
        if each.type not in ("parameter_declaration", "variadic_parameter_declaration"):
            continue
        written = type_text(raw, each.child_by_field_name("type"), parameters, depth)
        if each.type == "variadic_parameter_declaration":
            written = f"[]{written}"
        found += [written] * max(len(each.children_by_field_name("name")), 1)
    return found


def chain_of(raw: bytes, node: Node | None, parameters: Parameters) -> str:
    """An expression as a chain."""
    ends: list[str] = []
    start = UNKNOWN
    for _ in range(MAX_CHAIN_STEPS):
        if node is None:
            break
        if node.type in ("identifier", "selector_expression"):
            written = raw[node.start_byte : node.end_byte]
            if _DOTTED.fullmatch(written):
                start = written.decode()
                break
        if node.type in _NAMES:
            start = text_of(raw, node)
            break
        step = _step(raw, node, parameters, ends)
        if isinstance(step, str):
            start = step
            break
        node = step
    else:
        return UNKNOWN
    chain = start + "".join(reversed(ends))
    return chain if len(chain) <= MAX_CHAIN_CHARACTERS else UNKNOWN


def _step(raw: bytes, node: Node, parameters: Parameters, ends: list[str]) -> Node | str | None:
    """The expression inside, with what is put after it in `ends`; or what the chain begins with."""
    kind = node.type
    if kind == "selector_expression":
        field = node.child_by_field_name("field")
        ends.append(f".{text_of(raw, field)}" if field is not None else f".{UNKNOWN}")
        return node.child_by_field_name("operand")
    if kind == "call_expression":
        return _call(raw, node, parameters, ends)
    if kind == "index_expression":
        ends.append("[]")
        return node.child_by_field_name("operand")
    if kind in ("slice_expression", "unary_expression"):
        operator = node.child(0)
        if kind == "unary_expression" and operator is not None and operator.type not in ("&", "*"):
            if operator.type != "<-":
                return UNKNOWN
            ends.append("[key]")
        return node.child_by_field_name("operand")
    if kind == "parenthesized_expression":
        return node.named_child(0)
    if kind in ("composite_literal", "type_assertion_expression"):
        return type_text(raw, node.child_by_field_name("type"), parameters) + "{}"
    if kind == "type_conversion_expression":
        return converted(raw, node, parameters)
    if kind == "func_literal":
        return function_text(raw, node, parameters) + "{}"
    return type_text(raw, node, parameters) if kind in _TYPES else UNKNOWN


def converted(raw: bytes, node: Node, parameters: Parameters) -> str:
    """`F[int](x)` may be a call; `[]byte(x)` is a value of its type."""
    written = node.child_by_field_name("type")
    return type_text(raw, written, parameters) + (
        "()" if written is not None and written.type == "generic_type" else "{}"
    )


def _call(raw: bytes, node: Node, parameters: Parameters, ends: list[str]) -> Node | str | None:
    function = node.child_by_field_name("function")
    if function is not None and function.type == "identifier":
        name = raw[function.start_byte : function.end_byte]
        if name in (b"new", b"make", b"append"):
            arguments = node.child_by_field_name("arguments")
            first = arguments.named_child(0) if arguments is not None and arguments.named_child_count else None
            return first if name == b"append" else type_text(raw, first, parameters) + "{}"
    ends.append("()")
    return function
