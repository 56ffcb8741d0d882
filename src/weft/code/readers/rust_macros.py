"""Rust: what is given to macros, read as expressions.

The grammar leaves a macro's arguments as tokens. `assert!(store.is_open())` is read a second time as the tuple
`(store.is_open())`, and `thread_local! { … }` as a block, each in its own place in a text that is blank elsewhere. What
is no Rust gives nothing that could be resolved. Macros whose tokens are not run here (`quote!`) are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from weft.code.parsing import Parsed
from weft.code.readers import Match

if TYPE_CHECKING:
    from tree_sitter import Node

_UNREAD: Final = b"""quote quote_spanned parse_quote parse_quote_spanned stringify concat include include_str
include_bytes env option_env asm global_asm cfg line file column module_path"""
PASSED_OVER: Final = frozenset(_UNREAD.split())
_PATTERNS: Final = frozenset({b"matches", b"assert_matches", b"debug_assert_matches"})
MAX_MACRO_DEPTH: Final = 60


class Spread:
    """The arguments of a file's macros; `called` are the macros inside of them (name, where)."""

    def __init__(self, parsed: Parsed, macros: Iterable[Node]) -> None:
        self.called: list[tuple[str, int]] = []
        self._raw = parsed.raw
        self._blank = bytearray(b"\n".join(b" " * len(line) for line in parsed.raw.split(b"\n")))
        self._language = parsed.language
        self._any = False
        done = 0
        for macro in macros:
            tree = next((each for each in macro.children if each.type == "token_tree"), None)
            name = macro.child_by_field_name("macro")
            if tree is None or name is None or macro.start_byte < done or name_of(name) in PASSED_OVER:
                continue
            done, self._any = macro.end_byte, True
            self._blank[tree.start_byte : tree.end_byte] = self._raw[tree.start_byte : tree.end_byte]
            self._fit(tree, 0, given=True)
            if name_of(name) in _PATTERNS:
                self._without_pattern(tree)
            if done < len(self._blank) and self._blank[done] == ord(" "):
                self._blank[done : done + 1] = b";"

    def _fit(self, tree: Node, depth: int, *, given: bool) -> None:
        """Makes expressions of the tokens; `given` says that they are a macro's, not a part of them."""
        start, end = tree.start_byte, tree.end_byte
        if end - start < 2 or depth > MAX_MACRO_DEPTH:
            return
        braced = self._raw[start] == ord("{")
        if given and not braced:
            self._blank[start : start + 1], self._blank[end - 1 : end] = b"(", b")"
        name = mark = None
        for each in tree.children:
            if each.type == "token_tree":
                if name is not None and mark is not None:
                    self._nested(name, mark, each, depth + 1)
                else:
                    self._fit(each, depth + 1, given=False)
            elif each.type == ";" and given and not braced:
                self._blank[each.start_byte : each.end_byte] = b","
            name, mark = (name, each) if each.type == "!" else (each if each.type == "identifier" else None, None)

    def _without_pattern(self, tree: Node) -> None:
        """Leaves the first argument alone: a pattern is no expression, although it looks like one."""
        comma = next((each for each in tree.children if each.type == ","), None)
        if comma is not None:
            self._clear(comma.start_byte, tree.end_byte - 1)

    def _clear(self, start: int, end: int) -> None:
        self._blank[start:end] = b"\n".join(b" " * len(line) for line in self._raw[start:end].split(b"\n"))

    def _nested(self, name: Node, mark: Node, tree: Node, depth: int) -> None:
        text = self._raw[name.start_byte : name.end_byte]
        self.called.append((text.decode(errors="replace"), name.start_byte))
        if text in PASSED_OVER:
            self._clear(tree.start_byte, tree.end_byte)
        else:
            self._fit(tree, depth, given=True)
            if text in _PATTERNS:
                self._without_pattern(tree)
        self._blank[name.start_byte : mark.end_byte] = b" " * (mark.end_byte - name.start_byte)

    def matches(self) -> Iterable[Match]:
        """What the language's query finds in it."""
        return Parsed(self._language, self._blank.decode(errors="replace")).matches() if self._any else ()


def name_of(name: Node) -> bytes:
    """The last part of a macro's path."""
    return (name.text or b"").rpartition(b"::")[2]
