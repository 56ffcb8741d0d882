"""Rust types, paths and `use` trees as text, without lifetimes and references; generic parameters of definitions.

`Result<Self,Error>`, `Iterator<Item=Match>`, `Fn(Match)->bool`, `(A,B)`, `[u8]`, `Read+Send`, `<T as Source>::Item`;
`?` for any other type.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from weft.code.parse.readers.syntax import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_TYPE_DEPTH: Final = 12
MAX_TYPE_CHARACTERS: Final = 400
_NAMES: Final = frozenset(
    {"type_identifier", "primitive_type", "identifier", "self", "super", "crate", "metavariable", "field_identifier"}
)
_PATHS: Final = frozenset({"scoped_type_identifier", "scoped_identifier"})
_UNSEEN: Final = frozenset({"lifetime", "mutable_specifier", "line_comment", "block_comment"})


def inner(node: Node, place: int = 0) -> Node | None:
    """The named child at an index (-1 is the last), or None."""
    parts = node.named_children
    return parts[place] if -len(parts) <= place < len(parts) else None


def type_text(node: Node | None, depth: int = 0) -> str:
    """A type on one line, in the form above; empty without one."""
    if node is None:
        return ""
    made = _text(node, depth)
    return made if len(made) <= MAX_TYPE_CHARACTERS else "?"


def _text(node: Node, depth: int) -> str:
    if depth > MAX_TYPE_DEPTH:
        return "?"
    kind = node.type
    if kind in _NAMES:
        return text_of(node)
    if kind in _PATHS:
        path, name = node.child_by_field_name("path"), node.child_by_field_name("name")
        last = text_of(name) if name is not None else "?"
        return f"{_text(path, depth + 1)}::{last}" if path is not None else f"::{last}"
    if kind in ("generic_type", "generic_type_with_turbofish"):
        head = node.child_by_field_name("type")
        return (_text(head, depth + 1) if head is not None else "?") + arguments_text(node, depth)
    if kind in ("reference_type", "pointer_type"):
        return type_text(node.child_by_field_name("type"), depth + 1)
    if kind in ("dynamic_type", "abstract_type"):
        return type_text(node.child_by_field_name("trait"), depth + 1)
    if kind == "array_type":
        return f"[{type_text(node.child_by_field_name('element'), depth + 1)}]"
    if kind in ("bounded_type", "trait_bounds", "higher_ranked_trait_bound", "removed_trait_bound"):
        return bounds_text(node, depth)
    if kind == "tuple_type":
        return f"({','.join(_each(node, depth))})"
    if kind == "unit_type":
        return "()"
    if kind == "function_type":
        return _function_text(node, depth)
    if kind in ("bracketed_type", "qualified_type"):
        return _qualified_text(node, depth)
    return "?"


def _each(node: Node, depth: int) -> list[str]:
    return [_text(each, depth + 1) for each in node.named_children if each.type not in _UNSEEN]


def bounds_text(node: Node | None, depth: int = 0) -> str:
    """The bounds of a type, joined by `+`."""
    if node is None:
        return ""
    if node.type == "higher_ranked_trait_bound":
        return type_text(node.child_by_field_name("type"), depth + 1)
    return "+".join(each for each in _each(node, depth) if each != "?")


def arguments_text(node: Node, depth: int = 0) -> str:
    """`<A,Item=B>` of something generic; empty without."""
    given = node.child_by_field_name("type_arguments")
    if given is None:
        return ""
    parts = []
    for each in given.named_children:
        if each.type in _UNSEEN:
            continue
        if each.type == "type_binding":
            name = each.child_by_field_name("name")
            parts.append(f"{text_of(name) if name else '?'}={type_text(each.child_by_field_name('type'), depth + 1)}")
        else:
            parts.append(_text(each, depth + 1))
    return f"<{','.join(parts)}>" if parts else ""


def _function_text(node: Node, depth: int) -> str:
    head = node.child_by_field_name("trait")
    taken = node.child_by_field_name("parameters")
    parts = _each(taken, depth) if taken is not None else []
    returned = type_text(node.child_by_field_name("return_type"), depth + 1)
    return f"{text_of(head) if head else 'fn'}({','.join(parts)})" + (f"->{returned}" if returned else "")


def _qualified_text(node: Node, depth: int) -> str:
    held = inner(node) if node.type == "bracketed_type" else node
    if held is None:
        return "?"
    if held.type != "qualified_type":
        return f"<{_text(held, depth + 1)}>"
    kind, alias = held.child_by_field_name("type"), held.child_by_field_name("alias")
    return f"<{type_text(kind, depth + 1)} as {type_text(alias, depth + 1)}>"


def path_text(node: Node, depth: int = 0) -> str:
    """The path of a value: `Vec<Foo>::new`, `<T as Read>::read`, `parse<u8>`."""
    if node.type == "generic_function":
        function = node.child_by_field_name("function")
        return (path_text(function, depth + 1) if function is not None else "?") + arguments_text(node)
    return type_text(node, depth)


def generics_of(node: Node) -> list[tuple[str, str]]:
    """The type parameters of a definition with their bounds, in order; `where` clauses included."""
    bounds: dict[str, list[str]] = {}
    parameters = node.child_by_field_name("type_parameters")
    for each in parameters.named_children if parameters is not None else ():
        name = each.child_by_field_name("name")
        if name is not None and each.type == "type_parameter":
            bounds[text_of(name)] = [bounds_text(each.child_by_field_name("bounds"))]
    for clause in node.named_children:
        if clause.type != "where_clause":
            continue
        for each in clause.named_children:
            left = type_text(each.child_by_field_name("left")) if each.type == "where_predicate" else ""
            if left:
                bounds.setdefault(left, []).append(bounds_text(each.child_by_field_name("bounds")))
    return [(name, "+".join(each for each in found if each)) for name, found in bounds.items()]


MAX_USE_DEPTH: Final = 12
_ATTRIBUTE: Final = b"#[path"


def used_names(node: Node, around: str = "", depth: int = 0) -> Iterator[tuple[str, str, str]]:
    """The names that a `use` tree imports: (module, name, alias); the name `*` for all of a module."""
    if depth > MAX_USE_DEPTH:
        return
    kind = node.type
    if kind == "use_list":
        for each in node.named_children:
            yield from used_names(each, around, depth + 1)
    elif kind == "scoped_use_list":
        path, given = node.child_by_field_name("path"), node.child_by_field_name("list")
        below = _joined(around, type_text(path)) if path is not None else "::"
        if given is not None:
            yield from used_names(given, below, depth + 1)
    elif kind == "use_wildcard":
        path = inner(node)
        yield _joined(around, type_text(path)) if path is not None else around, "*", "*"
    elif kind == "use_as_clause":
        path, alias = node.child_by_field_name("path"), node.child_by_field_name("alias")
        if path is not None and alias is not None:
            yield *_split(around, path), text_of(alias)
    elif kind in ("identifier", "scoped_identifier", "self", "crate", "super", "metavariable"):
        module, name = _split(around, node)
        yield module, name, name


def _split(around: str, path: Node) -> tuple[str, str]:
    if path.type == "self" and around:  # `a::{self}` is `a`
        module, _, name = around.rpartition("::")
        return module, name
    module, _, name = _joined(around, type_text(path)).rpartition("::")
    return ("::" if not module and type_text(path).startswith("::") else module), name


def _joined(around: str, path: str) -> str:
    return f"{around}::{path}" if around and around != "::" else f"{around}{path}"


def attribute_path(raw: bytes, start: int) -> str:
    """The file that `#[path = "…"]` directly above a module names; empty without."""
    head = raw[max(start - 300, 0) : start].rstrip()
    opening = head.rfind(_ATTRIBUTE)
    if opening < 0 or b";" in head[opening:] or b"}" in head[opening:]:
        return ""
    return head[opening:].partition(b'"')[2].partition(b'"')[0].decode(errors="replace")
