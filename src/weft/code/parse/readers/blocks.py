"""Base of readers for languages with block scopes and declared types (Go, Java).

Facts record the line on which a name is bound, but no blocks: the last binding before a line counts. So at the end of a
block that rebinds a name, the outer binding is repeated on the last line of the block (on the line after it if the
whole block is on one line).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from weft.code.parse.facts import Binding, Form, Imported, Reference
from weft.code.parse.readers import Match, OwnerAt, Rest

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_SAME = 200  # bindings of one name in one function that are told apart

TypeParameters = Mapping[str, str]  # type parameters in scope, each with the type that bounds it


class Bound(Struct, frozen=True):
    """A binding and its place; `node` is its name in the tree, None for a name without a scope (a field)."""

    owner: int
    name: str
    chain: str
    declared: bool
    line: int
    byte: int
    node: Node | None = None

    def binding(self) -> Binding:
        return Binding(self.owner, self.name, self.chain, self.declared, self.line)


class BlockReading:
    """Reads one file. Subclasses have a method `read_<capture>` for each capture of the language's query."""

    def __init__(self, owner_at: OwnerAt) -> None:
        self.owner_at = owner_at
        self.imports: list[Imported] = []
        self.references: list[Reference] = []
        self.bound: list[Bound] = []
        self.extra: dict[str, str] = {}
        self.generic: list[tuple[int, int, TypeParameters]] = []  # where type parameters are in scope

    def read(self, matches: Sequence[Match]) -> None:
        """Passes the first node of each match to the method of its capture, if there is one."""
        for match in matches:
            capture, nodes = next(iter(match.items()))
            if read := getattr(self, f"read_{capture}", None):
                read(nodes[0])

    def sight(self, byte: int) -> TypeParameters:
        if not self.generic:
            return {}
        found: dict[str, str] = {}
        for start, end, parameters in self.generic:
            if start <= byte < end:
                found.update(parameters)
        return found

    def refer(self, node: Node, form: Form, chain: str, line: int, arguments: tuple[str, ...] | None = None) -> None:
        """Records a use, owned by the definition around a node."""
        self.references.append(Reference(self.owner_at(node.start_byte), form, chain, line, arguments))

    def facts(self, scope_of: Callable[[Node], Node | None], else_known: frozenset[str]) -> Rest:
        """All facts read; see `settled` for the bindings."""
        return Rest(
            imports=tuple(self.imports),
            references=tuple(self.references),
            bindings=settled(self.bound, scope_of, else_known),
            extra=self.extra,
        )


def settled(
    bound: list[Bound], scope_of: Callable[[Node], Node | None], else_known: frozenset[str]
) -> tuple[Binding, ...]:
    """The bindings in order. A name of `else_known` means something else outside the block that binds it.

    Where such a block ends, the name is bound to an empty chain.
    """
    groups: dict[tuple[int, str], list[Bound]] = {}
    for each in bound:
        groups.setdefault((each.owner, each.name), []).append(each)
    found: list[tuple[int, int, Binding]] = []  # line, byte, binding
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
    kept: list[tuple[Bound, int, int]] = []  # with the end of its block, and the line of that
    begins: set[int] = set()
    for each in group:
        scope = scope_of(each.node) if each.node is not None else None
        if scope is None or scope.id in begins:
            continue  # the same variable: `x, err :=` declares only those that are new
        begins.add(scope.id)
        found.append((each.line, each.byte, each.binding()))
        kept.append((each, scope.end_byte, scope.end_point[0] + 1))
    for at, (each, end, line) in enumerate(kept):
        outer = next((other for other, to, _ in reversed(kept[:at]) if to > end), None)
        chain, declared = (outer.chain, outer.declared) if outer is not None else ("", False)
        after = line + (each.line >= line)  # the last line of a block holds its end, and what follows it
        found.append((after, 0, Binding(each.owner, each.name, chain, declared, after)))
    return found
