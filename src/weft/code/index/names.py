"""Resolution of names that documents write as code: to one file or symbol of a project, or to nothing.

    pkg/mod.py, mod.py               the file of that path, or the only one whose path ends so
    pkg.mod.Class.method, pkg.mod    the symbol of a module, or the module's file
    pkg.open                         a symbol that the package brings out by name in its `__init__`
    Class.method                     the only symbol of that qualified name
    read_outline, HttpApi, parse()   the only symbol of that name; a plain word links to nothing

What may mean several things means none of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from typing import Final

from weft.core.types import NodeVersion
from weft.files.languages import language_of

_SEPARATORS: Final = re.compile(r"::|#|->")
_HUMPS: Final = re.compile(r"[A-Z][a-z0-9]+[A-Z]|[a-z0-9][A-Z]")
_UNDERSCORE: Final = re.compile(r"[^\W_]_+[^\W_]")
PACKAGE: Final = "__init__"

TextOf = Callable[[str], str]


class CodeNames:
    """The files and symbols of a project by name. `text_of` returns the text of a file outside its symbols."""

    def __init__(self, nodes: Iterable[NodeVersion], text_of: TextOf) -> None:
        self._text_of = text_of
        self._files: dict[str, str] = {}  # by path
        self._symbols: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))  # by path, then name
        self._last: dict[str, list[tuple[str, str]]] = defaultdict(list)  # qualified name and id, by its last part
        for node in nodes:
            path = node.props.get("path")
            if not isinstance(path, str):
                continue  # a piece of code that was told of by itself
            if node.kind == "File":
                self._files[path] = node.id
            else:
                self._symbols[path][node.name].append(node.id)
                self._last[node.name.rpartition(".")[2]].append((node.name, node.id))
        self._by_end: dict[str, list[str]] = defaultdict(list)  # paths by their last part
        self._modules: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)  # by their last part
        for path in self._files:
            self._by_end[path.rpartition("/")[2]].append(path)
            parts = _module(path)
            if parts:
                self._modules[parts[-1]].append((parts, path))

    @property
    def empty(self) -> bool:
        return not self._files

    def meaning(self, mention: str, text: str) -> str | None:
        """The id of the one node that a mention means; `text` is the passage around it."""
        written = mention.strip().removesuffix("()").removeprefix("./")
        if "/" in written or language_of(written) is not None:
            return _only(self._paths(written))
        parts = tuple(_SEPARATORS.sub(".", written).split("."))
        if not all(part.isidentifier() for part in parts):
            return None
        if len(parts) == 1:
            found = [each for _, each in self._last.get(parts[0], ())]
            return _only(found) if _is_telling(parts[0], text) else None
        for ways in (self._of_module, self._qualified, self._as_module, self._brought_out):
            if found := ways(parts):
                return _only(found)
        return None

    def _paths(self, written: str) -> list[str]:
        if written in self._files:
            return [self._files[written]]
        ending = [path for path in self._by_end.get(written.rpartition("/")[2], ()) if path.endswith(f"/{written}")]
        return [self._files[path] for path in ending]

    def _of_module(self, parts: tuple[str, ...]) -> list[str]:
        """`pkg.mod.Class.method`: a module's dotted name or the end of it, and a symbol in it."""
        for cut in range(len(parts) - 1, 0, -1):
            name = ".".join(parts[cut:])
            paths = [path for path in self._module_paths(parts[:cut]) if name in self._symbols.get(path, ())]
            if paths:
                return [each for path in paths for each in self._symbols[path][name]]
        return []

    def _qualified(self, parts: tuple[str, ...]) -> list[str]:
        """`Class.method`, or `Inner.method` of a nested class."""
        name = ".".join(parts)
        return [each for full, each in self._last.get(parts[-1], ()) if full == name or full.endswith(f".{name}")]

    def _as_module(self, parts: tuple[str, ...]) -> list[str]:
        return [self._files[path] for path in self._module_paths(parts)]

    def _brought_out(self, parts: tuple[str, ...]) -> list[str]:
        """`pkg.open`, if the package's own file names `open` and one file in it defines that."""
        *package, name = parts
        found: list[str] = []
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        for path in self._module_paths(tuple(package)):
            folder, slash, last = path.rpartition("/")
            if slash and last.partition(".")[0] == PACKAGE and word.search(self._text_of(self._files[path])):
                inside = (symbols for each, symbols in self._symbols.items() if each.startswith(f"{folder}/"))
                found += [each for symbols in inside for each in symbols.get(name, ())]
        return found

    def _module_paths(self, parts: tuple[str, ...]) -> list[str]:
        """Files of modules whose dotted names are these parts, or end with them."""
        known = self._modules.get(parts[-1], ())
        exact = [path for module, path in known if module == parts]
        return exact or [path for module, path in known if module[-len(parts) :] == parts]


def _only(found: Collection[str]) -> str | None:
    ids = set(found)
    return ids.pop() if len(ids) == 1 else None


def _module(path: str) -> tuple[str, ...]:
    parts = tuple(path.rpartition(".")[0].split("/"))
    return parts[:-1] if parts[-1] == PACKAGE else parts


def _is_telling(name: str, text: str) -> bool:
    """Whether a single word is written as only code is: with an underscore or two capitals, or with parentheses."""
    return bool(_UNDERSCORE.search(name) or _HUMPS.search(name)) or f"{name}(" in text
