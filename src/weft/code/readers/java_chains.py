"""Java's expressions and types, as chains.

Types are written without type arguments: `T`, `Outer.Inner`, `a.b.T`, `[]T` (arrays), `?` (what cannot be told). Those
of variables and of results have them, `Map<String,Row>`: they say what is taken out again. In chains, `T{}` is a value
of a type that the source names: `new T()`, a cast, a literal. `name(_,_)` is a call with two arguments: there may be
others by that name; `name->` is what a function gets that is passed to such a call. `T$.name` is a name inside the body
of an anonymous class of T: a member of T, or what it means outside of that class.
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

_DOTTED: Final = re.compile(rb"[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*", re.ASCII)
_PLAIN: Final = frozenset({"identifier", "type_identifier", "this", "super"})
_PRIMITIVES: Final = frozenset({"integral_type", "floating_point_type", "boolean_type", "void_type"})
_LITERALS: Final = {
    "character_literal": "char{}",
    "class_literal": "java.lang.Class{}",
    "false": "boolean{}",
    "instanceof_expression": "boolean{}",
    "lambda_expression": "->{}",
    "method_reference": "->{}",
    "null_literal": "null{}",
    "string_literal": "java.lang.String{}",
    "true": "boolean{}",
}
_BOOLEAN: Final = frozenset({"!=", "&&", "<", "<=", "==", ">", ">=", "||"})


def text_of(raw: bytes, node: Node) -> str:
    """What stands there."""
    return raw[node.start_byte : node.end_byte].decode(errors="replace")


def type_text(raw: bytes, node: Node | None, parameters: Parameters, depth: int = 0) -> str:
    """A type as it is written in facts."""
    if node is None or depth > MAX_DEPTH:
        return UNKNOWN
    kind = node.type
    if kind in ("type_identifier", "identifier"):
        name = text_of(raw, node)
        return parameters.get(name, name) if parameters else name
    if kind == "generic_type":
        return type_text(raw, node.named_child(0), parameters, depth + 1)
    if kind in ("scoped_type_identifier", "scoped_identifier"):
        names = [each for each in node.named_children if each.type not in ("type_arguments", "marker_annotation")]
        return ".".join(type_text(raw, each, {}, depth + 1) for each in names)
    if kind == "array_type":
        dimensions = node.child_by_field_name("dimensions")
        return _array(raw, dimensions) + type_text(raw, node.child_by_field_name("element"), parameters, depth + 1)
    if kind == "annotated_type":
        return type_text(raw, node.named_child(node.named_child_count - 1), parameters, depth + 1)
    return text_of(raw, node) if kind in _PRIMITIVES else UNKNOWN


def held_text(raw: bytes, node: Node | None, parameters: Parameters, depth: int = 0) -> str:
    """The type of a variable or a result, with its arguments as far as one of them is told."""
    if node is None or depth > MAX_DEPTH:
        return UNKNOWN
    inner = node.named_children
    if node.type == "generic_type" and len(inner) > 1:
        given = [held_text(raw, each, parameters, depth + 1) for each in inner[-1].named_children]
        bare = type_text(raw, inner[0], parameters, depth + 1)
        told = any(each != UNKNOWN for each in given) and len(inner) == 2
        whole = f"{bare}<{','.join(given)}>" if told else bare
        return whole if len(whole) <= MAX_CHAIN_CHARACTERS else bare
    if node.type == "wildcard":  # `? extends Row` is one; `? super Row` may be anything
        return held_text(raw, inner[-1], parameters, depth + 1) if len(inner) == 1 else UNKNOWN
    if node.type == "array_type":
        element = held_text(raw, node.child_by_field_name("element"), parameters, depth + 1)
        return _array(raw, node.child_by_field_name("dimensions")) + element
    return type_text(raw, node, parameters, depth)


def _array(raw: bytes, dimensions: Node | None) -> str:
    return "[]" * raw[dimensions.start_byte : dimensions.end_byte].count(b"[") if dimensions is not None else ""


def declared_text(raw: bytes, written: Node | None, declarator: Node, parameters: Parameters) -> str:
    """The type of a variable: `int x[]` is an array too."""
    return _array(raw, declarator.child_by_field_name("dimensions")) + held_text(raw, written, parameters)


def chain_of(raw: bytes, node: Node | None, parameters: Parameters) -> str:
    """An expression as a chain."""
    ends: list[str] = []
    start = UNKNOWN
    for _ in range(MAX_CHAIN_STEPS):
        if node is None:
            break
        if node.type in ("identifier", "field_access"):
            written = raw[node.start_byte : node.end_byte]
            if _DOTTED.fullmatch(written):
                start = written.decode()
                break
        if node.type in _PLAIN:
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
    if kind == "method_invocation":
        arguments = node.child_by_field_name("arguments")
        count = sum("comment" not in each.type for each in arguments.named_children) if arguments is not None else 0
        ends.append(f"({','.join('_' * count)})")
        return callee(raw, node, ends)
    if kind == "field_access":
        field = node.child_by_field_name("field")
        ends.append(f".{text_of(raw, field)}" if field is not None else f".{UNKNOWN}")
        return node.child_by_field_name("object")
    if kind == "array_access":
        ends.append("[]")
        return node.child_by_field_name("array")
    if kind == "parenthesized_expression":
        return node.named_child(0)
    if kind in ("object_creation_expression", "cast_expression"):
        return type_text(raw, node.child_by_field_name("type"), parameters) + "{}"
    if kind == "array_creation_expression":
        brackets = sum(_brackets(raw, each) for each in node.children_by_field_name("dimensions"))
        return "[]" * brackets + type_text(raw, node.child_by_field_name("type"), parameters) + "{}"
    if kind == "ternary_expression":
        first = node.child_by_field_name("consequence")
        return first if first is not None and first.type != "null_literal" else node.child_by_field_name("alternative")
    if kind == "assignment_expression":
        return node.child_by_field_name("left")
    if kind in ("binary_expression", "unary_expression"):
        return _operation(raw, node)
    if kind.endswith(("_integer_literal", "_floating_point_literal")):
        return _number(raw, node)
    return _LITERALS.get(kind, UNKNOWN)


def _number(raw: bytes, node: Node) -> str:
    last = raw[node.end_byte - 1 : node.end_byte].lower()
    if "floating" in node.type:
        return "float{}" if last == b"f" else "double{}"
    return "long{}" if last == b"l" else "int{}"


def _operation(raw: bytes, node: Node) -> Node | str | None:
    operator = node.child_by_field_name("operator")
    sign = operator.type if operator is not None else ""
    if node.type == "unary_expression":
        return "boolean{}" if sign == "!" else node.child_by_field_name("operand")
    if sign in _BOOLEAN:
        return "boolean{}"
    parts = (node.child_by_field_name("left"), node.child_by_field_name("right"))
    if sign == "+" and any(each is not None and each.type == "string_literal" for each in parts):
        return "java.lang.String{}"
    left = parts[0]
    if sign == "+" and left is not None and left.type == "binary_expression":
        return _operation(raw, left) if _operation(raw, left) == "java.lang.String{}" else UNKNOWN
    return UNKNOWN


def _brackets(raw: bytes, node: Node) -> int:
    return 1 if node.type == "dimensions_expr" else raw[node.start_byte : node.end_byte].count(b"[")


def callee(raw: bytes, node: Node, ends: list[str]) -> Node | str | None:
    """What is called: its name is put in `ends`; what it is called on comes back, or its whole chain."""
    name, on = node.child_by_field_name("name"), node.child_by_field_name("object")
    written = text_of(raw, name) if name is not None else UNKNOWN
    if on is None:
        return written
    above = any(each.type == "super" for each in node.named_children[1:3])  # Interface.super.method()
    ends.append(f".super.{written}" if above else f".{written}")
    return on
