"""Java expressions and types as chains.

Types are written without type arguments: `T`, `Outer.Inner`, `a.b.T`, `[]T` (arrays), `?` (unknown). The types of
variables and results keep their arguments, `Map<String,Row>`, since they determine element types. In chains, `T{}` is a
value of a named type: `new T()`, a cast, a literal. `name(_,_)` is a call with two arguments, which distinguishes
overloads; `name->` is the parameter of a function that is passed to such a call. `T$.name` is a name inside the body of
an anonymous class of T: a member of T, or its meaning outside of that class.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from weft.code.parse.readers.blocks import TypeParameters
from weft.code.parse.readers.syntax import (
    MAX_CHAIN_CHARACTERS,
    UNKNOWN,
    ChainRules,
    after,
    first_inside,
    member,
    text_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH: Final = 40  # of a type inside a type

_DOTTED: Final = re.compile(rb"[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*", re.ASCII)
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


def type_text(node: Node | None, parameters: TypeParameters, depth: int = 0) -> str:
    """A type in the notation of facts."""
    if node is None or depth > MAX_DEPTH:
        return UNKNOWN
    kind = node.type
    if kind in ("type_identifier", "identifier"):
        name = text_of(node)
        return parameters.get(name, name) if parameters else name
    if kind == "generic_type":
        return type_text(node.named_child(0), parameters, depth + 1)
    if kind in ("scoped_type_identifier", "scoped_identifier"):
        names = [each for each in node.named_children if each.type not in ("type_arguments", "marker_annotation")]
        return ".".join(type_text(each, {}, depth + 1) for each in names)
    if kind == "array_type":
        brackets = _array(node.child_by_field_name("dimensions"))
        return brackets + type_text(node.child_by_field_name("element"), parameters, depth + 1)
    if kind == "annotated_type":
        return type_text(node.named_child(node.named_child_count - 1), parameters, depth + 1)
    return text_of(node) if kind in _PRIMITIVES else UNKNOWN


def held_text(node: Node | None, parameters: TypeParameters, depth: int = 0) -> str:
    """The type of a variable or a result, with its arguments if one of them is known."""
    if node is None or depth > MAX_DEPTH:
        return UNKNOWN
    inner = node.named_children
    if node.type == "generic_type" and len(inner) > 1:
        given = [held_text(each, parameters, depth + 1) for each in inner[-1].named_children]
        bare = type_text(inner[0], parameters, depth + 1)
        is_known = any(each != UNKNOWN for each in given) and len(inner) == 2
        whole = f"{bare}<{','.join(given)}>" if is_known else bare
        return whole if len(whole) <= MAX_CHAIN_CHARACTERS else bare
    if node.type == "wildcard":  # `? extends Row` is one; `? super Row` may be anything
        return held_text(inner[-1], parameters, depth + 1) if len(inner) == 1 else UNKNOWN
    if node.type == "array_type":
        element = held_text(node.child_by_field_name("element"), parameters, depth + 1)
        return _array(node.child_by_field_name("dimensions")) + element
    return type_text(node, parameters, depth)


def _array(dimensions: Node | None) -> str:
    return "[]" * (dimensions.text or b"").count(b"[") if dimensions is not None else ""


def declared_text(written: Node | None, declarator: Node, parameters: TypeParameters) -> str:
    """The type of a variable; `int x[]` is an array, too."""
    return _array(declarator.child_by_field_name("dimensions")) + held_text(written, parameters)


def callee(node: Node) -> tuple[str, Node | None]:
    """The last step of a called name, and the receiver; without a receiver the name alone."""
    name, on = node.child_by_field_name("name"), node.child_by_field_name("object")
    written = text_of(name) if name is not None else UNKNOWN
    if on is None:
        return written, None
    above = any(each.type == "super" for each in node.named_children[1:3])  # Interface.super.method()
    return f".super.{written}" if above else f".{written}", on


def _call(node: Node, _: TypeParameters) -> tuple[str, Node | str | None]:
    arguments = node.child_by_field_name("arguments")
    count = sum("comment" not in each.type for each in arguments.named_children) if arguments is not None else 0
    step, on = callee(node)
    call = f"({','.join('_' * count)})"
    return (f"{step}{call}", on) if on is not None else (call, step)


def _either(node: Node, _: TypeParameters) -> tuple[str, Node | str | None]:
    first = node.child_by_field_name("consequence")
    is_null = first is None or first.type == "null_literal"
    return "", node.child_by_field_name("alternative") if is_null else first


def _operation(node: Node, _: TypeParameters) -> tuple[str, Node | str | None]:
    operator = node.child_by_field_name("operator")
    sign = operator.type if operator is not None else ""
    if node.type == "unary_expression":
        return "", "boolean{}" if sign == "!" else node.child_by_field_name("operand")
    if sign in _BOOLEAN:
        return "", "boolean{}"
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if sign == "+" and any(each is not None and each.type == "string_literal" for each in (left, right)):
        return "", "java.lang.String{}"
    if sign == "+" and left is not None and left.type == "binary_expression":
        return "", "java.lang.String{}" if _operation(left, _)[1] == "java.lang.String{}" else UNKNOWN
    return "", UNKNOWN


def _start(node: Node, parameters: TypeParameters) -> str:
    kind = node.type
    if kind in ("type_identifier", "this", "super"):
        return text_of(node)
    if kind in ("object_creation_expression", "cast_expression"):
        return type_text(node.child_by_field_name("type"), parameters) + "{}"
    if kind == "array_creation_expression":
        brackets = sum(_brackets(each) for each in node.children_by_field_name("dimensions"))
        return "[]" * brackets + type_text(node.child_by_field_name("type"), parameters) + "{}"
    if kind.endswith(("_integer_literal", "_floating_point_literal")):
        last = (node.text or b"")[-1:].lower()
        if "floating" in kind:
            return "float{}" if last == b"f" else "double{}"
        return "long{}" if last == b"l" else "int{}"
    return _LITERALS.get(kind, UNKNOWN)


def _brackets(node: Node) -> int:
    return 1 if node.type == "dimensions_expr" else (node.text or b"").count(b"[")


CHAINS: Final[ChainRules[TypeParameters]] = ChainRules(
    {
        "array_access": after("array", "[]"),
        "assignment_expression": after("left"),
        "binary_expression": _operation,
        "field_access": member("object", "field"),
        "method_invocation": _call,
        "parenthesized_expression": first_inside,
        "ternary_expression": _either,
        "unary_expression": _operation,
    },
    _start,
    dotted=("identifier", "field_access"),
    plain=_DOTTED,
)
