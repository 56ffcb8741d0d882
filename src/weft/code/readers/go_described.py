"""What is told of Go's definitions: their heads, comments, results, what types embed, which functions are tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from weft.code.readers import Described
from weft.code.readers.comments import comment_above
from weft.code.readers.go_chains import UNKNOWN, Parameters, results_text, text_of, type_text

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_SIGNATURE_CHARACTERS: Final = 400

_TEST: Final = re.compile(r"(Test|Benchmark|Fuzz|Example)(?![a-z])")
_TESTING: Final = re.compile(rb"\*\s*\w+\.(T|B|F)\b")


def described(raw: bytes, path: str, definition: Node, qualifier: str) -> Described:
    """What is told of one definition."""
    doc = comment_above(raw, definition.start_byte)
    parameters = parameters_of(raw, definition)
    if definition.type in ("type_spec", "type_alias"):
        written = definition.child_by_field_name("type")
        kind = written.type if written is not None else ""
        return Described(
            signature=_signature(raw, definition, "type "),
            doc=doc,
            sort="struct" if kind == "struct_type" else "interface" if kind == "interface_type" else "class",
            bases=tuple(_embedded(raw, written, parameters)),
        )
    name = text_of(raw, definition.child_by_field_name("name") or definition)
    return Described(
        signature=_signature(raw, definition, ""),
        doc=doc,
        returns=results_text(raw, definition, parameters),
        test=path.endswith("_test.go") and _is_test(raw, name, definition, qualifier),
    )


def parameters_of(raw: bytes, node: Node) -> Parameters:
    """The type parameters of a definition, each with the type that bounds it."""
    found: dict[str, str] = {}
    if node.type == "method_elem" and node.parent is not None and node.parent.parent is not None:
        node = node.parent.parent
    listed = node.child_by_field_name("type_parameters")
    for each in listed.named_children if listed is not None else ():
        bound = each.child_by_field_name("type")
        only = bound.named_child(0) if bound is not None and bound.named_child_count == 1 else None
        written = type_text(raw, only, {})
        for name in each.children_by_field_name("name"):
            found[text_of(raw, name)] = UNKNOWN if written in ("any", "comparable") else written
    receiver = node.child_by_field_name("receiver")
    if receiver is not None and b"[" in raw[receiver.start_byte : receiver.end_byte]:
        inside = (
            raw[receiver.start_byte : receiver.end_byte].decode(errors="replace").partition("[")[2].partition("]")[0]
        )
        found.update({name.strip(): UNKNOWN for name in inside.split(",")})
    return found


def _embedded(raw: bytes, written: Node | None, parameters: Parameters) -> Iterator[str]:
    """The types that a struct or an interface embeds."""
    if written is None:
        return
    fields = written.named_children if written.type == "interface_type" else ()
    if written.type == "struct_type" and written.named_child_count:
        fields = written.named_children[0].named_children
    for each in fields:
        if each.type == "type_elem":
            name = type_text(raw, each, parameters)
        elif each.type == "field_declaration" and each.child_by_field_name("name") is None:
            name = type_text(raw, each.child_by_field_name("type"), parameters)
        else:
            continue
        if name[:1].isalpha() or name[:1] == "_":
            yield name


def _signature(raw: bytes, definition: Node, before: str) -> str:
    """Its head on one line, without a body."""
    body = definition.child_by_field_name("body") or definition.child_by_field_name("type")
    end, after = definition.end_byte, ""
    if body is not None and body.type in ("block", "struct_type", "interface_type"):
        end = body.start_byte
        after = body.type.removesuffix("_type") if body.type != "block" else ""
    head = " ".join(raw[definition.start_byte : end].decode(errors="replace").split())
    return f"{before}{head} {after}".strip()[:MAX_SIGNATURE_CHARACTERS]


def _is_test(raw: bytes, name: str, definition: Node, qualifier: str) -> bool:
    matched = _TEST.match(name)
    if matched is None or definition.type == "method_elem":
        return False
    if qualifier:  # suites of tests, as testify and gocheck have them
        return matched[1] == "Test"
    listed = definition.child_by_field_name("parameters")
    inside = raw[listed.start_byte : listed.end_byte] if listed is not None else b""
    return _TESTING.search(inside) is not None if matched[1] != "Example" else inside.strip(b"() ") == b""
