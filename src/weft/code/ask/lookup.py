"""Lookup of the symbol or file that a caller names, and of its neighbours.

    weft/src/app.py::Store::find, src/app.py::Store::find     an id, with the project or without
    Store.find in src/app.py                                  file and name; the end of a path is enough
    Store.find, find, app.Store.find                          a name, or the end of one
    "where sessions are saved"                                a description, through the ordinary search

Others with the same name are listed beside the chosen one.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from weft.context.code_pack import SymbolRef
from weft.core.errors import Invalid, NotFound
from weft.core.queries import TextQuery
from weft.core.types import Direction, Find, Neighbour, NodeVersion, When
from weft.documents.keep.source_lines import CODE_KINDS, citation_of, line_of, path_of, symbols_of
from weft.retrieval.citations.file_ids import MAX_SYMBOLS, SYMBOL_KINDS, file_id
from weft.runtime.call_context import CallContext
from weft.text.lexical import stems

MOST_NAMED: Final = 200  # nodes of one name that are looked at
EDGES_AT_ONCE: Final = 5_000
STEPS_OF_ONE: Final = 60  # from one node: few have more
MOST_OF_ONE: Final = 2_000  # by one relation, where one has more
OTHERS_LISTED: Final = 5
NEAREST_LISTED: Final = 5
LEAST_ALIKE: Final = 0.5
BY_QUERY: Final = 6
NOT_READ: Final = "run `weft index` in the workspace, then ask again"
BY_WORDS: Final = "describe with query what it does, in your own words"
ASKING: Final = "`weft graph query` finds symbols by a description in your own words"
_SEPARATORS: Final = re.compile(r"::|#|->|\.|/|\\")
_PATH_LIKE: Final = re.compile(r"[/\\]|\.[A-Za-z][A-Za-z0-9]{0,4}$")
_TEST_PATH: Final = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__|spec)/|(?:^|/)(?:test_[^/]*|conftest)\.py$|_test\.(?:py|go)$"
    r"|\.(?:test|spec)\.[cm]?[jt]sx?$|(?:Test|Tests|IT)\.java$"
)


class Looked(Struct, frozen=True, kw_only=True):
    """The named symbol or file, and others with the same name, most likely first."""

    node: NodeVersion
    others: tuple[NodeVersion, ...] = ()


def projects_of(ctx: CallContext) -> tuple[str | None, ...]:
    """The projects whose code is searched."""
    return (ctx.settings.project,)


def ref_to(node: NodeVersion, line: int = 0) -> SymbolRef:
    """A symbol with the line where it begins, or with another line of its file."""
    return SymbolRef(
        name=node.name, file=path_of(node), line=line or line_of(node), citation=citation_of(node, line) or node.id
    )


def is_test(node: NodeVersion) -> bool:
    """Whether a node is a test, or in a test file."""
    return node.kind == "Test" or is_test_path(path_of(node))


def is_test_path(path: str) -> bool:
    """Whether a path is that of a test file, by common conventions."""
    return _TEST_PATH.search(path) is not None


# Finding


def look_up(
    ctx: CallContext, when: When, *, symbol: str = "", file: str = "", query: str = "", has_query: bool = False
) -> Looked:
    """The named symbol or file. Raises Invalid if none is named, NotFound with the nearest names.

    `has_query` if the caller's operation has a query argument, for the hint.
    """
    symbol, file, query = symbol.strip(), file.strip(), query.strip()
    if not (symbol or file or query):
        raise Invalid("no symbol, file or query", hint="give symbol, file or query")
    found = _by_name(ctx, when, symbol, file)
    if not found and query:
        found = by_query(ctx, when, query, limit=BY_QUERY)
    if not found:
        raise _missing(ctx, when, symbol=symbol, file=file, query=query, otherwise=BY_WORDS if has_query else ASKING)
    return Looked(node=found[0], others=tuple(found[1:]))


def find_element(ctx: CallContext, when: When, element: str) -> Looked:
    """A symbol or a file by one word: an id, a path, `path::name`, a name. Raises NotFound with the nearest names."""
    written = element.strip()
    path, mark, name = written.partition("::")
    if mark and (found := _by_name(ctx, when, written, "") or _by_name(ctx, when, name, path)):
        return Looked(node=found[0], others=tuple(found[1:]))
    return look_up(ctx, when, symbol=written)


def _by_name(ctx: CallContext, when: When, symbol: str, file: str) -> list[NodeVersion]:
    """Symbols that match an id, or a name and a file if given; most likely first."""
    if ("::" in symbol or "/" in symbol) and (found := _by_id(ctx, when, symbol)):
        return found
    if not file:
        found = named(ctx, when, symbol) if symbol else []
        return found or (find_files(ctx, when, symbol) if _PATH_LIKE.search(symbol) else [])
    files = find_files(ctx, when, file)
    if not symbol:
        return files
    return [each for one in files for each in _inside(ctx, when, one, symbol)]


def _by_id(ctx: CallContext, when: When, symbol: str) -> list[NodeVersion]:
    project = ctx.settings.project
    ids = [symbol, *([f"{project}/{symbol}"] if project is not None else [])]
    return [node for node in ctx.store.nodes(ctx.viewer, when, ids) if node.kind in CODE_KINDS][:1]


def find_files(ctx: CallContext, when: When, written: str) -> list[NodeVersion]:
    """Files by a path from the root, absolute, or its end; the shortest path first."""
    path = path_from_root(ctx, written)
    wanted = file_id(ctx.settings.project, path)
    exact = ctx.store.nodes(ctx.viewer, when, [wanted])
    if exact and exact[0].kind == "File":
        return [exact[0]]
    ending = "/" + file_id(None, path)
    ids = [each for each in _ids_in_names(ctx, when, stems(path.rpartition("/")[2]), "File") if each.endswith(ending)]
    found = [node for node in ctx.store.nodes(ctx.viewer, when, ids) if node.kind == "File"]
    return sorted(found, key=lambda node: (len(path_of(node)), path_of(node)))


def path_from_root(ctx: CallContext, written: str) -> str:
    """A path as the graph has it, however it is written: absolute, with `./` or as a URI."""
    path = written.replace("\\", "/").removeprefix("file://").removeprefix("./").rstrip("/")
    root = ctx.settings.root.resolve().as_posix()
    return path.removeprefix(f"{root}/") if Path(path).is_absolute() else path


def _inside(ctx: CallContext, when: When, file: NodeVersion, symbol: str) -> list[NodeVersion]:
    """Symbols of a file that match a name: full names before last parts."""
    inside = symbols_in(ctx, when, file)
    parts = tuple(_SEPARATORS.split(symbol))
    fitting = [node for node in inside if _parts(node)[-len(parts) :] == parts]
    return sorted(fitting, key=lambda node: (len(_parts(node)), line_of(node)))


def symbols_in(ctx: CallContext, when: When, file: NodeVersion) -> list[NodeVersion]:
    """The symbols of a file, in line order."""
    return sorted(symbols_of(ctx, when, file.id), key=line_of)


def members_in(ctx: CallContext, when: When, node: NodeVersion) -> list[NodeVersion]:
    """The symbols inside a class at any depth, in line order."""
    find = Find(kinds=SYMBOL_KINDS, id_prefix=f"{node.id}::")
    return sorted(ctx.store.find(ctx.viewer, when, find, limit=MAX_SYMBOLS).nodes, key=line_of)


def named(ctx: CallContext, when: When, symbol: str) -> list[NodeVersion]:
    """Symbols with a name or its end: `find`, `Store.find`, `app.Store.find`; the likeliest first.

    Case is ignored if no name matches exactly. Whole names come before parts, code before tests, then by the number of
    references.
    """
    if not (last := _split(symbol)[-1].casefold()):
        return []
    ids, many = _ids_by_words(ctx, when, symbol, last)
    return _going_by(ctx, when, symbol, [*ids, *_ids_ending(ctx, when, last)] if many else ids)


def named_at_once(ctx: CallContext, when: When, symbol: str) -> tuple[list[NodeVersion], bool]:
    """Like `named`, but only by indexes; also returns whether there may be more matches."""
    if not (last := _split(symbol)[-1].casefold()):
        return [], False
    ids, many = _ids_by_words(ctx, when, symbol, last)
    return _going_by(ctx, when, symbol, ids), many


def _split(symbol: str) -> tuple[str, ...]:
    return tuple(_SEPARATORS.split(symbol.removesuffix("()")))


def _going_by(ctx: CallContext, when: When, symbol: str, ids: Sequence[str]) -> list[NodeVersion]:
    """Those of the symbols that have the name, most likely first."""
    parts = _split(symbol)
    # A symbol's id ends with its key: most that share a word are told apart without being read.
    folded = tuple(part.casefold() for part in parts)
    found = ctx.store.nodes(ctx.viewer, when, [each for each in ids if _last_part(each) == folded[-1]])
    fitting = [node for node in found if _full(node)[-len(parts) :] == parts]
    if not fitting:
        fitting = [node for node in found if tuple(map(str.casefold, _full(node)[-len(parts) :])) == folded]
    if len(fitting) < 2:
        return fitting
    pointed = ctx.store.backlinks(ctx.viewer, when, [node.id for node in fitting])
    return sorted(
        fitting,
        key=lambda node: (len(_parts(node)) > len(parts), is_test(node), -pointed.get(node.id, 0), path_of(node)),
    )


def _ids_in_names(ctx: CallContext, when: When, words: Sequence[str], *kinds: str) -> list[str]:
    """Ids of nodes that have one of these stems in their names, best first."""
    if not words:
        return []
    terms = tuple((stem, 1.0) for stem in dict.fromkeys(words))
    query = TextQuery(terms=terms, kinds=kinds, projects=projects_of(ctx), in_names=True)
    return [hit.node.id for hit in ctx.store.search_text(ctx.viewer, when, query, limit=MOST_NAMED).hits]


def _ids_by_words(ctx: CallContext, when: When, symbol: str, last: str) -> tuple[list[str], bool]:
    """Ids of symbols whose name may end in this part, and whether others may match too.

    Searches for the first word of the name, which few names share. Words such as `get` are in no index, and some words
    are too common: then the full name is searched.
    """
    words = stems(last)[:1]
    ids = _ids_in_names(ctx, when, words, *SYMBOL_KINDS)
    if words and len(ids) < MOST_NAMED:
        return ids, False
    whole = ".".join(_split(symbol))
    find = Find(kinds=SYMBOL_KINDS, names=(whole,), projects=projects_of(ctx))
    exact = [node.id for node in ctx.store.find(ctx.viewer, when, find, limit=MOST_NAMED).nodes]
    return list(dict.fromkeys((*exact, *ids))), not (exact and "." in whole)


def _ids_ending(ctx: CallContext, when: When, last: str) -> list[str]:
    """Ids of symbols with this last name, from what files and classes contain; no texts are read."""
    ids: list[str] = []
    row = 0
    while len(ids) < MOST_NAMED:
        edges = ctx.store.relations(
            ctx.viewer, when, ("CONTAINS",), projects=projects_of(ctx), after=row, limit=EDGES_AT_ONCE
        )
        ids += [edge.dst for edge in edges if "::" in edge.dst and _last_part(edge.dst) == last]
        if len(edges) < EDGES_AT_ONCE:
            break
        row = edges[-1].row
    return list(dict.fromkeys(ids))[:MOST_NAMED]


def _last_part(node_id: str) -> str:
    return node_id.rpartition("::")[2].partition("~")[0].casefold()


def _parts(node: NodeVersion) -> tuple[str, ...]:
    return tuple(node.name.split("."))


def _full(node: NodeVersion) -> tuple[str, ...]:
    """The qualified name after the parts of the file's path, as an import would write it."""
    path = path_of(node).rpartition(".")[0].removesuffix("/__init__").removesuffix("/index")
    return (*path.split("/"), *_parts(node))


def by_query(ctx: CallContext, when: When, query: str, *, limit: int) -> list[NodeVersion]:
    """Symbols found for a question by the ordinary search, best first."""
    from weft.retrieval.pipeline import Ask, run  # names are looked up without it
    from weft.retrieval.recipes import DEFAULT

    ask = Ask(query=query, when=when, limit=limit, projects=projects_of(ctx), kinds=SYMBOL_KINDS)
    answer = run(DEFAULT, ctx, ask)
    return [each.node for each in answer.ranked or () if each.node.kind in SYMBOL_KINDS and path_of(each.node)]


# Nothing found


def _missing(ctx: CallContext, when: When, *, symbol: str, file: str, query: str, otherwise: str) -> NotFound:
    """The error for an unknown name, with the nearest ones."""
    if not is_indexed(ctx, when):
        return NotFound("no code of this workspace is indexed", hint=NOT_READ)
    what = f"{symbol} in {file}" if symbol and file else symbol or file or query
    if file and not (known := find_files(ctx, when, file)):
        return NotFound(f"no file {file[:200]!r} is indexed", hint=f"{_files_hint(ctx, when, file)}; or {NOT_READ}")
    pool = symbols_in(ctx, when, known[0]) if file else _alike(ctx, when, symbol or query)
    near = nearest(symbol or query, pool)
    listed = ", ".join(f"{node.name} ({citation_of(node)})" for node in near)
    hint = f"the nearest names are {listed}" if listed else otherwise
    return NotFound(f"no symbol {what[:200]!r} is indexed", hint=hint)


def _files_hint(ctx: CallContext, when: When, file: str) -> str:
    last = file.replace("\\", "/").rpartition("/")[2]
    ids = _ids_in_names(ctx, when, stems(last.partition(".")[0]), "File")[:NEAREST_LISTED]
    near = [path_of(node) for node in ctx.store.nodes(ctx.viewer, when, ids)]
    return f"the nearest files are {', '.join(near)}" if near else "give the path from the workspace's root"


def _alike(ctx: CallContext, when: When, written: str) -> list[NodeVersion]:
    """Symbols whose names share a word with the text, or contain a word of which it may be a misspelling."""
    words = stems(written)
    for word in re.findall(r"[^\W_]{4,}", written.casefold())[:8]:
        for meant in ctx.store.spellings(ctx.viewer, when, word, projects=projects_of(ctx))[:8]:
            words += stems(meant)
    return list(ctx.store.nodes(ctx.viewer, when, _ids_in_names(ctx, when, words, *SYMBOL_KINDS)))


def nearest(written: str, nodes: Sequence[NodeVersion]) -> list[NodeVersion]:
    """The nodes whose names are most similar to the text."""
    wanted = written.casefold().rpartition("::")[2].rpartition(".")[2]

    def alike(node: NodeVersion) -> float:
        last = node.name.casefold().rpartition(".")[2]
        whole = difflib.SequenceMatcher(None, written.casefold(), node.name.casefold()).ratio()
        return max(whole, difflib.SequenceMatcher(None, wanted, last).ratio())

    scored = sorted(((alike(node), node) for node in nodes), key=lambda each: (-each[0], each[1].id))
    return [node for score, node in scored if score >= LEAST_ALIKE][:NEAREST_LISTED]


def is_indexed(ctx: CallContext, when: When) -> bool:
    """Whether any file of this workspace's code is known."""
    find = Find(kinds=("File",), projects=projects_of(ctx))
    return bool(ctx.store.find(ctx.viewer, when, find, limit=1).nodes)


# What it is joined to


def joined(
    ctx: CallContext, when: When, ids: Sequence[str], rels: tuple[str, ...], direction: Direction, *, limit: int
) -> dict[str, list[Neighbour]]:
    """Neighbours of each node by some relations, by start node: within this workspace, each neighbour once."""
    steps: dict[str, list[Neighbour]] = {}
    seen: set[tuple[str, str, str]] = set()
    for step in ctx.store.neighbours(ctx.viewer, when, ids, rels=rels, direction=direction, limit=limit):
        key = step.start, step.edge.rel, step.node.id
        if key not in seen and step.node.id != step.start and step.node.guard.project in projects_of(ctx):
            seen.add(key)
            steps.setdefault(step.start, []).append(step)
    return steps


def all_joined(
    ctx: CallContext, when: When, ids: Sequence[str], rels: tuple[str, ...], direction: Direction
) -> tuple[dict[str, list[Neighbour]], frozenset[str]]:
    """All neighbours of each node, per relation, so that no relation displaces another.

    Also returns the nodes with more than MOST_OF_ONE neighbours by one relation, the rest of which are not returned.
    """
    steps, crowded = _steps_by(ctx, when, ids, rels, direction, STEPS_OF_ONE)
    cut: set[str] = set()
    for start in crowded:  # few have so many: relation by relation, none pushes another out
        steps[start] = []
        for rel in rels:
            again, still = _steps_by(ctx, when, [start], (rel,), direction, MOST_OF_ONE)
            steps[start] += again.get(start, [])
            cut |= still
    order = {rel: place for place, rel in enumerate(rels)}
    told: dict[str, list[Neighbour]] = {}
    for start in ids:
        once: dict[tuple[str, str], Neighbour] = {}
        for step in sorted(steps.get(start, ()), key=lambda step: order[step.edge.rel]):
            once.setdefault((step.edge.rel, step.node.id), step)
        if once:
            told[start] = list(once.values())
    return told, frozenset(cut)


def _steps_by(
    ctx: CallContext, when: When, ids: Sequence[str], rels: tuple[str, ...], direction: Direction, limit: int
) -> tuple[dict[str, list[Neighbour]], set[str]]:
    """Steps by some relations within this workspace, and the nodes that reached the limit."""
    counts: Counter[str] = Counter()
    found: dict[str, list[Neighbour]] = {}
    for step in ctx.store.neighbours(ctx.viewer, when, ids, rels=rels, direction=direction, limit=limit):
        counts[step.start] += 1
        if step.node.id != step.start and step.node.guard.project in projects_of(ctx):
            found.setdefault(step.start, []).append(step)
    return found, {start for start, count in counts.items() if count >= limit}


def called_at(step: Neighbour) -> int:
    """The line that states a relation, in the file of its source; 0 if unknown."""
    line = step.edge.props.get("line")
    return line if isinstance(line, int) and not isinstance(line, bool) else 0


def caller(step: Neighbour) -> SymbolRef:
    """A caller, with the line of its call."""
    return ref_to(step.node, called_at(step))
