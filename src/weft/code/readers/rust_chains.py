"""Rust: expressions as chains.

Beside what all languages share: `?` after something takes out what an `Option` or a `Result` holds, `!` its error; `{}`
is a value of a type or a variant; `<T>` at the beginning is any value of that type; `"` is a literal; `f|0,1` is what
`f` hands to the second parameter of the closure that is its first argument; `x{Shape::Circle}.0` is a field of `x`,
which was matched with that. In the parentheses of a call stands what a closure given to it returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from weft.code.readers.rust_locals import Locals
from weft.code.readers.rust_types import arguments_text, inner, path_text, text_of, type_text

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_CHAIN_CHARACTERS: Final = 400
MAX_STEPS: Final = 80
MAX_NESTING: Final = 6
UNKNOWN: Final = "?"
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
_SEEN_THROUGH: Final = frozenset({"parenthesized_expression", "reference_expression", "unary_expression"})
_BLOCKS: Final = frozenset({"block", "unsafe_block", "async_block", "const_block"})
_STATEMENTS: Final = frozenset({"let_declaration", "expression_statement", "empty_statement", "line_comment"})
_MADE_BY_MACROS: Final = {"format": "<String>", "vec": "<Vec<?>>", "concat": LITERAL, "matches": LITERAL}

# Functions of the standard library that hold on to what they are given.
_HOLDING_NAMES: Final = """Some Ok Err Box::new Box::pin Pin::new Rc::new Arc::new Rc::clone Arc::clone
    RefCell::new Cell::new Mutex::new RwLock::new Cow::Borrowed Cow::Owned mem::take std::mem::take"""
_HOLDING: Final = frozenset(_HOLDING_NAMES.split())


class Chains:
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
            made = self._known[at] = self._spine(node, owner, depth)
        return made

    def _spine(self, node: Node, owner: int, depth: int) -> str:
        """From the outermost step down to where the expression begins."""
        steps: list[str] = []
        at: Node | None = node
        for _ in range(MAX_STEPS):
            if at is None:
                return UNKNOWN
            step, below = self._step(at, owner, depth)
            if below is None:
                root = step if step is not None else self._root(at, owner, depth)
                chain = root + "".join(reversed(steps))
                return chain if len(chain) <= MAX_CHAIN_CHARACTERS and root != UNKNOWN else UNKNOWN
            if step:
                steps.append(step)
            at = below
        return UNKNOWN

    def _step(self, node: Node, owner: int, depth: int) -> tuple[str | None, Node | None]:
        """The last step of an expression and what it is taken from; no second where it begins here."""
        kind = node.type
        if kind == "field_expression":
            field = node.child_by_field_name("field")
            return f".{text_of(field) if field is not None else UNKNOWN}", node.child_by_field_name("value")
        if kind == "call_expression":
            return f"({self._given(node, owner, depth)})", node.child_by_field_name("function")
        if kind == "generic_function":
            function = node.child_by_field_name("function")
            if function is not None and function.type == "field_expression":
                return arguments_text(node), function
            return None, None
        if kind == "try_expression":
            return "?", inner(node)
        if kind == "await_expression":
            return ".await", inner(node)
        if kind == "index_expression":
            index = inner(node, 1)
            return "" if index is not None and index.type == "range_expression" else "[]", inner(node)
        if kind in _SEEN_THROUGH:
            return "", node.child_by_field_name("value") or inner(node, -1)
        if kind in _BLOCKS:
            last = inner(node, -1)
            return (UNKNOWN, None) if last is None or last.type in _STATEMENTS else ("", last)
        return None, None

    def _root(self, node: Node, owner: int, depth: int) -> str:
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
        """A single name: that of the local that is seen there, or as it is written."""
        text = text_of(node)
        local = self._locals.name_at(owner, text, node.start_byte)
        if local is not None:
            return local
        return f"self::{text}" if self._locals.is_known(owner, text) else text

    def is_local(self, node: Node, owner: int) -> bool:
        """Whether a single name is a local's."""
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

    def _given(self, call: Node, owner: int, depth: int) -> str:
        """What the first closure or function among the arguments of a method gives back."""
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
