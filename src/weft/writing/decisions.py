"""`save_decision`, `save_pattern`, `save_context`, `save_preference`: texts with a title, written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from weft.append.append import Fence
from weft.core.clock import to_iso
from weft.core.errors import Invalid, NotFound
from weft.core.types import NOW, NodeVersion
from weft.log.draft import Draft
from weft.log.kinds import memory
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Moment, Name
from weft.runtime.moments import check_interval
from weft.runtime.operation import Operation
from weft.text.lexical import name_key
from weft.writing.build.commit import WriteDecision, decide_and_commit
from weft.writing.build.entity_builder import WriteBuilder
from weft.writing.build.planned_write import BatchState, earlier_result, plan_fence
from weft.writing.build.versions import result_of
from weft.writing.checks.dedup import HASH, DedupVerdict, NewEntry, judge_entry, listed, may_change_verdict
from weft.writing.write_contract import WriteOptions, WriteResult, focus_of, guard_of, props_of

Title = Annotated[str, Meta(min_length=1, max_length=512, description="a title in one line")]
Words = Annotated[str, Meta(max_length=200_000)]
Lines = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=10_000)], ...], Meta(max_length=32)]
Involved = Annotated[tuple[Name, ...], Meta(max_length=32, description="entities that it is about, by name or id")]


class SaveDecision(WriteOptions, frozen=True, kw_only=True):
    """Input of `save_decision`."""

    title: Annotated[Title, Meta(description="what was decided, in one line")]
    rationale: Annotated[Words, Meta(description="why")] = ""
    alternatives: Annotated[Lines, Meta(description="alternatives that were considered")] = ()
    entities: Involved = ()
    supersedes: (
        Annotated[str, Meta(min_length=1, max_length=1024, description="id of the decision that it replaces")] | None
    ) = None
    valid_from: Annotated[Moment | None, Meta(description="when it was decided; now if unset")] = None
    decision: Annotated[
        Literal["auto", "new"],
        Meta(description="auto: compare its title with other decisions; new: it is a new decision"),
    ] = "auto"


class SavePattern(WriteOptions, frozen=True, kw_only=True):
    """Input of `save_pattern`."""

    title: Annotated[Title, Meta(description="the pattern's name")]
    description: Annotated[Words, Meta(min_length=1, description="when it applies, and what to do")]
    examples: Annotated[Lines, Meta(description="where it was used, as examples")] = ()
    entities: Involved = ()


class SaveContext(WriteOptions, frozen=True, kw_only=True):
    """Input of `save_context`."""

    title: Title
    body: Annotated[Words, Meta(min_length=1, description="what to know")]
    entities: Involved = ()


class SavePreference(WriteOptions, frozen=True, kw_only=True):
    """Input of `save_preference`."""

    subject: Annotated[Name, Meta(description="whose preference it is: a name or an id")]
    preference: Annotated[Words, Meta(min_length=1, description="what is liked or disliked, in words")]
    polarity: Annotated[int, Meta(ge=-1, le=1, description="1 liked, -1 disliked, 0 neither")] = 1
    strength: Annotated[float, Meta(ge=0.0, le=1.0, description="how strongly; unset if it was not said")] | None = None


class _Piece(Struct, frozen=True, kw_only=True):
    """A text to be written, the names of the entities that it involves, and how it is compared with others.

    `by_title` compares its title too; `settled` says that the caller decided, so that a copy that was replaced is
    written again.
    """

    entry: NewEntry
    text: str
    props: dict[str, Any]
    entities: tuple[str, ...] = ()
    begins: int | None = None
    supersedes: str | None = None
    by_title: bool = False
    settled: bool = False


def save_decision(ctx: CallContext, given: SaveDecision) -> WriteResult:
    """Keeps a decision with its reasons, once.

    The same title and rationale again (ignoring case and spaces) are not written: `duplicate_skip` names the existing
    decision. A title that says nearly the same as another's replaces that decision (`superseded`); the older one is
    kept behind the newer. If titles are similar but not enough, or differ in a negation, a number, a version or in what
    they are about (frontend, backend), nothing is written: `manual_review` lists the candidates. Then repeat the call
    with --supersedes ID if it replaces one of them, or with --decision new if it is another decision. A decision made
    earlier, as --valid-from says, replaces nothing by itself.
    """
    rationale = given.rationale if given.rationale.strip() else ""
    settled = given.supersedes is not None or given.decision == "new"
    piece = _Piece(
        entry=_entry(ctx, given, "Decision", given.rationale),
        text=_paragraphs(rationale, listed("Alternatives", given.alternatives)) or given.title,
        props=_props(ctx, given, {"status": "accepted", "alternatives": list(given.alternatives) or None}),
        entities=given.entities,
        begins=check_interval(given.valid_from, None)[0],
        supersedes=given.supersedes,
        by_title=not settled,
        settled=settled,
    )
    return _write_new(ctx, given, piece)


def save_pattern(ctx: CallContext, given: SavePattern) -> WriteResult:
    """Keeps a proven way of doing things, once.

    The same title and description again (ignoring case and spaces) are not written.
    """
    piece = _Piece(
        entry=_entry(ctx, given, "Pattern", given.description),
        text=_paragraphs(given.description, listed("Examples", given.examples)),
        props=_props(ctx, given, {"examples": list(given.examples) or None}),
        entities=given.entities,
    )
    return _write_new(ctx, given, piece)


def save_context(ctx: CallContext, given: SaveContext) -> WriteResult:
    """Keeps background knowledge about the work under a title. Keywords let agents follow it as a topic."""
    entry = _entry(ctx, given, "Context", given.body)
    piece = _Piece(entry=entry, text=given.body, props=_props(ctx, given, {}), entities=given.entities)
    return _write_always(ctx, given, piece)


def save_preference(ctx: CallContext, given: SavePreference) -> WriteResult:
    """Keeps what a person or thing likes or dislikes, joined to that entity."""
    verb = ("neither likes nor dislikes", "likes", "dislikes")[given.polarity]
    entry = NewEntry(
        kind="Preference",
        title=f"{given.subject} {verb}",
        words=given.preference,
        guard=guard_of(ctx, given),
        focus=focus_of(ctx, given),
    )
    props = {"polarity": given.polarity, "strength": given.strength}
    piece = _Piece(entry=entry, text=given.preference, props=_props(ctx, given, props), entities=(given.subject,))
    return _write_always(ctx, given, piece)


def _entry(ctx: CallContext, given: SaveDecision | SavePattern | SaveContext, kind: str, words: str) -> NewEntry:
    if not name_key(given.title):
        raise Invalid("the title has no letter or digit", hint="give a title in one line")
    return NewEntry(kind=kind, title=given.title, words=words, guard=guard_of(ctx, given), focus=focus_of(ctx, given))


def _props(ctx: CallContext, given: WriteOptions, own: dict[str, Any]) -> dict[str, Any]:
    return props_of(ctx, given) | {name: value for name, value in own.items() if value is not None}


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _write_new(ctx: CallContext, given: WriteOptions, piece: _Piece) -> WriteResult:
    """Writes a text unless it exists already."""
    entry = piece.entry
    piece = replace(piece, props=piece.props | {HASH: entry.content_hash})
    if before := earlier_result(ctx, given.request_id, lambda payload: _wrote(payload, piece)):
        return before

    def decide(pos: int) -> WriteDecision[WriteResult]:
        older = () if piece.supersedes is None else (existing_decision(ctx, piece.supersedes),)
        verdict = judge_entry(ctx, entry, by_title=piece.by_title)
        if verdict.outcome == "duplicate" and not (piece.settled and verdict.newer is not None):
            return WriteDecision(answer=_duplicate(ctx, verdict))
        if verdict.outcome == "review":
            return WriteDecision(answer=_to_review(verdict))
        if verdict.outcome == "supersede" and not _before(piece, verdict.nodes[0]):
            older = (verdict.nodes[0].id,)
        matters = may_change_verdict(ctx, entry, by_title=piece.by_title, relied_on=older)
        decision = _decision(ctx, piece, ctx.new_id(given.request_id), pos, older)
        return replace(decision, fence=_both(decision.fence, matters, entry.kind, pos))

    return result_of(*decide_and_commit(ctx, decide, request_id=given.request_id))


def _write_always(ctx: CallContext, given: WriteOptions, piece: _Piece) -> WriteResult:
    """Writes a text, whatever else exists."""
    if before := earlier_result(ctx, given.request_id, lambda payload: _wrote(payload, piece)):
        return before
    node_id = ctx.new_id(given.request_id)
    return result_of(
        *decide_and_commit(ctx, lambda pos: _decision(ctx, piece, node_id, pos), request_id=given.request_id)
    )


def _before(piece: _Piece, node: NodeVersion) -> bool:
    return piece.begins is not None and piece.begins < node.interval.valid_from


def _wrote(payload: Any, piece: _Piece) -> str | None:
    """The id of what an earlier call wrote, if it wrote the same."""
    if not isinstance(payload, memory.Remembered):
        return None
    entry = piece.entry
    same = (payload.node_kind, payload.name, payload.text) == (entry.kind, entry.title, piece.text)
    return payload.id if same else None


def _decision(
    ctx: CallContext, piece: _Piece, node_id: str, pos: int, supersedes: tuple[str, ...] = ()
) -> WriteDecision[WriteResult]:
    """The decision to write a text, with the entities it involves."""
    entry = piece.entry
    making = WriteBuilder(ctx, entry.guard, BatchState())
    linked = tuple(dict.fromkeys(making.thing(name) for name in piece.entities))
    for thing in linked:
        making.edge(node_id, "INVOLVES", thing)
    payload = memory.Remembered(
        id=node_id,
        node_kind=entry.kind,
        name=entry.title,
        text=piece.text,
        props=piece.props | ({"subject": linked[0]} if entry.kind == "Preference" else {}),
        **asdict(entry.guard),
        focus=entry.focus,
        entities=tuple(making.nodes.values()),
        edges=tuple(making.edges.values()),
        supersedes=supersedes,
        valid_from=None if piece.begins is None else to_iso(piece.begins),
    )
    draft = Draft(kind="memory.remembered", payload=payload)
    planned = making.planned(node_id, (draft,), linked)
    result = WriteResult(
        status="superseded" if supersedes else "saved",
        id=node_id,
        supersedes=supersedes,
        linked=linked,
        notes=planned.notes,
    )
    return WriteDecision(answer=result, drafts=[draft], fence=plan_fence([planned], pos))


def _both(things: Fence | None, matters: Callable[[NodeVersion], bool], kind: str, pos: int) -> Fence:
    """The fence of a comparison, together with that of the named entities."""
    if things is None or things.concerns is None:
        return Fence(pos=pos, kinds=(kind,), concerns=matters)
    kinds, named = things.kinds, things.concerns
    return Fence(
        pos=pos,
        kinds=(kind, *kinds),
        concerns=lambda node: matters(node) or (node.kind in kinds and named(node)),
    )


def _duplicate(ctx: CallContext, verdict: DedupVerdict) -> WriteResult:
    (node,) = verdict.nodes
    citation = ctx.store.citations(ctx.viewer, [node.event]).get(node.event, "")
    notes: tuple[str, ...] = ()
    if (newer := verdict.newer) is not None:
        notes = (
            f"nothing was written: it was superseded by {newer.id} ({newer.name[:80]}). To decide it again, repeat the"
            f" call with --supersedes {newer.id}",
        )
    return WriteResult(status="duplicate_skip", id=node.id, citation=citation, notes=notes)


def _to_review(verdict: DedupVerdict) -> WriteResult:
    note = (
        "nothing was written: there are similar decisions. Repeat the call with --supersedes (such as"
        f" {verdict.alike[0].id}) if it replaces one of them, or with --decision new if it is another decision"
    )
    return WriteResult(status="manual_review", candidates=verdict.alike, notes=(note,))


def existing_decision(ctx: CallContext, node_id: str) -> str:
    """The id of a decision that holds. Raises NotFound, or Invalid for a node of another kind."""
    found = ctx.store.nodes(ctx.viewer, NOW, [node_id])
    if not found:
        raise NotFound(
            f"there is no decision {node_id[:80]!r} that holds now and that you may see",
            hint="`weft recall --kinds Decision` finds decisions and gives their ids",
        )
    if found[0].kind != "Decision":
        raise Invalid(f"{node_id[:80]!r} is a {found[0].kind}, not a Decision", hint="give the id of a decision")
    return node_id


OPERATIONS = (
    Operation(
        name="save_decision",
        summary="keep a decision with its reasons, once",
        input=SaveDecision,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=save_decision,
        arguments=("title", "rationale"),
    ),
    Operation(
        name="save_pattern",
        summary="keep a proven way of doing things, once",
        input=SavePattern,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=save_pattern,
        arguments=("title", "description"),
    ),
    Operation(
        name="save_context",
        summary="keep background knowledge about the work, under a title",
        input=SaveContext,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=save_context,
        arguments=("title", "body"),
    ),
    Operation(
        name="save_preference",
        summary="keep what a person or thing likes or dislikes",
        input=SavePreference,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=save_preference,
        arguments=("subject", "preference"),
    ),
)
