"""JavaScript and TypeScript: which names a file binds, where, and to what; expressions as chains.

Beside the parts of all chains (see `weft.code.parse.facts`), these have: `new a.B()` for a construction, `<T>` for a
value of a known type (`x as T`, a literal), `import(m)` and `require(m)` for a module, `[n]` for an element of a list,
and `f@n@k` for the k-th parameter of a function that is the n-th argument of `f`. `x~2` is the second variable of that
name in one function, `x~1` one of a block that hides a name of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING, Final, NamedTuple

from weft.code.parse.readers.ecmascript.types import type_of
from weft.code.parse.readers.syntax import MAX_CHAIN_CHARACTERS, UNKNOWN, ChainRules, after, member, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_CHAIN_PARTS: Final = 40
MAX_SCOPES_UP: Final = 200  # what is nested deeper is not told

FUNCTIONS: Final = frozenset(
    {
        "arrow_function",
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
    }
)
_LITERALS: Final = {
    "arrow_function": "<Function>",
    "false": "<boolean>",
    "function_expression": "<Function>",
    "number": "<number>",
    "regex": "<RegExp>",
    "string": "<string>",
    "template_string": "<string>",
    "true": "<boolean>",
    "unary_expression": "<boolean>",
}


class Chain(NamedTuple):
    """An expression: its first name, the steps after it, and the variable it begins with, if any."""

    head: str
    rest: str = ""
    local: Variable | None = None

    @property
    def written(self) -> str:
        whole = self.head + self.rest
        return UNKNOWN if len(whole) > MAX_CHAIN_CHARACTERS else whole

    @property
    def flat(self) -> str:
        """The same with the values of local variables substituted."""
        if self.local is None or self.local.top:
            return self.written
        whole = self.local.flat + self.rest
        return UNKNOWN if len(whole) > MAX_CHAIN_CHARACTERS else whole


NOTHING: Final = Chain(UNKNOWN)


class Variable:
    """A variable. `flat` and `chain` are its value; `defined` says that it is a definition of the file."""

    __slots__ = (
        *("alias", "chain", "declared", "defined", "flat", "inner", "line", "name", "owner", "top", "used", "within"),
    )

    def __init__(self, name: str, line: int, owner: int, *, top: bool) -> None:
        self.name, self.line, self.owner, self.top = name, line, owner, top
        self.alias = name
        self.chain: Chain = NOTHING
        self.declared = ""
        self.flat = UNKNOWN
        self.defined = False
        self.inner = False  # a function inside a function
        self.within = False  # bound in a block, or a function, inside its owner
        self.used = False

    def hold(self, chain: Chain, declared: str = "") -> None:
        """Sets its value from here on."""
        self.chain, self.declared = chain, declared
        self.flat = (f"<{declared}>" if declared != UNKNOWN else UNKNOWN) if declared else chain.flat

    @property
    def known(self) -> bool:
        """Whether its value is known."""
        return not self.flat.startswith(UNKNOWN)


class LexicalScope:
    """A region of the file in which names are bound: the file, a function, a class, a block."""

    __slots__ = ("end", "generics", "kind", "names", "own", "owner", "parent", "start", "stated")

    def __init__(self, kind: str, node: Node, parent: LexicalScope | None, owner: int) -> None:
        self.kind = kind  # file, function, arrow, class, type, block
        self.start, self.end = node.start_byte, node.end_byte
        self.parent, self.owner = parent, owner
        self.own = parent is None or parent.owner != owner  # it is a definition, not a part of one
        self.names: dict[str, Variable] = {}
        self.generics: dict[str, Node | None] = {}
        self.stated = ""  # the type that a function states for its `this`

    def up(self) -> Iterator[LexicalScope]:
        """The scope and those around it, up to a limit."""
        scope: LexicalScope | None = self
        for _ in range(MAX_SCOPES_UP):
            if scope is None:
                return
            yield scope
            scope = scope.parent

    def find(self, name: str) -> Variable | None:
        """The variable that a name means here; None if it is not one of this file's."""
        for scope in self.up():
            if name in scope.names:
                return scope.names[name]
        return None

    def generic(self, name: str, byte: int) -> str | None:
        """The constraint of a generic function's type parameter here; None for other names."""
        for scope in self.up():
            if name in scope.generics:
                if scope.kind in ("class", "type"):
                    return None
                limit = scope.generics[name]
                return type_of(limit, lambda *_: None) if limit is not None else UNKNOWN
        return None

    def this(self) -> LexicalScope | None:
        """The function or class whose `this` is meant here; None if unknown."""
        for scope in self.up():
            if scope.kind == "class":
                return scope if scope.own else None
            if scope.kind == "function":
                return scope if scope.own else None
        return None

    def function(self) -> LexicalScope | None:
        """The function around this place, if it is a definition."""
        for scope in self.up():
            if scope.kind in ("function", "arrow"):
                return scope if scope.own else None
            if scope.kind == "class":
                return None
        return None

    def around(self, kinds: frozenset[str]) -> LexicalScope:
        """The nearest scope of some kinds; the outermost if there is none."""
        last = self
        for last in self.up():
            if last.kind in kinds:
                break
        return last


class ValueSource(NamedTuple):
    """The origin of a variable's value: its type, its value, or the call and argument that pass it."""

    type: Node | None = None
    value: Node | None = None
    context: tuple[Node, str] | None = None
    stated: str = ""  # a type that a comment states


class Pending(NamedTuple):
    """A variable whose value is set later, and the steps to it from there."""

    local: Variable
    scope: LexicalScope
    path: str
    source: ValueSource


def told_apart(found: Iterable[Variable], outside: Set[str]) -> None:
    """Renames variables of blocks that hide a name of the file."""
    for each in found:
        if each.within and each.alias in outside:
            each.alias = f"{each.name}~1"


def chain_of(node: Node, scope: LexicalScope) -> Chain:
    """An expression as a chain, as far as names show it."""
    start, steps = _CHAINS.unwound(node, scope)
    if start is None or isinstance(start, str):
        return Chain(UNKNOWN, steps)
    head = _head(start, start.type, scope)
    return Chain(head.head, head.rest + steps, head.local)


def _call(node: Node, _: LexicalScope) -> tuple[str, Node | str | None] | None:
    return None if module_of(node) is not None else ("()", node.child_by_field_name("function"))


def _only_child(node: Node, _: LexicalScope) -> tuple[str, Node | str | None]:
    return "", _only(node)


def _chosen(node: Node, _: LexicalScope) -> tuple[str, Node | str | None]:
    """The meaningful side of `a ?? b`, `a || b` and `c ? a : b`."""
    first, second = ("consequence", "alternative") if node.type == "ternary_expression" else ("left", "right")
    operator = node.child_by_field_name("operator")
    if operator is not None and operator.type not in ("||", "??", "&&"):
        return "", None
    left, right = node.child_by_field_name(first), node.child_by_field_name(second)
    if left is None or left.type in ("null", "undefined", "false") or (operator is not None and operator.type == "&&"):
        return "", right
    return "", left


def _element(node: Node, _: LexicalScope) -> tuple[str, Node | str | None]:
    """`[n]` for an element, `.name` for a member named by a string."""
    index, inner = node.child_by_field_name("index"), node.child_by_field_name("object")
    literal = string_of(index)
    if literal is not None and literal.isidentifier():
        return f".{literal}", inner
    is_place = index is not None and index.type == "number" and len(text_of(index)) < 4
    return f"[{text_of(index)}]" if index is not None and is_place else "[]", inner


def module_of(call: Node) -> str | None:
    """`import(m)` or `require(m)`, if a call imports a literal module name."""
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if function is None or arguments is None or arguments.named_child_count != 1:
        return None
    if function.type != "import" and not (function.type == "identifier" and function.text == b"require"):
        return None
    literal = string_of(arguments.named_child(0))
    return None if literal is None else f"{text_of(function)}({literal})"


def string_of(node: Node | None) -> str | None:
    """The content of a string literal."""
    if node is None or node.type != "string":
        return None
    return text_of(node)[1:-1]


def _head(node: Node, kind: str, scope: LexicalScope) -> Chain:
    if kind == "call_expression":
        return Chain(module_of(node) or UNKNOWN)
    if kind in ("identifier", "shorthand_property_identifier"):
        return _name(text_of(node), scope)
    if kind == "this":
        return _this(scope)
    if kind == "super":
        return NOTHING if scope.this() is None else Chain("super")
    if kind == "new_expression":
        return _made(node, scope)
    if kind in ("as_expression", "satisfies_expression", "type_assertion"):
        return _stated(node, kind, scope)
    if kind == "array":
        return _list(node, scope)
    if kind == "object":
        spread = [each for each in node.named_children if each.type == "spread_element" and each.named_child_count]
        return chain_of(spread[0].named_children[0], scope) if len(spread) == 1 else NOTHING
    return Chain(_LITERALS.get(kind, UNKNOWN))


def _this(scope: LexicalScope) -> Chain:
    for each in scope.up():
        if each.kind == "function" and each.stated:
            return Chain(f"<{each.stated}>") if each.stated != UNKNOWN else NOTHING
        if each.kind in ("class", "function"):
            return Chain("this") if each.own else NOTHING
    return NOTHING


def _name(name: str, scope: LexicalScope) -> Chain:
    local = scope.find(name)
    if local is None or local.defined or local.top:
        return Chain(name, "", local)
    return Chain(local.alias, "", local) if local.known or local.inner else NOTHING


def _made(node: Node, scope: LexicalScope) -> Chain:
    """A construction; with type arguments it is a value of its type."""
    constructor, arguments = node.child_by_field_name("constructor"), node.child_by_field_name("type_arguments")
    if constructor is None:
        return NOTHING
    made = chain_of(constructor, scope)
    if made.head.startswith(UNKNOWN) or "(" in made.rest or "new " in made.head:
        return NOTHING
    if made.local is not None and not made.local.top and not made.local.defined:
        return Chain(f"new {made.flat}", "()")
    if arguments is None:
        return Chain(f"new {made.written}", "()")
    types = [type_of(each, scope.generic) for each in arguments.named_children if each.type != "comment"]
    return Chain(f"<{made.written}<{','.join(types)}>>")


def _list(node: Node, scope: LexicalScope) -> Chain:
    """A list has the type of its first element, if that is constructed."""
    first = node.named_child(0) if node.named_child_count else None
    made = _made(first, scope) if first is not None and first.type == "new_expression" else NOTHING
    if made.head.startswith("<"):
        return Chain(f"<Array{made.head}>")
    name = made.head.removeprefix("new ")
    return Chain(f"<Array<{name}>>" if made.head.startswith("new ") and name[:1].isalpha() else "<Array>")


def _stated(node: Node, kind: str, scope: LexicalScope) -> Chain:
    """`value as Type` is of that type; for `as const` and `as any` the value counts."""
    parts = [each for each in node.named_children if each.type != "comment"]
    value, stated = (parts[-1], parts[0]) if kind == "type_assertion" else (parts[0], parts[-1])
    declared = type_of(stated, scope.generic) if len(parts) > 1 and kind != "satisfies_expression" else UNKNOWN
    if declared in (UNKNOWN, "any", "unknown", "const"):
        return NOTHING if value.type == kind else chain_of(value, scope)
    return Chain(f"<{declared}>")


def _only(node: Node) -> Node | None:
    return next((each for each in node.named_children if each.type != "comment"), None)


_CHAINS: Final[ChainRules[LexicalScope]] = ChainRules(
    {
        **dict.fromkeys(("await_expression", "non_null_expression", "parenthesized_expression"), _only_child),
        **dict.fromkeys(("binary_expression", "ternary_expression"), _chosen),
        "assignment_expression": after("right"),
        "call_expression": _call,
        "member_expression": member("object", "property"),
        "subscript_expression": _element,
    },
    lambda node, _: UNKNOWN,
    most_steps=MAX_CHAIN_PARTS,
)
