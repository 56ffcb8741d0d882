"""`impact_analyze`: direct and transitive dependants of a change, and the tests that reach it.

`claims` are those of other agents on the changed code and its direct dependants.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.code.ask.at_work import claims_of_others
from weft.code.ask.diff import MORE_THAN_LIMIT, DiffSince, diff_since
from weft.code.ask.lookup import (
    MOST_OF_ONE,
    all_joined,
    find_element,
    find_files,
    look_up,
    ref_to,
    symbols_in,
)
from weft.code.ask.reach import MAX_DEPTH, Reach, ReachedSymbol, in_words, reach
from weft.code.ask.workspaces import workspace_of
from weft.context.code_pack import SymbolRef, shown_name
from weft.core.errors import Invalid, NotFound
from weft.core.queries import NodeFilter
from weft.core.types import NOW, Neighbour, NodeVersion, When
from weft.documents.keep.freshness import freshness_note
from weft.documents.keep.source_lines import path_of
from weft.recall.answer_limits import bounded_lists
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Moment
from weft.runtime.operation import Operation
from weft.runtime.read_nodes import read_nodes

MAX_CHANGED: Final = 2_000  # symbols that a change may be of
MAX_DELTAS: Final = 1_000  # of what came, went and changed since a moment, each
MAX_GIVEN: Final = 100
GO_FIRST: Final = ("changed", "files", "transitive", "transitive_tests", "direct_tests", "direct")
DEPENDANTS: Final = ("TESTS", "CALLS", "EXTENDS", "IMPLEMENTS", "IMPORTS", "DEPENDS_ON")
Names = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=4096)], ...], Meta(max_length=MAX_GIVEN)]


class ImpactAnalyze(Struct, frozen=True, kw_only=True):
    """Input of `impact_analyze`."""

    files: Annotated[Names, Meta(description="files that change: paths, or the ends of paths")] = ()
    symbols: Annotated[Names, Meta(description="symbols that change: names, path::name or ids")] = ()
    since: Annotated[Moment | None, Meta(description="changes since this time; also a git commit or Tx id")] = None
    depth: Annotated[int, Meta(ge=1, le=MAX_DEPTH, description="the longest distance of dependants, in steps")] = 3


class BlastRadius(Struct, frozen=True, kw_only=True):
    """Counts of what is affected."""

    symbols: int
    files: int
    tests: int


class ImpactAnalyzed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Dependants of a change. `direct` ones are one step away, `transitive` ones further; tests are listed separately.

    `changed` are the changed symbols and files. `claims` are those of other agents in the way.
    """

    summary: str
    blast_radius: BlastRadius
    direct: tuple[ReachedSymbol, ...] = ()
    direct_tests: tuple[ReachedSymbol, ...] = ()
    transitive_tests: tuple[ReachedSymbol, ...] = ()
    transitive: tuple[ReachedSymbol, ...] = ()
    files: tuple[str, ...] = ()
    changed: tuple[SymbolRef, ...] = ()
    claims: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def impact_analyze(ctx: CallContext, given: ImpactAnalyze) -> ImpactAnalyzed:
    """Lists what a change to files or symbols may break: direct and transitive dependants, and tests that reach them.

    A file means all its symbols and its importers. --since takes the changes since a time or a commit. Each
    dependant is listed with the dependent line and the path to the change.
    """
    ctx = workspace_of(ctx)
    if not given.files and not given.symbols and given.since is None:
        raise Invalid("no change is given", hint="name files or symbols, or give since")
    when = ctx.store.pin(ctx.viewer, NOW)
    changed = _changed(ctx, when, given)
    starts, notes = list(changed.nodes.values()), changed.notes
    if len(starts) > MAX_CHANGED:
        notes.append(f"only the first {MAX_CHANGED:,} of {len(starts):,} changed symbols are followed")
        starts = starts[:MAX_CHANGED]
    found = reach(ctx, when, starts, DEPENDANTS, "in", depth=given.depth, former=changed.former)
    code, tests = found.code, found.tests
    files = list(dict.fromkeys(path_of(each.node) for each in found.steps if path_of(each.node)))
    stale = freshness_note(ctx, dict.fromkeys((*(path_of(node) for node in starts), *files)))
    radius = BlastRadius(symbols=len(code), files=len(files), tests=len(tests))
    analyzed = ImpactAnalyzed(
        summary=_summary(starts, radius, found),
        blast_radius=radius,
        direct=tuple(each.told for each in code if each.told.distance == 1),
        direct_tests=tuple(each.told for each in tests if each.told.distance == 1),
        transitive_tests=tuple(each.told for each in tests if each.told.distance > 1),
        transitive=tuple(each.told for each in code if each.told.distance > 1),
        files=tuple(files),
        changed=tuple(ref_to(node) for node in starts[:MAX_GIVEN]),
        claims=claims_of_others(ctx, when, [*(node.id for node in starts[:MAX_GIVEN]), *_nearest(found)]),
        notes=tuple(dict.fromkeys(filter(None, (stale, *notes, *found.notes, *_cut(found))))),
    )
    return bounded_lists(analyzed, GO_FIRST)


def _summary(starts: Sequence[NodeVersion], radius: BlastRadius, found: Reach) -> str:
    what = shown_name(starts[0].name) if starts else "nothing"
    others = f" and {len(starts) - 1} more" if len(starts) > 1 else ""
    symbols = in_words(radius.symbols, more=found.more_code)
    files = f"{'at least ' if found.more_code or found.more_tests else ''}{radius.files:,}"
    tests = in_words(radius.tests, more=found.more_tests)
    return f"{what}{others}: {symbols} dependants in {files} files and {tests} tests may be affected."


def _nearest(found: Reach) -> list[str]:
    """The direct neighbours, whose claims are shown."""
    return [each.node.id for each in found.steps if each.told.distance == 1][:MAX_GIVEN]


def _cut(found: Reach) -> list[str]:
    """Notes that the search was cut off, for code and for tests."""
    told = [("dependants", found.more_code, len(found.code)), ("tests", found.more_tests, len(found.tests))]
    return [f"only the nearest {count:,} {what} are listed" for what, more, count in told if more]


# What changes


class _Changed(Struct, frozen=True, kw_only=True):
    """The changed nodes: a class with its members, a file with all its symbols; and users of removed symbols."""

    nodes: dict[str, NodeVersion]
    former: dict[str, list[Neighbour]]
    notes: list[str]


def _changed(ctx: CallContext, when: When, given: ImpactAnalyze) -> _Changed:
    made = _Changed(nodes={}, former={}, notes=[])
    for path in given.files:
        files = find_files(ctx, when, path)
        if not files:
            raise look_up_failed(ctx, when, path)
        if len(files) > 1:
            made.notes.append(f"{path[:80]} matches {len(files)} files; {path_of(files[0])} is used")
        made.nodes.update((node.id, node) for node in (files[0], *symbols_in(ctx, when, files[0])))
    for name in given.symbols:
        looked = find_element(ctx, when, name)
        if looked.others:
            made.notes.append(f"{name[:80]} matches {1 + len(looked.others)} symbols; {looked.node.id} is used")
        made.nodes.update((node.id, node) for node in _with_members(ctx, when, looked.node, made.notes))
    if given.since is not None:
        _since(ctx, when, given.since, made)
    return made


def look_up_failed(ctx: CallContext, when: When, path: str) -> NotFound:
    """The error for an unknown file, with the nearest names."""
    try:
        look_up(ctx, when, file=path)
    except NotFound as problem:
        return problem
    return NotFound(f"there is no file {path[:200]!r} in the index")


def _with_members(ctx: CallContext, when: When, node: NodeVersion, notes: list[str]) -> list[NodeVersion]:
    if node.kind == "File":
        return [node, *symbols_in(ctx, when, node)]
    if node.kind != "Class":
        return [node]
    steps, cut = all_joined(ctx, when, [node.id], ("CONTAINS",), "out")
    if cut:
        notes.append(f"{node.id} has more than {MOST_OF_ONE:,} members; only these are followed")
    return [node, *(step.node for step in steps.get(node.id, ()))]


# What changed since


def _since(ctx: CallContext, when: When, since: str, made: _Changed) -> None:
    """Code that was added, removed or modified since then, as in `diff_since`."""
    found = diff_since(ctx, DiffSince(since=since, limit=MAX_DELTAS))
    _gone(ctx, when, [each.id for each in found.removed], made)
    ids = [each.id for each in (*found.modified, *found.added)]
    made.nodes.update((node.id, node) for node in read_nodes(ctx, when, ids))
    more = f"since {found.since}: only the first {MAX_DELTAS:,} changes are followed"
    most = max(len(found.added), len(found.removed), len(found.modified))
    made.notes.extend(note for note in found.notes if note != MORE_THAN_LIMIT)
    made.notes.extend([more] if most >= MAX_DELTAS else [])


def _gone(ctx: CallContext, when: When, ids: Sequence[str], made: _Changed) -> None:
    """Removed symbols, and symbols that used them and still exist: those are likely to break."""
    last = ctx.store.last_versions(ctx.viewer, NodeFilter(ids=tuple(ids)), limit=len(ids))
    ended = [(node, node.interval.valid_to) for node in last if node.interval.valid_to is not None]
    made.nodes.update((node.id, node) for node, _ in ended)
    for end in sorted({end for _, end in ended}):
        then = When(valid_at=end - 1, known_at=when.known_at)
        steps, _ = all_joined(ctx, then, [node.id for node, each in ended if each == end], DEPENDANTS, "in")
        users = list(dict.fromkeys(step.node.id for some in steps.values() for step in some))
        there = {node.id: node for node in read_nodes(ctx, when, users)}
        for start, some in steps.items():
            made.former[start] = [replace(step, node=there[step.node.id]) for step in some if step.node.id in there]
    unknown = len(ids) - len(ended)
    if unknown:
        made.notes.append(f"{unknown:,} removed symbols were never indexed: their users are unknown")


OPERATIONS = (
    Operation(
        name="impact_analyze",
        summary="list what a change to files or symbols may break: dependants near and far, and tests",
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
