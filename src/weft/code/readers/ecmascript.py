"""JavaScript and TypeScript, with and without JSX. Tests go by their titles.

A file that a program packed onto a few very long lines is read for its imports alone: its names say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from weft.code.facts import Form, Reference, Sort
from weft.code.parsing import Parsed
from weft.code.readers import Described, Match, OwnerAt, Rest
from weft.code.readers.ecmascript_binding import Names
from weft.code.readers.ecmascript_docs import doc_of, stated_in
from weft.code.readers.ecmascript_modules import Modules
from weft.code.readers.ecmascript_scopes import Scope, chain_of
from weft.code.readers.ecmascript_types import text_of, type_of

if TYPE_CHECKING:
    from tree_sitter import Node

PACKED_BYTES: Final = 20_000  # from this size on a file may be packed
PACKED_LINE_BYTES: Final = 800  # more than this on the average line: it is
MAX_SIGNATURE_CHARACTERS: Final = 500
_HOLDERS: Final = frozenset(
    {"export_statement", "field_definition", "pair", "public_field_definition", "variable_declarator"}
)


class EcmascriptReader:
    """Reads JavaScript and TypeScript."""

    def describe(self, parsed: Parsed, path: str, definition: Node, sort: Sort, qualifier: str) -> Described:
        held, doc = _held(definition), doc_of(parsed.raw, definition)
        bases, interfaces = _heritage(held)
        is_test = definition.type == "expression_statement" and _only(definition).type == "call_expression"
        return Described(
            signature=_signature(parsed.raw, definition, held),
            doc=doc,
            bases=bases,
            interfaces=interfaces,
            returns=_returns(definition, held) or (stated_in(doc).returns if is_plain(parsed) else ""),
            test=is_test,
        )

    def read(self, parsed: Parsed, path: str, matches: Sequence[Match], owner_at: OwnerAt) -> Rest:
        if parsed.root is None:
            return Rest()
        nodes = [each["of"][0] for each in matches if "of" in each]
        tags = [each["tag"][0] for each in matches if "tag" in each]
        if is_packed(parsed):
            nodes = [each for each in nodes if each.type in ("import_statement", "export_statement")]
            tags = []
        nodes.sort(key=lambda node: (node.start_byte, -node.end_byte))
        names = Names(parsed.root, nodes, owner_at, parsed.raw if is_plain(parsed) else b"")
        modules = Modules(owner_at)
        references = _Uses(names, modules, owner_at)
        for node, scope in zip(nodes, names.scopes, strict=True):
            references.take(node, node.type, scope)
        references.tags(tags, nodes)
        return Rest(
            imports=tuple(modules.imports),
            references=tuple(sorted(references.found, key=lambda each: each.line)),
            bindings=names.all_bindings() + tuple(modules.exports),
        )


READER: Final = EcmascriptReader()


def is_packed(parsed: Parsed) -> bool:
    """Whether a file was packed by a program: large, on few long lines."""
    size = len(parsed.raw)
    return size >= PACKED_BYTES and size > PACKED_LINE_BYTES * (parsed.text.count("\n") + 1)


def is_plain(parsed: Parsed) -> bool:
    """Whether it is JavaScript, where types stand in comments if anywhere."""
    return parsed.language.name == "javascript"


class _Uses:
    """Gathers what is called, constructed, used as an element or a decorator; passes on what is a module's."""

    def __init__(self, names: Names, modules: Modules, owner_at: OwnerAt) -> None:
        self.found: list[Reference] = []
        self._names, self._modules, self._owner_at = names, modules, owner_at

    def take(self, node: Node, kind: str, scope: Scope) -> None:
        """Looks at one node."""
        if kind == "call_expression":
            called = node.child_by_field_name("function")
            if called is not None and called.type != "import" and not self._modules.call(node, scope):
                self._use(called, "call", scope)
            elif called is not None and called.type == "import":
                self._modules.call(node, scope)
        elif kind == "new_expression":
            made = node.child_by_field_name("constructor")
            if made is not None:
                self._use(made, "new", scope)
        elif kind == "decorator" and node.named_child_count:
            inner = node.named_children[-1]
            if inner.type in ("identifier", "member_expression"):
                self._use(inner, "call", scope)
        elif kind == "import_statement":
            self._modules.import_statement(node)
        elif kind == "export_statement":
            self._modules.export_statement(node, scope)
        elif kind == "assignment_expression":
            self._modules.assignment(node, scope)
        elif kind == "variable_declarator":
            self._modules.variable(node, scope)
        elif kind == "import_alias":
            self._modules.import_alias(node)

    def tags(self, tags: Sequence[Node], nodes: Sequence[Node]) -> None:
        """Elements: `<Component>` uses a component, `<div>` does not."""
        if not tags:
            return
        at, scopes = 0, self._names.scopes
        for tag in sorted(tags, key=lambda node: node.start_byte):
            while at < len(nodes) and nodes[at].start_byte <= tag.start_byte:
                at += 1
            written = text_of(tag)
            if tag.type == "member_expression" or (tag.type == "identifier" and not written[:1].islower()):
                self._use(tag, "call", scopes[at - 1] if at else self._names.file)

    def _use(self, node: Node, form: Form, scope: Scope) -> None:
        chain = chain_of(node, scope)
        if chain.local is not None and chain.local.inner and not chain.local.top:
            return  # a function inside a function: it is no symbol
        if chain.head == "<Function>":
            return  # called where it stands
        self._names.use(chain)
        owner = self._owner_at(node.start_byte)
        self.found.append(Reference(owner, form, chain.written, node.end_point[0] + 1))


# ---- what is told of a definition


def _only(node: Node) -> Node:
    return next((each for each in node.named_children if each.type != "comment"), node)


def _held(definition: Node) -> Node:
    """The function or class itself, where the definition is what holds it."""
    kind, held = definition.type, definition
    if kind == "ambient_declaration":
        return next((each for each in definition.named_children if each.child_by_field_name("name")), definition)
    if kind in ("lexical_declaration", "variable_declaration") or (
        kind == "expression_statement" and _only(definition).type == "assignment_expression"
    ):
        held = _only(definition)
    for field in ("value", "declaration"):
        held = held.child_by_field_name(field) or held if held.type in _HOLDERS else held
    while held.type == "assignment_expression" and (inner := held.child_by_field_name("right")) is not None:
        held = inner
    return held


def _signature(raw: bytes, definition: Node, held: Node) -> str:
    """Its head on one line, without its body."""
    body = held.child_by_field_name("body")
    end = definition.end_byte if body is None else body.start_byte
    if definition.type == "expression_statement" and _only(definition).type == "call_expression":
        arguments = _only(definition).child_by_field_name("arguments")
        first = arguments.named_child(0) if arguments is not None and arguments.named_child_count else None
        if first is not None:
            return f"{raw[definition.start_byte : first.end_byte].decode(errors='replace')})"[:MAX_SIGNATURE_CHARACTERS]
    head = " ".join(raw[definition.start_byte : end].decode(errors="replace").split())
    head = head.removesuffix("=>").rstrip(" ;,")
    prefix = "const " if definition.type == "variable_declarator" else ""
    return (prefix + head)[:MAX_SIGNATURE_CHARACTERS]


def _heritage(held: Node) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What it extends and what it implements, without type arguments."""
    if not held.type.endswith(("class", "class_declaration", "interface_declaration")):
        return (), ()
    bases: list[str] = []
    interfaces: list[str] = []
    for each in held.named_children:
        if each.type == "extends_type_clause":
            bases += [_plain(part) for part in each.named_children]
        elif each.type == "class_heritage":
            for part in each.named_children:
                if part.type == "implements_clause":
                    interfaces += [_plain(name) for name in part.named_children]
                elif part.type == "extends_clause":
                    value = part.child_by_field_name("value")
                    bases += [] if value is None else [_plain(value)]
                else:
                    bases.append(_plain(part))
    return tuple(filter(None, bases)), tuple(filter(None, interfaces))


def _plain(node: Node) -> str:
    if node.type == "generic_type":
        name = node.child_by_field_name("name")
        return "" if name is None else _plain(name)
    if node.type in ("identifier", "member_expression", "type_identifier", "nested_type_identifier"):
        return "".join(text_of(node).split())
    if node.type == "call_expression":
        called = node.child_by_field_name("function")
        inner = "" if called is None else _plain(called)
        return f"{inner}()" if inner and "(" not in inner else ""
    return ""


def _returns(definition: Node, held: Node) -> str:
    declared = held.child_by_field_name("return_type")
    annotation = definition.child_by_field_name("type")
    if declared is None and definition.type == "property_signature" and annotation is not None:
        function = annotation.named_child(0) if annotation.named_child_count else None
        declared = function.child_by_field_name("return_type") if function is not None else None
    if declared is None:
        return ""
    parameters = held.child_by_field_name("type_parameters")
    own = {} if parameters is None else {_generic_name(each): each for each in parameters.named_children}

    def generic(name: str, _byte: int) -> str | None:
        if name not in own:
            return None
        limit = own[name].child_by_field_name("constraint")
        extended = limit.named_child(0) if limit is not None and limit.named_child_count else None
        return type_of(extended, lambda *_: None) or "?"

    return type_of(declared, generic)


def _generic_name(parameter: Node) -> str:
    name = parameter.child_by_field_name("name")
    return "" if name is None else text_of(name)
