"""The list of relations of a workspace's code, for inspection and comparison with other tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.code.ask.workspaces import workspace_of
from weft.core.errors import Invalid
from weft.core.types import EdgeVersion
from weft.documents.keep.freshness import freshness_note
from weft.recall.answer_limits import OUTPUT_CHARACTERS, size
from weft.runtime.call_context import CallContext
from weft.runtime.fields import AsOf, KnownAt
from weft.runtime.moments import as_of_note, read_when
from weft.runtime.operation import Operation

RELATIONS: Final = ("CONTAINS", "IMPORTS", "DEPENDS_ON", "CALLS", "EXTENDS", "IMPLEMENTS", "TESTS")
DEFAULT_LIMIT: Final = 200
MOST: Final = 10_000
FOR_THE_REST: Final = 2_600  # characters of an answer beside its rows: a note may name three files
OUTSIDE: Final = "import:"  # how the id of what is not part of the workspace begins


class GraphEdges(Struct, frozen=True, kw_only=True):
    """Input of `graph_edges`."""

    rel: Annotated[
        str, Meta(min_length=1, max_length=200, description="relations, separated by commas: CALLS,IMPORTS")
    ] = ",".join(RELATIONS)
    limit: Annotated[int, Meta(ge=1, le=MOST, description="the most to list")] = DEFAULT_LIMIT
    after: Annotated[int, Meta(ge=0, description="the cursor: `next` of the previous answer")] = 0
    as_of: AsOf = None
    known_at: KnownAt = None


class CodeEdge(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A relation between two symbols or files, and the first line that states it."""

    src: str
    rel: str
    dst: str
    line: int = 0


class EdgesListed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Relations, oldest first. `next` is the cursor if there are more; an answer may end before `limit`."""

    summary: str
    edges: tuple[CodeEdge, ...]
    next: int | None = None
    notes: tuple[str, ...] = ()


def graph_edges(ctx: CallContext, given: GraphEdges) -> EdgesListed:
    """Lists the relations in this workspace's code: imports, calls, extends, implements, contains, tests.

    Ids are written as path::Class::method, without the project. The command line prints all relations unless `--limit`
    is given; with `--json`, one object per line.
    """
    ctx = workspace_of(ctx)
    asked = tuple(dict.fromkeys(name.strip().upper() for name in given.rel.split(",") if name.strip()))
    if not asked or (unknown := [name for name in asked if name not in RELATIONS]):
        named = f"unknown relation between code: {', '.join(unknown)[:80]}" if asked else "no relation is named"
        raise Invalid(named, hint=f"known ones: {', '.join(RELATIONS)}")
    when = ctx.store.pin(ctx.viewer, read_when(ctx, as_of=given.as_of, known_at=given.known_at))
    project = ctx.settings.project
    rows = ctx.store.relations(ctx.viewer, when, asked, projects=(project,), after=given.after, limit=given.limit + 1)
    edges: list[CodeEdge] = []
    room = OUTPUT_CHARACTERS - FOR_THE_REST
    last: int | None = None
    for at, row in enumerate(rows):
        # Documents contain their sections by the same relation; only code is listed here.
        shown = _shown(row, project) if row.rel != "CONTAINS" or _is_symbol(row.dst) else None
        room -= 0 if shown is None else size(shown) + 1
        if at == given.limit or (room < 0 and edges):
            last = rows[at - 1].row
            break
        edges += [] if shown is None else [shown]
    more = ", and more" if last is not None else ""
    stale = freshness_note(ctx, _files(edges)) if given.as_of is None and given.known_at is None else None
    return EdgesListed(
        summary=f"{len(edges):,} relations{more}",
        edges=tuple(edges),
        next=last,
        notes=tuple(filter(None, (stale, *as_of_note(ctx, given.as_of)))),
    )


def _files(edges: Sequence[CodeEdge]) -> Iterator[str]:
    """The files at both ends of the relations, if they are files of the workspace."""
    for edge in edges:
        for end in (edge.src, edge.dst):
            if not end.startswith(OUTSIDE):
                yield end.partition("::")[0]


def _is_symbol(node_id: str) -> bool:
    """Whether it is the id of a symbol rather than a file; a # in a path is escaped."""
    file, mark, _ = node_id.partition("::")
    return bool(mark) and "#" not in file


def _shown(row: EdgeVersion, project: str | None) -> CodeEdge:
    prefix, line = "" if project is None else f"{project}/", row.props.get("line")
    return CodeEdge(
        src=row.src.removeprefix(prefix),
        rel=row.rel,
        dst=row.dst.removeprefix(prefix),
        line=line if isinstance(line, int) else 0,
    )


OPERATIONS = (
    Operation(
        name="graph_edges",
        summary="list the relations of this workspace's code: imports, calls, extends, contains, tests",
        input=GraphEdges,
        output=EdgesListed,
        effect="read",
        toolset="code",
        run=graph_edges,
        rare=("known_at",),
    ),
)
