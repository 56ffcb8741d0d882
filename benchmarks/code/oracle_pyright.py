"""What pyright says that Python code calls: a second judge beside jedi, asked through its language server.

For every name that is called, pyright says where it is declared. A function or a class there is the target. A variable
there is followed to what it is assigned, as far as that is a name again; else the type that pyright infers for it
counts: a class is constructed (`cls` and `self.__class__` are the class around), something with `__call__` is called.
What it declares as overloaded leads to the implementation. Everything else (a parameter of no known type, what a
property gives) is no answer. It is asked for all platforms at once, and for the version of Python that runs this.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from benchmarks.code.language_server import LanguageServer
from benchmarks.code.python_calls import Edge, Spot, Text, definition_id
from weft.code.resolve.tree import Tree

MAX_STEPS = 4  # from one variable to the next
READY = "Found "  # … source files
OWN_CLASS = re.compile(r"type\[Self@(\w+)\]")
Place = tuple[str, int, int]  # a file, a line from 1, a column in characters


class Pyright:
    """One project, read by pyright. `calls` fills `answered`: the caller and the name where pyright says anything."""

    def __init__(self, root: Path, tree: Tree, command: str) -> None:
        self._copy = tempfile.TemporaryDirectory(prefix="pyright-")  # the package's own settings do not count
        self._root = Path(self._copy.name).resolve() / root.name
        shutil.copytree(root, self._root)
        (self._root / "pyrightconfig.json").write_text(json.dumps({"pythonPlatform": "All"}), encoding="utf-8")
        self._tree = tree
        self._texts: dict[str, Text | None] = {}
        self._known: dict[Place, list[Place]] = {}
        self.answered: set[Edge] = set()
        settings = {"python": {"pythonPath": sys.executable}, "python.analysis": {"typeCheckingMode": "off"}}
        self._server = LanguageServer([command, "--stdio"], self._root, settings, READY)

    def calls(self) -> set[Edge]:
        """Every edge inside the project."""
        found: set[Edge] = set()
        for path in self._tree.paths:
            text = self._text(path)
            if path.endswith(".py") and text is not None:
                found |= self._calls_of(path, text)
        return found

    def end(self) -> float:
        """Stops the server; the processor time that it took, in seconds."""
        seconds = self._server.processor_seconds()
        self._server.end()
        self._copy.cleanup()
        return seconds

    def _calls_of(self, path: str, text: Text) -> set[Edge]:
        found: set[Edge] = set()
        spots = list(text.called())
        self._ask_where(path, [spot[:2] for spot in spots])
        instances: list[tuple[str, Spot]] = []
        for spot in spots:
            owner = definition_id(self._tree, path, spot[0])
            for target in self._targets((path, *spot[:2])):
                if target is None:
                    instances.append((owner, spot))
                    continue
                found |= self._edge(owner, spot[2], target)
        for owner, name, target in self._called_instances(path, text, instances):
            found |= self._edge(owner, name, target)
        return found

    def _edge(self, owner: str, name: str, target: Place) -> set[Edge]:
        """One edge, if both ends are of the project and it is not one within a function."""
        path, line, _ = target
        text = self._text(path) if path else None
        if text is None:
            self.answered.add((owner, name))
            return set()
        definition = text.definition(line)
        assert definition is not None
        self.answered.add((owner, definition.name))
        to = definition_id(self._tree, path, line)
        inner = to == owner and to.rpartition("::")[2].partition("~")[0] != definition.name
        return {(owner, to)} if "::" in to and not inner else set()

    def _targets(self, place: Place, steps: int = 0) -> Iterator[Place | None]:
        """The definitions that a name leads to, with an empty path for what is outside; None for an instance."""
        declared = self._where(place)
        known = [each for each in declared if self._is_definition(each)]
        kept = [each for each in known if not self._is_overload(each)] or known
        yield from kept
        if any(not each[0] for each in declared) and self._name_at(place) == "__class__":
            yield from self._of_type(place)
            return
        if kept or any(not each[0] for each in declared):
            yield from ([] if kept else [("", 0, 0)])
            return
        followed = False
        for path, line, column in declared:
            text = self._text(path)
            for value in text.assigned(line, column) if text is not None and steps < MAX_STEPS else ():
                for found in self._targets((path, *value), steps + 1):
                    followed = True
                    yield found
        if declared and not followed:
            yield from self._of_type(place)

    def _of_type(self, place: Place) -> Iterator[Place | None]:
        """By the type that is inferred: a class that is held, or one of which there is an instance."""
        given = self._given(place)
        types, hover = self._server.ask([("textDocument/typeDefinition", given), ("textDocument/hover", given)])
        classes = [each for each in self._places(types) if self._is_definition(each, ast.ClassDef)]
        said = hover["contents"]["value"] if hover is not None else ""
        own = OWN_CLASS.search(said)
        text = self._text(place[0])
        if own is not None and text is not None:
            line = text.class_around(place[1], own[1])
            yield from [(place[0], line, 0)] if line else []
        elif classes and "type[" in said:
            yield from classes
        elif classes and said:
            yield None

    def _called_instances(
        self, path: str, text: Text, spots: list[tuple[str, Spot]]
    ) -> Iterator[tuple[str, str, Place]]:
        """Where something with `__call__` is called: asked as if that were written out."""
        if not spots:
            return
        uri = (self._root / path).as_uri()
        changed, places = text.with_calls([spot for _, spot in spots])
        document = {"uri": uri, "languageId": "python", "version": 1, "text": changed}
        self._server.tell("textDocument/didOpen", {"textDocument": document})
        questions = [("textDocument/definition", self._given((path, *each), changed)) for each in places]
        for (owner, _), answer in zip(spots, self._server.ask(questions), strict=True):
            for each in self._places(answer):
                if not each[0] or self._is_definition(each):
                    yield owner, "__call__", each
        self._server.tell("textDocument/didClose", {"textDocument": {"uri": uri}})

    def _ask_where(self, path: str, spots: list[tuple[int, int]]) -> None:
        """Asks of all of a file at once."""
        places = [(path, *spot) for spot in spots if (path, *spot) not in self._known]
        answers = self._server.ask([("textDocument/definition", self._given(place)) for place in places])
        for place, answer in zip(places, answers, strict=True):
            self._known[place] = self._places(answer)

    def _where(self, place: Place) -> list[Place]:
        if place not in self._known:
            self._ask_where(place[0], [place[1:]])
        return self._known[place]

    def _given(self, place: Place, text: str | None = None) -> dict[str, Any]:
        path, line, column = place
        known = self._text(path)
        lines = text.split("\n") if text is not None else known.lines if known is not None else []
        units = len(lines[line - 1][:column].encode("utf-16-le")) // 2
        uri = (self._root / path).as_uri()
        return {"textDocument": {"uri": uri}, "position": {"line": line - 1, "character": units}}

    def _places(self, answer: Any) -> list[Place]:
        """Where an answer leads; an empty path for what is outside of the project."""
        found = []
        for each in answer or ():
            file = Path(unquote(urlparse(each["uri"]).path))
            inside = file.relative_to(self._root).as_posix() if file.is_relative_to(self._root) else ""
            text = self._text(inside) if inside else None
            if text is None:
                found.append(("", 0, 0))
                continue
            line, units = each["range"]["start"]["line"], each["range"]["start"]["character"]
            before = text.lines[line].encode("utf-16-le")[: units * 2].decode("utf-16-le")
            found.append((inside, line + 1, len(before)))
        return list(dict.fromkeys(found))

    def _name_at(self, place: Place) -> str:
        text = self._text(place[0])
        found = re.match(r"\w+", text.lines[place[1] - 1][place[2] :]) if text is not None else None
        return found[0] if found is not None else ""

    def _is_definition(self, place: Place, sort: type[ast.AST] = ast.AST) -> bool:
        path, line, column = place
        text = self._text(path) if path else None
        found = text.definition(line) if text is not None else None
        if text is None or found is None or not isinstance(found, sort) or _marked(found, "property"):
            return False
        return text.lines[line - 1].startswith(found.name, column)

    def _is_overload(self, place: Place) -> bool:
        text = self._text(place[0])
        found = text.definition(place[1]) if text is not None else None
        return found is not None and _marked(found, "overload")

    def _text(self, path: str) -> Text | None:
        if path not in self._texts:
            source = self._tree.text(path) if self._tree.facts(path) is not None else None
            self._texts[path] = Text(source) if source is not None else None
        return self._texts[path]


def _marked(definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, name: str) -> bool:
    return any(ast.unparse(each).rpartition(".")[2].endswith(name) for each in definition.decorator_list)
