"""What is told of Java's definitions: their heads, comments, results, what types extend, which methods are tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from weft.code.facts import Sort
from weft.code.readers import Described
from weft.code.readers.comments import comment_above
from weft.code.readers.java_chains import UNKNOWN, Parameters, held_text, text_of, type_text

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_SIGNATURE_CHARACTERS: Final = 400

_TESTS: Final = re.compile(r"@(?:[\w.]+\.)?(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate)\b(?!\s*\.)")


def described(raw: bytes, definition: Node, sort: Sort) -> Described:
    """What is told of one definition."""
    modifiers = definition.named_child(0)
    before = text_of(raw, modifiers) if modifiers is not None and modifiers.type == "modifiers" else ""
    doc = comment_above(raw, definition.start_byte)
    parameters = parameters_of(raw, definition)
    signature = _signature(raw, definition, modifiers if before else None)
    if sort == "method":
        returns = definition.child_by_field_name("type")
        return Described(
            signature=signature,
            doc=doc,
            returns=held_text(raw, returns, parameters) if returns is not None else "",
            test=_is_test(raw, definition, before),
        )
    above = definition.child_by_field_name("superclass")
    extended = next((each for each in definition.named_children if each.type == "extends_interfaces"), above)
    return Described(
        signature=signature,
        doc=doc,
        sort="abstract" if sort == "class" and re.search(r"\babstract\b", before) else None,
        bases=tuple(_types(raw, extended)),
        interfaces=tuple(_types(raw, definition.child_by_field_name("interfaces"))),
    )


def parameters_of(raw: bytes, node: Node) -> Parameters:
    """The type parameters of a definition, each with the type that bounds it."""
    listed = node.child_by_field_name("type_parameters")
    found: dict[str, str] = {}
    for each in listed.named_children if listed is not None else ():
        names = [inner for inner in each.named_children if inner.type in ("type_identifier", "identifier")]
        bound = next((inner for inner in each.named_children if inner.type == "type_bound"), None)
        if names:
            first = bound.named_child(0) if bound is not None else None
            found[text_of(raw, names[0])] = type_text(raw, first, found)
    return found


def _types(raw: bytes, node: Node | None) -> Iterator[str]:
    """The types that `extends` or `implements` names."""
    for each in node.named_children if node is not None else ():
        if each.type == "type_list":
            yield from _types(raw, each)
        elif (written := type_text(raw, each, {})) != UNKNOWN:
            yield written


def first_type(raw: bytes, node: Node) -> str:
    """What a class extends, or else what it implements first."""
    above = [node.child_by_field_name("superclass"), node.child_by_field_name("interfaces")]
    return next((written for each in above for written in _types(raw, each)), "")


def _signature(raw: bytes, definition: Node, modifiers: Node | None) -> str:
    """Its head on one line, without annotations and body."""
    body = definition.child_by_field_name("body")
    end = body.start_byte if body is not None else definition.end_byte
    start, words = definition.start_byte, ""
    if modifiers is not None:
        start = modifiers.end_byte
        words = " ".join(text_of(raw, each) for each in modifiers.children if "annotation" not in each.type) + " "
    head = " ".join(raw[start:end].decode(errors="replace").split()).rstrip(";")
    return f"{words}{head}".strip()[:MAX_SIGNATURE_CHARACTERS]


def _is_test(raw: bytes, definition: Node, modifiers: str) -> bool:
    if definition.type != "method_declaration":
        return False
    if "@" in modifiers and _TESTS.search(modifiers):
        return True
    name, listed = definition.child_by_field_name("name"), definition.child_by_field_name("parameters")
    if name is None or listed is None or listed.named_child_count or not text_of(raw, name).startswith("test"):
        return False
    above = definition.parent.parent if definition.parent is not None else None  # JUnit 3
    extended = above.child_by_field_name("superclass") if above is not None else None
    return extended is not None and text_of(raw, extended).endswith("TestCase") and "public" in modifiers
