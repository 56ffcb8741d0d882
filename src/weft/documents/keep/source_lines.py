"""Source lines of symbols: from disk if the file is as indexed, else from the graph."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Final

from weft.core.types import Find, NodeVersion, When
from weft.documents.keep.file_now import MAX_CITED_BYTES, read_bytes
from weft.documents.keep.freshness import not_indexed, note_of
from weft.files.languages import language_of
from weft.log.citation import file_citation
from weft.retrieval.citations.file_ids import MAX_SYMBOLS, SYMBOL_KINDS, spans_of
from weft.runtime.call_context import CallContext
from weft.text.lines import split_lines

CODE_KINDS: Final = ("File", *SYMBOL_KINDS)
BROKEN_TOLD: Final = 3  # broken line ranges that are listed
_NAME_AND_KIND: Final = re.compile(r", an? (?:class|enum|struct|interface|trait|abstract)$")
# Comments for tools, whose end is recognisable after a signature is joined to one line.
_REMARKS: Final = re.compile(
    r"#\s*(?:type:\s*ignore(?:\[[^\]]*\])?|noqa(?::\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*)?|fmt:\s*(?:off|on|skip)"
    r"|pragma:\s*no\s+\w+|pylint:\s*disable=[\w,-]+|nosec)|/\*.*?\*/",
    re.IGNORECASE,
)
_AFTER_OPENING: Final = re.compile(r"(?<=[(\[])\s+")
_BEFORE_CLOSING: Final = re.compile(r",?\s+(?=[)\]])")


def path_of(node: NodeVersion) -> str:
    """The file path of a code node; empty if it has none."""
    path = node.props.get("path")
    return path if isinstance(path, str) else ""


def line_of(node: NodeVersion) -> int:
    """The first line of a code node."""
    return _number(node, "line") or 1


def end_of(node: NodeVersion) -> int:
    """The last line of a code node."""
    return max(_number(node, "end_line"), line_of(node))


def citation_of(node: NodeVersion, line: int = 0) -> str:
    """The citation of a code node, or of a line of its file; empty if it has no file."""
    path = path_of(node)
    return file_citation(path, line or line_of(node)) if path else ""


def file_of(node: NodeVersion) -> str:
    """The id of a code node's file; of a file its own."""
    whole = node.props.get("part_of")
    return whole if isinstance(whole, str) else node.id


def signature_of(node: NodeVersion) -> str:
    """The signature of a symbol on one line; its name if none is recorded."""
    signature = node.props.get("signature")
    if not isinstance(signature, str) or not signature:
        return node.name
    signature = " ".join(_REMARKS.sub(" ", signature).split())
    return _BEFORE_CLOSING.sub("", _AFTER_OPENING.sub("", signature))  # joined lines leave spaces


def told_of(node: NodeVersion) -> str:
    """The description of a symbol in a line, unless it only repeats its name, its kind and its calls."""
    said = node.props.get("told")
    if not isinstance(said, str):
        return ""
    told = " ".join(said.split()).partition("; calls ")[0]
    return "" if _NAME_AND_KIND.search(told) else told


def symbols_of(ctx: CallContext, when: When, file: str) -> list[NodeVersion]:
    """The symbols of a file, given its id."""
    find = Find(kinds=SYMBOL_KINDS, id_prefix=f"{file}::")
    nodes = ctx.store.find(ctx.viewer, when, find, limit=MAX_SYMBOLS).nodes
    return [node for node in nodes if file_of(node) == file]


class Slices:
    """Reads source lines for one answer, each file at most once. `stale` lists the files changed since indexing.

    Lines come from disk if the file's hash is the indexed one, else from the store. Text from disk is redacted like
    written text.
    """

    def __init__(self, ctx: CallContext, when: When, *, then: bool = False) -> None:
        self._ctx, self._when, self._then = ctx, when, then
        self._files: dict[str, NodeVersion | None] = {}
        self._disk: dict[str, list[str] | None] = {}
        self._kept: dict[str, Mapping[int, str]] = {}
        self.stale: list[str] = []

    def know(self, nodes: Sequence[NodeVersion]) -> None:
        """Loads the files of these nodes in one read."""
        wanted = [each for each in dict.fromkeys(map(file_of, nodes)) if each not in self._files]
        own = {node.id: node for node in nodes if node.kind == "File"}
        found = {node.id: node for node in self._ctx.store.nodes(self._ctx.viewer, self._when, wanted)}
        self._files |= {each: found.get(each) or own.get(each) for each in wanted}

    def text(self, node: NodeVersion, first: int = 0, last: int = 0) -> str:
        """The lines of a node, inclusive; all of them by default."""
        first, last = first or line_of(node), last or end_of(node)
        lines = self._from_disk(node)
        if lines is not None:
            return self._ctx.privacy.fresh().redact("\n".join(lines[first - 1 : last]))
        if node.kind != "File" and "spans" not in node.props and (first, last) == (line_of(node), end_of(node)):
            return node.text  # without members all lines are its own
        kept = self._from_store(node)
        return "\n".join(kept.get(number, "") for number in range(first, min(last, max(kept, default=0)) + 1))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on files that changed since indexing, and on files that are partly unknown."""
        return tuple(filter(None, (note_of(self.stale), *map(unread_note, self._files.values()))))

    def _from_disk(self, node: NodeVersion) -> list[str] | None:
        """The file's lines; None if it is missing or not as indexed."""
        path = path_of(node)
        if path not in self._disk:
            self.know([node])
            self._disk[path] = self._read(path, self._files.get(file_of(node)))
        return self._disk[path]

    def _read(self, path: str, file: NodeVersion | None) -> list[str] | None:
        if not path or file is None or "record" in file.props:
            return None
        raw = read_bytes(self._ctx.settings.root, path)
        whole = raw is not None and len(raw) < MAX_CITED_BYTES
        if whole and raw is not None and hashlib.sha256(raw).hexdigest() == file.props.get("sha256"):
            return split_lines(raw.decode("utf-8", errors="replace").removeprefix("\ufeff"))
        # For a past time a changed file means nothing; a file too large to compare may be unchanged.
        if not self._then and (whole or not_indexed(self._ctx, [path])):
            self.stale.append(path)
        return None

    def _from_store(self, node: NodeVersion) -> Mapping[int, str]:
        """The indexed lines of the node's file by number: those of its symbols, and of the file itself."""
        whole = file_of(node)
        if whole not in self._kept:
            file = self._files.get(whole)
            parts = [*([file] if file is not None else []), *symbols_of(self._ctx, self._when, whole)]
            self._kept[whole] = {
                number: line
                for part in parts
                for number, line in zip(_numbers(part), part.text.split("\n"), strict=False)
            }
        return self._kept[whole]


def unread_note(file: NodeVersion | None) -> str | None:
    """What of a file is not in the graph: all of its content, or the lines that do not parse. None if nothing."""
    if file is None or "record" in file.props:
        return None
    path = path_of(file)
    if not file.props.get("language"):
        why = "its language is not supported" if language_of(path) is None else "`weft graph health` says why"
        return f"the content of {path} is not indexed, only its name and hash: {why}"
    broken = file.props.get("broken")
    spans = spans_of({"spans": broken}) if broken else ()
    if not spans:
        return None
    lines = ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in spans[:BROKEN_TOLD])
    more = f" and {len(spans) - BROKEN_TOLD:,} more" if len(spans) > BROKEN_TOLD else ""
    return f"lines of {path} that do not parse: {lines}{more}; information on them and the lines after may be wrong"


def _numbers(node: NodeVersion) -> list[int]:
    return [number for first, last in spans_of(node.props) for number in range(first, last + 1)]


def _number(node: NodeVersion, name: str) -> int:
    held = node.props.get(name)
    return held if isinstance(held, int) and not isinstance(held, bool) else 0
