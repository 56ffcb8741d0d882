"""Reads Java: types and their members, bindings of names, tests as JUnit sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from weft.code.parse.facts import Form, Imported, Sort
from weft.code.parse.parse import ParsedSource
from weft.code.parse.readers import Described, Match, OwnerAt, Rest
from weft.code.parse.readers.blocks import BlockReading, Bound, TypeParameters
from weft.code.parse.readers.comments import comment_above
from weft.code.parse.readers.java.chains import CHAINS, callee, declared_text, held_text, type_text
from weft.code.parse.readers.syntax import UNKNOWN, compact, enclosing, one_line, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_SIGNATURE_CHARACTERS: Final = 400

_TESTS: Final = re.compile(r"@(?:[\w.]+\.)?(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate)\b(?!\s*\.)")


def described(raw: bytes, definition: Node, sort: Sort) -> Described:
    """The signature, documentation and types of one definition."""
    modifiers = definition.named_child(0)
    before = text_of(modifiers) if modifiers is not None and modifiers.type == "modifiers" else ""
    doc = comment_above(raw, definition.start_byte)
    parameters = parameters_of(definition)
    signature = _signature(raw, definition, modifiers if before else None)
    if sort == "method":
        returns = definition.child_by_field_name("type")
        return Described(
            signature=signature,
            doc=doc,
            returns=held_text(returns, parameters) if returns is not None else "",
            test=_is_test(definition, before),
        )
    above = definition.child_by_field_name("superclass")
    extended = next((each for each in definition.named_children if each.type == "extends_interfaces"), above)
    return Described(
        signature=signature,
        doc=doc,
        sort="abstract" if sort == "class" and re.search(r"\babstract\b", before) else None,
        bases=tuple(_types(extended)),
        interfaces=tuple(_types(definition.child_by_field_name("interfaces"))),
    )


def parameters_of(node: Node) -> TypeParameters:
    """The type parameters of a definition, each with the type that bounds it."""
    listed = node.child_by_field_name("type_parameters")
    found: dict[str, str] = {}
    for each in listed.named_children if listed is not None else ():
        names = [inner for inner in each.named_children if inner.type in ("type_identifier", "identifier")]
        bound = next((inner for inner in each.named_children if inner.type == "type_bound"), None)
        if names:
            first = bound.named_child(0) if bound is not None else None
            found[text_of(names[0])] = type_text(first, found)
    return found


def _types(node: Node | None) -> Iterator[str]:
    """The types that `extends` or `implements` names."""
    for each in node.named_children if node is not None else ():
        if each.type == "type_list":
            yield from _types(each)
        elif (written := type_text(each, {})) != UNKNOWN:
            yield written


def first_type(node: Node) -> str:
    """The base of a class, or else its first interface."""
    above = [node.child_by_field_name("superclass"), node.child_by_field_name("interfaces")]
    return next((written for each in above for written in _types(each)), "")


def _signature(raw: bytes, definition: Node, modifiers: Node | None) -> str:
    """Its declaration on one line, without annotations and body."""
    body = definition.child_by_field_name("body")
    end = body.start_byte if body is not None else definition.end_byte
    start, words = definition.start_byte, ""
    if modifiers is not None:
        start = modifiers.end_byte
        words = " ".join(text_of(each) for each in modifiers.children if "annotation" not in each.type) + " "
    return f"{words}{one_line(raw[start:end]).rstrip(';')}".strip()[:MAX_SIGNATURE_CHARACTERS]


def _is_test(definition: Node, modifiers: str) -> bool:
    if definition.type != "method_declaration":
        return False
    if "@" in modifiers and _TESTS.search(modifiers):
        return True
    name, listed = definition.child_by_field_name("name"), definition.child_by_field_name("parameters")
    if name is None or listed is None or listed.named_child_count or not text_of(name).startswith("test"):
        return False
    above = definition.parent.parent if definition.parent is not None else None  # JUnit 3
    extended = above.child_by_field_name("superclass") if above is not None else None
    return extended is not None and text_of(extended).endswith("TestCase") and "public" in modifiers


_SCOPES: Final = frozenset(
    [
        "block",
        "catch_clause",
        "class_body",
        "constructor_body",
        "constructor_declaration",
        "enhanced_for_statement",
        "for_statement",
        "lambda_expression",
        "method_declaration",
        "switch_block_statement_group",
        "switch_rule",
        "try_with_resources_statement",
    ]
)


class JavaReader:
    """Reads Java. A record is a `class`, an annotation type an `interface`, a constructor a method named as its class.

    `extra`: `package`; `parameters`, the parameter types of each method, as `place=A,B` joined by semicolons, with `B+`
    for varargs.
    """

    def describe(self, parsed: ParsedSource, path: str, definition: Node, sort: Sort, qualifier: str) -> Described:
        return described(parsed.raw, definition, sort)

    def read(self, parsed: ParsedSource, path: str, matches: Sequence[Match], owner_at: OwnerAt) -> Rest:
        reading = _Reading(owner_at)
        reading.prepare(matches)
        reading.read(matches)
        return reading.rest()


READER: Final = JavaReader()


class _Reading(BlockReading):
    def __init__(self, owner_at: OwnerAt) -> None:
        super().__init__(owner_at)
        self.taken: dict[int, str] = {}  # the types of a method's parameters, by its place; before those of inner ones
        self.bodies: list[tuple[int, int, str, frozenset[str]]] = []  # of anonymous classes, with their own methods

    def rest(self) -> Rest:
        if self.taken:
            self.extra["parameters"] = ";".join(f"{place}={types}" for place, types in self.taken.items())
        fields = frozenset(each.name for each in self.bound if each.node is None)
        return self.facts(_scope_of, fields)

    def prepare(self, matches: Sequence[Match]) -> None:
        """Records type parameters and local types with their scopes, and the bodies of anonymous classes."""
        for match in matches:
            for node in match.get("generic", ()):
                if node.parent is not None:
                    parameters = parameters_of(node.parent)
                    self.generic.append((node.parent.start_byte, node.parent.end_byte, parameters))
            for node in match.get("local", ()):
                scope, name = _scope_of(node), node.child_by_field_name("name")
                if scope is not None and name is not None:
                    self.generic.append((scope.start_byte, scope.end_byte, {text_of(name): UNKNOWN}))
                    self._body(node.child_by_field_name("body"), first_type(node))
            for node in match.get("anonymous", ()):
                body = next((each for each in node.named_children if each.type == "class_body"), None)
                written = node.child_by_field_name("type")
                self._body(body, type_text(written, {}) if written is not None else "")

    def _body(self, body: Node | None, of: str) -> None:
        if body is None:
            return
        names = [each.child_by_field_name("name") for each in body.named_children if each.type == "method_declaration"]
        own = frozenset(text_of(name) for name in names if name is not None)
        self.bodies.append((body.start_byte, body.end_byte, of, own))

    def chain(self, node: Node | None) -> str:
        return CHAINS.chain(node, self.sight(node.start_byte)) if node is not None else UNKNOWN

    def bind(self, name: Node | None, chain: str, *, declared: bool, field: bool = False) -> None:
        if name is None:
            return
        line = name.start_point[0] + 1
        at = name.start_byte
        node = None if field else name
        self.bound.append(Bound(self.owner_at(at), text_of(name), chain, declared, line, at, node))

    def read_package(self, node: Node) -> None:
        self.extra["package"] = compact(node)

    def read_import(self, node: Node) -> None:
        """`name` is the class, or the member of a class for a static import; `*` for all of them."""
        path = next((each for each in node.named_children if each.type in ("scoped_identifier", "identifier")), None)
        if path is None:
            return
        written = compact(path)
        static = any(each.type == "static" for each in node.children)
        everything = any(each.type == "asterisk" for each in node.children)
        module, _, name = ("", "", "") if everything else written.rpartition(".")
        self.imports.append(
            Imported(
                module=written if everything else module,
                name="*" if everything else name,
                alias="static" if static else "",
                line=node.start_point[0] + 1,
            )
        )

    def read_taking(self, node: Node) -> None:
        listed = node.child_by_field_name("parameters")
        sight = self.sight(node.start_byte + 1 if node.type != "record_declaration" else node.end_byte - 1)
        taken: list[str] = []
        for each in listed.named_children if listed is not None else ():
            if each.type == "formal_parameter":
                written = declared_text(each.child_by_field_name("type"), each, sight)
                self.bind(
                    each.child_by_field_name("name"), written, declared=True, field=node.type == "record_declaration"
                )
                taken.append(written.partition("<")[0])
            elif each.type == "spread_parameter":
                taken.append(self._spread(each, sight) + "+")
        name = node.child_by_field_name("name")
        if name is not None and node.type != "record_declaration":
            self.taken.setdefault(self.owner_at(name.start_byte), ",".join(taken))

    def _spread(self, node: Node, sight: TypeParameters) -> str:
        declarator = next((each for each in node.named_children if each.type == "variable_declarator"), None)
        written = next(
            (each for each in node.named_children if each.type not in ("modifiers", "variable_declarator")), None
        )
        chain = type_text(written, sight)
        if declarator is not None:
            self.bind(declarator.child_by_field_name("name"), f"[]{chain}", declared=True)
        return chain

    def read_lambda(self, node: Node) -> None:
        listed = node.child_by_field_name("parameters")
        if listed is None:
            return
        names = [listed] if listed.type == "identifier" else listed.named_children
        passed = self._passed(node) if len(names) == 1 else ""
        for each in names:
            if each.type == "identifier":
                self.bind(each, passed or UNKNOWN, declared=not passed)
            elif each.type == "formal_parameter":
                written = type_text(each.child_by_field_name("type"), self.sight(each.start_byte))
                self.bind(each.child_by_field_name("name"), UNKNOWN if written == "var" else written, declared=True)

    def _passed(self, function: Node) -> str:
        """The parameter of a one-parameter function that is passed to a method; empty if it is not passed."""
        listed = function.parent
        call = listed.parent if listed is not None and listed.type == "argument_list" else None
        on = call.child_by_field_name("object") if call is not None and call.type == "method_invocation" else None
        name = call.child_by_field_name("name") if call is not None else None
        chain = self.chain(on) if on is not None and name is not None else UNKNOWN
        if name is None or chain.startswith((UNKNOWN, "this", "super")):
            return ""
        return f"{chain}.{text_of(name)}->"

    def read_variable(self, node: Node) -> None:
        written = node.child_by_field_name("type")
        sight = self.sight(node.start_byte)
        field = node.type != "local_variable_declaration" and not self._in_body(node.start_byte)
        for each in node.children_by_field_name("declarator"):
            chain, declared = declared_text(written, each, sight), True
            if chain == "var":
                chain, declared = self.chain(each.child_by_field_name("value")), False
            self.bind(each.child_by_field_name("name"), chain, declared=declared, field=field)

    def read_constant(self, node: Node) -> None:
        above = node.parent.parent if node.parent is not None else None
        own = above.child_by_field_name("name") if above is not None else None
        if own is not None:
            self.bind(node.child_by_field_name("name"), text_of(own), declared=True, field=True)

    def read_each(self, node: Node) -> None:
        written = held_text(node.child_by_field_name("type"), self.sight(node.start_byte))
        chain = self.chain(node.child_by_field_name("value")) + "[]" if written == "var" else written
        self.bind(node.child_by_field_name("name"), chain, declared=written != "var")

    def read_catch(self, node: Node) -> None:
        caught = next((each for each in node.named_children if each.type == "catch_type"), None)
        types = caught.named_children if caught is not None else []
        written = type_text(types[0], {}) if len(types) == 1 else UNKNOWN
        self.bind(node.child_by_field_name("name"), written, declared=True)

    def read_resource(self, node: Node) -> None:
        written = type_text(node.child_by_field_name("type"), self.sight(node.start_byte))
        chain = self.chain(node.child_by_field_name("value")) if written == "var" else written
        self.bind(node.child_by_field_name("name"), chain, declared=written != "var")

    def read_matched(self, node: Node) -> None:
        written = type_text(node.child_by_field_name("right"), self.sight(node.start_byte))
        self.bind(node.child_by_field_name("name"), written, declared=True)

    def read_pattern(self, node: Node) -> None:
        if node.named_child_count >= 2:
            written, name = node.named_children[-2:]
            self.bind(name, type_text(written, self.sight(node.start_byte)), declared=True)

    def read_call(self, node: Node) -> None:
        step, on = callee(node)
        name = node.child_by_field_name("name")
        if on is None:
            chain = self._from_body(node.start_byte, step)
        else:
            chain = self.chain(on)
            if chain == "this" or chain.startswith(("this.", "super.")) or chain == "super":
                chain = self._this(node.start_byte, chain)
            chain += step
        if chain and name is not None:
            self._refer(name, "call", chain, node.child_by_field_name("arguments"))

    def _in_body(self, byte: int) -> bool:
        return any(start < byte < end for start, end, _, _ in self.bodies)

    def _from_body(self, byte: int, name: str) -> str:
        """A bare name as seen from inside anonymous classes; empty if it is their own."""
        before = ""
        for start, end, of, own in sorted(self.bodies, reverse=True):
            if start < byte < end:
                if name in own:
                    return ""
                before += f"{of}$." if of else ""
        return before + name

    def _this(self, byte: int, chain: str) -> str:
        inner = max(((start, of) for start, end, of, _ in self.bodies if start < byte < end), default=None)
        if inner is None:
            return chain
        return f"{inner[1] or UNKNOWN}{{}}{chain[chain.find('.') :] if '.' in chain else ''}"

    def read_new(self, node: Node) -> None:
        written = node.child_by_field_name("type")
        chain = type_text(written, self.sight(node.start_byte))
        on = node.named_child(0)
        if (
            on is not None
            and written is not None
            and on.start_byte < written.start_byte
            and on.type != "type_arguments"
        ):
            chain = f"{self.chain(on)}.{chain}"  # outer.new Inner()
        if chain != UNKNOWN and written is not None:
            self._refer(written, "new", chain, node.child_by_field_name("arguments"))

    def read_constructor(self, node: Node) -> None:
        called = node.child_by_field_name("constructor")
        if called is not None:
            self._refer(called, "new", text_of(called), node.child_by_field_name("arguments"))

    def read_reference(self, node: Node) -> None:
        """`Foo::bar` is a call, like `x -> x.bar()`; `Foo::new` is a construction."""
        first, last = node.named_child(0), node.child(node.child_count - 1)
        if first is None or last is None:
            return
        sight = self.sight(node.start_byte)
        typed = first.type in ("generic_type", "array_type", "scoped_type_identifier")
        chain = type_text(first, sight) if typed else CHAINS.chain(first, sight)
        if last.type == "new":
            if not chain.startswith("["):
                self._refer(last, "new", chain, None)
            return
        if chain in ("this", "super"):
            chain = self._this(node.start_byte, chain)
        self._refer(last, "call", f"{chain}.{text_of(last)}", None)

    def _refer(self, node: Node, form: Form, chain: str, arguments: Node | None) -> None:
        given = None
        if arguments is not None and form == "call":
            given = tuple(self.chain(each) for each in arguments.named_children if "comment" not in each.type)
        self.refer(node, form, chain, node.start_point[0] + 1, given)


def _scope_of(node: Node) -> Node | None:
    """The block in which a name is visible."""
    return enclosing(node, _SCOPES)
