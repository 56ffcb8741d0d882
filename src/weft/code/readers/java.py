"""Java: types and their members, what names hold, tests as JUnit sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from weft.code.facts import Form, Imported, Reference, Sort
from weft.code.parsing import Parsed
from weft.code.readers import Described, Match, OwnerAt, Rest
from weft.code.readers.java_chains import (
    UNKNOWN,
    Parameters,
    callee,
    chain_of,
    declared_text,
    held_text,
    text_of,
    type_text,
)
from weft.code.readers.java_described import described, first_type, parameters_of
from weft.code.readers.scopes import Bound, settled

if TYPE_CHECKING:
    from tree_sitter import Node

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

    `extra`: `package`; `parameters`, the types that each method takes, as `place=A,B` joined by semicolons, `B+` for a
    last one that may come any number of times.
    """

    def describe(self, parsed: Parsed, path: str, definition: Node, sort: Sort, qualifier: str) -> Described:
        return described(parsed.raw, definition, sort)

    def read(self, parsed: Parsed, path: str, matches: Sequence[Match], owner_at: OwnerAt) -> Rest:
        reading = _Reading(parsed.raw, owner_at)
        reading.prepare(matches)
        for match in matches:
            capture, nodes = next(iter(match.items()))
            if read := getattr(reading, f"read_{capture}", None):
                read(nodes[0])
        return reading.rest()


READER: Final = JavaReader()


class _Reading:
    """One file as far as it is read."""

    def __init__(self, raw: bytes, owner_at: OwnerAt) -> None:
        self.raw = raw
        self.owner_at = owner_at
        self.imports: list[Imported] = []
        self.references: list[Reference] = []
        self.bound: list[Bound] = []
        self.extra: dict[str, str] = {}
        self.taken: dict[int, str] = {}  # what a method takes, by its place: what stands inside it comes later
        self.generic: list[tuple[int, int, Parameters]] = []
        self.bodies: list[tuple[int, int, str, frozenset[str]]] = []  # of anonymous classes, with their own methods

    def rest(self) -> Rest:
        if self.taken:
            self.extra["parameters"] = ";".join(f"{place}={types}" for place, types in self.taken.items())
        fields = frozenset(each.name for each in self.bound if each.node is None)
        return Rest(
            imports=tuple(self.imports),
            references=tuple(self.references),
            bindings=settled(self.bound, _scope_of, fields),
            extra=self.extra,
        )

    def prepare(self, matches: Sequence[Match]) -> None:
        """Where type parameters are in sight, and types that only a method knows; bodies of anonymous classes."""
        for match in matches:
            for node in match.get("generic", ()):
                if node.parent is not None:
                    parameters = parameters_of(self.raw, node.parent)
                    self.generic.append((node.parent.start_byte, node.parent.end_byte, parameters))
            for node in match.get("local", ()):
                scope, name = _scope_of(node), node.child_by_field_name("name")
                if scope is not None and name is not None:
                    self.generic.append((scope.start_byte, scope.end_byte, {text_of(self.raw, name): UNKNOWN}))
                    self._body(node.child_by_field_name("body"), first_type(self.raw, node))
            for node in match.get("anonymous", ()):
                body = next((each for each in node.named_children if each.type == "class_body"), None)
                written = node.child_by_field_name("type")
                self._body(body, type_text(self.raw, written, {}) if written is not None else "")

    def _body(self, body: Node | None, of: str) -> None:
        if body is None:
            return
        names = [each.child_by_field_name("name") for each in body.named_children if each.type == "method_declaration"]
        own = frozenset(text_of(self.raw, name) for name in names if name is not None)
        self.bodies.append((body.start_byte, body.end_byte, of, own))

    def sight(self, byte: int) -> Parameters:
        """The type parameters in sight."""
        if not self.generic:
            return {}
        found: dict[str, str] = {}
        for start, end, parameters in self.generic:
            if start <= byte < end:
                found.update(parameters)
        return found

    def chain(self, node: Node | None) -> str:
        return chain_of(self.raw, node, self.sight(node.start_byte) if node is not None else {})

    def bind(self, name: Node | None, chain: str, *, declared: bool, field: bool = False) -> None:
        if name is None:
            return
        line = name.start_point[0] + 1
        at = name.start_byte
        node = None if field else name
        self.bound.append(Bound(self.owner_at(at), text_of(self.raw, name), chain, declared, line, at, node))

    def read_package(self, node: Node) -> None:
        self.extra["package"] = "".join(text_of(self.raw, node).split())

    def read_import(self, node: Node) -> None:
        """`name` is the class, or the member of a class for a static import; `*` for all of them."""
        path = next((each for each in node.named_children if each.type in ("scoped_identifier", "identifier")), None)
        if path is None:
            return
        written = "".join(text_of(self.raw, path).split())
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
                written = declared_text(self.raw, each.child_by_field_name("type"), each, sight)
                self.bind(
                    each.child_by_field_name("name"), written, declared=True, field=node.type == "record_declaration"
                )
                taken.append(written.partition("<")[0])
            elif each.type == "spread_parameter":
                taken.append(self._spread(each, sight) + "+")
        name = node.child_by_field_name("name")
        if name is not None and node.type != "record_declaration":
            self.taken.setdefault(self.owner_at(name.start_byte), ",".join(taken))

    def _spread(self, node: Node, sight: Parameters) -> str:
        declarator = next((each for each in node.named_children if each.type == "variable_declarator"), None)
        written = next(
            (each for each in node.named_children if each.type not in ("modifiers", "variable_declarator")), None
        )
        chain = type_text(self.raw, written, sight)
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
                written = type_text(self.raw, each.child_by_field_name("type"), self.sight(each.start_byte))
                self.bind(each.child_by_field_name("name"), UNKNOWN if written == "var" else written, declared=True)

    def _passed(self, function: Node) -> str:
        """What a function with one parameter gets, by what it is passed to; empty if it is not passed to a method."""
        listed = function.parent
        call = listed.parent if listed is not None and listed.type == "argument_list" else None
        on = call.child_by_field_name("object") if call is not None and call.type == "method_invocation" else None
        name = call.child_by_field_name("name") if call is not None else None
        chain = self.chain(on) if on is not None and name is not None else UNKNOWN
        if name is None or chain.startswith((UNKNOWN, "this", "super")):
            return ""
        return f"{chain}.{text_of(self.raw, name)}->"

    def read_variable(self, node: Node) -> None:
        written = node.child_by_field_name("type")
        sight = self.sight(node.start_byte)
        field = node.type != "local_variable_declaration" and not self._in_body(node.start_byte)
        for each in node.children_by_field_name("declarator"):
            chain, declared = declared_text(self.raw, written, each, sight), True
            if chain == "var":
                chain, declared = self.chain(each.child_by_field_name("value")), False
            self.bind(each.child_by_field_name("name"), chain, declared=declared, field=field)

    def read_constant(self, node: Node) -> None:
        above = node.parent.parent if node.parent is not None else None
        own = above.child_by_field_name("name") if above is not None else None
        if own is not None:
            self.bind(node.child_by_field_name("name"), text_of(self.raw, own), declared=True, field=True)

    def read_each(self, node: Node) -> None:
        written = held_text(self.raw, node.child_by_field_name("type"), self.sight(node.start_byte))
        chain = self.chain(node.child_by_field_name("value")) + "[]" if written == "var" else written
        self.bind(node.child_by_field_name("name"), chain, declared=written != "var")

    def read_catch(self, node: Node) -> None:
        caught = next((each for each in node.named_children if each.type == "catch_type"), None)
        types = caught.named_children if caught is not None else []
        written = type_text(self.raw, types[0], {}) if len(types) == 1 else UNKNOWN
        self.bind(node.child_by_field_name("name"), written, declared=True)

    def read_resource(self, node: Node) -> None:
        written = type_text(self.raw, node.child_by_field_name("type"), self.sight(node.start_byte))
        chain = self.chain(node.child_by_field_name("value")) if written == "var" else written
        self.bind(node.child_by_field_name("name"), chain, declared=written != "var")

    def read_matched(self, node: Node) -> None:
        written = type_text(self.raw, node.child_by_field_name("right"), self.sight(node.start_byte))
        self.bind(node.child_by_field_name("name"), written, declared=True)

    def read_pattern(self, node: Node) -> None:
        if node.named_child_count >= 2:
            written, name = node.named_children[-2:]
            self.bind(name, type_text(self.raw, written, self.sight(node.start_byte)), declared=True)

    def read_call(self, node: Node) -> None:
        ends: list[str] = []
        on = callee(self.raw, node, ends)
        name = node.child_by_field_name("name")
        if isinstance(on, str):
            chain = self._from_body(node.start_byte, on)
        else:
            chain = self.chain(on)
            if chain == "this" or chain.startswith(("this.", "super.")) or chain == "super":
                chain = self._this(node.start_byte, chain)
            chain += ends[0]
        if chain and name is not None:
            self._refer(name, "call", chain, node.child_by_field_name("arguments"))

    def _in_body(self, byte: int) -> bool:
        return any(start < byte < end for start, end, _, _ in self.bodies)

    def _from_body(self, byte: int, name: str) -> str:
        """A name without anything before it, as seen from inside anonymous classes; nothing if it is their own."""
        before = ""
        for start, end, of, own in sorted(self.bodies, reverse=True):
            if start < byte < end:
                if name in own:
                    return ""
                before += f"{of}$." if of else ""
        return before + name

    def _this(self, byte: int, chain: str) -> str:
        """In an anonymous class, `this` is of its type."""
        inner = max(((start, of) for start, end, of, _ in self.bodies if start < byte < end), default=None)
        if inner is None:
            return chain
        return f"{inner[1] or UNKNOWN}{{}}{chain[chain.find('.') :] if '.' in chain else ''}"

    def read_new(self, node: Node) -> None:
        written = node.child_by_field_name("type")
        chain = type_text(self.raw, written, self.sight(node.start_byte))
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
            self._refer(called, "new", text_of(self.raw, called), node.child_by_field_name("arguments"))

    def read_reference(self, node: Node) -> None:
        """`Foo::bar` is what `x -> x.bar()` would be: a call; `Foo::new` makes one."""
        first, last = node.named_child(0), node.child(node.child_count - 1)
        if first is None or last is None:
            return
        sight = self.sight(node.start_byte)
        typed = first.type in ("generic_type", "array_type", "scoped_type_identifier")
        chain = type_text(self.raw, first, sight) if typed else chain_of(self.raw, first, sight)
        if last.type == "new":
            if not chain.startswith("["):
                self._refer(last, "new", chain, None)
            return
        if chain in ("this", "super"):
            chain = self._this(node.start_byte, chain)
        self._refer(last, "call", f"{chain}.{text_of(self.raw, last)}", None)

    def _refer(self, node: Node, form: Form, chain: str, arguments: Node | None) -> None:
        given = None
        if arguments is not None and form == "call":
            given = tuple(self.chain(each) for each in arguments.named_children if "comment" not in each.type)
        line = node.start_point[0] + 1
        self.references.append(Reference(self.owner_at(node.start_byte), form, chain, line, given))


def _scope_of(node: Node) -> Node | None:
    """What a name is known in."""
    around = node.parent
    while around is not None and around.type not in _SCOPES:
        around = around.parent
    return around
