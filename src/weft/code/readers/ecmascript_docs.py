"""JavaScript and TypeScript: the comment above a definition, and the types that it states in plain JavaScript."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from weft.code.languages import LANGUAGES
from weft.code.parsing import Parsed
from weft.code.readers.ecmascript_types import type_of

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DOC_BYTES: Final = 20_000
MAX_BEFORE: Final = 20  # decorators and signatures between a definition and its comment
MAX_STATED_CHARACTERS: Final = 200
_AROUND: Final = frozenset(
    {
        "ambient_declaration",
        "assignment_expression",
        "export_statement",
        "expression_statement",
        "field_definition",
        "lexical_declaration",
        "pair",
        "variable_declaration",
        "variable_declarator",
    }
)
_TYPESCRIPT: Final = next(each for each in LANGUAGES if each.name == "typescript")


class Stated(Struct, frozen=True):
    """The types that a comment states, in the notation of facts: of parameters by name, of the result, of a value."""

    parameters: dict[str, str] = {}
    returns: str = ""
    type: str = ""


NOTHING_STATED: Final = Stated()


def doc_of(raw: bytes, definition: Node) -> str:
    """The comment `/** … */` that stands right before a definition, without its stars."""
    outer, parent = definition, definition.parent
    while parent is not None and parent.type in _AROUND:
        outer, parent = parent, parent.parent
    before = b""
    for _ in range(MAX_BEFORE):
        before = raw[max(0, outer.start_byte - MAX_DOC_BYTES) : outer.start_byte].rstrip()
        if before.endswith((b"*/", b"{", b"}")):
            break
        sibling = outer.prev_named_sibling
        if sibling is None or not _leads(sibling):
            break
        outer = sibling
    if not before.endswith(b"*/") or (at := before.rfind(b"/*")) < 0 or before[at : at + 3] != b"/**":
        return ""
    lines = before[at + 3 : -2].decode(errors="replace").split("\n")
    return "\n".join(line.strip().removeprefix("*").removeprefix(" ").rstrip() for line in lines).strip()


def _leads(sibling: Node) -> bool:
    """Whether it is a decorator, or a signature of what follows it: what belongs to them is above them."""
    if sibling.type == "export_statement":
        declared = sibling.child_by_field_name("declaration")
        return declared is not None and declared.type == "function_signature"
    return sibling.type in ("decorator", "function_signature", "method_signature")


def stated_in(doc: str) -> Stated:
    """The types that a comment states: `@param {Type} name`, `@returns {Type}`, `@type {Type}`."""
    if "{" not in doc or "@" not in doc:
        return NOTHING_STATED
    parameters: dict[str, str] = {}
    returns = kind = ""
    for line in doc.split("\n"):
        tag, _, rest = line.strip().partition(" ")
        written, after = _braced(rest.strip())
        if not written:
            continue
        if tag == "@param":
            name = after.strip().lstrip("[").partition(" ")[0].partition("=")[0].rstrip("]")
            parameters.setdefault(name, _type(written))
        elif tag in ("@return", "@returns"):
            returns = returns or _type(written)
        elif tag == "@type":
            kind = kind or _type(written)
    return Stated(parameters, returns, kind)


def _braced(text: str) -> tuple[str, str]:
    """What stands in the braces that a text begins with, and what follows them."""
    depth = 0
    for at, each in enumerate(text[: MAX_STATED_CHARACTERS + 2] if text.startswith("{") else ""):
        depth += (each == "{") - (each == "}")
        if depth == 0:
            return text[1:at].strip(), text[at + 1 :]
    return "", text


@lru_cache(maxsize=4_096)
def _type(written: str) -> str:
    """A type as comments write it, in the notation of facts; empty if it is no type that says something."""
    bare = written.strip("?!=").removeprefix("...")
    root = Parsed(_TYPESCRIPT, f"let x: {bare};").root
    statement = root.named_child(0) if root is not None and not root.has_error and root.named_child_count else None
    variable = statement.named_child(0) if statement is not None and statement.named_child_count else None
    declared = type_of(variable.child_by_field_name("type"), lambda *_: None) if variable is not None else ""
    return "" if declared in ("?", "any", "*", "object", "Object", "unknown") else declared
