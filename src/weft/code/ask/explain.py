"""`code_explain`: everything in the graph about a symbol or a file, without its source."""

from __future__ import annotations

import re
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.code.ask.lookup import MOST_OF_ONE, OTHERS_LISTED, all_joined, called_at, find_element, ref_to
from weft.code.ask.reach import MAX_DEPTH, ReachedSymbol, in_words, listed_note, reach
from weft.code.ask.semantic_slice import head_of, members_of
from weft.code.ask.workspaces import workspace_of
from weft.context.code_pack import SymbolRef
from weft.core.clock import to_iso
from weft.core.errors import Forbidden, StoreError
from weft.core.types import NodeVersion, When
from weft.documents.keep.freshness import freshness_note
from weft.documents.keep.source_lines import (
    citation_of,
    end_of,
    file_of,
    line_of,
    path_of,
    signature_of,
    told_of,
    unread_note,
)
from weft.recall.answer_limits import bounded_lists
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Moment
from weft.runtime.moments import as_of_note, read_when
from weft.runtime.operation import Operation
from weft.text.injection import flags_of, remark

LISTED: Final = 30
UNRESOLVED_LISTED: Final = 20
VERSIONS_LISTED: Final = 10
GO_FIRST: Final = ("others", "members", "implementations", "bases", "tests", "callees", "callers")
_ENDING: Final = re.compile(r"(?:\(\)|\[\])+$")
_SEPARATORS: Final = re.compile(r"\.|::")


class CodeExplain(Struct, frozen=True, kw_only=True):
    """Input of `code_explain`."""

    element: Annotated[
        str, Meta(min_length=1, max_length=4096, description="a symbol or a file: a name, path, path::name or id")
    ]
    depth: Annotated[
        int, Meta(ge=1, le=MAX_DEPTH, description="the longest distance of callers and callees, in calls")
    ] = 1
    as_of: Annotated[Moment | None, Meta(description="as it was true then; also a git commit or Tx id")] = None


class CodeVersion(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One version: its valid time, its line, and the git commit at which it was read."""

    valid_from: str
    line: int
    valid_to: str | None = None
    git_commit: str = ""
    citation: str = ""


class CodeExplained(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A symbol or a file. `callers` use it, `callees` are used by it, the nearest first; for a file, by imports.

    `unresolved` are references as written that match nothing in the project: other packages, builtins, dynamic names.
    `bases` are its supertypes, `implementations` its subtypes. `history` lists its versions, the latest first.
    """

    summary: str
    type: str
    name: str
    citation: str
    signature: str = ""
    callers: tuple[ReachedSymbol, ...] = ()
    callees: tuple[ReachedSymbol, ...] = ()
    unresolved: tuple[str, ...] = ()
    tests: tuple[SymbolRef, ...] = ()
    members: tuple[SymbolRef, ...] = ()
    bases: tuple[SymbolRef, ...] = ()
    implementations: tuple[SymbolRef, ...] = ()
    history: tuple[CodeVersion, ...] = ()
    others: tuple[SymbolRef, ...] = ()
    file: str = ""
    start_line: int = 0
    end_line: int = 0
    id: str = ""
    notes: tuple[str, ...] = ()


def code_explain(ctx: CallContext, given: CodeExplain) -> CodeExplained:
    """Explains a symbol or a file: its kind and place, callers, callees, tests, members and versions.

    `weft semantic-slice` prints its source lines.
    """
    ctx = workspace_of(ctx)
    when = ctx.store.pin(ctx.viewer, read_when(ctx, as_of=given.as_of, known_at=None))
    found = find_element(ctx, when, given.element)
    node = found.node
    ties, apart = _ties(ctx, when, node, given.depth)
    beside = [each.file for each in (*ties.callers[:LISTED], *ties.callees[:LISTED])]
    beside += [each.file for each in ties.tests[:LISTED]]
    stale = None if given.as_of is not None else freshness_note(ctx, [path_of(node), *beside])
    files = [node] if node.kind == "File" else ctx.store.nodes(ctx.viewer, when, [file_of(node)])
    unread = [unread_note(each) for each in files]
    members, unlisted = members_of(ctx, when, node)
    history, untold = _history(ctx, node)
    flagged = remark([(node.id, flags_of(node.name, told_of(node), signature_of(node)))])
    explained = CodeExplained(
        summary=_summary(node, ties),
        type=str(node.props.get("sort") or node.kind),
        name=node.name,
        citation=citation_of(node) or node.id,
        signature="" if node.kind == "File" else signature_of(node),
        callers=ties.callers[:LISTED],
        callees=ties.callees[:LISTED],
        unresolved=_unresolved(node, ties),
        tests=ties.tests[:LISTED],
        members=members,
        bases=ties.bases[:LISTED],
        implementations=ties.implementations[:LISTED],
        history=history,
        others=tuple(ref_to(each) for each in found.others[:OTHERS_LISTED]),
        file=path_of(node),
        start_line=line_of(node),
        end_line=end_of(node),
        id=node.id,
        notes=tuple(
            filter(None, (stale, *unread, *as_of_note(ctx, given.as_of), *flagged, *apart, *unlisted, *untold))
        ),
    )
    return bounded_lists(explained, GO_FIRST)


class _Ties(Struct, frozen=True, kw_only=True):
    """The relations of a symbol or file, complete as far as they are counted."""

    callers: tuple[ReachedSymbol, ...] = ()
    callees: tuple[ReachedSymbol, ...] = ()
    tests: tuple[SymbolRef, ...] = ()
    bases: tuple[SymbolRef, ...] = ()
    implementations: tuple[SymbolRef, ...] = ()
    is_recursive: bool = False
    more_callers: bool = False
    more_callees: bool = False
    more_tests: bool = False


def _ties(ctx: CallContext, when: When, node: NodeVersion, depth: int) -> tuple[_Ties, tuple[str, ...]]:
    """The relations of a symbol or file; none, with a note, if the graph is unavailable."""
    used_by = ("IMPORTS",) if node.kind == "File" else ("TESTS", "CALLS", "DEPENDS_ON")
    uses = ("IMPORTS",) if node.kind == "File" else ("CALLS",)
    try:
        into = reach(ctx, when, [node], used_by, "in", depth=depth)
        out = reach(ctx, when, [node], uses, "out", depth=depth)
        bases, implementations = _family(ctx, when, node)
        is_recursive = node.kind != "File" and _calls_itself(ctx, when, node)
    except StoreError as problem:
        return _Ties(), (f"its relations could not be read: {problem.message}",)
    made = _Ties(
        callers=_calls_first([each.told for each in into.code]),
        callees=tuple(each.told for each in out.steps),
        tests=tuple(ref_to(each.node) for each in into.tests if each.told.distance == 1),
        bases=bases,
        implementations=implementations,
        is_recursive=is_recursive,
        more_callers=into.more_code,
        more_callees=out.more_code or out.more_tests,
        more_tests=into.more_tests,
    )
    notes = (*into.notes, *out.notes, "it calls itself" if is_recursive else "")
    return made, tuple(filter(None, (*notes, *_listed_notes(made))))


def _listed_notes(ties: _Ties) -> list[str]:
    return [
        listed_note(what, LISTED, len(found), more=more)
        for what, found, more in (
            ("callers", ties.callers, ties.more_callers),
            ("callees", ties.callees, ties.more_callees),
            ("tests", ties.tests, ties.more_tests),
            ("bases", ties.bases, False),
            ("implementations", ties.implementations, False),
        )
        if len(found) > LISTED or more
    ]


def _calls_itself(ctx: CallContext, when: When, node: NodeVersion) -> bool:
    found = ctx.store.neighbours(ctx.viewer, when, [node.id], rels=("CALLS",), direction="out", limit=MOST_OF_ONE)
    return any(step.node.id == node.id for step in found)


def _calls_first(found: list[ReachedSymbol]) -> tuple[ReachedSymbol, ...]:
    """Sorts by distance; at equal distance, callers before importing files."""
    return tuple(sorted(found, key=lambda each: (each.distance, each.relation == "DEPENDS_ON")))


def _summary(node: NodeVersion, ties: _Ties) -> str:
    used = "imported by" if node.kind == "File" else "used by"
    callers = in_words(len(ties.callers), more=ties.more_callers)
    callees = in_words(len(ties.callees), more=ties.more_callees)
    tests = in_words(len(ties.tests), more=ties.more_tests)
    return f"{head_of(node)} {used.capitalize()} {callers}, uses {callees}, tests {tests}."


def _family(ctx: CallContext, when: When, node: NodeVersion) -> tuple[tuple[SymbolRef, ...], tuple[SymbolRef, ...]]:
    """Supertypes and subtypes of a class."""
    if node.kind != "Class":
        return (), ()
    rels = ("EXTENDS", "IMPLEMENTS")
    out = all_joined(ctx, when, [node.id], rels, "out")[0].get(node.id, [])
    into = all_joined(ctx, when, [node.id], rels, "in")[0].get(node.id, [])
    return tuple(ref_to(step.node) for step in out), tuple(ref_to(step.node, called_at(step)) for step in into)


def _unresolved(node: NodeVersion, ties: _Ties) -> tuple[str, ...]:
    """References whose last name matches none of the callees that were found."""
    written = node.props.get("calls")
    if not isinstance(written, list | tuple):
        return ()
    known = {each.name.rpartition(".")[2] for each in ties.callees if each.distance == 1}
    known |= {node.name.rpartition(".")[2]} if ties.is_recursive else set()
    chains = dict.fromkeys(each for each in written if isinstance(each, str))
    left = [each for each in chains if _SEPARATORS.split(_ENDING.sub("", each))[-1] not in known]
    return tuple(left[:UNRESOLVED_LISTED])


def _history(ctx: CallContext, node: NodeVersion) -> tuple[tuple[CodeVersion, ...], tuple[str, ...]]:
    try:
        known = ctx.store.history(ctx.viewer, node.id, limit=100)
        # A version that ended is a copy of the one that was read, with the transaction that ended it.
        read_by = {each.event: each.tx for each in known if each.born == each.event}
        versions = [each for each in known if each.retired_at is None]
        latest = sorted(versions, key=lambda each: -each.interval.valid_from)[:VERSIONS_LISTED]
        cited = ctx.store.citations(ctx.viewer, [each.event for each in latest])
        commits = {each.row: _commit(ctx, read_by.get(each.event, each.tx)) for each in latest}
    except StoreError as problem:
        return (), (f"its history could not be read: {problem.message}",)
    told = tuple(
        CodeVersion(
            valid_from=to_iso(each.interval.valid_from),
            valid_to=None if each.interval.valid_to is None else to_iso(each.interval.valid_to),
            line=line_of(each),
            git_commit=commits[each.row],
            citation=cited.get(each.event, ""),
        )
        for each in latest
    )
    return told, ()


def _commit(ctx: CallContext, tx: str) -> str:
    """The commit of a version, for viewers who may see transactions."""
    try:
        found = ctx.store.transaction(ctx.viewer, tx)
    except Forbidden:  # the version is told all the same
        return ""
    return (found.git_commit or "")[:12] if found is not None else ""


OPERATIONS = (
    Operation(
        name="code_explain",
        summary="explain a symbol or a file: kind, place, callers, callees, tests, bases, history",
        input=CodeExplain,
        output=CodeExplained,
        effect="read",
        toolset="code",
        run=code_explain,
        arguments=("element",),
        rare=("as_of",),
        priorities={
            "summary": "required",
            "type": "required",
            "signature": "high",
            "callers": "high",
            "callees": "high",
            "tests": "high",
            "bases": "medium",
            "implementations": "medium",
            "members": "medium",
            "unresolved": "low",
            "history": "low",
            "others": "medium",
            "file": "low",
            "start_line": "medium",
            "end_line": "medium",
            "id": "low",
        },
    ),
)
