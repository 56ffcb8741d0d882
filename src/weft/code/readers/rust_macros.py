"""Rust: what is given to macros, read as expressions.

The grammar leaves a macro's arguments as tokens. `assert!(store.is_open())` is read a second time as the tuple
`(store.is_open())`, and `thread_local! { … }` as a block, each in its own place in a text that is blank elsewhere. What
is no Rust gives nothing that could be resolved. Macros whose tokens are not run here (`quote!`) are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from weft.code.languages import grammar_of
from weft.code.parsing import Parsed
from weft.code.readers import Match

if TYPE_CHECKING:
    from tree_sitter import Node

_UNREAD: Final = b"""quote quote_spanned parse_quote parse_quote_spanned stringify concat include include_str
include_bytes env option_env asm global_asm cfg line file column module_path"""
PASSED_OVER: Final = frozenset(_UNREAD.split())
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
                nested = name is not None and mark is not None
                if name is not None and mark is not None:
                    self._nested(name, mark, each)
                self._fit(each, depth + 1, given=nested)
            elif each.type == ";" and given and not braced:
                self._blank[each.start_byte : each.end_byte] = b","
            name, mark = (name, each) if each.type == "!" else (each if each.type == "identifier" else None, None)

    def _nested(self, name: Node, mark: Node, tree: Node) -> None:
        text = self._raw[name.start_byte : name.end_byte]
        self.called.append((text.decode(errors="replace"), name.start_byte))
        if text in PASSED_OVER:
            self._blank[tree.start_byte : tree.end_byte] = b" " * (tree.end_byte - tree.start_byte)
        self._blank[name.start_byte : mark.end_byte] = b" " * (mark.end_byte - name.start_byte)

    def matches(self) -> Iterator[Match]:
        """What the language's query finds in it."""
        from tree_sitter import QueryCursor

        if not self._any:
            return
        inner = Parsed(self._language, self._blank.decode(errors="replace"))
        query = grammar_of(self._language)[1]
        for root in inner.searchable():
            for _, captures in QueryCursor(query).matches(root):
                yield captures


def name_of(name: Node) -> bytes:
    """The last part of a macro's path."""
    return (name.text or b"").rpartition(b"::")[2]
