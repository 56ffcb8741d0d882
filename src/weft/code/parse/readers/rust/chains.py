"""Rust expressions as chains, and the local variables that they name.

Beside the common steps: `?` unwraps an `Option` or a `Result`, `!` takes its error; `{}` is a value of a type or
variant; `<T>` at the beginning is any value of that type; `"` is a literal; `f|0,1` is the second parameter of the
closure that is the first argument of `f`; `x{Shape::Circle}.0` is a field of `x` matched against that pattern. The
parentheses of a call hold the chain of a closure argument's result. A name that is bound again in the same function is
called `name~2`, so a chain names exactly one variable.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from weft.code.parse.readers.rust.types import arguments_text, inner, path_text, type_text
from weft.code.parse.readers.syntax import UNKNOWN, ChainRules, member, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_PATTERN_DEPTH: Final = 16
MAX_LOOKED_AT: Final = 100  # of the locals of one name in one function
_HELD: Final = {"Some": "?", "Ok": "?", "Err": "!", "Option::Some": "?", "Result::Ok": "?", "Result::Err": "!"}
_TRANSPARENT_PATTERNS: Final = frozenset({"ref_pattern", "mut_pattern", "reference_pattern"})


class PatternLocal(Struct):
    """A name visible from byte `start` to `end`. Its value: `source` (a node or a chain), then `steps`."""

    owner: int
    name: str
    start: int
    end: int
    row: int
    source: Node | str
    steps: str = ""


class Locals:
    """All names that the functions of a file bind. Add all of them before looking any up."""

    def __init__(self) -> None:
        self._by_name: dict[tuple[int, str], list[PatternLocal]] = {}
        self._starts: dict[tuple[int, str], list[int]] = {}
        self.all: list[PatternLocal] = []

    def add(self, local: PatternLocal) -> None:
        known = self._by_name.setdefault((local.owner, local.name), [])
        known.append(local)
        self.all.append(local)
        if len(known) > 1:
            local.name = f"{local.name}~{len(known)}"

    def name_at(self, owner: int, name: str, byte: int) -> str | None:
        """The name in scope at a byte: the last one bound before it; None if no local is in scope."""
        known = self._by_name.get((owner, name))
        if known is None:
            return None
        starts = self._starts.get((owner, name))
        if starts is None:
            known.sort(key=lambda each: each.start)
            starts = self._starts[owner, name] = [each.start for each in known]
        last = bisect_right(starts, byte)
        for each in reversed(known[max(last - MAX_LOOKED_AT, 0) : last]):
            if byte < each.end:
                return each.name
        return None

    def is_known(self, owner: int, name: str) -> bool:
        """Whether some local of the function has the name."""
        return (owner, name) in self._by_name


class PatternScope(Struct, frozen=True):
    """The scope of a pattern's names, and their owner."""

    owner: int
    start: int
    end: int


def bind(
    into: Locals, scope: PatternScope, pattern: Node | None, source: Node | str, steps: str = "", depth: int = 0
) -> None:
    """Binds all names of a pattern to the parts of the matched value."""
    if pattern is None or depth > MAX_PATTERN_DEPTH:
        return
    kind = pattern.type
    if kind in ("identifier", "shorthand_field_identifier"):
        name = text_of(pattern)
        if not name[:1].isupper():  # a constant or a variant otherwise
            row = pattern.start_point[0]
            into.add(PatternLocal(scope.owner, name, scope.start, scope.end, row, source, steps))
        return
    if kind in _TRANSPARENT_PATTERNS or kind == "match_pattern":
        bind(into, scope, _pattern_inside(pattern), source, steps, depth + 1)
    elif kind == "captured_pattern":
        for each in pattern.named_children:
            bind(into, scope, each, source, steps, depth + 1)
    elif kind == "tuple_pattern" and (elements := _elements(source, pattern)) and not steps:
        for each, element in zip(_parts(pattern), elements, strict=True):
            bind(into, scope, each, element, "", depth + 1)
    elif kind in ("tuple_pattern", "slice_pattern"):
        for place, each in enumerate(_parts(pattern)):
            part = f".{place}" if kind == "tuple_pattern" else "[]"
            bind(into, scope, each, source, steps + part, depth + 1)
    elif kind == "or_pattern":
        bind(into, scope, inner(pattern), source, steps, depth + 1)
    elif kind == "tuple_struct_pattern":
        _bind_tuple_struct(into, scope, pattern, source, steps, depth)
    elif kind == "struct_pattern":
        _bind_fields(into, scope, pattern, source, steps, depth)


def _bind_tuple_struct(
    into: Locals, scope: PatternScope, pattern: Node, source: Node | str, steps: str, depth: int
) -> None:
    head = pattern.child_by_field_name("type")
    if head is None:
        return
    path = type_text(head)
    parts = [each for each in _parts(pattern) if each.start_byte >= head.end_byte]
    for place, each in enumerate(parts):
        step = _HELD.get(path) or f"{{{path}}}.{place}"
        bind(into, scope, each, source, steps + step, depth + 1)


def _bind_fields(into: Locals, scope: PatternScope, pattern: Node, source: Node | str, steps: str, depth: int) -> None:
    path = type_text(pattern.child_by_field_name("type"))
    for each in pattern.named_children:
        if each.type != "field_pattern":
            continue
        name = each.child_by_field_name("name")
        if name is not None:
            target = each.child_by_field_name("pattern") or name
            bind(into, scope, target, source, f"{steps}{{{path}}}.{text_of(name)}", depth + 1)


def _elements(source: Node | str, pattern: Node) -> list[Node]:
    """The elements of a tuple literal, one per part of a pattern; none for another expression."""
    if isinstance(source, str) or source.type != "tuple_expression":
        return []
    found = [each for each in source.named_children if each.type not in ("line_comment", "block_comment")]
    return found if len(found) == len(_parts(pattern)) else []


def _pattern_inside(pattern: Node) -> Node | None:
    return next((each for each in pattern.named_children if each.type != "mutable_specifier"), None)


def _parts(pattern: Node) -> list[Node]:
    """The parts of a tuple pattern by position; `_` counts although it has no name."""
    return [each for each in pattern.children if each.is_named or each.type == "_"]


MAX_STEPS: Final = 80
MAX_NESTING: Final = 6
LITERAL: Final = '"'
_LITERALS: Final = frozenset(
    {
        "string_literal",
        "raw_string_literal",
        "char_literal",
        "integer_literal",
        "float_literal",
        "boolean_literal",
        "unit_expression",
        "range_expression",
    }
)
_PATHS: Final = frozenset({"scoped_identifier", "generic_function", "bracketed_type", "generic_type"})
_STATEMENTS: Final = frozenset({"let_declaration", "expression_statement", "empty_statement", "line_comment"})
_MADE_BY_MACROS: Final = {"format": "<String>", "vec": "<Vec<?>>", "concat": LITERAL, "matches": LITERAL}

# Functions of the standard library that hold on to what they are given.
_HOLDING_NAMES: Final = """Some Ok Err Box::new Box::pin Pin::new Rc::new Arc::new Rc::clone Arc::clone
    RefCell::new Cell::new Mutex::new RwLock::new Cow::Borrowed Cow::Owned mem::take std::mem::take"""
_HOLDING: Final = frozenset(_HOLDING_NAMES.split())


class RustChains:
    """Writes the expressions of one file as chains."""

    def __init__(self, locals_: Locals) -> None:
        self._locals = locals_
        self._known: dict[tuple[int, int, int], str] = {}

    def of(self, node: Node | None, owner: int, depth: int = 0) -> str:
        """The chain of an expression inside a definition."""
        if node is None or depth > MAX_NESTING:
            return UNKNOWN
        at = (node.start_byte, node.end_byte, owner)
        made = self._known.get(at)
        if made is None:
            chain = _CHAINS.chain(node, _Inside(self, owner, depth))
            made = self._known[at] = UNKNOWN if chain.startswith(UNKNOWN) else chain
        return made

    def start(self, node: Node, owner: int, depth: int) -> str:
        """The first name or value of an expression."""
        kind = node.type
        if kind == "identifier":
            return self.name(node, owner)
        if kind == "self":
            return "self"
        if kind in _PATHS:
            return path_text(node)
        if kind == "struct_expression":
            return type_text(node.child_by_field_name("name")) + "{}"
        if kind in _LITERALS:
            return LITERAL
        if kind == "type_cast_expression":
            return f"<{type_text(node.child_by_field_name('type'))}>"
        if kind == "macro_invocation":
            macro = node.child_by_field_name("macro")
            return _MADE_BY_MACROS.get(text_of(macro) if macro is not None else "", UNKNOWN)
        if kind == "if_expression":
            return self._first_known(node, ("consequence", "alternative"), owner, depth)
        if kind == "else_clause":
            return self.of(inner(node), owner, depth + 1)
        if kind == "match_expression":
            return self._arms(node, owner, depth)
        return UNKNOWN

    def name(self, node: Node, owner: int) -> str:
        """A single name: the local in scope, or as written."""
        text = text_of(node)
        local = self._locals.name_at(owner, text, node.start_byte)
        if local is not None:
            return local
        return f"self::{text}" if self._locals.is_known(owner, text) else text

    def is_local(self, node: Node, owner: int) -> bool:
        return self._locals.name_at(owner, text_of(node), node.start_byte) is not None

    def _first_known(self, node: Node, fields: tuple[str, ...], owner: int, depth: int) -> str:
        for field in fields:
            chain = self.of(node.child_by_field_name(field), owner, depth + 1)
            if chain != UNKNOWN:
                return chain
        return UNKNOWN

    def _arms(self, node: Node, owner: int, depth: int) -> str:
        body = node.child_by_field_name("body")
        for arm in body.named_children[:4] if body is not None else ():
            chain = self.of(arm.child_by_field_name("value"), owner, depth + 1)
            if chain not in (UNKNOWN, LITERAL):
                return chain
        return UNKNOWN

    def given(self, call: Node, owner: int, depth: int) -> str:
        """The result of the first closure or function among the arguments of a method."""
        function, given = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or given is None or depth > 2:
            return ""
        if function.type != "field_expression":
            holds = given.named_child_count == 1 and text_of(function) in _HOLDING
            chain = self.of(inner(given), owner, depth + 1) if holds else UNKNOWN
            return "" if chain == UNKNOWN else chain
        for each in given.named_children[:3]:
            if each.type == "closure_expression":
                chain = self.of(each.child_by_field_name("body"), owner, depth + 1)
                return "" if chain == UNKNOWN else chain
            if each.type in ("scoped_identifier", "generic_function"):
                return f"{path_text(each)}()"
        return ""


class _Inside(NamedTuple):
    """The context of an expression: the chains of its file, the definition around it, its nesting depth."""

    chains: RustChains
    owner: int
    depth: int


def _call(node: Node, where: _Inside) -> tuple[str, Node | str | None]:
    return f"({where.chains.given(node, where.owner, where.depth)})", node.child_by_field_name("function")


def _generic_function(node: Node, _: _Inside) -> tuple[str, Node | str | None] | None:
    function = node.child_by_field_name("function")
    is_method = function is not None and function.type == "field_expression"
    return (arguments_text(node), function) if is_method else None


def _index(node: Node, _: _Inside) -> tuple[str, Node | str | None]:
    index = inner(node, 1)
    return "" if index is not None and index.type == "range_expression" else "[]", inner(node)


def _seen_through(node: Node, _: _Inside) -> tuple[str, Node | str | None]:
    return "", node.child_by_field_name("value") or inner(node, -1)


def _block(node: Node, _: _Inside) -> tuple[str, Node | str | None]:
    last = inner(node, -1)
    return "", UNKNOWN if last is None or last.type in _STATEMENTS else last


_CHAINS: Final[ChainRules[_Inside]] = ChainRules(
    {
        **dict.fromkeys(("block", "unsafe_block", "async_block", "const_block"), _block),
        **dict.fromkeys(("parenthesized_expression", "reference_expression", "unary_expression"), _seen_through),
        "await_expression": lambda node, _: (".await", inner(node)),
        "call_expression": _call,
        "field_expression": member("value", "field"),
        "generic_function": _generic_function,
        "index_expression": _index,
        "try_expression": lambda node, _: ("?", inner(node)),
    },
    lambda node, where: where.chains.start(node, where.owner, where.depth),
    most_steps=MAX_STEPS,
)
