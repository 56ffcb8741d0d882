"""Python expressions as chains: names joined by dots, `()` for a call, `[]` for an index.

What Python does behind the words is written out: a loop's variable is `rows.__iter__().__next__()`, that of a `with`
is `open_store().__enter__()`, `next(rows)` is `rows.__next__()`. The second of several values is `pair[1]`. A literal
is a call of its type, `str()`; one that holds others shows them: `[Row()]`, `(name;Row())`, `{Row()}` for the values of
a mapping. `<Row>` is something of a declared type.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node

UNKNOWN: Final = "?"
LOCAL_FUNCTION: Final = "lambda"
NEXT: Final = ".__iter__().__next__()"
MAX_CHAIN_CHARACTERS: Final = 240
MAX_ANNOTATION_CHARACTERS: Final = 400
MAX_STEPS: Final = 40  # of one chain
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


_INSIDE: Final = {"attribute": "object", "call": "function", "subscript": "value"}  # what a chain goes on from


def text_of(raw: bytes, node: Node) -> str:
    """The text of a node."""
    return raw[node.start_byte : node.end_byte].decode(errors="replace")


def plain_chain(text: str) -> bool:
    """Whether a text is a chain as it stands: names, dots, empty calls."""
    return text.replace("()", "").replace(".", "").isidentifier() and "()" not in text[:2]


def chain_of(raw: bytes, node: Node) -> str:
    """The chain of an expression."""
    if node.end_byte - node.start_byte <= MAX_CHAIN_CHARACTERS:
        text = text_of(raw, node)
        if plain_chain(text):
            return text if text not in ("True", "False", "None") else _LITERALS[text.lower()]
    parts: list[str] = []
    current: Node | None = node
    while current is not None:
        if len(parts) > MAX_STEPS:
            return UNKNOWN
        sort = current.type
        if sort == "attribute":
            name = current.child_by_field_name("attribute")
            parts.append(f".{text_of(raw, name)}" if name is not None else ".?")
            current = current.child_by_field_name("object")
        elif sort == "call":
            function = current.child_by_field_name("function")
            named = function is not None and function.end_byte - function.start_byte <= MAX_MEANT
            meant = _MEANINGS.get(text_of(raw, function)) if named and function is not None else None
            inner = argument(current, 0) if meant is not None else None
            if inner is not None and inner.type in ("identifier", "attribute", "call", "subscript"):
                parts.append(meant or "")
                current = inner
            elif (other := _other_super(raw, current, function)) is not None:
                parts.append(".__super__")
                current = other
            else:
                parts.append("()")
                current = function
        elif sort == "subscript":
            index = current.child_by_field_name("subscript")
            if index is None or index.type != "slice":  # a slice is like the whole
                parts.append("[]")
            current = current.child_by_field_name("value")
        elif sort in ("await", "parenthesized_expression"):
            current = current.named_child(0)
        else:
            parts.append(text_of(raw, current) if sort == "identifier" else _LITERALS.get(sort, UNKNOWN))
            break
    chain = "".join(reversed(parts))
    return chain if current is not None and len(chain) <= MAX_CHAIN_CHARACTERS else UNKNOWN


def _other_super(raw: bytes, call: Node, function: Node | None) -> Node | None:
    """The class in `super(Class, self)`, if it is not the one around: of that it is but `super()`."""
    named = (
        argument(call, 0) if function is not None and raw[function.start_byte : function.end_byte] == b"super" else None
    )
    if named is None or named.type not in ("identifier", "attribute"):
        return None
    around = call.parent
    while around is not None and around.type != "class_definition":
        around = around.parent
    name = around.child_by_field_name("name") if around is not None else None
    return named if name is None or text_of(raw, name) != text_of(raw, named) else None


def chains_of(raw: bytes, node: Node, depth: int = 0) -> list[str]:
    """The chains of what is called: several where it is taken from `(a or b)`, `(a if c else b)`."""
    chain = chain_of(raw, node)
    if chain == UNKNOWN or chain[0] != UNKNOWN or depth > MAX_DEPTH:
        return [chain]
    inner: Node | None = node
    while inner is not None and (field := _INSIDE.get(inner.type)) is not None:
        inner = inner.child_by_field_name(field)
    if inner is None or inner.type != "parenthesized_expression":
        return [chain]
    heads = [f"<{head}>" if declared else head for head, declared in values_of(raw, inner, depth)]
    found = [head + chain[1:] for head in heads if len(head + chain) <= MAX_CHAIN_CHARACTERS]
    return list(dict.fromkeys(found)) or [chain]


def annotation_of(raw: bytes, node: Node) -> str:
    """A declared type as written, without blanks around; empty if it is beyond measure."""
    text = text_of(raw, node).strip()
    return text if len(text) <= MAX_ANNOTATION_CHARACTERS else ""


def values_of(raw: bytes, node: Node, depth: int = 0) -> list[Value]:
    """What an expression may be: both sides of `or`, of `if … else`; what a cast declares; else its chain."""
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
            found += _called(raw, each, depth)
        elif sort in _DISPLAYS:
            found.append((_displayed(raw, each), False))
        else:
            found.append((chain_of(raw, each), False))
    return found


def _displayed(raw: bytes, node: Node) -> str:
    """A literal with what it holds, as far as names show it."""
    brackets = _DISPLAYS[node.type]
    body = node.child_by_field_name("body")
    items = [body] if body is not None else node.named_children
    if len(items) > MAX_READ:
        return _LITERALS.get(node.type, UNKNOWN)
    chains = []
    for each in items:
        value = each.child_by_field_name("value") if each.type == "pair" else each
        chain = chain_of(raw, value) if value is not None else UNKNOWN
        chains.append(UNKNOWN if chain.startswith(LITERALS) or chain == "None" else chain)
    if brackets != "()":
        chains = list(dict.fromkeys(chain for chain in chains if chain != UNKNOWN))
    shown = f"{brackets[0]}{';'.join(chains)}{brackets[1]}"
    named = {chain for chain in chains if chain != UNKNOWN}
    if not 0 < len(named) <= MAX_SHOWN or len(shown) > MAX_CHAIN_CHARACTERS:
        return _LITERALS.get(node.type, UNKNOWN)
    return shown


def _called(raw: bytes, call: Node, depth: int) -> list[Value]:
    chain = chain_of(raw, call)
    if chain[:-2] in _MEANINGS and (first := argument(call, 0)) is not None and first.type in _DISPLAYS:
        return [(_displayed(raw, first) + _MEANINGS[chain[:-2]], False)]
    if chain[:-2] in _CASTS and (first := argument(call, 0)) is not None:
        return [(annotation_of(raw, first), True)]
    if chain[:-2] in _TYPE_VARIABLES:
        bound = _BOUND.search(text_of(raw, call))
        return [(bound[2], False)] if bound else [(chain, False)]
    return [(each, False) for each in chains_of(raw, call, depth + 1)]


def argument(call: Node, place: int) -> Node | None:
    """One argument of a call, by its place."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None or arguments.named_child_count <= place:
        return None
    return arguments.named_children[place]


def bound_by_loop(raw: bytes, target: Node, iterated: Node, depth: int = 0) -> list[tuple[str, str]]:
    """The names that a loop binds, each with its chain."""
    while iterated.type == "call" and (inner := argument(iterated, 0)) is not None:
        function = iterated.child_by_field_name("function")
        name = text_of(raw, function) if function is not None else ""
        if name in _PASSING_ON:
            iterated = inner
        elif name in ("enumerate", "zip") and target.type in _PATTERNS and depth < MAX_DEPTH:
            first = 1 if name == "enumerate" else 0  # the first name of enumerate is a number
            bound = [] if not first else unpacked(raw, target.named_children[0], UNKNOWN)
            for place, each in enumerate(target.named_children[first:]):
                source = argument(iterated, place)
                if source is not None:
                    bound += bound_by_loop(raw, each, source, depth + 1)
            return bound
        else:
            break
    if iterated.type in ("list", "tuple", "set") and target.type == "identifier":
        name = text_of(raw, target)  # all of them are taken: `for check in (names, dates, sums)`
        parts = iterated.named_children[:MAX_LOOPED]
        return [(name, chain_of(raw, each)) for each in parts] or [(name, UNKNOWN)]
    chain = chain_of(raw, iterated)
    return unpacked(raw, target, UNKNOWN if chain == UNKNOWN else chain + NEXT)


def unpacked(raw: bytes, target: Node, chain: str, depth: int = 0) -> list[tuple[str, str]]:
    """The names of a target, each with its chain: all of it, or one part of it."""
    if target.type == "identifier":
        return [(text_of(raw, target), chain)]
    if depth > MAX_DEPTH:
        return []
    if target.type in _PATTERNS:
        parts = []
        for place, each in enumerate(target.named_children):
            parts += unpacked(raw, each, UNKNOWN if chain == UNKNOWN else f"{chain}[{place}]", depth + 1)
        return parts
    if target.type in ("list_splat_pattern", "list_splat", "parenthesized_expression") and target.named_child_count:
        return unpacked(raw, target.named_children[0], UNKNOWN, depth + 1)
    return []
