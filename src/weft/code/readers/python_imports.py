"""Python's import statements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from weft.code.facts import FILE, Imported
from weft.code.readers.python_chains import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_QUOTED_NAME: Final = re.compile(r"""["'](\w+)["']""")


def imported(raw: bytes, statement: Node, owner: int) -> list[Imported]:
    """`import a, b.c, d as e`. Without `as`, a module is called by all of its name here: `b.c`."""
    found = []
    for each in statement.named_children:
        module, alias = _called(raw, each)
        if module:
            line = each.start_point[0] + 1
            found.append(Imported(module, "", alias, line, exported=owner == FILE, owner=owner))
    return found


def imported_from(raw: bytes, statement: Node, owner: int) -> list[Imported]:
    """`from .a import b, c as d`, `from a import *`."""
    source = statement.child_by_field_name("module_name")
    if source is None:
        return []
    written = "".join(text_of(raw, source).split())
    module = written.lstrip(".")
    level = len(written) - len(module)
    names = [_called(raw, each) for each in statement.children_by_field_name("name")]
    if any(each.type == "wildcard_import" for each in statement.named_children):
        names.append(("*", "*"))
    line = statement.start_point[0] + 1
    return [Imported(module, name, alias, line, level, owner == FILE, owner) for name, alias in names if name]


def listed(raw: bytes, value: Node) -> list[str]:
    """The names of an `__all__`, and `*` if it takes up what other modules say."""
    text = text_of(raw, value)
    return _QUOTED_NAME.findall(text) + (["*"] if "__all__" in text else [])


def _called(raw: bytes, node: Node) -> tuple[str, str]:
    """A name, and what it is called here."""
    if node.type == "aliased_import":
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        return ("".join(text_of(raw, name).split()), text_of(raw, alias)) if name and alias else ("", "")
    name_text = "".join(text_of(raw, node).split()) if node.type == "dotted_name" else ""
    return name_text, name_text
