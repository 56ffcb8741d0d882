"""Reads Rust: definitions, imports, references and bindings.

Bindings hold more than variables. Of the file: `impl` (module, type, trait and generics of an implementation, separated
by tabs), `type <key>` (an alias or an associated type), `const <key>`. Of a type: its fields, and `Variant` and
`Variant.field` of an enum. Of any definition: `<T>`, a generic parameter with its bounds; `Self` of a method, the type
as its `impl` writes it; `(0)`, a parameter that is called; `f()`, the result of the closure `f`. An import inside an
inline module has an alias that begins with the module's name; `mod x;` is the import `x` of `mod`, or of `mod=<path>`.
A `macro_rules!` is a function.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from weft.code.parse.facts import FILE, Binding, Form, Imported, Reference, Sort
from weft.code.parse.parse import ParsedSource
from weft.code.parse.readers import Described, Match, OwnerAt, Rest
from weft.code.parse.readers.rust.chains import Locals, PatternLocal, PatternScope, RustChains, bind
from weft.code.parse.readers.rust.types import (
    attribute_path,
    bounds_text,
    generics_of,
    path_text,
    type_text,
    used_names,
)
from weft.code.parse.readers.syntax import UNKNOWN, one_line, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_UNREAD: Final = b"""quote quote_spanned parse_quote parse_quote_spanned stringify concat include include_str
include_bytes env option_env asm global_asm cfg line file column module_path"""
PASSED_OVER: Final = frozenset(_UNREAD.split())
_PATTERNS: Final = frozenset({b"matches", b"assert_matches", b"debug_assert_matches"})
MAX_MACRO_DEPTH: Final = 60


class Spread:
    """The arguments of a file's macros; `called` are the macros inside them (name, byte)."""

    def __init__(self, parsed: ParsedSource, macros: Iterable[Node]) -> None:
        self.called: list[tuple[str, int]] = []
        self._raw = parsed.raw
        self._blank = bytearray(b"\n".join(b" " * len(line) for line in parsed.raw.split(b"\n")))
        self._language = parsed.language
        self._any = False
        done = 0
        for macro in macros:
            tree = next((each for each in macro.children if each.type == "token_tree"), None)
            name = macro.child_by_field_name("macro")
            if tree is None or name is None or macro.start_byte < done or name_of(name) in PASSED_OVER:
                continue
            done, self._any = macro.end_byte, True
            self._blank[tree.start_byte : tree.end_byte] = self._raw[tree.start_byte : tree.end_byte]
            self._fit(tree, 0, given=True)
            if name_of(name) in _PATTERNS:
                self._without_pattern(tree)
            if done < len(self._blank) and self._blank[done] == ord(" "):
                self._blank[done : done + 1] = b";"

    def _fit(self, tree: Node, depth: int, *, given: bool) -> None:
        """Turns tokens into expressions; `given` says that they are a macro's direct arguments."""
        start, end = tree.start_byte, tree.end_byte
        if end - start < 2 or depth > MAX_MACRO_DEPTH:
            return
        braced = self._raw[start] == ord("{")
        if given and not braced:
            self._blank[start : start + 1], self._blank[end - 1 : end] = b"(", b")"
        name = mark = None
        for each in tree.children:
            if each.type == "token_tree":
                if name is not None and mark is not None:
                    self._nested(name, mark, each, depth + 1)
                else:
                    self._fit(each, depth + 1, given=False)
            elif each.type == ";" and given and not braced:
                self._blank[each.start_byte : each.end_byte] = b","
            name, mark = (name, each) if each.type == "!" else (each if each.type == "identifier" else None, None)

    def _without_pattern(self, tree: Node) -> None:
        """Skips the first argument if it is a pattern, which only looks like an expression."""
        comma = next((each for each in tree.children if each.type == ","), None)
        if comma is not None:
            self._clear(comma.start_byte, tree.end_byte - 1)

    def _clear(self, start: int, end: int) -> None:
        self._blank[start:end] = b"\n".join(b" " * len(line) for line in self._raw[start:end].split(b"\n"))

    def _nested(self, name: Node, mark: Node, tree: Node, depth: int) -> None:
        text = self._raw[name.start_byte : name.end_byte]
        self.called.append((text.decode(errors="replace"), name.start_byte))
        if text in PASSED_OVER:
            self._clear(tree.start_byte, tree.end_byte)
        else:
            self._fit(tree, depth, given=True)
            if text in _PATTERNS:
                self._without_pattern(tree)
        self._blank[name.start_byte : mark.end_byte] = b" " * (mark.end_byte - name.start_byte)

    def matches(self) -> Iterable[Match]:
        """The matches of the language's query inside."""
        return ParsedSource(self._language, self._blank.decode(errors="replace")).matches() if self._any else ()


def name_of(name: Node) -> bytes:
    """The last part of a macro's path."""
    return (name.text or b"").rpartition(b"::")[2]


_CALLED: Final = ("Fn(", "FnMut(", "FnOnce(", "fn(")
_NESTED: Final = frozenset({"function_item", "function_signature_item"})


class FileReading:
    """One file: first its bindings are read, then its references."""

    def __init__(self, parsed: ParsedSource, matches: Sequence[Match], owner_at: OwnerAt) -> None:
        self._raw = parsed.raw
        self._owner_at = owner_at
        self._locals = Locals()
        self._chains = RustChains(self._locals)
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

    def _bound(self, owner: int, name: str, chain: str, node: Node) -> None:
        self._bindings.append(Binding(owner, name, chain, declared=True, line=node.start_point[0] + 1))

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
        """An alias at the top level of a module, or an associated type of a trait (not of an `impl`)."""
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
                PatternLocal(
                    owner, text_of(name), holder.start_byte, holder.end_byte, node.start_point[0], f"<fn()->{kind}>"
                )
            )
        self._generic(node)
        parameters = node.child_by_field_name("parameters")
        scope = PatternScope(owner, node.start_byte, node.end_byte)
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
        scope = PatternScope(self._owner_at(node.start_byte), node.end_byte, end)
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
        scope = PatternScope(self._owner_at(node.start_byte), node.end_byte, end)
        bind(self._locals, scope, node.child_by_field_name("pattern"), value if value is not None else UNKNOWN)

    def _arm(self, node: Node) -> None:
        block = node.parent
        matched = block.parent.child_by_field_name("value") if block is not None and block.parent is not None else None
        scope = PatternScope(self._owner_at(node.start_byte), node.start_byte, node.end_byte)
        pattern = node.child_by_field_name("pattern")
        bind(self._locals, scope, pattern, matched if matched is not None else UNKNOWN)

    def _for(self, node: Node) -> None:
        body, value = node.child_by_field_name("body"), node.child_by_field_name("value")
        if body is not None and value is not None:
            scope = PatternScope(self._owner_at(node.start_byte), body.start_byte, body.end_byte)
            bind(self._locals, scope, node.child_by_field_name("pattern"), value, ".into_iter().next()?")

    def _closure(self, node: Node) -> None:
        scope = PatternScope(self._owner_at(node.start_byte), node.start_byte, node.end_byte)
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

    def _held(self, local: PatternLocal) -> Binding:
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
    """The inline modules of a file, looked up by byte."""

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
        """The key of the innermost module around a byte, empty at the top level."""
        place = self._place(byte)
        return self.keys[place] if place >= 0 else ""

    def prefixed(self, byte: int, name: str) -> str:
        """A name qualified from the file's top level."""
        around = self.at(byte)
        return f"{around}::{name}" if around else name


def _is_public(node: Node) -> bool:
    return any(each.type == "visibility_modifier" for each in node.named_children[:2])


def _call_around(closure: Node) -> tuple[Node | None, int]:
    """The call that a closure is an argument of, and the argument's index."""
    given = closure.parent
    if given is None or given.type != "arguments":
        return None, 0
    place = next((at for at, each in enumerate(given.named_children) if each.start_byte == closure.start_byte), 0)
    return given.parent, place


MAX_ATTRIBUTE_LINES: Final = 40
MAX_DOC_LINES: Final = 400
MAX_SIGNATURE_CHARACTERS: Final = 2_000
_TESTS: Final = frozenset({"test", "rstest", "test_case", "quickcheck", "wasm_bindgen_test"})


class RustReader:
    """Reads Rust."""

    def describe(self, parsed: ParsedSource, path: str, definition: Node, sort: Sort, qualifier: str) -> Described:
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

    def read(self, parsed: ParsedSource, path: str, matches: Sequence[Match], owner_at: OwnerAt) -> Rest:
        return FileReading(parsed, matches, owner_at).rest()


READER: Final = RustReader()


def _signature(raw: bytes, definition: Node) -> str:
    """The declaration on one line, from the visibility to the body."""
    body = definition.child_by_field_name("body")
    end = definition.end_byte
    if body is not None and body.type != "ordered_field_declaration_list":
        end = body.start_byte
    elif definition.type == "macro_definition":
        name = definition.child_by_field_name("name")
        end = name.end_byte if name is not None else end
    text = raw[definition.start_byte : min(end, definition.start_byte + MAX_SIGNATURE_CHARACTERS)]
    return one_line(text).removesuffix(";").rstrip()


def _supertraits(definition: Node) -> tuple[str, ...]:
    bounds = definition.child_by_field_name("bounds")
    texts = [type_text(each) for each in bounds.named_children if each.type != "lifetime"] if bounds else []
    return tuple(text for text in texts if text not in ("", "?"))


def _above(raw: bytes, start: int) -> tuple[str, list[str]]:
    """The doc comment and the attributes above a definition, read upwards."""
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
