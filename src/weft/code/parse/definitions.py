"""The definitions of a file, their nesting and their keys. The same for every language.

A definition inside a function is left out: it belongs to the function's text. One inside a class is its member.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from weft.code.parse.facts import CLASS_SORTS, FILE, Sort
from weft.code.parse.parse import ParsedSource
from weft.code.parse.readers import Match

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_CLASS_DEPTH: Final = 32  # what is nested deeper stays in the text of the class around it
MAX_KEY_CHARACTERS: Final = 900
SCOPE: Final = "scope"
LEADING: Final = "leading"
_DEFINITION: Final = "definition."


class FoundDefinition(Struct):
    """A definition or scope that the query matched: its node, the node without decorators, and its name.

    `start` and `row` are where it begins, including preceding nodes that belong to it (`@leading`).
    """

    sort: Sort | None  # None for a scope
    name: bytes
    whole: Node
    bare: Node
    start: int
    row: int
    receiver: bytes = b""


class Placed(Struct):
    """A definition in its place: rows count from 0, inclusive; bytes end before `end`.

    `outer` is the place of the class around it, `parent` that of the class that it is a member of. `inline` is true if
    it begins in the middle of a line, which also belongs to the code around it.
    """

    sort: Sort
    key: str
    qualifier: str
    bare: Node
    start: int
    end: int
    row: int
    to_row: int
    outer: int = FILE
    parent: int = FILE
    inline: bool = False


def find(parsed: ParsedSource) -> tuple[list[FoundDefinition], list[Match]]:
    """The definitions and scopes that the query matches, outer before inner; and the matches for the reader."""
    by_name: dict[int, FoundDefinition] = {}
    rest: list[Match] = []
    leading: list[Node] = []
    for captures in parsed.matches():
        if "name" not in captures and LEADING not in captures:  # most of them: soon told
            rest.append(captures)
            continue
        sort = next((each for each in captures if each.startswith(_DEFINITION)), None)
        if sort is None and SCOPE not in captures:
            if LEADING in captures:
                leading.extend(captures[LEADING])
            else:
                rest.append(captures)
            continue
        node, name = captures[sort or SCOPE][0], captures["name"][0]
        known = by_name.get(name.start_byte)
        if known is None:
            made: Sort | None = None if sort is None else sort.removeprefix(_DEFINITION)  # type: ignore[assignment]
            receiver = captures.get("receiver")
            by_name[name.start_byte] = FoundDefinition(
                made,
                parsed.raw[name.start_byte : name.end_byte],
                node,
                node,
                node.start_byte,
                node.start_point[0],
                parsed.raw[receiver[0].start_byte : receiver[0].end_byte] if receiver else b"",
            )
        else:  # matches come in the order in which they begin: this one is without the decorators
            known.bare = node
    if leading:
        _lead(parsed.raw, list(by_name.values()), leading)
    found = sorted(by_name.values(), key=lambda each: (each.start, -each.whole.end_byte))
    return found, rest


def _lead(raw: bytes, found: list[FoundDefinition], leading: list[Node]) -> None:
    """Extends definitions to preceding nodes that belong to them, with only blanks between."""
    runs: list[tuple[int, int, int]] = []  # start, row, end
    for node in sorted(leading, key=lambda each: each.start_byte):
        start, end = node.start_byte, node.end_byte
        if runs and not raw[runs[-1][2] : start].strip():
            runs[-1] = (runs[-1][0], runs[-1][1], end)
        elif not raw[raw.rfind(b"\n", 0, start) + 1 : start].strip():  # not at the end of a line of code
            runs.append((start, node.start_point[0], end))
    ends = [end for _, _, end in runs]
    for each in found:
        at = bisect_right(ends, each.start) - 1
        if at >= 0 and not raw[ends[at] : each.start].strip():
            each.start, each.row = runs[at][0], runs[at][1]


def place(raw: bytes, found: list[FoundDefinition]) -> list[Placed]:
    """Definitions with their keys, in order of their beginning; those inside functions are left out."""
    kept: list[Placed] = []
    counts: Counter[str] = Counter()
    around: list[tuple[int, str, int, bool]] = []  # end, key, place in `kept` (of a scope: of the class around), closed
    for each in found:
        start, end = each.start, each.whole.end_byte
        while around and around[-1][0] <= start:
            around.pop()
        _, outer_key, outer, closed = around[-1] if around else (0, "", FILE, False)
        if closed or len(around) >= MAX_CLASS_DEPTH:
            continue
        own_name = " ".join(each.name.decode(errors="replace").split())
        if each.sort is None:
            around.append((end, f"{outer_key}::{own_name}" if outer_key else own_name, outer, False))
            continue
        inline = bool(raw[raw.rfind(b"\n", 0, start) + 1 : start].strip())
        if inline and not outer_key and not each.receiver:
            continue  # two may share a line, after an error or in generated code: it belongs to the first
        made = _placed(raw, each, own_name, outer_key, outer)
        made.inline = inline
        key = made.key
        counts[key] += 1
        while counts[key] > 1:
            key = f"{made.key}~{counts[made.key]}"
            counts[key] += 1
            counts[made.key] += counts[key] > 1
        made.key = key
        kept.append(made)
        around.append((end, key, len(kept) - 1, each.sort not in CLASS_SORTS))
    return _with_parents(kept)


def _placed(raw: bytes, found: FoundDefinition, name: str, outer_key: str, outer: int) -> Placed:
    start, end = found.start, found.whole.end_byte
    row, to_row = found.row, found.whole.end_point[0]
    while to_row > row and not raw[raw.rfind(b"\n", 0, end) + 1 : end].strip():
        end, to_row = raw.rfind(b"\n", 0, end), to_row - 1
    receiver = found.receiver.decode(errors="replace")
    qualifier = "::".join(part for part in (outer_key, receiver) if part)
    assert found.sort is not None
    return Placed(
        sort=found.sort,
        key=(f"{qualifier}::{name}" if qualifier else name)[:MAX_KEY_CHARACTERS],
        qualifier=qualifier,
        bare=found.bare,
        start=start,
        end=end,
        row=row,
        to_row=to_row,
        outer=outer,
        parent=outer,
    )


def _with_parents(kept: list[Placed]) -> list[Placed]:
    """Makes functions outside their class (in an `impl`, with a receiver) its members, if the class is in this file."""
    classes = {each.key: at for at, each in enumerate(kept) if each.sort in CLASS_SORTS}
    for each in kept:
        if each.qualifier and each.outer == FILE:
            each.parent = classes.get(each.qualifier, FILE)
    return kept


class Owners:
    """Maps a byte to its owner: the innermost definition around it."""

    def __init__(self, placed: list[Placed]) -> None:
        self._placed = placed
        self._starts = [each.start for each in placed]

    def at(self, byte: int) -> int:
        place = bisect_right(self._starts, byte) - 1
        while place >= 0 and self._placed[place].end <= byte:
            place = self._placed[place].outer if self._placed[place].outer != FILE else FILE
        return place
