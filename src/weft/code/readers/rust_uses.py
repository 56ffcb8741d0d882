"""Rust: `use` declarations as the names that they bring, and where `#[path]` says that a module is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from weft.code.readers.rust_types import inner, text_of, type_text

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_USE_DEPTH: Final = 12
_ATTRIBUTE: Final = b"#[path"


def used_names(node: Node, around: str = "", depth: int = 0) -> Iterator[tuple[str, str, str]]:
    """The names that a tree of paths brings: (module, name, alias); the name `*` for all of a module."""
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
    """The file that `#[path = "…"]` right above a module names; empty without."""
    head = raw[max(start - 300, 0) : start].rstrip()
    opening = head.rfind(_ATTRIBUTE)
    if opening < 0 or b";" in head[opening:] or b"}" in head[opening:]:
        return ""
    return head[opening:].partition(b'"')[2].partition(b'"')[0].decode(errors="replace")
