"""`semantic_slice`: the exact lines of a symbol, and its neighbours in the graph."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from weft.code.ask.at_work import at_work_on
from weft.code.ask.known import linked_to
from weft.code.ask.lookup import OTHERS_LISTED, all_joined, look_up, ref_to, symbols_in
from weft.code.ask.reach import listed_note, reach
from weft.code.ask.workspaces import workspace_of
from weft.context.code_pack import Known, SymbolRef, shown_name
from weft.context.wording import cut, plain, quoted
from weft.core.clock import to_iso
from weft.core.errors import StoreError
from weft.core.types import MAX_QUERY_CHARACTERS, NodeVersion, When
from weft.documents.keep.source_lines import Slices, citation_of, end_of, line_of, path_of, signature_of, told_of
from weft.recall.answer_limits import bounded_lists
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Moment
from weft.runtime.moments import as_of_note, read_when
from weft.runtime.operation import Operation
from weft.text.injection import flags_of, remark

CALLS_LISTED: Final = 20
MEMBERS_LISTED: Final = 60
TOLD_CHARACTERS: Final = 160  # of what a symbol is for, in a sentence
GO_FIRST: Final = ("others", "documents", "decisions", "members", "tests", "callees", "callers")
Context = Literal["signature", "body", "with-deps", "full"]


class SemanticSlice(Struct, frozen=True, kw_only=True):
    """Input of `semantic_slice`."""

    symbol: Annotated[str, Meta(max_length=1024, description="a name, Class.method, or an id path::Class::method")] = ""
    file: Annotated[str, Meta(max_length=4096, description="its file: a path, or the end of one")] = ""
    query: Annotated[
        str, Meta(max_length=MAX_QUERY_CHARACTERS, description="a description, if no name is known or none matches")
    ] = ""
    context: Annotated[Context, Meta(description="signature, body, with-deps (callers and callees), or full")] = "body"
    as_of: Annotated[Moment | None, Meta(description="as it was true then; also a git commit or Tx id")] = None


class SliceShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A symbol with its lines. `members` are those of a class or a file, `others` symbols with the same name.

    `callers` give the line of the call; `learnings` are what agents learnt about it or its file.
    """

    summary: str
    symbol_name: str
    kind: str
    file: str
    start_line: int
    end_line: int
    citation: str
    signature: str
    code: str = ""
    callers: tuple[SymbolRef, ...] = ()
    callees: tuple[SymbolRef, ...] = ()
    tests: tuple[SymbolRef, ...] = ()
    members: tuple[SymbolRef, ...] = ()
    decisions: tuple[Known, ...] = ()
    learnings: tuple[Known, ...] = ()
    documents: tuple[Known, ...] = ()
    others: tuple[SymbolRef, ...] = ()
    valid_from: str = ""
    id: str = ""
    notes: tuple[str, ...] = ()


def semantic_slice(ctx: CallContext, given: SemanticSlice) -> SliceShown:
    """Reads a symbol: its exact lines from disk if the file is unchanged since it was indexed, else as indexed.

    Give an id, a file and a name, a name, or --query. --context signature is the signature alone, with-deps adds
    callers and callees, full also decisions, learnings and documents about it. Of several symbols with one name the
    likeliest is shown and the others are listed.
    """
    ctx = workspace_of(ctx)
    when = ctx.store.pin(ctx.viewer, read_when(ctx, as_of=given.as_of, known_at=None))
    found = look_up(ctx, when, symbol=given.symbol, file=given.file, query=given.query, has_query=True)
    node = found.node
    slices = Slices(ctx, when, then=given.as_of is not None)
    around, notes = _around(ctx, when, node, given.context)
    code = signature_of(node) if given.context == "signature" else slices.text(node)
    members, unlisted = members_of(ctx, when, node)
    flagged = remark([(node.id, flags_of(node.name, told_of(node), code))])
    shown = SliceShown(
        summary=head_of(node),
        symbol_name=node.name,
        kind=str(node.props.get("sort") or node.kind),
        file=path_of(node),
        start_line=line_of(node),
        end_line=line_of(node) if given.context == "signature" else end_of(node),
        citation=citation_of(node),
        signature="" if node.kind == "File" else signature_of(node),
        code=code,
        members=members,
        others=tuple(ref_to(each) for each in found.others[:OTHERS_LISTED]),
        valid_from=to_iso(node.interval.valid_from),
        id=node.id,
        notes=(*slices.notes, *as_of_note(ctx, given.as_of), *flagged, *notes, *unlisted),
        callers=around.callers,
        callees=around.callees,
        tests=around.tests,
        decisions=around.decisions,
        documents=around.documents,
        learnings=at_work_on(ctx, when, [node], with_learnings=True).learnings if given.context == "full" else (),
    )
    return bounded_lists(shown, GO_FIRST)


def head_of(node: NodeVersion) -> str:
    """A sentence on a symbol or file: kind, place, purpose."""
    sort = str(node.props.get("sort") or node.kind).lower()
    told = told_of(node)
    where = "" if node.kind == "File" else f" in {shown_name(path_of(node))}, lines {line_of(node)} to {end_of(node)}"
    return f"{plain(sort)} {shown_name(node.name)}{where}{f': {quoted(cut(told, TOLD_CHARACTERS))}' if told else ''}."


def members_of(ctx: CallContext, when: When, node: NodeVersion) -> tuple[tuple[SymbolRef, ...], tuple[str, ...]]:
    """The direct members of a class or a file, in order; and a note if not all are listed."""
    if node.kind == "File":
        inside = [each for each in symbols_in(ctx, when, node) if "." not in each.name]
    elif node.kind == "Class":
        steps, _ = all_joined(ctx, when, [node.id], ("CONTAINS",), "out")
        inside = sorted((step.node for step in steps.get(node.id, ())), key=line_of)
    else:
        return (), ()
    note = listed_note("members", MEMBERS_LISTED, len(inside))
    return tuple(ref_to(each) for each in inside[:MEMBERS_LISTED]), (note,) if note else ()


class _Around(Struct, frozen=True, kw_only=True):
    callers: tuple[SymbolRef, ...] = ()
    callees: tuple[SymbolRef, ...] = ()
    tests: tuple[SymbolRef, ...] = ()
    decisions: tuple[Known, ...] = ()
    documents: tuple[Known, ...] = ()


def _around(ctx: CallContext, when: When, node: NodeVersion, context: Context) -> tuple[_Around, tuple[str, ...]]:
    """The neighbours of a symbol that `context` asks for; none, with a note, if the graph is unavailable."""
    if context not in ("with-deps", "full"):
        return _Around(), ()
    try:
        into = reach(ctx, when, [node], ("TESTS", "CALLS"), "in", depth=1)
        out = reach(ctx, when, [node], ("CALLS",), "out", depth=1)
        notes = [
            listed_note("callers", CALLS_LISTED, len(into.code), more=into.more_code),
            listed_note("callees", CALLS_LISTED, len(out.steps), more=out.more_code),
            listed_note("tests", CALLS_LISTED, len(into.tests), more=into.more_tests),
        ]
        decisions, documents = linked_to(ctx, when, [node.id]) if context == "full" else ((), ())
        made = _Around(
            callers=tuple(ref_to(each.node, each.told.line) for each in into.code[:CALLS_LISTED]),
            callees=tuple(ref_to(each.node) for each in out.steps[:CALLS_LISTED]),
            tests=tuple(ref_to(each.node) for each in into.tests[:CALLS_LISTED]),
            decisions=decisions,
            documents=documents,
        )
        return made, tuple(filter(None, notes))
    except StoreError as problem:
        return _Around(), (f"callers and callees could not be read: {problem.message}",)


OPERATIONS = (
    Operation(
        name="semantic_slice",
        summary="read the exact lines of a symbol, optionally with callers, callees and decisions",
        input=SemanticSlice,
        output=SliceShown,
        effect="read",
        toolset="code",
        run=semantic_slice,
        arguments=("symbol",),
        rare=("as_of",),
        profile="balanced",
        # A body that does not fit is omitted whole; the members are listed instead.
        priorities={
            "summary": "required",
            "symbol_name": "required",
            "signature": "required",
            "members": "high",
            "code": "medium",
            "kind": "low",
            "file": "low",
            "start_line": "low",
            "end_line": "low",
            "id": "low",
            "callers": "low",
            "callees": "low",
            "tests": "low",
            "others": "low",
            "documents": "low",
            "valid_from": "low",
        },
    ),
)
