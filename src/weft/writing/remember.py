"""`remember`: a text kept verbatim, with what is extracted from it."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct, field
from msgspec.structs import asdict, replace

from weft.core.clock import parse_instant, to_iso
from weft.core.errors import Away, Busy, Conflict, Invalid, StoreError
from weft.core.kinds import DERIVED_FROM, HAPPENS_AT, UNSEARCHED_KINDS
from weft.log.draft import Draft
from weft.log.kinds import memory
from weft.runtime.call_context import CallContext
from weft.runtime.fields import KindName, Moment
from weft.runtime.moments import check_interval
from weft.runtime.operation import Operation
from weft.writing.build.commit import REPEATED, Committed, WriteDecision, commit, decide_and_commit
from weft.writing.build.extracted_facts import STATING_KINDS, ExtractionResult, SourceText, extract_one
from weft.writing.build.planned_write import BatchState, OwnCommit, PlannedWrite
from weft.writing.checks.current_value import FactStatement, statements_fence
from weft.writing.checks.novelty import (
    REINFORCING_IF_KNOWN,
    NoveltyCheck,
    check_novelty,
    gated_words,
    jaccard,
    reinforcement,
)
from weft.writing.claims_of_text import ClaimSource, claims_written
from weft.writing.revise import Correct, Invalidate, correct, memory_invalidate
from weft.writing.write_contract import Props, WriteOptions, WriteResult, focus_of, guard_of, props_of

Text = Annotated[str, Meta(min_length=1, max_length=1_000_000, description="the text to keep, verbatim")]
OtherMemory = Annotated[str, Meta(min_length=1, max_length=1024, description="a memory, by its citation or id")]
OWN_KINDS = UNSEARCHED_KINDS | {"Project", "Focus"}
NOT_BESIDE = ("name", "kind", "speaker", "valid_from", "valid_to", "occurred_at", "props", "expected_head")
MAX_REASON = 2_000
NEVER = "0001-01-01"  # ended before it began: it never held


class Remember(WriteOptions, frozen=True, kw_only=True):
    """Input of `remember`."""

    text: Text
    name: Annotated[str, Meta(max_length=512, description="a short title")] = ""
    kind: Annotated[KindName, Meta(description="kind of memory")] = "Memory"
    speaker: Annotated[str, Meta(min_length=1, max_length=128, description="who is speaking, for I and me")] | None = (
        None
    )
    valid_from: Annotated[Moment | None, Meta(description="when it became true; occurred_at or now if unset")] = None
    valid_to: Annotated[Moment | None, Meta(description="when it stops being true")] = None
    occurred_at: Annotated[Moment | None, Meta(description="when it happened")] = None
    corrects: OtherMemory | None = None
    takes_back: OtherMemory | None = None
    props: Annotated[Props, Meta(max_length=64, description="properties to filter by")] = field(default_factory=dict)
    expected_head: (
        Annotated[int, Meta(ge=0, description="write only if the session's last event has this number")] | None
    ) = None


def remember(ctx: CallContext, given: Remember) -> WriteResult:
    """Keeps a text verbatim, with who said it and when. `weft recall` finds it at once, with a citation.

    Something changed ("I moved to Oslo")? Remember it: recall prefers the newer. An older memory was wrong? Name it in
    `corrects`: the text replaces its words. It never was true? Name it in `takes_back`: the text says why.

    Entities, facts, preferences and causes are extracted. A contradiction becomes a proposal (`weft proposal-list`).
    """
    _check(given)
    if given.corrects is not None or given.takes_back is not None:
        return _revised(ctx, given)
    if (before := _written_before(ctx, given)) is not None:
        return before
    planned = _planned(ctx, given)
    try:
        return _written(ctx, given, planned)
    except Conflict:
        if (before := _written_before(ctx, given)) is not None:  # by a concurrent call with the same request id
            return before
        raise


def plan_memory(ctx: CallContext, given: Remember, so_far: BatchState) -> PlannedWrite:
    """The plan of `remember` in a commit with others. The nearest memory is looked for in the store only.

    Raises OwnCommit where the outcome depends on what is current, or on an earlier text of the same commit.
    """
    _check(given)
    if given.expected_head is not None or given.corrects is not None or given.takes_back is not None:
        raise OwnCommit
    planned = _planned(ctx, given)
    words = gated_words(given.text)
    if planned.claims or any(jaccard(words, gated_words(each.text)) >= REINFORCING_IF_KNOWN for each in so_far.texts):
        raise OwnCommit
    first, *more = planned.drafts
    assert isinstance(first.payload, memory.Remembered)
    new = tuple(each for each in first.payload.entities if each.id not in so_far.nodes)
    first = replace(first, payload=replace(first.payload, entities=new))
    return PlannedWrite(id=planned.id, drafts=(first, *more), linked=planned.linked, notes=planned.notes, depends=False)


def _check(given: Remember) -> None:
    """Raises Invalid for arguments that nothing can be written from."""
    if not given.text.strip():
        raise Invalid("the text is empty", hint="give a text to remember")
    if given.kind in OWN_KINDS:
        raise Invalid(f"weft creates {given.kind} nodes itself", hint="choose another kind, such as Memory")
    if reserved := {DERIVED_FROM, HAPPENS_AT} & given.props.keys():
        raise Invalid(f"the property {min(reserved)} is reserved by weft", hint="choose another name")
    check_interval(given.valid_from, given.valid_to)
    if given.corrects is None and given.takes_back is None:
        return
    if given.corrects is not None and given.takes_back is not None:
        raise Invalid("corrects and takes_back exclude each other", hint="give the memory with one of them")
    beside = [name for name in NOT_BESIDE if getattr(given, name) not in (None, "", {}, "Memory")]
    if beside:
        raise Invalid(f"a correction keeps the memory's own {beside[0]}", hint=f"leave {beside[0]} out")


def _revised(ctx: CallContext, given: Remember) -> WriteResult:
    """Corrects or takes back another memory."""
    same = {name: getattr(given, name) for name in ("request_id", "governance_token", "produced_by_task_id")}
    if given.corrects is not None:
        return correct(ctx, Correct(id=given.corrects, text=given.text, **same))
    assert given.takes_back is not None
    return memory_invalidate(ctx, Invalidate(id=given.takes_back, at=NEVER, reason=given.text[:MAX_REASON], **same))


def _written(ctx: CallContext, given: Remember, planned: PlannedMemory) -> WriteResult:
    if not planned.claims:
        done = commit(ctx, planned.drafts, request_id=given.request_id, expected_head=given.expected_head)
        return _answer(planned, done, ())
    try:
        told, decision = decide_and_commit(ctx, lambda pos: _decided(ctx, planned, pos), request_id=given.request_id)
    except (Busy, Away):  # the text can wait in the outbox; its facts must be compared at write time
        return _answer(planned, commit(ctx, planned.drafts, request_id=given.request_id), ())
    assert decision is not None  # the memory itself is always written, so there is a commit
    return _answer(planned, decision, told)


def _written_before(ctx: CallContext, given: Remember) -> WriteResult | None:
    """The result of the same request: novelty and extraction would differ by now, so the text is compared."""
    if given.request_id is None:
        return None
    node_id = ctx.new_id(given.request_id)
    found = ctx.store.history(ctx.viewer, node_id, limit=1)
    if not found or (found[0].text, found[0].name, found[0].kind) != (given.text, given.name, given.kind):
        return None
    citation = ctx.store.citations(ctx.viewer, [found[0].event]).get(found[0].event, "")
    return WriteResult(status="duplicate_skip", id=node_id, citation=citation, notes=(REPEATED,))


class PlannedMemory(Struct, frozen=True, kw_only=True):
    """A memory ready to be written: drafts that depend on nothing, and facts that depend on current values."""

    id: str
    drafts: tuple[Draft, ...]
    claims: tuple[FactStatement, ...]
    occurred_at: int | None
    linked: tuple[str, ...]
    notes: tuple[str, ...]
    focus: str | None = None
    props: dict[str, Any] = {}


def _planned(ctx: CallContext, given: Remember) -> PlannedMemory:
    guard = guard_of(ctx, given)
    node_id = ctx.new_id(given.request_id)
    occurred_at = None if given.occurred_at is None else parse_instant(given.occurred_at, field="occurred_at")
    began = None if given.valid_from is None else parse_instant(given.valid_from, field="valid_from")
    now = ctx.clock.now_us()
    ahead = {}
    if occurred_at is not None and began is None and occurred_at > now:
        began, ahead = now, {HAPPENS_AT: to_iso(occurred_at)}  # an appointment must be found before it takes place
    at = next((each for each in (occurred_at, began) if each is not None), now)
    until = None if given.valid_to is None else parse_instant(given.valid_to, field="valid_to")
    said = SourceText(
        id=node_id,
        stem=node_id,
        text=given.text,
        guard=guard,
        at=at,
        until=until,
        speaker=given.speaker,
        focus=focus_of(ctx, given),
        props=props_of(ctx, given),
    )
    # A write that depends on the session's position stores the text only.
    reads = given.kind in STATING_KINDS and given.expected_head is None and not guard.sensitive
    out, gated = _looked_at(ctx, said, given.kind, reads=reads)
    payload = memory.Remembered(
        id=node_id,
        text=given.text,
        node_kind=given.kind,
        name=given.name,
        props={**given.props, **said.props, **ahead},
        focus=said.focus,
        **asdict(guard),
        valid_from=None if began is None else to_iso(began),
        valid_to=None if until is None else to_iso(until),
        entities=out.nodes,
        edges=out.edges,
        gate=None if gated is None else gated.gate,
        extracted=out.extracted,
    )
    drafts: tuple[Draft, ...] = (Draft(kind="memory.remembered", payload=payload, occurred_at=occurred_at),)
    notes = out.notes
    if gated is not None and gated.gate.tag == "redundant" and gated.nearest is not None:
        drafts += (reinforcement(ctx, gated.nearest, "surfaced", record=f"{node_id}:repeats"),)
        cited = ctx.store.citations(ctx.viewer, [gated.nearest.event]).get(gated.nearest.event, gated.nearest.id)
        notes += (f"it repeats {cited}, which ranks a little higher now",)
    return PlannedMemory(
        id=node_id,
        drafts=drafts,
        claims=out.claims,
        occurred_at=occurred_at,
        linked=out.things,
        notes=notes,
        focus=said.focus,
        props=said.props,
    )


def _looked_at(
    ctx: CallContext, said: SourceText, kind: str, *, reads: bool
) -> tuple[ExtractionResult, NoveltyCheck | None]:
    """Extraction and novelty. If the store cannot be read, the text is kept all the same."""
    try:
        with ctx.store.one_state(ctx.viewer):
            out = extract_one(ctx, said) if reads else ExtractionResult()
            if said.guard.sensitive:  # a novelty tag would reveal encrypted words
                return out, None
            return out, check_novelty(ctx, said.text, out.things, guard=said.guard, kind=kind)
    except StoreError as problem:
        return ExtractionResult(notes=(f"nothing was extracted from it: {problem.message}",)), None


def _decided(ctx: CallContext, planned: PlannedMemory, pos: int) -> WriteDecision[tuple[str, ...]]:
    """The memory, and each fact in a free slot, or as a proposal if it contradicts a current value."""
    source = ClaimSource(
        id=planned.id, stem=planned.id, props=planned.props, focus=planned.focus, occurred_at=planned.occurred_at
    )
    made = claims_written(ctx, planned.claims, source)
    fence = statements_fence(planned.claims, pos)
    return WriteDecision(answer=made.notes, drafts=(*planned.drafts, *made.drafts), fence=fence)


def _answer(planned: PlannedMemory, done: Committed, told: tuple[str, ...]) -> WriteResult:
    return WriteResult(
        status=done.status,
        id=planned.id,
        citation=done.citation,
        linked=planned.linked,
        notes=(*planned.notes, *told, *done.notes) if done.status != "duplicate_skip" else done.notes,
    )


OPERATIONS = (
    Operation(
        name="remember",
        summary="keep a text verbatim, with its source",
        input=Remember,
        output=WriteResult,
        effect="write",
        toolset="core",
        run=remember,
        arguments=("text",),
        rare=(
            "agents",
            "project",
            "focus",
            "expires_at",
            "importance",
            "purpose",
            "speaker",
            "props",
            "request_id",
            "expected_head",
        ),
        eager=True,
    ),
)
