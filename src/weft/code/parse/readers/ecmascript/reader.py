"""Reads JavaScript and TypeScript, with and without JSX: definitions, tests by title, references, modules.

Of a minified file (large, with very long lines) only imports are read. An export under another name, or of something
that is no definition, is a binding of the file: `exports.<name>` (`exports.default` for the default, `exports.=` for
all of `module.exports`). An import of all of `module.exports` has the name `=`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from weft.code.parse.facts import FILE, Binding, Form, Imported, Reference, Sort
from weft.code.parse.parse import ParsedSource
from weft.code.parse.readers import Described, Match, OwnerAt, Rest
from weft.code.parse.readers.ecmascript.names import FileScopes
from weft.code.parse.readers.ecmascript.scopes import LexicalScope, chain_of, module_of, string_of
from weft.code.parse.readers.ecmascript.types import doc_of, stated_in, type_of
from weft.code.parse.readers.syntax import UNKNOWN, compact, one_line, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

WHOLE: Final = "="
DEFAULT: Final = "default"


class ModuleReading:
    """Collects imports and exports, node by node."""

    def __init__(self, owner_at: OwnerAt) -> None:
        self.imports: list[Imported] = []
        self.exports: list[Binding] = []
        self._owner_at = owner_at
        self._taken: set[int] = set()  # calls of `require` that a variable of the file is bound to

    def import_statement(self, node: Node) -> None:
        """`import … from "m"`, `import "m"`, `import x = require("m")`."""
        line = _line(node)
        clause = next((each for each in node.named_children if each.type.startswith("import_")), None)
        module = string_of(node.child_by_field_name("source"))
        if clause is not None and clause.type == "import_require_clause":
            module, required = string_of(clause.child_by_field_name("source")), clause.named_child(0)
            if module and required is not None:
                self.imports.append(Imported(module, WHOLE, text_of(required), line))
            return
        if not module:
            return
        if clause is None:
            self.imports.append(Imported(module, "", "", line))
            return
        for each in clause.named_children:
            if each.type == "identifier":
                self.imports.append(Imported(module, DEFAULT, text_of(each), line))
            elif each.type == "namespace_import" and each.named_child_count:
                self.imports.append(Imported(module, "", text_of(each.named_children[-1]), line))
            elif each.type == "named_imports":
                for name, alias in _specifiers(each, "import_specifier"):
                    self.imports.append(Imported(module, name, alias, line))
                if not each.named_child_count:
                    self.imports.append(Imported(module, "", "", line))

    def import_alias(self, node: Node) -> None:
        """`import Short = Long.Name`."""
        names = node.named_children
        if len(names) == 2:
            chain = compact(names[1])
            self.exports.append(Binding(FILE, text_of(names[0]), chain, declared=False, line=_line(node)))

    def export_statement(self, node: Node, scope: LexicalScope) -> None:
        """`export { a as b }`, `export * from "m"`, `export default x`, `export = x`."""
        line, module = _line(node), string_of(node.child_by_field_name("source"))
        clause = next((each for each in node.named_children if each.type == "export_clause"), None)
        if module is not None:
            space = next((each for each in node.named_children if each.type == "namespace_export"), None)
            if clause is not None:
                for name, alias in _specifiers(clause, "export_specifier"):
                    self.imports.append(Imported(module, name, alias, line, exported=True))
            elif space is not None and space.named_child_count:
                alias = text_of(space.named_children[-1])
                self.imports.append(Imported(module, "", alias, line, exported=True))
            else:
                self.imports.append(Imported(module, "*", "", line, exported=True))
            return
        if clause is not None:
            for name, alias in _specifiers(clause, "export_specifier"):
                self._export(alias, name, line)
            return
        kinds = [each.type for each in node.children]
        value, declared = node.child_by_field_name("value"), node.child_by_field_name("declaration")
        if "default" in kinds and value is not None:
            name_of = value.child_by_field_name("name") if value.type in _NAMED else None
            if name_of is not None:
                self._export(DEFAULT, text_of(name_of), line)
            elif value.type not in _NAMED:
                chain = chain_of(value, scope).flat
                if value.type != "object" or chain != UNKNOWN:  # the functions of an object are called after it
                    self._export(DEFAULT, chain, line)
        elif "default" in kinds and declared is not None:
            name_of = declared.child_by_field_name("name")
            if name_of is not None:
                self._export(DEFAULT, text_of(name_of), line)
        elif "=" in kinds and node.named_child_count:
            self._export(WHOLE, chain_of(node.named_children[-1], scope).flat, line)

    def assignment(self, node: Node, scope: LexicalScope) -> None:
        """`module.exports = …`, `exports.name = …`, possibly chained in one statement."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or left.type != "member_expression":
            return
        target, also = text_of(left), ""
        while right.type == "assignment_expression" and (inner := right.child_by_field_name("right")) is not None:
            other = right.child_by_field_name("left")
            if other is not None and not text_of(other).startswith(("exports", "module.exports")):
                also = chain_of(other, scope).flat
            right = inner
        if target == "module.exports" and also:
            self._export(WHOLE, also, _line(node))
        elif target == "module.exports":
            self._whole(right, scope)
        elif target.startswith(("exports.", "module.exports.")) and right.type not in _NAMED:
            name = target.rpartition("exports.")[2]
            if name.isidentifier():
                chain = chain_of(right, scope).flat
                if chain not in (UNKNOWN, "<undefined>"):
                    self._export(name, chain, _line(node))

    def _whole(self, value: Node, scope: LexicalScope) -> None:
        line = _line(value)
        if value.type in _NAMED:
            name = value.child_by_field_name("name")
            self._export(WHOLE, "exports" if name is None else text_of(name), line)
        elif value.type != "object":
            self._export(WHOLE, chain_of(value, scope).flat, line)
        else:
            for each in value.named_children:
                self._entry(each, scope)

    def _entry(self, entry: Node, scope: LexicalScope) -> None:
        """One entry of an exported object."""
        line = _line(entry)
        if entry.type == "shorthand_property_identifier":
            self._export(text_of(entry), chain_of(entry, scope).flat, line)
        elif entry.type == "pair":
            key, value = entry.child_by_field_name("key"), entry.child_by_field_name("value")
            if key is not None and value is not None and value.type not in _FUNCTIONS:
                self._export(string_of(key) or text_of(key), chain_of(value, scope).flat, line)
        elif entry.type == "spread_element" and entry.named_child_count:
            call = entry.named_children[0]
            module = module_of(call) if call.type == "call_expression" else None
            if module is not None:
                self._taken.add(call.start_byte)
                name = module.partition("(")[2][:-1]
                self.imports.append(Imported(name, "*", "", line, exported=True))

    def variable(self, node: Node, scope: LexicalScope) -> None:
        """`const x = require("m")`, `const {x, y: z} = require("m")` at the top of the file."""
        value, pattern = node.child_by_field_name("value"), node.child_by_field_name("name")
        if value is None or pattern is None or scope.kind != "file":
            return
        if pattern.type == "identifier" and _assigns_whole(value):
            self._export(WHOLE, text_of(pattern), _line(node))
        module = module_of(value) if value.type == "call_expression" else None
        if module is None or not module.startswith("require("):
            return
        name, line = module.partition("(")[2][:-1], _line(node)
        if pattern.type == "identifier":
            self.imports.append(Imported(name, WHOLE, text_of(pattern), line))
        elif pattern.type == "object_pattern":
            for each in pattern.named_children:
                self._destructured(name, each, line)
        else:
            return
        self._taken.add(value.start_byte)

    def _destructured(self, module: str, part: Node, line: int) -> None:
        if part.type == "shorthand_property_identifier_pattern":
            self.imports.append(Imported(module, text_of(part), text_of(part), line))
        elif part.type == "pair_pattern":
            key, value = part.child_by_field_name("key"), part.child_by_field_name("value")
            if key is not None and value is not None and value.type == "identifier":
                self.imports.append(Imported(module, text_of(key), text_of(value), line))

    def call(self, node: Node, scope: LexicalScope) -> bool:
        """Records a call of `import` or `require`; returns whether it is one."""
        module = module_of(node)
        if module is None:
            return False
        if module.startswith("require(") and scope.find("require") is not None:
            return False
        if node.start_byte not in self._taken:
            name, owner = module.partition("(")[2][:-1], self._owner_at(node.start_byte)
            self.imports.append(Imported(name, "", "", _line(node), owner=owner))
        return True

    def _export(self, name: str, chain: str, line: int) -> None:
        self.exports.append(Binding(FILE, f"exports.{name}", chain, declared=False, line=line))


_FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "generator_function"})
_NAMED: Final = _FUNCTIONS | {"class"}


def _assigns_whole(value: Node) -> bool:
    """Whether a value is also assigned to `module.exports`: `const app = exports = module.exports = …`."""
    while value.type in ("assignment_expression", "parenthesized_expression"):
        left = value.child_by_field_name("left")
        if left is not None and left.text == b"module.exports":
            return True
        inner = value.child_by_field_name("right") if left is not None else value.named_child(0)
        if inner is None:
            return False
        value = inner
    return False


def _specifiers(clause: Node, kind: str) -> list[tuple[str, str]]:
    found = []
    for each in clause.named_children:
        name, alias = each.child_by_field_name("name"), each.child_by_field_name("alias")
        if each.type == kind and name is not None:
            written = text_of(name).strip("\"'")
            found.append((written, written if alias is None else text_of(alias).strip("\"'")))
    return found


def _line(node: Node) -> int:
    return node.start_point[0] + 1


PACKED_BYTES: Final = 20_000  # from this size on a file may be packed
PACKED_LINE_BYTES: Final = 800  # more than this on the average line: it is
MAX_SIGNATURE_CHARACTERS: Final = 500
_HOLDERS: Final = frozenset(
    {"export_statement", "field_definition", "pair", "public_field_definition", "variable_declarator"}
)


class EcmascriptReader:
    """Reads JavaScript and TypeScript."""

    def describe(self, parsed: ParsedSource, path: str, definition: Node, sort: Sort, qualifier: str) -> Described:
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

    def read(self, parsed: ParsedSource, path: str, matches: Sequence[Match], owner_at: OwnerAt) -> Rest:
        if parsed.root is None:
            return Rest()
        nodes = [each["of"][0] for each in matches if "of" in each]
        tags = [each["tag"][0] for each in matches if "tag" in each]
        if is_packed(parsed):
            nodes = [each for each in nodes if each.type in ("import_statement", "export_statement")]
            tags = []
        nodes.sort(key=lambda node: (node.start_byte, -node.end_byte))
        names = FileScopes(parsed.root, nodes, owner_at, parsed.raw if is_plain(parsed) else b"")
        modules = ModuleReading(owner_at)
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


def is_packed(parsed: ParsedSource) -> bool:
    """Whether a file is bundled or minified: large, on few long lines."""
    size = len(parsed.raw)
    return size >= PACKED_BYTES and size > PACKED_LINE_BYTES * (parsed.text.count("\n") + 1)


def is_plain(parsed: ParsedSource) -> bool:
    """Whether it is JavaScript, whose types can only be in comments."""
    return parsed.language.name == "javascript"


class _Uses:
    """Collects calls, constructions, JSX elements and decorators; passes module syntax on."""

    def __init__(self, names: FileScopes, modules: ModuleReading, owner_at: OwnerAt) -> None:
        self.found: list[Reference] = []
        self._names, self._modules, self._owner_at = names, modules, owner_at

    def take(self, node: Node, kind: str, scope: LexicalScope) -> None:
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
        """JSX elements: `<Component>` uses a component, `<div>` does not."""
        if not tags:
            return
        at, scopes = 0, self._names.scopes
        for tag in sorted(tags, key=lambda node: node.start_byte):
            while at < len(nodes) and nodes[at].start_byte <= tag.start_byte:
                at += 1
            written = text_of(tag)
            if tag.type == "member_expression" or (tag.type == "identifier" and not written[:1].islower()):
                self._use(tag, "call", scopes[at - 1] if at else self._names.file)

    def _use(self, node: Node, form: Form, scope: LexicalScope) -> None:
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
    """The function or class that a definition holds."""
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
    body = held.child_by_field_name("body")
    end = definition.end_byte if body is None else body.start_byte
    if definition.type == "expression_statement" and _only(definition).type == "call_expression":
        arguments = _only(definition).child_by_field_name("arguments")
        first = arguments.named_child(0) if arguments is not None and arguments.named_child_count else None
        if first is not None:
            return f"{raw[definition.start_byte : first.end_byte].decode(errors='replace')})"[:MAX_SIGNATURE_CHARACTERS]
    head = one_line(raw[definition.start_byte : end])
    head = head.removesuffix("=>").rstrip(" ;,")
    prefix = "const " if definition.type == "variable_declarator" else ""
    return (prefix + head)[:MAX_SIGNATURE_CHARACTERS]


def _heritage(held: Node) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The bases and interfaces of a class, without type arguments."""
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
        return compact(node)
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
