"""Python: what tests say of a name: `isinstance`, and the patterns of a `match`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from weft.code.readers.python_chains import UNKNOWN, annotation_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_LEAVING: Final = frozenset({"break_statement", "continue_statement", "raise_statement", "return_statement"})
_WORD: Final = re.compile(r"\w+")
MAX_PATTERNS: Final = 2_000  # of one `match`, inside each other or not

Bound = tuple[str, str, bool]  # a name, what it holds, whether that is a declared type


def narrowed(raw: bytes, arguments: Node | None) -> list[Bound]:
    """`isinstance(name, types)`: the types of `name?`. One that only leads away says what the name is not."""
    if arguments is None or arguments.named_child_count != 2:
        return []
    value, types = arguments.named_children
    if value.type != "identifier" or _leads_away(raw, arguments, text_of(raw, value)):
        return []
    each_type = types.named_children if types.type == "tuple" else [types]
    return [(f"{text_of(raw, value)}?", annotation_of(raw, each), True) for each in each_type]


def _leads_away(raw: bytes, arguments: Node, name: str) -> bool:
    """Whether all that follows from a test is to leave: `if isinstance(row, Total): continue`."""
    call = arguments.parent
    test = call.parent if call is not None else None
    if call is None or test is None or test.type not in ("if_statement", "elif_clause"):
        return False
    body = test.child_by_field_name("consequence")
    if body is None or test.child_by_field_name("condition") != call or body.named_child_count != 1:
        return False
    return body.named_children[0].type in _LEAVING and name not in _WORD.findall(text_of(raw, body))


def bound_by_match(raw: bytes, statement: Node) -> list[Bound]:
    """The names of all cases; `subject?` for the types that a case asks of a subject that is a name."""
    subjects = statement.children_by_field_name("subject")
    body = statement.child_by_field_name("body")
    found: list[Bound] = []
    for clause in body.children_by_field_name("alternative") if body is not None else ():
        patterns = [each for each in clause.named_children if each.type == "case_pattern"]
        if len(subjects) == 1 == len(patterns) and subjects[0].type == "identifier":
            asked = f"{text_of(raw, subjects[0])}?"
            found += [(asked, name, True) for name in _types(raw, patterns[0])]
        found += _captured(raw, patterns)
    return found


def _types(raw: bytes, pattern: Node) -> list[str]:
    """The classes of which something is that fits a pattern; nothing where it may be anything."""
    if pattern.type == "class_pattern":
        return [text_of(raw, pattern.named_children[0])] if pattern.named_child_count else []
    if pattern.type in ("case_pattern", "as_pattern") and pattern.named_child_count:
        return _types(raw, pattern.named_children[0])
    if pattern.type == "union_pattern":
        sides = [_types(raw, each) for each in pattern.named_children]
        return [name for side in sides for name in side] if all(sides) else []
    return []


def _captured(raw: bytes, patterns: list[Node]) -> list[Bound]:
    found: list[Bound] = []
    waiting = list(patterns)
    while waiting and len(found) < MAX_PATTERNS:
        node = waiting.pop()
        inner = node.named_children
        if node.type == "dotted_name":  # alone it takes whatever comes: `A.b` is a value
            found += [(text_of(raw, node), UNKNOWN, False)] if len(inner) == 1 else []
        elif node.type == "splat_pattern":
            found += [(text_of(raw, each), UNKNOWN, False) for each in inner if each.type == "identifier"]
        elif node.type == "as_pattern" and inner[-1].type == "identifier":
            name, types = text_of(raw, inner[-1]), _types(raw, inner[0])
            found += [(name, each, True) for each in types] or [(name, UNKNOWN, False)]
            waiting += inner[:-1]
        else:
            waiting += inner[1:] if node.type in ("class_pattern", "keyword_pattern") else inner
    return found
