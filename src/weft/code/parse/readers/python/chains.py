"""Python expressions as chains: names joined by dots, `()` for a call, `[]` for an index.

Implicit calls are written out: a loop variable is `rows.__iter__().__next__()`, that of a `with` is
`open_store().__enter__()`, `next(rows)` is `rows.__next__()`. The second of several values is `pair[1]`. A literal is a
call of its type, `str()`; a container literal shows its parts: `[Row()]`, `(name;Row())`, `{Row()}` for the values of a
mapping. `<Row>` is a value of a declared type.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from weft.code.parse.readers.syntax import UNKNOWN, ChainRules, enclosing, first_inside, member, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

LOCAL_FUNCTION: Final = "lambda"
NEXT: Final = ".__iter__().__next__()"
MAX_CHAIN_CHARACTERS: Final = 240
MAX_ANNOTATION_CHARACTERS: Final = 400
MAX_STEPS: Final = 60  # of one chain
MAX_ALTERNATIVES: Final = 6
MAX_LOOPED: Final = 40  # parts of a literal that a loop runs over
MAX_DEPTH: Final = 8  # of names unpacked, or alternatives, inside each other

Value = tuple[str, bool]  # a chain; or, if the second is true, a declared type as written

_LITERALS: Final = {
    "string": "str()",
    "concatenated_string": "str()",
    "list": "list()",
    "list_comprehension": "list()",
    "dictionary": "dict()",
    "dictionary_comprehension": "dict()",
    "set": "set()",
    "set_comprehension": "set()",
    "tuple": "tuple()",
    "expression_list": "tuple()",
    "integer": "int()",
    "float": "float()",
    "true": "bool()",
    "false": "bool()",
    "comparison_operator": "bool()",
    "not_operator": "bool()",
    "none": "None",
    "lambda": LOCAL_FUNCTION,
}
LITERALS: Final = tuple(sorted({each for each in _LITERALS.values() if each.endswith("()")}))
# What gives back, one after the other, the things that it is given.
_PASSING_ON: Final = frozenset({"iter", "list", "reversed", "set", "sorted", "tuple", "frozenset"})
# Calls that mean something of what they are given: what is to be written behind it.
_MEANINGS: Final = {
    "classmethod": "",
    "copy": "",
    "copy.copy": "",
    "copy.deepcopy": "",
    "deque": "",
    "iter": ".__iter__()",
    "next": ".__next__()",
    "staticmethod": "",
    "type": ".__class__",
    **dict.fromkeys(_PASSING_ON - {"iter"}, ""),
}
MAX_MEANT: Final = max(map(len, _MEANINGS))
_DISPLAYS: Final = {
    "list": "[]",
    "set": "[]",
    "list_comprehension": "[]",
    "set_comprehension": "[]",
    "generator_expression": "[]",
    "tuple": "()",
    "expression_list": "()",
    "dictionary": "{}",
    "dictionary_comprehension": "{}",
}
MAX_READ: Final = 24  # parts of a literal
MAX_SHOWN: Final = 4  # different ones: what holds more is a table, and says nothing of any one use
_PATTERNS: Final = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "tuple", "list", "expression_list"})
_CASTS: Final = frozenset({"cast", "typing.cast", "t.cast"})
_TYPE_VARIABLES: Final = frozenset({"TypeVar", "typing.TypeVar", "t.TypeVar"})
_BOUND: Final = re.compile(r"""\bbound\s*=\s*(["']?)([\w.]+)\1\s*[,)]""")


_INSIDE: Final = {"attribute": "object", "call": "function", "subscript": "value"}  # the field that a chain continues


def plain_chain(text: str) -> bool:
    """Whether a text already is a chain: names, dots, empty calls."""
    return text.replace("()", "").replace(".", "").isidentifier() and "()" not in text[:2]


def chain_of(node: Node) -> str:
    """The chain of an expression."""
    if node.end_byte - node.start_byte <= MAX_CHAIN_CHARACTERS:
        text = text_of(node)
        if plain_chain(text):
            return text if text not in ("True", "False", "None") else _LITERALS[text.lower()]
    return _CHAINS.chain(node, None)


def _call(node: Node, _: None) -> tuple[str, Node | str | None]:
    function = node.child_by_field_name("function")
    named = function is not None and function.end_byte - function.start_byte <= MAX_MEANT
    meant = _MEANINGS.get(text_of(function)) if named and function is not None else None
    inner = argument(node, 0) if meant is not None else None
    if inner is not None and inner.type in ("identifier", "attribute", "call", "subscript"):
        return meant or "", inner
    if (other := _other_super(node, function)) is not None:
        return ".__super__", other
    return "()", function


def _subscript(node: Node, _: None) -> tuple[str, Node | str | None]:
    index = node.child_by_field_name("subscript")
    is_slice = index is not None and index.type == "slice"  # a slice is like the whole
    return "" if is_slice else "[]", node.child_by_field_name("value")


def _start(node: Node, _: None) -> str:
    return text_of(node) if node.type == "identifier" else _LITERALS.get(node.type, UNKNOWN)


_CHAINS: Final[ChainRules[None]] = ChainRules(
    {
        "attribute": member("object", "attribute"),
        "await": first_inside,
        "call": _call,
        "parenthesized_expression": first_inside,
        "subscript": _subscript,
    },
    _start,
    most_steps=MAX_STEPS,
    most_characters=MAX_CHAIN_CHARACTERS,
)


def _other_super(call: Node, function: Node | None) -> Node | None:
    """The class in `super(Class, self)` if it is not the enclosing class, which is plain `super()`."""
    named = argument(call, 0) if function is not None and function.text == b"super" else None
    if named is None or named.type not in ("identifier", "attribute"):
        return None
    around = enclosing(call, ("class_definition",))
    name = around.child_by_field_name("name") if around is not None else None
    return named if name is None or name.text != named.text else None


def chains_of(node: Node, depth: int = 0) -> list[str]:
    """The chains of a callee: several for `(a or b)` and `(a if c else b)`."""
    chain = chain_of(node)
    if chain == UNKNOWN or chain[0] != UNKNOWN or depth > MAX_DEPTH:
        return [chain]
    inner: Node | None = node
    while inner is not None and (field := _INSIDE.get(inner.type)) is not None:
        inner = inner.child_by_field_name(field)
    if inner is None or inner.type != "parenthesized_expression":
        return [chain]
    heads = [f"<{head}>" if declared else head for head, declared in values_of(inner, depth)]
    found = [head + chain[1:] for head in heads if len(head + chain) <= MAX_CHAIN_CHARACTERS]
    return list(dict.fromkeys(found)) or [chain]


def annotation_of(node: Node) -> str:
    """A declared type as written, without blanks around; empty if it is too long."""
    text = text_of(node).strip()
    return text if len(text) <= MAX_ANNOTATION_CHARACTERS else ""


def values_of(node: Node, depth: int = 0) -> list[Value]:
    """The possible values of an expression: both sides of `or` and `if … else`; the type of a cast; else its chain."""
    found: list[Value] = []
    waiting = [node]
    while waiting and len(found) < MAX_ALTERNATIVES:
        each = waiting.pop()
        sort = each.type
        if sort == "parenthesized_expression" and each.named_child_count:
            waiting.append(each.named_children[0])
        elif sort == "boolean_operator":
            waiting += [side for name in ("right", "left") if (side := each.child_by_field_name(name))]
        elif sort == "conditional_expression" and each.named_child_count == 3:
            waiting += [each.named_children[2], each.named_children[0]]
        elif sort in ("named_expression", "assignment"):  # `a = b = value`
            value = each.child_by_field_name("value" if sort == "named_expression" else "right")
            waiting += [value] if value is not None else []
        elif sort == "call":
            found += _called(each, depth)
        elif sort in _DISPLAYS:
            found.append((_displayed(each), False))
        else:
            found.append((chain_of(each), False))
    return found


def _displayed(node: Node) -> str:
    """A container literal with its parts, as far as names show them."""
    brackets = _DISPLAYS[node.type]
    body = node.child_by_field_name("body")
    items = [body] if body is not None else node.named_children
    if len(items) > MAX_READ:
        return _LITERALS.get(node.type, UNKNOWN)
    chains = []
    for each in items:
        value = each.child_by_field_name("value") if each.type == "pair" else each
        chain = chain_of(value) if value is not None else UNKNOWN
        chains.append(UNKNOWN if chain.startswith(LITERALS) or chain == "None" else chain)
    if brackets != "()":
        chains = list(dict.fromkeys(chain for chain in chains if chain != UNKNOWN))
    shown = f"{brackets[0]}{';'.join(chains)}{brackets[1]}"
    named = {chain for chain in chains if chain != UNKNOWN}
    if not 0 < len(named) <= MAX_SHOWN or len(shown) > MAX_CHAIN_CHARACTERS:
        return _LITERALS.get(node.type, UNKNOWN)
    return shown


def _called(call: Node, depth: int) -> list[Value]:
    chain = chain_of(call)
    if chain[:-2] in _MEANINGS and (first := argument(call, 0)) is not None and first.type in _DISPLAYS:
        return [(_displayed(first) + _MEANINGS[chain[:-2]], False)]
    if chain[:-2] in _CASTS and (first := argument(call, 0)) is not None:
        return [(annotation_of(first), True)]
    if chain[:-2] in _TYPE_VARIABLES:
        bound = _BOUND.search(text_of(call))
        return [(bound[2], False)] if bound else [(chain, False)]
    return [(each, False) for each in chains_of(call, depth + 1)]


def argument(call: Node, place: int) -> Node | None:
    """One argument of a call, by its place."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None or arguments.named_child_count <= place:
        return None
    return arguments.named_children[place]


def bound_by_loop(target: Node, iterated: Node, depth: int = 0) -> list[tuple[str, str]]:
    """The names that a loop binds, each with its chain."""
    while iterated.type == "call" and (inner := argument(iterated, 0)) is not None:
        function = iterated.child_by_field_name("function")
        name = text_of(function) if function is not None else ""
        if name in _PASSING_ON:
            iterated = inner
        elif name in ("enumerate", "zip") and target.type in _PATTERNS and depth < MAX_DEPTH:
            first = 1 if name == "enumerate" else 0  # the first name of enumerate is a number
            bound = [] if not first else unpacked(target.named_children[0], UNKNOWN)
            for place, each in enumerate(target.named_children[first:]):
                source = argument(iterated, place)
                if source is not None:
                    bound += bound_by_loop(each, source, depth + 1)
            return bound
        else:
            break
    if iterated.type in ("list", "tuple", "set") and target.type == "identifier":
        name = text_of(target)  # all of them are taken: `for check in (names, dates, sums)`
        parts = iterated.named_children[:MAX_LOOPED]
        return [(name, chain_of(each)) for each in parts] or [(name, UNKNOWN)]
    chain = chain_of(iterated)
    return unpacked(target, UNKNOWN if chain == UNKNOWN else chain + NEXT)


def unpacked(target: Node, chain: str, depth: int = 0) -> list[tuple[str, str]]:
    """The names of an assignment target, each with its chain: the whole value or a part of it."""
    if target.type == "identifier":
        return [(text_of(target), chain)]
    if depth > MAX_DEPTH:
        return []
    if target.type in _PATTERNS:
        parts = []
        for place, each in enumerate(target.named_children):
            parts += unpacked(each, UNKNOWN if chain == UNKNOWN else f"{chain}[{place}]", depth + 1)
        return parts
    if target.type in ("list_splat_pattern", "list_splat", "parenthesized_expression") and target.named_child_count:
        return unpacked(target.named_children[0], UNKNOWN, depth + 1)
    return []
