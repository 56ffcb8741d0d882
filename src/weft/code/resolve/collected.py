"""Collects the links of one file: each once, with its first line; and counts unresolved references."""

from __future__ import annotations

from weft.code.parse.facts import FILE, FileFacts
from weft.code.resolve import FileLinks, Link, Relation, Target


class CollectedLinks:
    """Links by their source, relation and target."""

    def __init__(self, facts: FileFacts) -> None:
        self._facts = facts
        self._lines: dict[tuple[str, Relation, Target], int] = {}
        self._unresolved: list[tuple[str, int]] = []
        self.outside = 0

    def add(self, owner: int, relation: Relation, target: Target, line: int) -> None:
        """Adds a link from a definition of the file, or from the file itself (FILE)."""
        source = self._facts.definitions[owner].key if owner != FILE else ""
        link = source, relation, target
        known = self._lines.get(link)
        if known is None or line < known:
            self._lines[link] = line

    def call(self, owner: int, target: Target, line: int, *, is_tested: bool) -> None:
        """Adds a call; from a test, also the TESTS link if the target may be what it tests."""
        self.add(owner, "CALLS", target, line)
        if is_tested and self.is_test(owner):
            self.add(owner, "TESTS", target, line)

    def is_test(self, owner: int) -> bool:
        return owner != FILE and self._facts.definitions[owner].test

    def unresolved(self, chain: str, line: int) -> None:
        """Records a reference that may mean something in the project but could not be resolved."""
        self._unresolved.append((chain, line))

    def links(self) -> FileLinks:
        """All links, in the order in which they were added."""
        made = tuple(Link(*key, line) for key, line in self._lines.items())
        return FileLinks(links=made, unresolved=tuple(self._unresolved), outside=self.outside)
