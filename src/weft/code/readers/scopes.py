"""Names that are bound more than once in a function, for languages with blocks: which of them holds where.

Facts know the line on which a name is bound, and nothing of blocks: the last binding before a line counts. So where a
block ends in which a name was bound anew, the one from outside is put in again, on the last line of it (on the line
after it, if all of it is on one line).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from weft.code.facts import Binding

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_SAME = 200  # bindings of one name in one function that are told apart


class Bound(Struct, frozen=True):
    """A binding and where it stands; `node` is its name in the tree, None for what is known everywhere (a field)."""

    owner: int
    name: str
    chain: str
    declared: bool
    line: int
    byte: int
    node: Node | None = None

    def binding(self, line: int | None = None) -> Binding:
        """As facts have it."""
        return Binding(self.owner, self.name, self.chain, self.declared, self.line if line is None else line)


def settled(
    bound: list[Bound], scope_of: Callable[[Node], Node | None], else_known: frozenset[str]
) -> tuple[Binding, ...]:
    """The bindings in order. A name of `else_known` means something else outside the block that it is bound in.

    Where such a block ends, it is bound to nothing: an empty chain.
    """
    groups: dict[tuple[int, str], list[Bound]] = {}
    for each in bound:
        groups.setdefault((each.owner, each.name), []).append(each)
    found: list[tuple[int, int, Binding]] = []  # line, place, what it is
    for (_, name), group in groups.items():
        group.sort(key=lambda each: each.byte)
        if group[0].node is None or (len(group) == 1 and name not in else_known) or len(group) > MAX_SAME:
            found += [(each.line, each.byte, each.binding()) for each in group]
        else:
            found += _in_blocks(group, scope_of)
    found.sort(key=lambda each: each[:2])
    return tuple(each[2] for each in found)


def _in_blocks(group: list[Bound], scope_of: Callable[[Node], Node | None]) -> list[tuple[int, int, Binding]]:
    found: list[tuple[int, int, Binding]] = []
    kept: list[tuple[Bound, int, int]] = []  # with the end of its block, and the line of it
    begins: set[int] = set()
    for each in group:
        scope = scope_of(each.node) if each.node is not None else None
        if scope is None:
            continue
        if scope.id in begins:
            continue  # the same variable: `x, err :=` declares only those that are new
        begins.add(scope.id)
        found.append((each.line, each.byte, each.binding()))
        kept.append((each, scope.end_byte, scope.end_point[0] + 1))
    for at, (each, end, line) in enumerate(kept):
        outer = next((other for other, to, _ in reversed(kept[:at]) if to > end), None)
        chain = outer.chain if outer is not None else ""
        declared = outer.declared if outer is not None else False
        after = line + (each.line >= line)  # on the last line of a block there is its end, and what comes after
        found.append((after, 0, Binding(each.owner, each.name, chain, declared, after)))
    return found
