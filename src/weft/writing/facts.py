"""`add_fact`: a value of a property of an entity, for a time."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from weft.append.append import Fence
from weft.core.clock import MIN_INSTANT_US, to_iso
from weft.core.errors import Invalid
from weft.core.kinds import DERIVED_FROM, FEEDBACK_KIND, MENTION, RECORD_KINDS, is_thing
from weft.core.types import MAX_LIMIT, NOW, Find, Guard, NodeVersion
from weft.graph.moves import shared_slot
from weft.graph.placeholders import KEPT_KINDS
from weft.log.draft import Draft
from weft.log.kinds import graph, memory
from weft.runtime.call_context import CallContext
from weft.runtime.fields import KindName, Moment, Name
from weft.runtime.moments import check_interval
from weft.runtime.operation import Operation
from weft.text.lexical import name_key
from weft.writing.build.commit import WriteDecision, decide_and_commit
from weft.writing.build.compiled_truth import stale_truths_of
from weft.writing.build.planned_write import earlier_result
from weft.writing.build.pseudonyms import pseudonym
from weft.writing.build.references import (
    ALWAYS,
    ambiguous_reference,
    covers,
    entity_id,
    merged_into,
    reference_not_found,
    resolve_reference,
    same_rights,
)
from weft.writing.build.versions import result_of
from weft.writing.checks.current_value import (
    FACT,
    Comparison,
    FactStatement,
    compare_with_current,
    fact_candidate,
    fact_payload,
    statement_fence,
)
from weft.writing.checks.novelty import reinforcement
from weft.writing.checks.predicates import Cardinality, is_single, predicate_of
from weft.writing.checks.values import is_denied, is_hedged, relation, unhedged
from weft.writing.proposals import PROPOSAL, NewProposal, open_proposal, proposal_draft, proposal_fence
from weft.writing.write_contract import WriteOptions, WriteResult, focus_of, guard_of, props_of

SURE: Final = 0.5  # a contradiction with less confidence becomes a proposal
GUESSED: Final = 0.4  # confidence of a hedged value ("maybe Oslo")
BESIDE: Final = "the value is a negation or unknown: it is kept beside the current value, which it does not end"


class AddFact(WriteOptions, frozen=True, kw_only=True):
    """Input of `add_fact`."""

    subject: Annotated[Name, Meta(description="the entity that the fact is about")]
    predicate: Annotated[Name, Meta(description="the property, such as lives_in")]
    object: Annotated[Name, Meta(description="the value")]
    subject_entity: Annotated[
        Annotated[str, Meta(min_length=1, max_length=1024)] | None,
        Meta(description="the subject's id, or a name that only one entity has"),
    ] = None
    subject_kind: Annotated[
        KindName | None, Meta(description="the subject's kind; if unset that of the existing entity, else Entity")
    ] = None
    valid_from: Annotated[Moment | None, Meta(description="when it became true; now if unset")] = None
    valid_to: Annotated[Moment | None, Meta(description="when it stops being true")] = None
    cardinality: Annotated[
        Cardinality | None, Meta(description="one value at a time or many; known predicates have a default")
    ] = None
    confidence: Annotated[float, Meta(ge=0.0, le=1.0, description="how sure it is, from 0 to 1")] | None = None


def add_fact(ctx: CallContext, given: AddFact) -> WriteResult:
    """Records a fact: a value of a property of an entity, from a time on.

    If the property has one value at a time, a newer value ends the older one; --as-of and --known-at still show it. The
    same value again strengthens the existing fact; a more specific one ("Paris", then "Paris, France") becomes its new
    version. A contradiction with a confidence below one half ends nothing: it becomes a proposal (`weft
    proposal-list`). The fact is joined to its subject.
    """
    said, subject = statement_of(ctx, given)
    if before := earlier_result(ctx, given.request_id, lambda payload: _wrote(ctx, payload, said)):
        return before
    confidence = GUESSED if given.confidence is None and is_hedged(given.object) else given.confidence
    props = props_of(ctx, given) | ({} if confidence is None else {"confidence": confidence})
    unsure = confidence is not None and confidence < SURE
    telling = FactDraft(
        said=said,
        subject=subject,
        record=ctx.new_id(given.request_id),
        props=props,
        focus=focus_of(ctx, given),
        unsure=unsure,
    )
    told, done = decide_and_commit(ctx, lambda pos: choose_fact(ctx, telling, pos), request_id=given.request_id)
    beside = (BESIDE,) if not said.single and _would_be_single(ctx, given, said) else ()
    answer = result_of(told, done)
    return replace(answer, notes=(*answer.notes, *beside))


class FactDraft(Struct, frozen=True, kw_only=True):
    """A statement to be written: its subject if that is new, its id, and further properties.

    If `unsure`, it ends nothing: a contradiction becomes a proposal. `source` is the memory that says so.
    """

    said: FactStatement
    subject: graph.NodeAssertion | None
    record: str
    props: dict[str, Any] = {}
    focus: str | None = None
    unsure: bool = False
    source: str | None = None


def choose_fact(ctx: CallContext, telling: FactDraft, pos: int) -> WriteDecision[WriteResult]:
    """The events, answer and fence of a statement, given the current values."""
    said, record = telling.said, telling.record
    found = compare_with_current(ctx, said)
    fence = statement_fence(said, pos)
    if found.fact is None or found.verdict == "new":
        return _with_stale(ctx, said, _asserted(ctx, telling, found, fence))
    again = _keeping(reinforcement(ctx, found.fact, "surfaced", record=record), said)
    if found.verdict == "same":
        told = WriteResult(status="duplicate_skip", id=found.fact.id, notes=_known_note(found.fact))
        return WriteDecision(answer=told, drafts=(again,), fence=fence)
    if found.verdict == "finer":
        payload = fact_payload(said, found.fact.id, telling.subject)
        payload = replace(payload, props={**found.fact.props, **telling.props, "object": said.value})
        payload = replace(payload, focus=found.fact.focus)
        told = WriteResult(status="saved", id=found.fact.id, notes=(_finer_note(found.fact),))
        drafts = (Draft(kind="memory.remembered", payload=payload), again)
        return _with_stale(ctx, said, WriteDecision(answer=told, drafts=drafts, fence=fence))
    if telling.unsure:
        return _proposed(ctx, telling, found.fact, pos)
    return _with_stale(ctx, said, _asserted(ctx, telling, found, fence))


def _with_stale(
    ctx: CallContext, said: FactStatement, choice: WriteDecision[WriteResult]
) -> WriteDecision[WriteResult]:
    """The same decision, which also drops the compiled truth of the subject."""
    stale = stale_truths_of(ctx, [said.entity])
    if not stale.drafts or choice.fence is None:
        return choice
    told = replace(choice.answer, notes=(*choice.answer.notes, *stale.notes))
    return WriteDecision(answer=told, drafts=(*choice.drafts, *stale.drafts), fence=stale.fence(choice.fence))


def _asserted(ctx: CallContext, telling: FactDraft, found: Comparison, fence: Fence) -> WriteDecision[WriteResult]:
    gone = _only_read(ctx, telling.said)
    older = tuple(row.id for row in found.ended if row.id not in gone)
    payload = fact_payload(telling.said, telling.record, telling.subject, supersedes=older)
    payload = replace(payload, props=payload.props | telling.props, focus=telling.focus)
    told = WriteResult(
        status="superseded" if older else "saved",
        id=telling.record,
        supersedes=older,
        notes=_standing_notes(found) if not gone else ("it replaces a value that was only extracted from a text",),
    )
    drafts: tuple[Draft, ...] = (Draft(kind="memory.remembered", payload=payload),)
    if gone:
        never = graph.Ended(nodes=gone, at=to_iso(MIN_INSTANT_US), reason="only extracted from a text")
        drafts = (Draft(kind="graph.ended", payload=never), *drafts)
    return WriteDecision(answer=told, drafts=drafts, fence=fence)


def _only_read(ctx: CallContext, said: FactStatement) -> tuple[str, ...]:
    """Values in the statement's slot that were only extracted: they do not block an explicit fact."""
    if said.slot is None:
        return ()
    slot = shared_slot(said.slot, said.guard)
    rows = ctx.store.current_in_slot(ctx.viewer, slot, after=MIN_INSTANT_US, limit=MAX_LIMIT)
    return tuple(dict.fromkeys(row.id for row in rows if DERIVED_FROM in row.props))


def _proposed(ctx: CallContext, telling: FactDraft, stands: NodeVersion, pos: int) -> WriteDecision[WriteResult]:
    listed = (fact_candidate(ctx, stands),)
    if (before := open_proposal(ctx, telling.said, stands)) is not None:
        told = WriteResult(
            status="duplicate_skip", id=before.id, candidates=listed, notes=("the same proposal is already open",)
        )
        return WriteDecision(answer=told)
    draft = proposal_draft(
        ctx, NewProposal(id=telling.record, said=telling.said, old=stands, source=telling.source, props=telling.props)
    )
    notes = (
        "too uncertain to end the current value: it waits as a proposal; `weft proposal-review` accepts or rejects it",
    )
    told = WriteResult(status="manual_review", id=telling.record, candidates=listed, notes=notes)
    return WriteDecision(answer=told, drafts=(draft,), fence=proposal_fence(telling.said, pos))


# ---- the statement


def statement_of(ctx: CallContext, given: AddFact) -> tuple[FactStatement, graph.NodeAssertion | None]:
    """The resolved statement, and its subject if that is new.

    Raises Invalid if it is not a fact, NotFound or Invalid for a subject that cannot be resolved.
    """
    begin, end = check_interval(given.valid_from, given.valid_to)
    predicate = predicate_of(given.predicate)
    if not name_key(given.subject) or not predicate or not given.object.strip():
        raise Invalid(
            "a fact needs a subject and a predicate with at least one letter or digit, and a value",
            hint="for example: add_fact Mira lives_in Oslo",
        )
    guard = guard_of(ctx, given)
    entity, name, fresh = _subject(ctx, given, guard)
    single = is_single(predicate, cardinality=given.cardinality, extra=ctx.settings.single_valued)
    if given.cardinality is None and is_denied(given.object):
        single = False
    said = FactStatement(
        entity=entity,
        subject=name,
        predicate=predicate,
        words=" ".join(name_key(given.predicate).replace("_", " ").split()),
        value=unhedged(given.object) if given.confidence is None else given.object.strip(),
        single=single,
        place=pseudonym(ctx, predicate, guard),
        guard=guard,
        begin=begin,
        end=end,
    )
    return said, fresh


def _would_be_single(ctx: CallContext, given: AddFact, said: FactStatement) -> bool:
    return given.cardinality is None and is_single(said.predicate, extra=ctx.settings.single_valued)


def _subject(ctx: CallContext, given: AddFact, guard: Guard) -> tuple[str, str, graph.NodeAssertion | None]:
    """The id and name of the subject, and the entity itself if it is new."""
    if given.subject_entity is not None:
        node = resolve_reference(ctx, given.subject_entity)
        if node is None:
            raise reference_not_found(given.subject_entity, "thing")
        return _checked(node, guard), node.name or given.subject, None
    rights = replace(guard, project=None)  # an entity belongs to no project: facts about it do
    if given.subject_kind in RECORD_KINDS | KEPT_KINDS:
        raise Invalid(f"weft keeps {given.subject_kind} records itself", hint="choose another kind, such as Entity")
    known = _known(ctx, given, guard, rights)
    if known is not None:
        return _checked(known, guard), given.subject, None
    kind = given.subject_kind or "Entity"
    node_id = entity_id(kind, pseudonym(ctx, name_key(given.subject), rights), rights)
    # An entity has no known beginning.
    thing = graph.NodeAssertion(id=node_id, kind=kind, name=given.subject, **asdict(rights), valid_from=ALWAYS)
    return node_id, given.subject, thing


def _known(ctx: CallContext, given: AddFact, guard: Guard, rights: Guard) -> NodeVersion | None:
    """The existing entity with that name and these rights. Only exact names count; an ambiguous name needs the kind."""
    node_id = entity_id(given.subject_kind or "Entity", pseudonym(ctx, name_key(given.subject), rights), rights)
    by_id = merged_into(ctx, ctx.store.nodes(ctx.viewer, NOW, [node_id]))
    if given.subject_kind is not None:
        return by_id[0] if by_id else None
    find = Find(names=(given.subject,), projects=(guard.project, None))
    named = ctx.store.find(ctx.viewer, NOW, find, limit=MAX_LIMIT).nodes
    things = [node for node in named if is_thing(node.kind) and same_rights(node.guard, guard)]
    things = [node for node in things if node.kind != MENTION] or things
    found = merged_into(ctx, things)
    if len(found) > 1:
        raise ambiguous_reference(given.subject, found)
    return next(iter((*found, *by_id)), None)  # by id only: its name or tags were changed


def _checked(node: NodeVersion, guard: Guard) -> str:
    """The id of a subject that everybody who reads the fact may read too."""
    if node.kind in RECORD_KINDS:
        raise Invalid(
            f"{node.id[:80]!r} is a {node.kind}; weft keeps these records itself",
            hint="name the entity that it is about",
        )
    if not covers(node.guard, guard):
        raise Invalid(
            f"some who may see the fact may not see {node.id[:80]!r}",
            hint=f"write it with scope {node.guard.scope} and the same agents, or omit subject_entity",
        )
    return node.id


def _known_note(fact: NodeVersion) -> tuple[str, ...]:
    return (f"already known, and strengthened now: {fact.text[:120]}",)


def _finer_note(fact: NodeVersion) -> str:
    return f"more specific than {fact.props.get('object')!s:.80}: a new version of that fact"


def _standing_notes(found: Comparison) -> tuple[str, ...]:
    if not found.taken:
        return ("it is true at no time: the existing values cover exactly that time, or began later",)
    return ("the value that it interrupts holds again afterwards",) if found.goes_on else ()


# ---- a request that is repeated


def _wrote(ctx: CallContext, payload: Any, said: FactStatement) -> str | None:
    """The id of what an earlier call wrote, if it stated the same value for the same time."""
    wanted = _content(said)
    if isinstance(payload, memory.Remembered) and payload.node_kind == FACT:
        told = {**payload.props, "begins": payload.valid_from, "ends": payload.valid_to}
        return payload.id if _holds(told, wanted) else None
    for node in payload.nodes if isinstance(payload, graph.Asserted) else ():
        if node.kind == PROPOSAL:
            return node.id if _holds(node.props, wanted) else None
        if node.kind == FEEDBACK_KIND:
            about = str(node.props.get("about"))
            return about if _repeats(ctx, node.props, about, said) else None
    return None


def _content(said: FactStatement) -> dict[str, str | None]:
    times = {"begins": said.begin, "ends": said.end}
    told = {"subject": said.entity, "predicate": said.predicate, "object": said.value}
    return {**told, **{name: None if at is None else to_iso(at) for name, at in times.items()}}


def _digest(said: FactStatement) -> str:
    return hashlib.sha256(repr(sorted(_content(said).items())).encode()).hexdigest()


def _holds(told: Mapping[str, Any], wanted: Mapping[str, str | None]) -> bool:
    return all(told.get(name) == value for name, value in wanted.items())


def _keeping(again: Draft, said: FactStatement) -> Draft:
    """A reinforcement with the digest of the statement, by which a repeated request is recognised.

    The words themselves are not stored: a feedback record must not keep what is erased elsewhere.
    """
    payload = again.payload
    assert isinstance(payload, graph.Asserted)
    nodes = tuple(replace(node, props={**node.props, "said": _digest(said)}) for node in payload.nodes)
    return replace(again, payload=replace(payload, nodes=nodes))


def _repeats(ctx: CallContext, props: Mapping[str, Any], about: str, said: FactStatement) -> bool:
    if "said" in props:
        return bool(props["said"] == _digest(said))
    facts = ctx.store.history(ctx.viewer, about, limit=MAX_LIMIT)  # older logs have no digest
    return any(_says(fact, said) for fact in facts)


def _says(node: NodeVersion, said: FactStatement) -> bool:
    same_place = (node.props.get("subject"), node.props.get("predicate")) == (said.entity, said.predicate)
    return same_place and relation(said.predicate, str(node.props.get("object", "")), said.value) in ("same", "coarser")


OPERATIONS = (
    Operation(
        name="add_fact",
        summary="record a fact: a property of an entity, from a time on",
        input=AddFact,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=add_fact,
        arguments=("subject", "predicate", "object"),
    ),
)
