"""Declared types of JavaScript and TypeScript as facts write them, from annotations and JSDoc comments.

A name with dots (`Store`, `api.Store`), arguments (`Map<string,Store>`), `Array<Store>` for all lists, `[A,B]` for a
tuple, `(A,B)=>C` for a function, `{a:A,b:B}` for an object, `typeof a.b`, `this`, `A|B`; `?` for any other type. A
type parameter of a generic function is written as its constraint, if it has one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from weft.code.parse.parse import ParsedSource
from weft.code.parse.readers.syntax import UNKNOWN, compact, text_of
from weft.files.languages import LANGUAGES

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_TYPE_CHARACTERS: Final = 300
_MAX_DEPTH: Final = 12
_MAX_PARTS: Final = 24
_NOTHING: Final = frozenset({"null", "undefined", "void", "never"})
_LISTS: Final = frozenset({"Array", "ReadonlyArray", "Iterable", "IterableIterator", "AsyncIterable", "ArrayLike"})
# Types that only wrap: what is inside has the same members.
_WRAPPERS: Final = frozenset({"Readonly", "Required", "Partial", "NonNullable", "Awaited", "Immutable", "DeepReadonly"})

Generic = Callable[[str, int], str | None]  # what a type parameter in force at a byte stands for; None: it is no such


def type_of(node: Node | None, generic: Generic) -> str:
    """A type (or its annotation) in the notation of facts; empty without one."""
    if node is None:
        return ""
    written = _type(node, generic, 0)
    return UNKNOWN if len(written) > MAX_TYPE_CHARACTERS else written


def _type(node: Node, generic: Generic, depth: int) -> str:
    if depth > _MAX_DEPTH:
        return UNKNOWN
    kind = node.type
    if kind in ("type_identifier", "identifier"):
        name = text_of(node)
        stands_for = generic(name, node.start_byte)
        return name if stands_for is None else stands_for
    if kind in ("nested_type_identifier", "predefined_type", "this_type", "nested_identifier"):
        return compact(node)
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
        return f"Array<{_type(inner[0], generic, depth + 1)}>" if inner else UNKNOWN
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
        known = [each for part in either if part is not None and (each := _type(part, generic, depth + 1)) != UNKNOWN]
        return "|".join(dict.fromkeys(known)) or UNKNOWN
    if kind == "object_type":
        return _object(inner, generic, depth)
    return UNKNOWN


def _literal(node: Node) -> str:
    inner = node.named_child(0) if node.named_child_count else None
    if inner is not None and inner.type in _NOTHING:
        return inner.type
    return "number" if inner is not None and inner.type == "number" else "string"


def _generic(node: Node, generic: Generic, depth: int) -> str:
    name, arguments = node.child_by_field_name("name"), node.child_by_field_name("type_arguments")
    if name is None or arguments is None:
        return UNKNOWN
    own = _type(name, generic, depth + 1)
    parts = [_type(each, generic, depth + 1) for each in arguments.named_children if each.type != "comment"]
    if own in _WRAPPERS and parts:
        return parts[0]
    if own in _LISTS and parts:
        return f"Array<{parts[0]}>"
    return own if own == UNKNOWN else f"{own}<{','.join(parts)}>"


def _several(node: Node, generic: Generic, depth: int) -> str:
    """The meaningful members of a union or an intersection; members are looked up in each."""
    waiting, found = [node], []
    while waiting:
        each = waiting.pop()
        if each.type == node.type:
            waiting.extend(reversed(each.named_children))
        elif each.type != "comment":
            found.append(each)
        if len(found) > _MAX_PARTS:
            return UNKNOWN
    kinds = list(dict.fromkeys(_type(each, generic, depth + 1) for each in found))
    something = [each for each in kinds if each not in _NOTHING]
    return "|".join(something) if something else kinds[0] if kinds else UNKNOWN


def _object(members: list[Node], generic: Generic, depth: int) -> str:
    parts = []
    for each in members[:_MAX_PARTS]:
        name, annotation = each.child_by_field_name("name"), each.child_by_field_name("type")
        if each.type == "property_signature" and name is not None and annotation is not None:
            parts.append(f"{text_of(name)}:{_type(annotation, generic, depth + 1)}")
    return "{" + ",".join(parts) + "}" if parts else UNKNOWN


def _function(node: Node, generic: Generic, depth: int) -> str:
    parameters, returned = node.child_by_field_name("parameters"), node.child_by_field_name("return_type")
    parts = []
    for each in () if parameters is None else parameters.named_children:
        pattern = each.child_by_field_name("pattern")
        if pattern is None or pattern.type == "this":
            continue
        annotation = each.child_by_field_name("type")
        parts.append(UNKNOWN if annotation is None else _type(annotation, generic, depth + 1))
    given = UNKNOWN if returned is None else _type(returned, generic, depth + 1)
    return f"({','.join(parts)})=>{given}"


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
    """The types that a comment declares: of parameters by name, of the result, of a value."""

    parameters: dict[str, str] = {}
    returns: str = ""
    type: str = ""


NOTHING_STATED: Final = Stated()


def doc_of(raw: bytes, definition: Node) -> str:
    """The comment `/** … */` directly before a definition, without its stars."""
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
    """Whether it is a decorator or an overload signature, above which a comment of the definition may be."""
    if sibling.type == "export_statement":
        declared = sibling.child_by_field_name("declaration")
        return declared is not None and declared.type == "function_signature"
    return sibling.type in ("decorator", "function_signature", "method_signature")


def stated_in(doc: str) -> Stated:
    """The types that a comment declares: `@param {Type} name`, `@returns {Type}`, `@type {Type}`."""
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
            parameters.setdefault(name, _stated_type(written))
        elif tag in ("@return", "@returns"):
            returns = returns or _stated_type(written)
        elif tag == "@type":
            kind = kind or _stated_type(written)
    return Stated(parameters, returns, kind)


def _braced(text: str) -> tuple[str, str]:
    """The text inside the braces at the beginning of a text, and the rest."""
    depth = 0
    for at, each in enumerate(text[: MAX_STATED_CHARACTERS + 2] if text.startswith("{") else ""):
        depth += (each == "{") - (each == "}")
        if depth == 0:
            return text[1:at].strip(), text[at + 1 :]
    return "", text


@lru_cache(maxsize=4_096)
def _stated_type(written: str) -> str:
    """A JSDoc type in the notation of facts; empty if it says nothing."""
    bare = written.strip("?!=").removeprefix("...")
    root = ParsedSource(_TYPESCRIPT, f"let x: {bare};").root
    statement = root.named_child(0) if root is not None and not root.has_error and root.named_child_count else None
    variable = statement.named_child(0) if statement is not None and statement.named_child_count else None
    declared = type_of(variable.child_by_field_name("type"), lambda *_: None) if variable is not None else ""
    return "" if declared in ("?", "any", "*", "object", "Object", "unknown") else declared
