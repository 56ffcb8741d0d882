"""The names that Python parameters, imports, type tests and patterns bind, and the values visible outside a function.

`self.store = store` shows the declared type of the parameter; `return rows` shows what `rows` was made from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from weft.code.parse.facts import FILE, Imported
from weft.code.parse.readers.python.chains import (
    LOCAL_FUNCTION,
    MAX_CHAIN_CHARACTERS,
    Value,
    annotation_of,
    chain_of,
    values_of,
)
from weft.code.parse.readers.syntax import UNKNOWN, compact, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


def parameter(node: Node) -> list[tuple[str, str, bool]]:
    """The names of one parameter, each with what it holds."""
    sort = node.type
    if sort == "identifier":
        return [(text_of(node), UNKNOWN, False)]
    if sort == "default_parameter":
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None or name.type != "identifier":
            return []
        return [(text_of(name), chain, told) for chain, told in values_of(value)]
    if sort in ("typed_parameter", "typed_default_parameter"):
        named, declared = node.named_child(0), node.child_by_field_name("type")
        if named is None or declared is None:
            return []
        told = annotation_of(declared)
        if named.type == "identifier":
            return [(text_of(named), told, True)]
        holder = f"dict[str, {told}]" if named.type == "dictionary_splat_pattern" else f"tuple[{told}, ...]"
        return [(text_of(each), holder, True) for each in named.named_children if told]
    held = "dict()" if sort == "dictionary_splat_pattern" else "tuple()"
    return [(text_of(each), held, False) for each in node.named_children if each.type == "identifier"]


def yielded(node: Node) -> str:
    """The element of a generator, or of the one that it delegates to."""
    value = node.named_child(0) if node.named_child_count else None
    if value is None:
        return UNKNOWN
    chain = chain_of(value)
    is_from = any(each.type == "from" for each in node.children)
    return chain if chain == UNKNOWN or is_from else f"[{chain}]"


def is_decorated(parameters: Node) -> bool:
    """Whether the function of these parameters has a decorator."""
    around = parameters.parent.parent if parameters.parent is not None else None
    return around is not None and around.type == "decorated_definition"


_QUOTED_NAME: Final = re.compile(r"""["'](\w+)["']""")


def imported(statement: Node, owner: int) -> list[Imported]:
    """`import a, b.c, d as e`. Without `as`, a module keeps its full name here: `b.c`."""
    found = []
    for each in statement.named_children:
        module, alias = _called(each)
        if module:
            line = each.start_point[0] + 1
            found.append(Imported(module, "", alias, line, exported=owner == FILE, owner=owner))
    return found


def imported_from(statement: Node, owner: int) -> list[Imported]:
    """`from .a import b, c as d`, `from a import *`."""
    source = statement.child_by_field_name("module_name")
    if source is None:
        return []
    written = compact(source)
    module = written.lstrip(".")
    level = len(written) - len(module)
    names = [_called(each) for each in statement.children_by_field_name("name")]
    if any(each.type == "wildcard_import" for each in statement.named_children):
        names.append(("*", "*"))
    line = statement.start_point[0] + 1
    return [Imported(module, name, alias, line, level, owner == FILE, owner) for name, alias in names if name]


def listed(value: Node) -> list[str]:
    """The names of an `__all__`, and `*` if it includes those of other modules."""
    text = text_of(value)
    return _QUOTED_NAME.findall(text) + (["*"] if "__all__" in text else [])


def _called(node: Node) -> tuple[str, str]:
    """A name, and its alias here."""
    if node.type == "aliased_import":
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        return (compact(name), text_of(alias)) if name and alias else ("", "")
    name_text = compact(node) if node.type == "dotted_name" else ""
    return name_text, name_text


_LEAVING: Final = frozenset({"break_statement", "continue_statement", "raise_statement", "return_statement"})
_WORD: Final = re.compile(r"\w+")
MAX_PATTERNS: Final = 2_000  # of one `match`, inside each other or not

NameBound = tuple[str, str, bool]  # a name, what it holds, whether that is a declared type


def narrowed(arguments: Node | None) -> list[NameBound]:
    """`isinstance(name, types)`: the types of `name?`. A test that only leaves the block says what the name is not."""
    if arguments is None or arguments.named_child_count != 2:
        return []
    value, types = arguments.named_children
    if value.type != "identifier" or _leads_away(arguments, text_of(value)):
        return []
    each_type = types.named_children if types.type == "tuple" else [types]
    return [(f"{text_of(value)}?", annotation_of(each), True) for each in each_type]


def _leads_away(arguments: Node, name: str) -> bool:
    """Whether the block after a test only leaves: `if isinstance(row, Total): continue`."""
    call = arguments.parent
    test = call.parent if call is not None else None
    if call is None or test is None or test.type not in ("if_statement", "elif_clause"):
        return False
    body = test.child_by_field_name("consequence")
    if body is None or test.child_by_field_name("condition") != call or body.named_child_count != 1:
        return False
    return body.named_children[0].type in _LEAVING and name not in _WORD.findall(text_of(body))


def bound_by_match(statement: Node) -> list[NameBound]:
    """The names of all cases; `subject?` for the types that a case tests on a subject that is a name."""
    subjects = statement.children_by_field_name("subject")
    body = statement.child_by_field_name("body")
    found: list[NameBound] = []
    for clause in body.children_by_field_name("alternative") if body is not None else ():
        patterns = [each for each in clause.named_children if each.type == "case_pattern"]
        if len(subjects) == 1 == len(patterns) and subjects[0].type == "identifier":
            asked = f"{text_of(subjects[0])}?"
            found += [(asked, name, True) for name in _types(patterns[0])]
        found += _captured(patterns)
    return found


def _types(pattern: Node) -> list[str]:
    """The classes that a pattern requires; empty if it may match anything."""
    if pattern.type == "class_pattern":
        return [text_of(pattern.named_children[0])] if pattern.named_child_count else []
    if pattern.type in ("case_pattern", "as_pattern") and pattern.named_child_count:
        return _types(pattern.named_children[0])
    if pattern.type == "union_pattern":
        sides = [_types(each) for each in pattern.named_children]
        return [name for side in sides for name in side] if all(sides) else []
    return []


def _captured(patterns: list[Node]) -> list[NameBound]:
    found: list[NameBound] = []
    waiting = list(patterns)
    while waiting and len(found) < MAX_PATTERNS:
        node = waiting.pop()
        inner = node.named_children
        if node.type == "dotted_name":  # alone it takes whatever comes: `A.b` is a value
            found += [(text_of(node), UNKNOWN, False)] if len(inner) == 1 else []
        elif node.type == "splat_pattern":
            found += [(text_of(each), UNKNOWN, False) for each in inner if each.type == "identifier"]
        elif node.type == "as_pattern" and inner[-1].type == "identifier":
            name, types = text_of(inner[-1]), _types(inner[0])
            found += [(name, each, True) for each in types] or [(name, UNKNOWN, False)]
            waiting += inner[:-1]
        else:
            waiting += inner[1:] if node.type in ("class_pattern", "keyword_pattern") else inner
    return found


MAX_STEPS: Final = 4  # from one local name to the next
MAX_VALUES: Final = 4  # that one name may hold
HEAD: Final = re.compile(r"\w+")
_OPENINGS: Final = frozenset("[({")
_PART: Final = re.compile(r"([\[({;])(\w+)")
_PARTS: Final = re.compile(r"[\[({;]([^\W\d]\w*)")

Local = Mapping[tuple[int, str], Sequence[Value]]  # what a name holds, by the place of its function and itself


def heads_of(chain: str) -> list[str]:
    """The first name of a chain, or those of its parts."""
    head = HEAD.match(chain)
    if head is not None:
        return [head[0]]
    return _PARTS.findall(chain) if chain[:1] in _OPENINGS else []


def shown(local: Local, function: int, values: Sequence[Value]) -> list[Value]:
    """Values as visible outside their function; those that depend on an unknown local are left out."""
    found: list[Value] = []
    waiting = [(value, 0) for value in reversed(values)]
    while waiting and len(found) < MAX_VALUES:
        (chain, declared), steps = waiting.pop()
        head = HEAD.match(chain)
        if declared:
            found += [(chain, True)] if chain else []
        elif head is None:
            if chain[:1] in _OPENINGS and not any((function, each) in local for each in heads_of(chain)):
                found.append((chain, False))
            elif chain[:1] in _OPENINGS and steps < MAX_STEPS:
                waiting.append(((_opened(local, function, chain), False), steps + 1))
            elif chain[:1] == "<":
                found.append((chain, False))
        elif (held := local.get((function, head[0]))) is None:
            found.append((chain, False))
        elif steps < MAX_STEPS:
            rest = chain[head.end() :]
            waiting += [(_followed(each, rest), steps + 1) for each in reversed(held) if each[0] != LOCAL_FUNCTION]
    return list(dict.fromkeys(found))


def _opened(local: Local, function: int, chain: str) -> str:
    """A literal with its parts, each without locals; of several values of a name the first known one."""

    def replaced(found: re.Match[str]) -> str:
        held = local.get((function, found[2]))
        if held is None:
            return found[0]
        known = (value for value in held if value[0] not in (UNKNOWN, LOCAL_FUNCTION))
        first, declared = next(known, (UNKNOWN, False))
        return found[1] + (f"<{first}>" if declared else first)

    opened = _PART.sub(replaced, chain)
    return opened if len(opened) <= MAX_CHAIN_CHARACTERS else UNKNOWN


def _followed(value: Value, rest: str) -> Value:
    """Continues a chain after the value of its first name. A parameter's type is only a possible type of a field."""
    chain, declared = value
    whole = f"<{chain}>{rest}" if declared else chain + rest
    return (whole if len(whole) <= MAX_CHAIN_CHARACTERS and chain != UNKNOWN else UNKNOWN), False
