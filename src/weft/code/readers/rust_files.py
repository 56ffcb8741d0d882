"""Rust: imports, references and bindings of one file, from the matches of the query."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from weft.code.facts import FILE, Binding, Form, Imported, Reference
from weft.code.parsing import Parsed
from weft.code.readers import Match, OwnerAt, Rest
from weft.code.readers.rust_chains import UNKNOWN, Chains
from weft.code.readers.rust_locals import Local, Locals, Scope, bind
from weft.code.readers.rust_macros import Spread, name_of
from weft.code.readers.rust_types import bounds_text, generics_of, path_text, text_of, type_text
from weft.code.readers.rust_uses import attribute_path, used_names

if TYPE_CHECKING:
    from tree_sitter import Node

_CALLED: Final = ("Fn(", "FnMut(", "FnOnce(", "fn(")
_NESTED: Final = frozenset({"function_item", "function_signature_item"})


class FileReading:
    """One file being read: first what binds names, then what refers to them."""

    def __init__(self, parsed: Parsed, matches: Sequence[Match], owner_at: OwnerAt) -> None:
        self._raw = parsed.raw
        self._owner_at = owner_at
        self._locals = Locals()
        self._chains = Chains(self._locals)
        self._imports: list[Imported] = []
        self._references: list[tuple[int, Reference]] = []
        self._bindings: list[Binding] = []
        self._by_capture: dict[str, list[Node]] = {}
        self._sort_out(matches)
        self._modules = _Modules(self._by_capture.get("module", ()))
        spread = Spread(parsed, self._by_capture.get("macro", ()))
        self._sort_out(spread.matches())
        self._macros_inside = spread.called

    def _sort_out(self, matches: Iterable[Match]) -> None:
        for match in matches:
            for capture, nodes in match.items():
                self._by_capture.setdefault(capture, []).append(nodes[0])

    def rest(self) -> Rest:
        """All of it."""
        readers: tuple[tuple[str, Callable[[Node], None]], ...] = (
            ("module", self._module),
            ("use", self._use),
            ("crate", self._crate),
            ("impl", self._impl),
            ("struct", self._struct),
            ("enum", self._enum),
            ("trait", self._generic),
            ("type", self._type),
            ("constant", self._constant),
            ("function", self._function),
            ("let", self._let),
            ("condition", self._condition),
            ("arm", self._arm),
            ("for", self._for),
            ("closure", self._closure),
            ("call", self._call),
            ("new", self._new),
            ("value", self._value),
            ("macro", self._macro),
        )
        for capture, read in readers:
            for node in self._by_capture.get(capture, ()):
                read(node)
        for name, byte in self._macros_inside:
            self._refer(byte, self._raw.count(b"\n", 0, byte), "call", f"{name}!")
        self._bindings.extend(map(self._held, self._locals.all))
        named = [(node, node.child_by_field_name("name")) for node in self._by_capture.get("rules", ())]
        rules = [self._modules.prefixed(node.start_byte, text_of(name)) for node, name in named if name is not None]
        extra = {"modules": "\n".join(self._modules.keys), "macros": "\n".join(rules)}
        return Rest(
            imports=tuple(self._imports),
            references=tuple(each for _, each in sorted(self._references, key=lambda pair: pair[0])),
            bindings=tuple(self._bindings),
            extra={name: value for name, value in extra.items() if value},
        )

    # What stands at the top of modules.

    def _bound(self, owner: int, name: str, chain: str, node: Node, *, declared: bool = True) -> None:
        self._bindings.append(Binding(owner, name, chain, declared, node.start_point[0] + 1))

    def _module(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is None or node.child_by_field_name("body") is not None or self._owner_at(node.start_byte) != FILE:
            return
        given = attribute_path(self._raw, node.start_byte)
        alias = self._modules.prefixed(node.start_byte, text_of(name))
        module = f"mod={given}" if given else "mod"
        self._imports.append(Imported(module, text_of(name), alias, node.start_point[0] + 1, 0, _is_public(node)))

    def _use(self, node: Node) -> None:
        owner = self._owner_at(node.start_byte)
        argument = node.child_by_field_name("argument")
        if argument is None:
            return
        for module, name, alias in used_names(argument):
            called = self._modules.prefixed(node.start_byte, alias) if owner == FILE else alias
            line, public = node.start_point[0] + 1, _is_public(node)
            self._imports.append(Imported(module, name, called, line, 0, public, owner))

    def _crate(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        alias = node.child_by_field_name("alias")
        called = self._modules.prefixed(node.start_byte, text_of(alias if alias is not None else name))
        self._imports.append(Imported("::", text_of(name), called, node.start_point[0] + 1, 0, _is_public(node)))

    def _impl(self, node: Node) -> None:
        if self._owner_at(node.start_byte) != FILE:
            return
        kind, trait = type_text(node.child_by_field_name("type")), type_text(node.child_by_field_name("trait"))
        generics = generics_of(node)
        module = self._modules.at(node.start_byte)
        written = ";".join(f"{name}={bounds}" for name, bounds in generics)
        self._bound(FILE, "impl", f"{module}\t{kind}\t{trait}\t{written}", node)
        body = node.child_by_field_name("body")
        for each in body.named_children if body is not None else ():
            if each.type in _NESTED:
                owner = self._owner_at(each.start_byte)
                if owner != FILE:
                    self._bound(owner, "Self", kind, each)
                    for name, bounds in generics:
                        self._bound(owner, f"<{name}>", bounds, each)
            elif each.type == "type_item":
                self._member_type(each, module, kind)

    def _member_type(self, node: Node, module: str, kind: str) -> None:
        name = node.child_by_field_name("name")
        head = kind.partition("<")[0].rpartition("::")[2]
        if name is not None:
            key = "::".join(part for part in (module, head, text_of(name)) if part)
            self._bound(FILE, f"type {key}", type_text(node.child_by_field_name("type")), node)

    def _generic(self, node: Node) -> None:
        owner = self._owner_at(node.start_byte)
        if owner == FILE:
            return
        for name, bounds in generics_of(node):
            self._bound(owner, f"<{name}>", bounds, node)

    def _struct(self, node: Node) -> None:
        self._generic(node)
        owner = self._owner_at(node.start_byte)
        if owner != FILE:
            self._fields(owner, "", node.child_by_field_name("body"))

    def _fields(self, owner: int, prefix: str, body: Node | None) -> None:
        if body is None:
            return
        if body.type == "ordered_field_declaration_list":
            for place, each in enumerate(body.children_by_field_name("type")):
                self._bound(owner, f"{prefix}{place}", type_text(each), each)
            return
        for each in body.named_children:
            name = each.child_by_field_name("name") if each.type == "field_declaration" else None
            if name is not None:
                self._bound(owner, prefix + text_of(name), type_text(each.child_by_field_name("type")), each)

    def _enum(self, node: Node) -> None:
        self._generic(node)
        owner, body = self._owner_at(node.start_byte), node.child_by_field_name("body")
        if owner == FILE or body is None:
            return
        for each in body.named_children:
            name = each.child_by_field_name("name") if each.type == "enum_variant" else None
            if name is not None:
                self._bound(owner, text_of(name), "Self", each)
                self._fields(owner, f"{text_of(name)}.", each.child_by_field_name("body"))

    def _type(self, node: Node) -> None:
        """An alias at the top of a module, or a type that a trait leaves open; those of an `impl` are read there."""
        name, around = node.child_by_field_name("name"), node.parent.parent if node.parent is not None else None
        if name is None:
            return
        owner = self._owner_at(node.start_byte)
        if node.type == "associated_type":
            if owner != FILE:
                self._bound(owner, f"type {text_of(name)}", bounds_text(node.child_by_field_name("bounds")), node)
        elif owner == FILE and (around is None or around.type != "impl_item"):
            parameters = ",".join(each for each, _ in generics_of(node))
            kind = type_text(node.child_by_field_name("type"))
            key = self._modules.prefixed(node.start_byte, text_of(name))
            self._bound(FILE, f"type {key}", f"<{parameters}>{kind}" if parameters else kind, node)

    def _constant(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is None or self._owner_at(node.start_byte) != FILE:
            return
        around = node.parent.parent if node.parent is not None else None
        key = self._modules.prefixed(node.start_byte, text_of(name))
        if around is not None and around.type == "impl_item":
            head = type_text(around.child_by_field_name("type")).partition("<")[0].rpartition("::")[2]
            key = self._modules.prefixed(node.start_byte, f"{head}::{text_of(name)}")
        self._bound(FILE, f"const {key}", type_text(node.child_by_field_name("type")), node)

    # What binds names inside functions.

    def _function(self, node: Node) -> None:
        owner = self._owner_at(node.start_byte)
        if owner == FILE:
            return
        name = node.child_by_field_name("name")
        if node.parent is not None and node.parent.type == "block" and name is not None:
            kind = type_text(node.child_by_field_name("return_type"))
            holder = node.parent
            self._locals.add(
                Local(owner, text_of(name), holder.start_byte, holder.end_byte, node.start_point[0], f"<fn()->{kind}>")
            )
        self._generic(node)
        parameters = node.child_by_field_name("parameters")
        scope = Scope(owner, node.start_byte, node.end_byte)
        bounds = dict(generics_of(node))
        taken = parameters.named_children if parameters is not None else ()
        for place, each in enumerate(each for each in taken if each.type == "parameter"):
            kind = type_text(each.child_by_field_name("type"))
            bind(self._locals, scope, each.child_by_field_name("pattern"), f"<{kind}>")
            called = bounds.get(kind, kind)
            if called.startswith(_CALLED):
                self._bound(owner, f"({place})", called, each)

    def _let(self, node: Node) -> None:
        parent = node.parent
        end = parent.end_byte if parent is not None else node.end_byte
        scope = Scope(self._owner_at(node.start_byte), node.end_byte, end)
        kind, value = type_text(node.child_by_field_name("type")), node.child_by_field_name("value")
        pattern = node.child_by_field_name("pattern")
        if kind and not any(part in kind for part in ("?", "<_", ",_")) and kind != "_":
            bind(self._locals, scope, pattern, f"<{kind}>")
        else:
            bind(self._locals, scope, pattern, value if value is not None else f"<{kind or UNKNOWN}>")

    def _condition(self, node: Node) -> None:
        around, end = node.parent, node.end_byte
        while around is not None and around.type in ("let_chain", "binary_expression", "parenthesized_expression"):
            around = around.parent
        if around is not None:
            seen = around.child_by_field_name("consequence") or around.child_by_field_name("body") or around.parent
            end = seen.end_byte if seen is not None else end
        value = node.child_by_field_name("value")
        scope = Scope(self._owner_at(node.start_byte), node.end_byte, end)
        bind(self._locals, scope, node.child_by_field_name("pattern"), value if value is not None else UNKNOWN)

    def _arm(self, node: Node) -> None:
        block = node.parent
        matched = block.parent.child_by_field_name("value") if block is not None and block.parent is not None else None
        scope = Scope(self._owner_at(node.start_byte), node.start_byte, node.end_byte)
        pattern = node.child_by_field_name("pattern")
        bind(self._locals, scope, pattern, matched if matched is not None else UNKNOWN)

    def _for(self, node: Node) -> None:
        body, value = node.child_by_field_name("body"), node.child_by_field_name("value")
        if body is not None and value is not None:
            scope = Scope(self._owner_at(node.start_byte), body.start_byte, body.end_byte)
            bind(self._locals, scope, node.child_by_field_name("pattern"), value, ".into_iter().next()?")

    def _closure(self, node: Node) -> None:
        scope = Scope(self._owner_at(node.start_byte), node.start_byte, node.end_byte)
        parameters = node.child_by_field_name("parameters")
        call, at = _call_around(node)
        function = call.child_by_field_name("function") if call is not None else None
        for place, each in enumerate(parameters.named_children if parameters is not None else ()):
            if each.type == "parameter":
                kind = type_text(each.child_by_field_name("type"))
                bind(self._locals, scope, each.child_by_field_name("pattern"), f"<{kind}>")
            elif function is not None:
                bind(self._locals, scope, each, function, f"|{at},{place}")
            else:
                bind(self._locals, scope, each, UNKNOWN)

    def _held(self, local: Local) -> Binding:
        """A local as a binding: a declared type, or a chain."""
        source = local.source
        if not isinstance(source, str) and source.type == "closure_expression" and not local.steps:
            given = type_text(source.child_by_field_name("return_type"))
            body = f"<{given}>" if given else self._chains.of(source.child_by_field_name("body"), local.owner)
            return Binding(local.owner, f"{local.name}()", body, declared=False, line=local.row + 1)
        chain = source if isinstance(source, str) else self._chains.of(source, local.owner)
        if chain.startswith("<") and chain.endswith(">") and not local.steps and isinstance(source, str):
            return Binding(local.owner, local.name, chain[1:-1], declared=True, line=local.row + 1)
        if chain != UNKNOWN or "{" in local.steps:
            chain += local.steps
        return Binding(local.owner, local.name, chain, declared=False, line=local.row + 1)

    # What refers to something.

    def _refer(self, byte: int, row: int, form: Form, chain: str) -> None:
        if chain and chain != UNKNOWN:
            self._references.append((byte, Reference(self._owner_at(byte), form, chain, row + 1)))

    def _call(self, node: Node) -> None:
        function = node.child_by_field_name("function")
        if function is None:
            return
        owner = self._owner_at(node.start_byte)
        inner = function.child_by_field_name("function") if function.type == "generic_function" else function
        if inner is None or (inner.type == "identifier" and self._chains.is_local(inner, owner)):
            return
        if inner.type == "field_expression":
            chain = self._chains.of(inner, owner)
            field = inner.child_by_field_name("field")
            if chain == UNKNOWN and field is not None:
                chain = f"?.{text_of(field)}"
            at = field if field is not None else inner
        elif inner.type in ("identifier", "scoped_identifier"):
            chain = self._chains.name(inner, owner) if inner.type == "identifier" else path_text(inner)
            at = inner
        else:
            return
        self._refer(at.start_byte, at.start_point[0], "call", chain)

    def _new(self, node: Node) -> None:
        self._refer(node.start_byte, node.start_point[0], "new", type_text(node.child_by_field_name("name")))

    def _value(self, node: Node) -> None:
        if node.type == "identifier":
            owner = self._owner_at(node.start_byte)
            if not self._chains.is_local(node, owner):
                self._refer(node.start_byte, node.start_point[0], "name", self._chains.name(node, owner))
        else:
            self._refer(node.start_byte, node.start_point[0], "name", path_text(node))

    def _macro(self, node: Node) -> None:
        name = node.child_by_field_name("macro")
        if name is not None and name_of(name):
            self._refer(node.start_byte, node.start_point[0], "call", f"{type_text(name)}!")


class _Modules:
    """The inline modules of a file, and which of them a byte is in."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.keys: list[str] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._outer: list[int] = []
        for node in nodes:
            name = node.child_by_field_name("name")
            if name is None or node.child_by_field_name("body") is None:
                continue
            outer = self._place(node.start_byte)
            self.keys.append(text_of(name) if outer < 0 else f"{self.keys[outer]}::{text_of(name)}")
            self._starts.append(node.start_byte)
            self._ends.append(node.end_byte)
            self._outer.append(outer)

    def _place(self, byte: int) -> int:
        place = bisect_right(self._starts, byte) - 1
        while place >= 0 and self._ends[place] <= byte:
            place = self._outer[place]
        return place

    def at(self, byte: int) -> str:
        """The key of the innermost one around a byte, empty at the top of the file."""
        place = self._place(byte)
        return self.keys[place] if place >= 0 else ""

    def prefixed(self, byte: int, name: str) -> str:
        """A name as the file's top would call it."""
        around = self.at(byte)
        return f"{around}::{name}" if around else name


def _is_public(node: Node) -> bool:
    return any(each.type == "visibility_modifier" for each in node.named_children[:2])


def _call_around(closure: Node) -> tuple[Node | None, int]:
    """The call that a closure is an argument of, and which one."""
    given = closure.parent
    if given is None or given.type != "arguments":
        return None, 0
    place = next((at for at, each in enumerate(given.named_children) if each.start_byte == closure.start_byte), 0)
    return given.parent, place
