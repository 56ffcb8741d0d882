"""Syntax trees for all readers: the text of nodes, and expressions as chains by a table of steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from tree_sitter import Node

UNKNOWN: Final = "?"
MAX_CHAIN_STEPS: Final = 200
MAX_CHAIN_CHARACTERS: Final = 400  # a longer chain is not followed

Context = TypeVar("Context")
# Takes the last step off an expression: its text, and what it was taken from: a node, or the start of the chain as
# text (None where the tree has neither). None instead of a pair: the chain starts at this node.
StepRule = Callable[["Node", Context], "tuple[str, Node | str | None] | None"]


def text_of(node: Node) -> str:
    """The source text of a node."""
    return (node.text or b"").decode(errors="replace")


def compact(node: Node) -> str:
    """The source text without white space, for dotted names that span several lines."""
    return "".join(text_of(node).split())


def one_line(raw: bytes) -> str:
    """Source text on one line, with single blanks."""
    return " ".join(raw.decode(errors="replace").split())


def enclosing(node: Node, kinds: Collection[str]) -> Node | None:
    """The nearest ancestor of one of these kinds."""
    around = node.parent
    while around is not None and around.type not in kinds:
        around = around.parent
    return around


def member(inner: str, name: str) -> StepRule[object]:
    """The rule for `inner.name`, by the fields of the node."""

    def rule(node: Node, _: object) -> tuple[str, Node | str | None]:
        field = node.child_by_field_name(name)
        return f".{text_of(field) if field is not None else UNKNOWN}", node.child_by_field_name(inner)

    return rule


def after(inner: str, step: str = "") -> StepRule[object]:
    """The rule for a node that adds a fixed step to what one of its fields holds."""
    return lambda node, _: (step, node.child_by_field_name(inner))


def first_inside(node: Node, _: object) -> tuple[str, Node | str | None]:
    """The rule for a node that adds nothing to its first named child: parentheses, `await`."""
    return "", node.named_child(0)


class ChainRules(Generic[Context]):
    """A language's rules for expressions as chains: one per kind of step, and one for the start.

    `dotted` are kinds whose text is taken as written if it matches `plain`: names joined by dots.
    """

    def __init__(
        self,
        steps: Mapping[str, StepRule[Context]],
        start: Callable[[Node, Context], str],
        *,
        dotted: Collection[str] = (),
        plain: re.Pattern[bytes] | None = None,
        most_steps: int = MAX_CHAIN_STEPS,
        most_characters: int = MAX_CHAIN_CHARACTERS,
    ) -> None:
        self._steps, self._start = steps, start
        self._dotted, self._plain = frozenset(dotted), plain
        self._most_steps, self._most_characters = most_steps, most_characters

    def unwound(self, node: Node | None, context: Context) -> tuple[Node | str | None, str]:
        """The start of an expression (None without one, or beyond the limit), and the steps that follow."""
        ends: list[str] = []
        at: Node | str | None = node
        for _ in range(self._most_steps):
            if at is None or isinstance(at, str):
                break
            kind = at.type
            if kind in self._dotted and self._plain is not None and self._plain.fullmatch(at.text or b""):
                break
            rule = self._steps.get(kind)
            taken = rule(at, context) if rule is not None else None
            if taken is None:
                break
            ends.append(taken[0])
            at = taken[1]
        else:
            at = None
        return at, "".join(reversed(ends))

    def chain(self, node: Node | None, context: Context) -> str:
        """An expression as a chain."""
        at, steps = self.unwound(node, context)
        if at is None:
            start = UNKNOWN
        elif isinstance(at, str):
            start = at
        else:
            start = text_of(at) if at.type in self._dotted else self._start(at, context)
        chain = start + steps
        return chain if len(chain) <= self._most_characters else UNKNOWN
