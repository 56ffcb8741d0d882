"""What is called where, in one Python file, by Python's own parser: what the judges of our links are asked about.

Edges lead from definition to definition as weft keeps them: what is defined inside a function belongs to it, a
construction leads to the class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from weft.code.resolve.tree import Tree

Edge = tuple[str, str]
Spot = tuple[int, int, str]  # a line from 1, a column in characters, the name there
Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Text:
    """One file. What does not parse has no calls."""

    def __init__(self, source: str) -> None:
        self.lines = source.split("\n")
        try:
            self.tree: ast.Module = ast.parse(source)
        except (SyntaxError, ValueError):
            self.tree = ast.Module([], [])
        self._definitions: dict[int, Defined] = {}
        self._values: dict[tuple[int, int], list[ast.expr]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, Defined):
                self._definitions[node.lineno] = node
            elif isinstance(node, ast.Assign):
                self._assign(node.targets, node.value)

    def _assign(self, targets: list[ast.expr], value: ast.expr) -> None:
        for target in targets:
            if isinstance(target, ast.Name | ast.Attribute):
                self._values.setdefault(self._spot(target)[:2], []).append(value)
            elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                for left, right in zip(target.elts, value.elts, strict=False):
                    self._assign([left], right)

    def called(self) -> Iterator[Spot]:
        """The names of what is called, and of decorators."""
        for node in ast.walk(self.tree):
            called = [node.func] if isinstance(node, ast.Call) else list(getattr(node, "decorator_list", ()))
            for each in called:
                if isinstance(each, ast.Name | ast.Attribute):
                    yield self._spot(each)

    def definition(self, line: int) -> Defined | None:
        """The function or class whose `def` or `class` stands in a line."""
        return self._definitions.get(line)

    def class_around(self, line: int, name: str) -> int:
        """The line of the innermost class by a name around another line; 0 if there is none."""
        around = [each for each in self._definitions.values() if isinstance(each, ast.ClassDef) and each.name == name]
        return max((each.lineno for each in around if each.lineno <= line <= (each.end_lineno or 0)), default=0)

    def assigned(self, line: int, column: int) -> Iterator[tuple[int, int]]:
        """Where the names stand that a variable is assigned, both sides of `or` and `if … else`."""
        waiting = list(self._values.get((line, column), ()))
        while waiting:
            value = waiting.pop()
            if isinstance(value, ast.IfExp):
                waiting += [value.orelse, value.body]
            elif isinstance(value, ast.BoolOp):
                waiting += reversed(value.values)
            elif isinstance(value, ast.Name | ast.Attribute):
                yield self._spot(value)[:2]

    def with_calls(self, spots: list[Spot]) -> tuple[str, list[tuple[int, int]]]:
        """The text with `.__call__` written out behind some names, and where that stands now."""
        lines = list(self.lines)
        added: dict[int, list[int]] = {}
        for line, column, name in sorted(set(spots), reverse=True):
            end = column + len(name)
            lines[line - 1] = f"{lines[line - 1][:end]}.__call__{lines[line - 1][end:]}"
            added.setdefault(line, []).append(column)
        places = []
        for line, column, name in spots:
            before = sum(each < column for each in added[line])
            places.append((line, column + len(name) + 1 + before * len(".__call__")))
        return "\n".join(lines), places

    def _spot(self, node: ast.Name | ast.Attribute) -> Spot:
        if isinstance(node, ast.Name):
            line, name = node.lineno, node.id
            at = node.col_offset
        else:
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            line, name = node.end_lineno, node.attr
            at = node.end_col_offset - len(name.encode())
        return line, len(self.lines[line - 1].encode()[:at].decode()), name


def definition_id(tree: Tree, path: str, line: int) -> str:
    """The innermost definition around a line, as `weft graph edges` prints it; the file where there is none."""
    facts = tree.facts(path)
    found = ""
    for each in facts.definitions if facts is not None else ():  # as they begin: an inner one comes later
        if each.line <= line <= each.end_line:
            found = each.key
    return joined(path, found)


def joined(path: str, key: str) -> str:
    """The id of a definition by its file and its key."""
    return f"{path}::{key}" if key else path
