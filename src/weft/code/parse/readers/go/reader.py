"""Reads Go: packages, functions, methods, types with fields and embedded types, tests as `go test` sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from weft.code.parse.facts import FILE, Form, Imported, Reference, Sort
from weft.code.parse.parse import ParsedSource
from weft.code.parse.readers import Described, Match, OwnerAt, Rest
from weft.code.parse.readers.blocks import BlockReading, Bound, TypeParameters
from weft.code.parse.readers.comments import comment_above
from weft.code.parse.readers.go.builds import build_of
from weft.code.parse.readers.go.chains import CHAINS, converted, listed_types, results_text, type_text
from weft.code.parse.readers.syntax import UNKNOWN, compact, enclosing, one_line, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_SIGNATURE_CHARACTERS: Final = 400

_TEST: Final = re.compile(r"(Test|Benchmark|Fuzz|Example)(?![a-z])")
_TESTING: Final = re.compile(rb"\*\s*\w+\.(T|B|F)\b")


def described(raw: bytes, path: str, definition: Node, qualifier: str) -> Described:
    """The signature, documentation and types of one definition."""
    doc = comment_above(raw, definition.start_byte)
    parameters = parameters_of(definition)
    if definition.type in ("type_spec", "type_alias"):
        written = definition.child_by_field_name("type")
        kind = written.type if written is not None else ""
        return Described(
            signature=_signature(raw, definition, "type "),
            doc=doc,
            sort="struct" if kind == "struct_type" else "interface" if kind == "interface_type" else "class",
            bases=tuple(_embedded(written, parameters)),
        )
    name = text_of(definition.child_by_field_name("name") or definition)
    return Described(
        signature=_signature(raw, definition, ""),
        doc=doc,
        returns=results_text(definition, parameters),
        test=path.endswith("_test.go") and _is_test(name, definition, qualifier),
    )


def parameters_of(node: Node) -> TypeParameters:
    """The type parameters of a definition, each with the type that bounds it."""
    found: dict[str, str] = {}
    if node.type == "method_elem" and node.parent is not None and node.parent.parent is not None:
        node = node.parent.parent
    listed = node.child_by_field_name("type_parameters")
    for each in listed.named_children if listed is not None else ():
        bound = each.child_by_field_name("type")
        only = bound.named_child(0) if bound is not None and bound.named_child_count == 1 else None
        written = type_text(only, {})
        for name in each.children_by_field_name("name"):
            found[text_of(name)] = UNKNOWN if written in ("any", "comparable") else written
    receiver = node.child_by_field_name("receiver")
    if receiver is not None and b"[" in (receiver.text or b""):
        inside = text_of(receiver).partition("[")[2].partition("]")[0]
        found.update({name.strip(): UNKNOWN for name in inside.split(",")})
    return found


def _embedded(written: Node | None, parameters: TypeParameters) -> Iterator[str]:
    """The types that a struct or an interface embeds."""
    if written is None:
        return
    fields = written.named_children if written.type == "interface_type" else ()
    if written.type == "struct_type" and written.named_child_count:
        fields = written.named_children[0].named_children
    for each in fields:
        if each.type == "type_elem":
            name = type_text(each, parameters)
        elif each.type == "field_declaration" and each.child_by_field_name("name") is None:
            name = type_text(each.child_by_field_name("type"), parameters)
        else:
            continue
        if name[:1].isalpha() or name[:1] == "_":
            yield name


def _signature(raw: bytes, definition: Node, before: str) -> str:
    """Its declaration on one line, without a body."""
    body = definition.child_by_field_name("body") or definition.child_by_field_name("type")
    end, after = definition.end_byte, ""
    if body is not None and body.type in ("block", "struct_type", "interface_type"):
        end = body.start_byte
        after = body.type.removesuffix("_type") if body.type != "block" else ""
    return f"{before}{one_line(raw[definition.start_byte : end])} {after}".strip()[:MAX_SIGNATURE_CHARACTERS]


def _is_test(name: str, definition: Node, qualifier: str) -> bool:
    matched = _TEST.match(name)
    if matched is None or definition.type == "method_elem":
        return False
    if qualifier:  # suites of tests, as testify and gocheck have them
        return matched[1] == "Test"
    listed = definition.child_by_field_name("parameters")
    inside = (listed.text or b"") if listed is not None else b""
    return _TESTING.search(inside) is not None if matched[1] != "Example" else inside.strip(b"() ") == b""


_RESULTS: Final = frozenset({"call_expression", "type_assertion_expression", "index_expression", "unary_expression"})
_SCOPES: Final = frozenset(
    [
        "block",
        "if_statement",
        "for_statement",
        "expression_switch_statement",
        "type_switch_statement",
        "expression_case",
        "type_case",
        "default_case",
        "communication_case",
        "func_literal",
        "function_declaration",
        "method_declaration",
    ]
)
_FUNCTIONS: Final = frozenset({"func_literal", "function_declaration", "method_declaration"})
_SEPARATOR: Final = "\n"


class GoReader:
    """Reads Go. A type that is neither a struct nor an interface is a `class`; methods of interfaces are definitions.

    `extra`: `package`, the name of the package; `build`, the build constraint (see `go_builds`); `asserted`, assertions
    `var _ I = (*T)(nil)` as lines `I=T`; `parameters`, parameter types of methods as lines `T::method=A,B`.
    """

    def describe(self, parsed: ParsedSource, path: str, definition: Node, sort: Sort, qualifier: str) -> Described:
        return described(parsed.raw, path, definition, qualifier)

    def read(self, parsed: ParsedSource, path: str, matches: Sequence[Match], owner_at: OwnerAt) -> Rest:
        reading = _Reading(parsed.raw, path, owner_at)
        reading.generics(matches)
        reading.read(matches)
        return reading.rest()


READER: Final = GoReader()


class _Reading(BlockReading):
    def __init__(self, raw: bytes, path: str, owner_at: OwnerAt) -> None:
        super().__init__(owner_at)
        self.raw, self.path = raw, path
        self.asserted: list[str] = []
        self.parameters: list[str] = []
        self.selectors: dict[str, tuple[int, int]] = {}
        self.named: set[int] = set()  # where the structs begin that have names

    def rest(self) -> Rest:
        names = {each.alias or each.module.rpartition("/")[2] for each in self.imports}
        local = {each.name for each in self.bound if each.node is not None}
        for chain, (owner, line) in self.selectors.items():
            root = chain.partition(".")[0]
            if root in names or root not in local:
                self.references.append(Reference(owner, "name", chain, line))
        for name, lines in (("asserted", self.asserted), ("parameters", self.parameters)):
            if lines:
                self.extra[name] = _SEPARATOR.join(lines)
        self.references.sort(key=lambda each: each.line)
        return self.facts(_scope_of, frozenset(names))

    def generics(self, matches: Sequence[Match]) -> None:
        """Records type parameters and local types with their scopes, and named structs."""
        for match in matches:
            for node in (*match.get("function", ()), *match.get("type", ())):
                if parameters := parameters_of(node):
                    self.generic.append((node.start_byte, node.end_byte, parameters))
            for node in match.get("type", ()):
                if (written := node.child_by_field_name("type")) is not None:
                    self.named.add(written.start_byte)
            for node in match.get("local", ()):
                scope, name = _scope_of(node), node.child_by_field_name("name")
                if scope is not None and name is not None:
                    known = {text_of(name): type_text(node.child_by_field_name("type"), {})}
                    self.generic.append((node.start_byte, scope.end_byte, known))

    def bind(self, name: Node, chain: str, *, declared: bool, line: int = 0) -> None:
        written = text_of(name)
        if written != "_":
            owner = self.owner_at(name.start_byte)
            node = name if owner != FILE else None
            line = line or name.start_point[0] + 1
            self.bound.append(Bound(owner, written, chain, declared, line, name.start_byte, node))

    def chain(self, node: Node | None) -> str:
        return CHAINS.chain(node, self.sight(node.start_byte)) if node is not None else UNKNOWN

    def type(self, node: Node | None) -> str:
        return type_text(node, self.sight(node.start_byte)) if node is not None else UNKNOWN

    def read_package(self, node: Node) -> None:
        self.extra["package"] = text_of(node)
        if build := build_of(self.raw[: node.start_byte].decode(errors="replace"), self.path):
            self.extra["build"] = build

    def read_import(self, node: Node) -> None:
        path, name = node.child_by_field_name("path"), node.child_by_field_name("name")
        if path is None:
            return
        module = text_of(path).strip('"`')
        alias = text_of(name) if name is not None else ""
        self.imports.append(
            Imported(
                module=module,
                name="*" if alias == "." else "",
                alias="" if alias == "." else alias,
                line=node.start_point[0] + 1,
            )
        )

    def read_function(self, node: Node) -> None:
        sight = self.sight(node.start_byte)
        if node.type == "method_declaration" or node.type == "function_declaration":
            self._parameters(node)
        body = node.child_by_field_name("body")
        if node.type == "func_literal" and body is not None and not body.named_child_count:
            return  # nothing in it that could use its parameters
        later = 0
        if body is not None and node.type == "func_literal" and body.end_point[0] > body.start_point[0]:
            later = body.start_point[0] + 2  # on the line on which it begins, names are those from outside
        for field in ("receiver", "parameters", "result"):
            listed = node.child_by_field_name(field)
            if listed is None or listed.type != "parameter_list":
                continue
            for each in listed.named_children:
                names = each.children_by_field_name("name")
                if not names:
                    continue
                written = type_text(each.child_by_field_name("type"), sight)
                if each.type == "variadic_parameter_declaration":
                    written = f"[]{written}"
                for name in names:
                    self.bind(name, written, declared=True, line=later)

    def _parameters(self, node: Node) -> None:
        receiver, name = node.child_by_field_name("receiver"), node.child_by_field_name("name")
        listed = node.child_by_field_name("parameters")
        if receiver is None or name is None or listed is None:
            return
        owner = next(iter(listed_types(receiver, {})), UNKNOWN)
        types = ",".join(listed_types(listed, self.sight(node.start_byte)))
        self.parameters.append(f"{owner}::{text_of(name)}={types}")

    def read_short(self, node: Node) -> None:
        self._assign(node.child_by_field_name("left"), node.child_by_field_name("right"))

    def _assign(self, left: Node | None, right: Node | None) -> None:
        if left is None or right is None:
            return
        names, values = left.named_children, right.named_children
        for at, name in enumerate(names):
            if name.type == "identifier":
                self.bind(name, self._value(at, len(names), values), declared=False)

    def _value(self, at: int, names: int, values: list[Node]) -> str:
        if len(values) == names:
            return self.chain(values[at])
        if len(values) != 1 or values[0].type not in _RESULTS:
            return UNKNOWN
        if values[0].type != "call_expression":
            return self.chain(values[0]) if at == 0 else UNKNOWN  # the second is whether it is there
        return self.chain(values[0]) + (f".{at}" if at else "")

    def read_range(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or not any(each.type == ":=" for each in node.children):
            return
        chain = self.chain(right)
        for name, end in zip(left.named_children, ("[key]", "[]"), strict=False):
            if name.type == "identifier":
                self.bind(name, chain + end if chain != UNKNOWN else UNKNOWN, declared=False)

    def read_receive(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or not any(each.type == ":=" for each in node.children):
            return
        for at, name in enumerate(left.named_children):
            self.bind(name, UNKNOWN if at else self.chain(right), declared=False)

    def read_switch(self, node: Node) -> None:
        alias, value = node.child_by_field_name("alias"), node.child_by_field_name("value")
        name = alias.named_child(0) if alias is not None and alias.named_child_count else None
        if name is None:
            return
        written = text_of(name)
        for each in node.named_children:
            if each.type not in ("type_case", "default_case"):
                continue
            types = each.children_by_field_name("type")
            chain = self.type(types[0]) if len(types) == 1 else self.chain(value)
            owner, line = self.owner_at(each.start_byte), each.start_point[0] + 1
            self.bound.append(Bound(owner, written, chain, len(types) == 1, line, each.start_byte, each))

    def read_var(self, node: Node) -> None:
        names, value = node.children_by_field_name("name"), node.child_by_field_name("value")
        written = node.child_by_field_name("type")
        values = value.named_children if value is not None else []
        for at, name in enumerate(names):
            if written is not None:
                self.bind(name, self.type(written), declared=True)
            else:
                self.bind(name, self._value(at, len(names), values), declared=False)
            if written is not None and at < len(values) and text_of(name) == "_":
                self.asserted.append(f"{self.type(written)}={self.chain(values[at])}")

    def read_const(self, node: Node) -> None:
        written = UNKNOWN
        for spec in node.named_children:
            if spec.type != "const_spec":
                continue
            value = spec.child_by_field_name("value")
            if value is not None:  # without one, the type and the value of the one before come again
                declared = spec.child_by_field_name("type")
                written = self.type(declared) if declared is not None else UNKNOWN
                if declared is None and value.named_child_count == 1:  # `Kind(1)`
                    chain = self.chain(value.named_child(0))
                    written = chain.removesuffix("()") if chain.endswith("()") else UNKNOWN
            for name in spec.children_by_field_name("name"):
                self.bind(name, written, declared=True)

    def read_type(self, node: Node) -> None:
        written = node.child_by_field_name("type")
        if written is None or written.type in ("struct_type", "interface_type"):
            return
        owner, line = self.owner_at(node.start_byte), node.start_point[0] + 1
        name = "==" if node.type == "type_alias" else "="
        self.bound.append(Bound(owner, name, self.type(written), declared=True, line=line, byte=node.start_byte))

    def read_field(self, node: Node) -> None:
        chain = self.type(node.child_by_field_name("type"))
        struct = node.parent.parent if node.parent is not None else None
        if struct is None:
            return
        before = "" if struct.start_byte in self.named else f"#{struct.start_byte}."
        names = [text_of(name) for name in node.children_by_field_name("name")]
        owner, line = self.owner_at(node.start_byte), node.start_point[0] + 1
        for name in names or [chain.rpartition(".")[2]]:  # what is embedded is called after its type
            self.bound.append(Bound(owner, before + name, chain, declared=True, line=line, byte=node.start_byte))

    def read_element(self, node: Node) -> None:
        """Records the parameters of an interface's method."""
        name, listed = node.child_by_field_name("name"), node.child_by_field_name("parameters")
        above = node.parent.parent if node.parent is not None else None
        own = above.child_by_field_name("name") if above is not None else None
        if name is None or listed is None or own is None:
            return
        sight = self.sight(node.start_byte)
        types = ",".join(listed_types(listed, sight))
        self.parameters.append(f"{text_of(own)}::{text_of(name)}={types}")

    def read_call(self, node: Node) -> None:
        if node.type == "type_conversion_expression":
            self._refer(node, "call", converted(node, self.sight(node.start_byte)).removesuffix("()"))
            return
        function = node.child_by_field_name("function")
        if function is None or function.type == "func_literal":
            return
        chain = self.chain(function)
        if chain in ("new", "make"):
            made = self.chain(node).removesuffix("{}")
            if made[:1].isalpha() or made[:1] == "_":
                self._refer(function, "new", made)
                return
        self._refer(function, "call", chain)

    def read_new(self, node: Node) -> None:
        written, body = node.child_by_field_name("type"), node.child_by_field_name("body")
        made = self.type(written)
        elided = body is not None and any(_elided(body))
        if made.startswith("["):
            made = made.rpartition("]")[2] if elided else ""
            elided = False
        if made[:1].isalpha() or made[:1] == "_":
            self._refer(written or node, "new", made)
            if elided:
                self._refer(written or node, "new", f"{made}[]")

    def read_selector(self, node: Node) -> None:
        chain = text_of(node)
        if chain not in self.selectors and not chain.isprintable():  # on several lines
            chain = compact(node)
        if chain not in self.selectors and chain.partition(".")[2][:1].isupper():
            self.selectors[chain] = (self.owner_at(node.start_byte), node.start_point[0] + 1)

    def _refer(self, node: Node, form: Form, chain: str) -> None:
        self.refer(node, form, chain, node.end_point[0] + 1)


def _elided(body: Node) -> Iterator[bool]:
    """For each element of a literal, whether it is a literal without its type."""
    for each in body.named_children:
        element = each.child_by_field_name("value") if each.type == "keyed_element" else each
        yield element is not None and element.named_child_count == 1 and element.named_child(0).type == "literal_value"  # type: ignore[union-attr]


def _scope_of(node: Node) -> Node | None:
    """The block in which a name is visible; for parameters, the function's body."""
    around = node if node.type in _SCOPES else enclosing(node, _SCOPES)
    if around is not None and around.type == "block" and around.parent is not None and around.parent.type in _FUNCTIONS:
        return around.parent
    return around
