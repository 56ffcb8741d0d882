"""Rust: what a file says of itself.

Bindings hold more than what names hold. Those of the file: `impl` (an implementation: module, type, trait, generics,
separated by tabs), `type <key>` (an alias, or a type that belongs to a type), `const <key>`. Those of a type: its
fields, `Variant` and `Variant.field` of an enum. Those of any definition: `<T>`, what it is generic over, with bounds;
`Self` of a method, the type as its `impl` writes it; `(0)`, a parameter that is called;
`f()`, what a closure called `f` gives back. An import inside an inline module has an alias that begins with
the module's name; `mod x;` is the import `x` of `mod`, or of `mod=<path>`. See `rust_types` and `rust_chains` for how
types and chains are written. A `macro_rules!` is a function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from weft.code.facts import Sort
from weft.code.parsing import Parsed
from weft.code.readers import Described, Match, OwnerAt, Rest
from weft.code.readers.rust_files import FileReading
from weft.code.readers.rust_types import type_text

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_ATTRIBUTE_LINES: Final = 40
MAX_DOC_LINES: Final = 400
MAX_SIGNATURE_CHARACTERS: Final = 2_000
_TESTS: Final = frozenset({"test", "rstest", "test_case", "quickcheck", "wasm_bindgen_test"})


class RustReader:
    """Reads Rust."""

    def describe(self, parsed: Parsed, path: str, definition: Node, sort: Sort, qualifier: str) -> Described:
        doc, attributes = _above(parsed.raw, definition.start_byte)
        around = definition.parent.parent if definition.parent is not None else None
        inside = around.type if around is not None and sort == "function" else ""
        trait = around.child_by_field_name("trait") if around is not None and inside == "impl_item" else None
        return Described(
            signature=_signature(parsed.raw, definition),
            doc=doc,
            sort="method" if inside in ("impl_item", "trait_item") else None,
            bases=_supertraits(definition) if sort == "trait" else (),
            interfaces=(type_text(trait),) if trait is not None else (),
            returns=type_text(definition.child_by_field_name("return_type")) if sort == "function" else "",
            test=sort == "function" and any(_is_test(each) for each in attributes),
        )

    def read(self, parsed: Parsed, path: str, matches: Sequence[Match], owner_at: OwnerAt) -> Rest:
        return FileReading(parsed, matches, owner_at).rest()


READER: Final = RustReader()


def _signature(raw: bytes, definition: Node) -> str:
    """From the visibility to the body, on one line."""
    body = definition.child_by_field_name("body")
    end = definition.end_byte
    if body is not None and body.type != "ordered_field_declaration_list":
        end = body.start_byte
    elif definition.type == "macro_definition":
        name = definition.child_by_field_name("name")
        end = name.end_byte if name is not None else end
    text = raw[definition.start_byte : min(end, definition.start_byte + MAX_SIGNATURE_CHARACTERS)]
    return " ".join(text.decode(errors="replace").split()).removesuffix(";").rstrip()


def _supertraits(definition: Node) -> tuple[str, ...]:
    bounds = definition.child_by_field_name("bounds")
    texts = [type_text(each) for each in bounds.named_children if each.type != "lifetime"] if bounds else []
    return tuple(text for text in texts if text not in ("", "?"))


def _above(raw: bytes, start: int) -> tuple[str, list[str]]:
    """The doc comment and the attributes that stand above a definition, read line by line upwards."""
    doc: list[str] = []
    attributes: list[str] = []
    pending: list[str] = []  # the lower lines of an attribute of several lines
    at = raw.rfind(b"\n", 0, start)
    while at > 0 and len(doc) < MAX_DOC_LINES and len(pending) < MAX_ATTRIBUTE_LINES:
        above = raw.rfind(b"\n", 0, at)
        line = raw[above + 1 : at].strip()
        if line.startswith(b"///"):
            doc.append(line[3:].decode(errors="replace").removeprefix(" "))
        elif line.startswith(b"#["):
            attributes.append(" ".join([line.decode(errors="replace"), *reversed(pending)]))
            pending = []
        elif pending or (line.endswith(b"]") and not line.startswith(b"//")):
            pending.append(line.decode(errors="replace"))
        elif (line and not line.startswith(b"//")) or (not line and (doc or attributes)):
            break
        at = above
    return "\n".join(reversed(doc)).strip(), attributes


def _is_test(attribute: str) -> bool:
    """`#[test]`, `#[tokio::test(…)]`, `#[rstest]`."""
    head = attribute.removeprefix("#[").partition("(")[0].partition("]")[0].strip()
    return head.rpartition("::")[2] in _TESTS
