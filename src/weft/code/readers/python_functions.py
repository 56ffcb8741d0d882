"""Python: what a function's head and its `yield` say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.code.readers.python_chains import UNKNOWN, annotation_of, chain_of, text_of, values_of

if TYPE_CHECKING:
    from tree_sitter import Node


def parameter(raw: bytes, node: Node) -> list[tuple[str, str, bool]]:
    """The names of one parameter, each with what it holds."""
    sort = node.type
    if sort == "identifier":
        return [(text_of(raw, node), UNKNOWN, False)]
    if sort == "default_parameter":
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None or name.type != "identifier":
            return []
        return [(text_of(raw, name), chain, told) for chain, told in values_of(raw, value)]
    if sort in ("typed_parameter", "typed_default_parameter"):
        named, declared = node.named_child(0), node.child_by_field_name("type")
        if named is None or declared is None:
            return []
        told = annotation_of(raw, declared)
        if named.type == "identifier":
            return [(text_of(raw, named), told, True)]
        holder = f"dict[str, {told}]" if named.type == "dictionary_splat_pattern" else f"tuple[{told}, ...]"
        return [(text_of(raw, each), holder, True) for each in named.named_children if told]
    held = "dict()" if sort == "dictionary_splat_pattern" else "tuple()"
    return [(text_of(raw, each), held, False) for each in node.named_children if each.type == "identifier"]


def yielded(raw: bytes, node: Node) -> str:
    """What a generator gives: one of many, or what another gives."""
    value = node.named_child(0) if node.named_child_count else None
    if value is None:
        return UNKNOWN
    chain = chain_of(raw, value)
    return chain if chain == UNKNOWN or raw[node.start_byte : value.start_byte].split()[1:] else f"[{chain}]"


def is_decorated(parameters: Node) -> bool:
    """Whether the function of these parameters has a decorator."""
    around = parameters.parent.parent if parameters.parent is not None else None
    return around is not None and around.type == "decorated_definition"
