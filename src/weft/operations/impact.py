"""`impact_analyze`: what a change may break: what depends on it, near and far, and the tests that reach it.

Claims of other agents on what is affected are to come: `claims` is there for them, and empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.context.code_pack import SymbolRef
from weft.errors import Invalid, NotFound
from weft.loom import Loom
from weft.operations.bounds import bounded_lists
from weft.operations.code_lookup import find_element, find_files, is_test, joined, look_up, ref_to, symbols_in
from weft.operations.code_reach import MAX_DEPTH, Reached, Step, reach
from weft.operations.code_slices import CODE_KINDS, path_of
from weft.operations.fields import Moment
from weft.operations.freshness import freshness_note
from weft.operations.moments import read_when
from weft.operations.registry import Operation
from weft.operations.workspaces import workspace_of
from weft.retrieval.views.ground import flat
from weft.types import NOW, NodeVersion, When

MAX_CHANGED: Final = 2_000  # symbols that a change may be of
MAX_AFFECTED: Final = 500
MAX_GIVEN: Final = 100
GO_FIRST: Final = ("changed", "files", "transitive", "transitive_tests", "direct_tests", "direct")
DEPENDANTS: Final = ("CALLS", "DEPENDS_ON", "IMPORTS", "EXTENDS", "IMPLEMENTS")
Names = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=4096)], ...], Meta(max_length=MAX_GIVEN)]


class ImpactAnalyze(Struct, frozen=True, kw_only=True):
    """Input of `impact_analyze`."""

    files: Annotated[Names, Meta(description="files that change: paths, or the ends of paths")] = ()
    symbols: Annotated[Names, Meta(description="symbols that change: names, path::name or ids")] = ()
    since: Annotated[Moment | None, Meta(description="what changed since then; also a git commit or Tx id")] = None
    depth: Annotated[int, Meta(ge=1, le=MAX_DEPTH, description="how many steps away dependants may be")] = 3


class BlastRadius(Struct, frozen=True, kw_only=True):
    """How much is affected."""

    symbols: int
    files: int
    tests: int


class ImpactAnalyzed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What depends on a change. `direct` is one step away, `transitive` further; tests are told apart from both.

    `changed` is what the question was about. `claims` is for work that other agents hold: there is none yet.
    """

    summary: str
    blast_radius: BlastRadius
    direct: tuple[Reached, ...] = ()
    direct_tests: tuple[Reached, ...] = ()
    transitive_tests: tuple[Reached, ...] = ()
    transitive: tuple[Reached, ...] = ()
    files: tuple[str, ...] = ()
    changed: tuple[SymbolRef, ...] = ()
    claims: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def impact_analyze(loom: Loom, given: ImpactAnalyze) -> ImpactAnalyzed:
    """Tells what a change to files or symbols may break: direct and transitive dependants, and tests that reach them.

    Of a file all its symbols count, and whoever imports it. With --since it is what changed since a moment or a
    commit. Each dependant comes with the line that depends, and the way that leads there.
    """
    loom = workspace_of(loom)
    if not given.files and not given.symbols and given.since is None:
        raise Invalid("nothing is said to change", hint="name files or symbols, or say with `since` from when on")
    when = loom.store.pin(loom.viewer, NOW)
    starts, notes = _changed(loom, when, given)
    if len(starts) > MAX_CHANGED:
        notes.append(f"only the first {MAX_CHANGED:,} of {len(starts):,} changed symbols are followed")
        starts = starts[:MAX_CHANGED]
    rels = (*DEPENDANTS, "TESTS")
    found, more = reach(loom, when, starts, rels, "in", depth=given.depth, most=MAX_AFFECTED)
    code = [each for each in found if not is_test(each.node)]
    tests = _tests([each for each in found if is_test(each.node)])
    files = list(dict.fromkeys(path_of(each.node) for each in found if path_of(each.node)))
    stale = freshness_note(loom, dict.fromkeys(path_of(node) for node in starts))
    radius = BlastRadius(symbols=len(code), files=len(files), tests=len(tests))
    analyzed = ImpactAnalyzed(
        summary=_summary(starts, radius),
        blast_radius=radius,
        direct=tuple(each.told for each in code if each.told.distance == 1),
        direct_tests=tuple(each.told for each in tests if each.told.distance == 1),
        transitive_tests=tuple(each.told for each in tests if each.told.distance > 1),
        transitive=tuple(each.told for each in code if each.told.distance > 1),
        files=tuple(files),
        changed=tuple(ref_to(node) for node in starts[:MAX_GIVEN]),
        notes=(*([stale] if stale else []), *notes, *more),
    )
    return bounded_lists(analyzed, GO_FIRST)


def _summary(starts: Sequence[NodeVersion], radius: BlastRadius) -> str:
    what = flat(starts[0].name)[:80] if starts else "nothing"
    others = f" and {len(starts) - 1} more" if len(starts) > 1 else ""
    return (
        f"{what}{others}: {radius.symbols} dependants in {radius.files} files and {radius.tests} tests may be affected."
    )


def _tests(found: Sequence[Step]) -> list[Step]:
    """Tests; what else stands in their files, and these themselves, only where no test of the file is there."""
    own = {path_of(each.node) for each in found if each.node.kind == "Test"}
    return [each for each in found if each.node.kind == "Test" or path_of(each.node) not in own]


# What changes


def _changed(loom: Loom, when: When, given: ImpactAnalyze) -> tuple[list[NodeVersion], list[str]]:
    """The nodes that change, and notes: a class with its members, a file with all its symbols."""
    found: dict[str, NodeVersion] = {}
    notes: list[str] = []
    for path in given.files:
        files = find_files(loom, when, path)
        if not files:
            raise look_up_failed(loom, when, path)
        if len(files) > 1:
            notes.append(f"{path[:80]} may be {len(files)} files: {path_of(files[0])} is taken")
        found |= {node.id: node for node in (files[0], *symbols_in(loom, when, files[0]))}
    for name in given.symbols:
        looked = find_element(loom, when, name)
        if looked.others:
            notes.append(f"{name[:80]} may be {1 + len(looked.others)} symbols: {looked.node.id} is taken")
        found |= {node.id: node for node in _with_members(loom, when, looked.node)}
    if given.since is not None:
        found |= {node.id: node for node in _since(loom, when, given.since)}
    return list(found.values()), notes


def look_up_failed(loom: Loom, when: When, path: str) -> NotFound:
    """The error of a file that is not there, with what comes near."""
    try:
        look_up(loom, when, file=path)
    except NotFound as problem:
        return problem
    return NotFound(f"there is no file {path[:200]!r} in the index")


def _with_members(loom: Loom, when: When, node: NodeVersion) -> list[NodeVersion]:
    if node.kind == "File":
        return [node, *symbols_in(loom, when, node)]
    steps = joined(loom, when, [node.id], ("CONTAINS",), "out", limit=MAX_GIVEN).get(node.id, [])
    return [node, *(step.node for step in steps)] if node.kind == "Class" else [node]


def _since(loom: Loom, when: When, since: str) -> list[NodeVersion]:
    """Code that is new or another since a moment."""
    moment = read_when(loom, as_of=since, known_at=None).valid_at
    position = loom.store.position_at(loom.viewer, moment or 0)
    changes = loom.store.diff(loom.viewer, since_pos=position, agent=None, limit=MAX_CHANGED)
    ids = [each for kind, each in (*changes.added, *changes.modified) if kind in CODE_KINDS]
    own = loom.settings.project
    nodes = [node for at in range(0, len(ids), 500) for node in loom.store.nodes(loom.viewer, when, ids[at : at + 500])]
    return [node for node in nodes if node.guard.project == own]


OPERATIONS = (
    Operation(
        name="impact_analyze",
        summary="tell what a change to files or symbols may break: dependants near and far, and tests",
        input=ImpactAnalyze,
        output=ImpactAnalyzed,
        effect="read",
        toolset="code",
        run=impact_analyze,
        arguments=(),
        rare=("since",),
        priorities={
            "summary": "required",
            "blast_radius": "required",
            "direct": "required",
            "direct_tests": "required",
            "transitive_tests": "high",
            "transitive": "medium",
            "files": "low",
            "changed": "low",
            "direct.file": "low",
            "direct.line": "low",
            "direct.relation": "low",
            "direct_tests.file": "low",
            "direct_tests.line": "low",
            "direct_tests.relation": "low",
        },
    ),
)
