"""The text of a symbol, line for line: from the file on disk where that is what was indexed, else as it was indexed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Final

from weft.code.languages import language_of
from weft.code.symbols import MAX_SYMBOLS
from weft.documents.lines import split_lines
from weft.log.citation import file_citation
from weft.loom import Loom
from weft.operations.code_records import SYMBOL_KINDS, spans_of
from weft.operations.file_now import MAX_CITED_BYTES, read_bytes
from weft.operations.freshness import not_indexed, note_of
from weft.types import Find, NodeVersion, When

CODE_KINDS: Final = ("File", *SYMBOL_KINDS)
BROKEN_TOLD: Final = 3  # places of a file that do not parse
_NAME_AND_KIND: Final = re.compile(r", an? (?:class|enum|struct|interface|trait|abstract)$")
# Remarks to tools, of which it is known where they end although they stand on one line with the rest by now.
_REMARKS: Final = re.compile(
    r"#\s*(?:type:\s*ignore(?:\[[^\]]*\])?|noqa(?::\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*)?|fmt:\s*(?:off|on|skip)"
    r"|pragma:\s*no\s+\w+|pylint:\s*disable=[\w,-]+|nosec)|/\*.*?\*/",
    re.IGNORECASE,
)
_AFTER_OPENING: Final = re.compile(r"(?<=[(\[])\s+")
_BEFORE_CLOSING: Final = re.compile(r",?\s+(?=[)\]])")


def path_of(node: NodeVersion) -> str:
    """The path of the file that a node of code is, or stands in; empty where it stands in none."""
    path = node.props.get("path")
    return path if isinstance(path, str) else ""


def line_of(node: NodeVersion) -> int:
    """The first line of a node of code."""
    return _number(node, "line") or 1


def end_of(node: NodeVersion) -> int:
    """The last line of a node of code."""
    return max(_number(node, "end_line"), line_of(node))


def citation_of(node: NodeVersion, line: int = 0) -> str:
    """Where a node of code stands, or a line of its file; empty where it stands in no file."""
    path = path_of(node)
    return file_citation(path, line or line_of(node)) if path else ""


def file_of(node: NodeVersion) -> str:
    """The id of the file that a node of code stands in; of a file its own."""
    whole = node.props.get("part_of")
    return whole if isinstance(whole, str) else node.id


def signature_of(node: NodeVersion) -> str:
    """The head of a symbol on one line; its name where nobody recorded one."""
    signature = node.props.get("signature")
    if not isinstance(signature, str) or not signature:
        return node.name
    signature = " ".join(_REMARKS.sub(" ", signature).split())
    return _BEFORE_CLOSING.sub("", _AFTER_OPENING.sub("", signature))  # one line for several leaves blanks


def told_of(node: NodeVersion) -> str:
    """What a symbol is for, in a line: as far as that says more than its name, its kind and what it calls."""
    said = node.props.get("told")
    if not isinstance(said, str):
        return ""
    told = " ".join(said.split()).partition("; calls ")[0]
    return "" if _NAME_AND_KIND.search(told) else told


class Slices:
    """Reads lines of source for one answer: each file at most once. `stale` are the files that changed since.

    Lines come from disk if the file's hash is the one that was indexed, and from the store otherwise. What is read
    from disk goes through the same screen as what is written: no secret is shown that the store would not keep.
    """

    def __init__(self, loom: Loom, when: When, *, then: bool = False) -> None:
        self._loom, self._when, self._then = loom, when, then
        self._files: dict[str, NodeVersion | None] = {}
        self._disk: dict[str, list[str] | None] = {}
        self._kept: dict[str, Mapping[int, str]] = {}
        self.stale: list[str] = []

    def know(self, nodes: Sequence[NodeVersion]) -> None:
        """Loads the files of these nodes at once."""
        wanted = [each for each in dict.fromkeys(map(file_of, nodes)) if each not in self._files]
        own = {node.id: node for node in nodes if node.kind == "File"}
        found = {node.id: node for node in self._loom.store.nodes(self._loom.viewer, self._when, wanted)}
        self._files |= {each: found.get(each) or own.get(each) for each in wanted}

    def text(self, node: NodeVersion, first: int = 0, last: int = 0) -> str:
        """The lines of a node, all of them if none are named; both ends in."""
        first, last = first or line_of(node), last or end_of(node)
        lines = self._from_disk(node)
        if lines is not None:
            return self._loom.screen.fresh().redact("\n".join(lines[first - 1 : last]))
        if node.kind != "File" and "spans" not in node.props and (first, last) == (line_of(node), end_of(node)):
            return node.text  # it has no members: all its lines are its own
        kept = self._from_store(node)
        return "\n".join(kept.get(number, "") for number in range(first, min(last, max(kept, default=0)) + 1))

    @property
    def notes(self) -> tuple[str, ...]:
        """That files changed since they were indexed, naming them; and what of those looked at is not known."""
        return tuple(filter(None, (note_of(self.stale), *map(unread_note, self._files.values()))))

    def _from_disk(self, node: NodeVersion) -> list[str] | None:
        """The file's lines; None where it is not there, or not what was indexed."""
        path = path_of(node)
        if path not in self._disk:
            self.know([node])
            self._disk[path] = self._read(path, self._files.get(file_of(node)))
        return self._disk[path]

    def _read(self, path: str, file: NodeVersion | None) -> list[str] | None:
        if not path or file is None or "record" in file.props:
            return None
        raw = read_bytes(self._loom.settings.root, path)
        whole = raw is not None and len(raw) < MAX_CITED_BYTES
        if whole and raw is not None and hashlib.sha256(raw).hexdigest() == file.props.get("sha256"):
            return split_lines(raw.decode("utf-8", errors="replace").removeprefix("\ufeff"))
        # Of another moment, that the file is another now says nothing; too large a file may be what it was.
        if not self._then and (whole or not_indexed(self._loom, [path])):
            self.stale.append(path)
        return None

    def _from_store(self, node: NodeVersion) -> Mapping[int, str]:
        """The lines of the node's file as they were indexed, by number: what each symbol holds, and the file itself."""
        whole = file_of(node)
        if whole not in self._kept:
            find = Find(kinds=SYMBOL_KINDS, id_prefix=f"{whole}::")
            inside = self._loom.store.find(self._loom.viewer, self._when, find, limit=MAX_SYMBOLS).nodes
            file = self._files.get(whole)
            parts = [*([file] if file is not None else []), *(each for each in inside if file_of(each) == whole)]
            self._kept[whole] = {
                number: line
                for part in parts
                for number, line in zip(_numbers(part), part.text.split("\n"), strict=False)
            }
        return self._kept[whole]


def unread_note(file: NodeVersion | None) -> str | None:
    """What of a file is not in the graph: all that it says, or the lines that do not parse. None where nothing is."""
    if file is None or "record" in file.props:
        return None
    path = path_of(file)
    if not file.props.get("language"):
        why = "it is in no language that is read" if language_of(path) is None else "`weft graph health` says why"
        return f"of {path} the name and hash are known, not what it holds: {why}"
    broken = file.props.get("broken")
    spans = spans_of({"spans": broken}) if broken else ()
    if not spans:
        return None
    lines = ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in spans[:BROKEN_TOLD])
    more = f" and {len(spans) - BROKEN_TOLD:,} more" if len(spans) > BROKEN_TOLD else ""
    return f"lines of {path} that do not parse: {lines}{more}; what stands there or after them may be told wrongly"


def _numbers(node: NodeVersion) -> list[int]:
    return [number for first, last in spans_of(node.props) for number in range(first, last + 1)]


def _number(node: NodeVersion, name: str) -> int:
    held = node.props.get(name)
    return held if isinstance(held, int) and not isinstance(held, bool) else 0
