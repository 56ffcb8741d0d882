"""JavaScript and TypeScript: how a declared type is written in facts.

A name with dots (`Store`, `api.Store`), arguments (`Map<string,Store>`), `Array<Store>` for all lists, `[A,B]` for a
tuple, `(A,B)=>C` for a function, `{a:A,b:B}` for an object, `typeof a.b`, `this`, `A|B`; `?` for what names do not
show. A parameter of a generic function is written as what it extends, if it extends something.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_TYPE_CHARACTERS: Final = 300
_MAX_DEPTH: Final = 12
_MAX_PARTS: Final = 24
_NOTHING: Final = frozenset({"null", "undefined", "void", "never"})
_LISTS: Final = frozenset({"Array", "ReadonlyArray", "Iterable", "IterableIterator", "AsyncIterable", "ArrayLike"})
# Types that only wrap: what is inside has the same members.
_WRAPPERS: Final = frozenset({"Readonly", "Required", "Partial", "NonNullable", "Awaited", "Immutable", "DeepReadonly"})
_UNKNOWN: Final = "?"

Generic = Callable[[str, int], str | None]  # what a type parameter in force at a byte stands for; None: it is no such


def type_of(node: Node | None, generic: Generic) -> str:
    """A type (or its annotation) in the notation of facts; empty without one."""
    if node is None:
        return ""
    written = _type(node, generic, 0)
    return _UNKNOWN if len(written) > MAX_TYPE_CHARACTERS else written


def text_of(node: Node) -> str:
    """What a node's text is."""
    raw = node.text
    return raw.decode(errors="replace") if raw else ""


def _type(node: Node, generic: Generic, depth: int) -> str:
    if depth > _MAX_DEPTH:
        return _UNKNOWN
    kind = node.type
    if kind in ("type_identifier", "identifier"):
        name = text_of(node)
        stands_for = generic(name, node.start_byte)
        return name if stands_for is None else stands_for
    if kind in ("nested_type_identifier", "predefined_type", "this_type", "nested_identifier"):
        return "".join(text_of(node).split())
    if kind in ("literal_type", "template_literal_type"):
        return _literal(node)
    if kind == "generic_type":
        return _generic(node, generic, depth)
    if kind in ("union_type", "intersection_type"):
        return _several(node, generic, depth)
    if kind == "function_type":
        return _function(node, generic, depth)
    inner = [each for each in node.named_children if each.type != "comment"]
    if kind == "array_type":
        return f"Array<{_type(inner[0], generic, depth + 1)}>" if inner else _UNKNOWN
    if kind == "tuple_type":
        return f"[{','.join(_type(each, generic, depth + 1) for each in inner)}]"
    if kind == "type_query":
        return f"typeof {text_of(inner[0])}" if inner and inner[0].type in ("identifier", "member_expression") else "?"
    if kind in ("type_annotation", "parenthesized_type", "readonly_type", "optional_type", "rest_type") and inner:
        return _type(inner[-1], generic, depth + 1)
    if kind in ("type_predicate_annotation", "type_predicate", "asserts"):
        return "boolean"
    if kind == "conditional_type":
        either = [node.child_by_field_name("consequence"), node.child_by_field_name("alternative")]
        known = [each for part in either if part is not None and (each := _type(part, generic, depth + 1)) != _UNKNOWN]
        return "|".join(dict.fromkeys(known)) or _UNKNOWN
    if kind == "object_type":
        return _object(inner, generic, depth)
    return _UNKNOWN


def _literal(node: Node) -> str:
    inner = node.named_child(0) if node.named_child_count else None
    if inner is not None and inner.type in _NOTHING:
        return inner.type
    return "number" if inner is not None and inner.type == "number" else "string"


def _generic(node: Node, generic: Generic, depth: int) -> str:
    name, arguments = node.child_by_field_name("name"), node.child_by_field_name("type_arguments")
    if name is None or arguments is None:
        return _UNKNOWN
    own = _type(name, generic, depth + 1)
    parts = [_type(each, generic, depth + 1) for each in arguments.named_children if each.type != "comment"]
    if own in _WRAPPERS and parts:
        return parts[0]
    if own in _LISTS and parts:
        return f"Array<{parts[0]}>"
    return own if own == _UNKNOWN else f"{own}<{','.join(parts)}>"


def _several(node: Node, generic: Generic, depth: int) -> str:
    """The types of a union or an intersection that are something: a member of either is looked for in each."""
    waiting, found = [node], []
    while waiting:
        each = waiting.pop()
        if each.type == node.type:
            waiting.extend(reversed(each.named_children))
        elif each.type != "comment":
            found.append(each)
        if len(found) > _MAX_PARTS:
            return _UNKNOWN
    kinds = list(dict.fromkeys(_type(each, generic, depth + 1) for each in found))
    something = [each for each in kinds if each not in _NOTHING]
    return "|".join(something) if something else kinds[0] if kinds else _UNKNOWN


def _object(members: list[Node], generic: Generic, depth: int) -> str:
    parts = []
    for each in members[:_MAX_PARTS]:
        name, annotation = each.child_by_field_name("name"), each.child_by_field_name("type")
        if each.type == "property_signature" and name is not None and annotation is not None:
            parts.append(f"{text_of(name)}:{_type(annotation, generic, depth + 1)}")
    return "{" + ",".join(parts) + "}" if parts else _UNKNOWN


def _function(node: Node, generic: Generic, depth: int) -> str:
    parameters, returned = node.child_by_field_name("parameters"), node.child_by_field_name("return_type")
    parts = []
    for each in () if parameters is None else parameters.named_children:
        pattern = each.child_by_field_name("pattern")
        if pattern is None or pattern.type == "this":
            continue
        annotation = each.child_by_field_name("type")
        parts.append(_UNKNOWN if annotation is None else _type(annotation, generic, depth + 1))
    given = _UNKNOWN if returned is None else _type(returned, generic, depth + 1)
    return f"({','.join(parts)})=>{given}"
