"""Facts: that something holds of something, for a time."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from weft.append import Fence
from weft.errors import Invalid
from weft.instants import MIN_INSTANT_US, to_iso
from weft.kinds import MENTION, RECORD_KINDS, is_thing
from weft.lexical import name_key
from weft.log.draft import Draft
from weft.log.kinds import graph, memory
from weft.loom import Loom
from weft.operations.committing import Choice, decided
from weft.operations.compiled import truths_of
from weft.operations.fields import KindName, Moment, Name
from weft.operations.gate import reinforcement
from weft.operations.hidden import hidden
from weft.operations.moments import check_interval
from weft.operations.planned import answered
from weft.operations.predicates import Cardinality, is_single, predicate_of
from weft.operations.proposals import PROPOSAL, open_proposal, proposal_draft, proposal_fence
from weft.operations.references import (
    ALWAYS,
    ambiguous,
    covers,
    entity_id,
    merged_into,
    resolve_reference,
    same_rights,
    unknown,
)
from weft.operations.registry import Operation
from weft.operations.remembered import Remembered
from weft.operations.standing import FACT, Standing, Statement, candidate, fact_payload, fence_of, stand
from weft.operations.values import is_denied, is_hedged, relation, unhedged
from weft.operations.versions import answer_of
from weft.operations.write_options import WriteOptions, focus_of, guard_of, props_of
from weft.projection.moves import shared_slot
from weft.projection.tokens import KEPT_KINDS
from weft.retrieval.cognitive import FEEDBACK_KIND
from weft.retrieval.derived import DERIVED_FROM
from weft.types import MAX_LIMIT, NOW, Find, Guard, NodeVersion

SURE: Final = 0.5  # a contradiction that is less sure waits for somebody to decide
GUESSED: Final = 0.4  # how sure a guess is ("maybe Oslo") that does not say so itself
BESIDE: Final = "it says what the value is not, or that it is unknown: kept beside what stands, which it does not end"


class AddFact(WriteOptions, frozen=True, kw_only=True):
    """Input of `add_fact`."""

    subject: Annotated[Name, Meta(description="what the fact is about")]
    predicate: Annotated[Name, Meta(description="which of its properties, such as lives_in")]
    object: Annotated[Name, Meta(description="the value")]
    subject_entity: Annotated[
        Annotated[str, Meta(min_length=1, max_length=1024)] | None,
        Meta(description="the subject as it is known: its id, or a name that only one thing has"),
    ] = None
    subject_kind: Annotated[
        KindName | None, Meta(description="kind of thing the subject is; the one of that name that is known, or Entity")
    ] = None
    valid_from: Annotated[Moment | None, Meta(description="since when it holds; now if unset")] = None
    valid_to: Annotated[Moment | None, Meta(description="until when it holds")] = None
    cardinality: Annotated[
        Cardinality | None, Meta(description="may it have several values at a time? known predicates say")
    ] = None
    confidence: Annotated[float, Meta(ge=0.0, le=1.0, description="how sure it is, from 0 to 1")] | None = None


def add_fact(loom: Loom, given: AddFact) -> Remembered:
    """Records that something holds of something, from a moment on.

    Where a property has one value at a time, a newer value ends the older one where it begins; both stay askable
    with --as-of and --known-at. The same value again strengthens the one that is there; one that only says more
    ("Paris", then "Paris, France") becomes its new version. A contradiction that is less than half sure ends nothing:
    it waits as a proposal (`weft proposal-list`). The fact is joined to its subject in the entity view.
    """
    said, subject = statement_of(loom, given)
    if before := answered(loom, given.request_id, lambda payload: _wrote(loom, payload, said)):
        return before
    confidence = GUESSED if given.confidence is None and is_hedged(given.object) else given.confidence
    props = props_of(given) | ({} if confidence is None else {"confidence": confidence})
    unsure = confidence is not None and confidence < SURE
    telling = Telling(
        said=said,
        subject=subject,
        record=loom.new_id(given.request_id),
        props=props,
        focus=focus_of(loom, given),
        unsure=unsure,
    )
    told, done = decided(loom, lambda pos: choose_fact(loom, telling, pos), request_id=given.request_id)
    beside = (BESIDE,) if not said.single and _would_be_single(loom, given, said) else ()
    answer = answer_of(told, done)
    return replace(answer, notes=(*answer.notes, *beside))


class Telling(Struct, frozen=True, kw_only=True):
    """A statement on its way in: its subject if that is new, the id of what it becomes, what else is kept with it.

    One that is `unsure` ends nothing: contradicting, it becomes a proposal. `source` is the memory that says so.
    """

    said: Statement
    subject: graph.NodeAssertion | None
    record: str
    props: dict[str, Any] = {}
    focus: str | None = None
    unsure: bool = False
    source: str | None = None


def choose_fact(loom: Loom, telling: Telling, pos: int) -> Choice[Remembered]:
    """What becomes of a statement as things stand: its events, what to say of it, and what that rests on."""
    said, record = telling.said, telling.record
    found = stand(loom, said)
    fence = fence_of(said, pos)
    if found.fact is None or found.verdict == "new":
        return _with_stale(loom, said, _asserted(loom, telling, found, fence))
    again = _keeping(reinforcement(loom, found.fact, "surfaced", record=record), said)
    if found.verdict == "same":
        told = Remembered(status="duplicate_skip", id=found.fact.id, notes=_known_note(found.fact))
        return Choice(told=told, drafts=(again,), fence=fence)
    if found.verdict == "finer":
        payload = fact_payload(said, found.fact.id, telling.subject)
        payload = replace(payload, props={**found.fact.props, **telling.props, "object": said.value})
        payload = replace(payload, focus=found.fact.focus)
        told = Remembered(status="saved", id=found.fact.id, notes=(_finer_note(found.fact),))
        drafts = (Draft(kind="memory.remembered", payload=payload), again)
        return _with_stale(loom, said, Choice(told=told, drafts=drafts, fence=fence))
    if telling.unsure:
        return _proposed(loom, telling, found.fact, pos)
    return _with_stale(loom, said, _asserted(loom, telling, found, fence))


def _with_stale(loom: Loom, said: Statement, choice: Choice[Remembered]) -> Choice[Remembered]:
    """The same, and what was compiled of the subject is dropped: it does not tell this yet."""
    stale = truths_of(loom, [said.entity])
    if not stale.drafts or choice.fence is None:
        return choice
    told = replace(choice.told, notes=(*choice.told.notes, *stale.notes))
    return Choice(told=told, drafts=(*choice.drafts, *stale.drafts), fence=stale.fence(choice.fence))


def _asserted(loom: Loom, telling: Telling, found: Standing, fence: Fence) -> Choice[Remembered]:
    gone = _only_read(loom, telling.said)
    older = tuple(row.id for row in found.ended if row.id not in gone)
    payload = fact_payload(telling.said, telling.record, telling.subject, supersedes=older)
    payload = replace(payload, props=payload.props | telling.props, focus=telling.focus)
    told = Remembered(
        status="superseded" if older else "saved",
        id=telling.record,
        supersedes=older,
        notes=_standing_notes(found) if not gone else ("what was only read out of a text gives way to it",),
    )
    drafts: tuple[Draft, ...] = (Draft(kind="memory.remembered", payload=payload),)
    if gone:
        never = graph.Ended(nodes=gone, at=to_iso(MIN_INSTANT_US), reason="only read out of a text")
        drafts = (Draft(kind="graph.ended", payload=never), *drafts)
    return Choice(told=told, drafts=drafts, fence=fence)


def _only_read(loom: Loom, said: Statement) -> tuple[str, ...]:
    """Values in the statement's place that nobody told on purpose: they do not stand against one that was."""
    if said.slot is None:
        return ()
    slot = shared_slot(said.slot, said.guard)
    rows = loom.store.standing(loom.viewer, slot, after=MIN_INSTANT_US, limit=MAX_LIMIT)
    return tuple(dict.fromkeys(row.id for row in rows if DERIVED_FROM in row.props))


def _proposed(loom: Loom, telling: Telling, stands: NodeVersion, pos: int) -> Choice[Remembered]:
    listed = (candidate(loom, stands),)
    if (before := open_proposal(loom, telling.said, stands)) is not None:
        told = Remembered(status="duplicate_skip", id=before.id, candidates=listed, notes=("proposed already",))
        return Choice(told=told)
    draft = proposal_draft(
        loom, telling.said, stands, proposal=telling.record, source=telling.source, props=telling.props
    )
    notes = ("not sure enough to end what stands; `weft proposal-review` accepts or rejects it",)
    told = Remembered(status="manual_review", id=telling.record, candidates=listed, notes=notes)
    return Choice(told=told, drafts=(draft,), fence=proposal_fence(telling.said, pos))


# ---- what is said


def statement_of(loom: Loom, given: AddFact) -> tuple[Statement, graph.NodeAssertion | None]:
    """What the caller says, with everything resolved, and its subject if that is new.

    Raises Invalid for what is not a fact, NotFound or Invalid for a subject that cannot be told.
    """
    begin, end = check_interval(given.valid_from, given.valid_to)
    predicate = predicate_of(given.predicate)
    if not name_key(given.subject) or not predicate or not given.object.strip():
        raise Invalid(
            "a fact needs a subject and a predicate with at least one letter or digit, and a value",
            hint="say what holds of what: add_fact Mira lives_in Oslo",
        )
    guard = guard_of(loom, given)
    entity, name, fresh = _subject(loom, given, guard)
    single = is_single(predicate, cardinality=given.cardinality, extra=loom.settings.single_valued)
    if given.cardinality is None and is_denied(given.object):
        single = False
    said = Statement(
        entity=entity,
        subject=name,
        predicate=predicate,
        words=" ".join(name_key(given.predicate).replace("_", " ").split()),
        value=unhedged(given.object) if given.confidence is None else given.object.strip(),
        single=single,
        place=hidden(loom, predicate, guard),
        guard=guard,
        begin=begin,
        end=end,
    )
    return said, fresh


def _would_be_single(loom: Loom, given: AddFact, said: Statement) -> bool:
    return given.cardinality is None and is_single(said.predicate, extra=loom.settings.single_valued)


def _subject(loom: Loom, given: AddFact, guard: Guard) -> tuple[str, str, graph.NodeAssertion | None]:
    """The id and the name of what a fact is about, and the thing itself if it is not known yet."""
    if given.subject_entity is not None:
        node = resolve_reference(loom, given.subject_entity)
        if node is None:
            raise unknown(given.subject_entity, "thing")
        return _checked(node, guard), node.name or given.subject, None
    rights = replace(guard, project=None)  # a thing belongs to no one project: facts about it do
    if given.subject_kind in RECORD_KINDS | KEPT_KINDS:
        raise Invalid(f"{given.subject_kind} is weft's own kind of record", hint="choose another kind, such as Entity")
    known = _known(loom, given, guard, rights)
    if known is not None:
        return _checked(known, guard), given.subject, None
    kind = given.subject_kind or "Entity"
    node_id = entity_id(kind, hidden(loom, name_key(given.subject), rights), rights)
    # A thing has no known beginning.
    thing = graph.NodeAssertion(id=node_id, kind=kind, name=given.subject, **asdict(rights), valid_from=ALWAYS)
    return node_id, given.subject, thing


def _known(loom: Loom, given: AddFact, guard: Guard, rights: Guard) -> NodeVersion | None:
    """The thing of that name and these rights. Only the very name counts; of several, the kind must be said."""
    node_id = entity_id(given.subject_kind or "Entity", hidden(loom, name_key(given.subject), rights), rights)
    by_id = merged_into(loom, loom.store.nodes(loom.viewer, NOW, [node_id]))
    if given.subject_kind is not None:
        return by_id[0] if by_id else None
    find = Find(names=(given.subject,), projects=(guard.project, None))
    named = loom.store.find(loom.viewer, NOW, find, limit=MAX_LIMIT).nodes
    things = [node for node in named if is_thing(node.kind) and same_rights(node.guard, guard)]
    things = [node for node in things if node.kind != MENTION] or things
    found = merged_into(loom, things)
    if len(found) > 1:
        raise ambiguous(given.subject, found)
    return next(iter((*found, *by_id)), None)  # by its id alone: one whose name or tags were changed


def _checked(node: NodeVersion, guard: Guard) -> str:
    """The id of a subject, which all who read the fact will read too."""
    if node.kind in RECORD_KINDS:
        raise Invalid(f"{node.id[:80]!r} is a {node.kind}, weft's own kind of record", hint="name what it is about")
    if not covers(node.guard, guard):
        raise Invalid(
            f"the fact would be seen by some who may not see {node.id[:80]!r}",
            hint=f"write it with scope {node.guard.scope} and the same agents, or leave subject_entity out",
        )
    return node.id


def _known_note(fact: NodeVersion) -> tuple[str, ...]:
    return (f"known already: {fact.text[:120]}; it was strengthened",)


def _finer_note(fact: NodeVersion) -> str:
    return f"says more of the same than {fact.props.get('object')!s:.80}: a new version of that fact"


def _standing_notes(found: Standing) -> tuple[str, ...]:
    if not found.taken:
        return ("it holds at no moment: what stands there was said for that very time, or began later",)
    return ("what it ends holds again behind it",) if found.goes_on else ()


# ---- a request that is repeated


def _wrote(loom: Loom, payload: Any, said: Statement) -> str | None:
    """The id of what an earlier call came to, if it said just this: the same value, for the same time."""
    wanted = _content(said)
    if isinstance(payload, memory.Remembered) and payload.node_kind == FACT:
        told = {**payload.props, "begins": payload.valid_from, "ends": payload.valid_to}
        return payload.id if _holds(told, wanted) else None
    for node in payload.nodes if isinstance(payload, graph.Asserted) else ():
        if node.kind == PROPOSAL:
            return node.id if _holds(node.props, wanted) else None
        if node.kind == FEEDBACK_KIND:
            about = str(node.props.get("about"))
            return about if _repeats(loom, node.props, about, said) else None
    return None


def _content(said: Statement) -> dict[str, str | None]:
    times = {"begins": said.begin, "ends": said.end}
    told = {"subject": said.entity, "predicate": said.predicate, "object": said.value}
    return {**told, **{name: None if at is None else to_iso(at) for name, at in times.items()}}


def _digest(said: Statement) -> str:
    return hashlib.sha256(repr(sorted(_content(said).items())).encode()).hexdigest()


def _holds(told: Mapping[str, Any], wanted: Mapping[str, str | None]) -> bool:
    return all(told.get(name) == value for name, value in wanted.items())


def _keeping(again: Draft, said: Statement) -> Draft:
    """A reinforcement with the digest of what was said: nothing else tells, where the fact is known already.

    The words themselves stay out: a record of use must not keep what is erased elsewhere.
    """
    payload = again.payload
    assert isinstance(payload, graph.Asserted)
    nodes = tuple(replace(node, props={**node.props, "said": _digest(said)}) for node in payload.nodes)
    return replace(again, payload=replace(payload, nodes=nodes))


def _repeats(loom: Loom, props: Mapping[str, Any], about: str, said: Statement) -> bool:
    if "said" in props:
        return bool(props["said"] == _digest(said))
    facts = loom.store.history(loom.viewer, about, limit=MAX_LIMIT)  # an older log does not tell what was said
    return any(_says(fact, said) for fact in facts)


def _says(node: NodeVersion, said: Statement) -> bool:
    same_place = (node.props.get("subject"), node.props.get("predicate")) == (said.entity, said.predicate)
    return same_place and relation(said.predicate, str(node.props.get("object", "")), said.value) in ("same", "coarser")


OPERATIONS = (
    Operation(
        name="add_fact",
        summary="record that something holds of something, from a moment on",
        input=AddFact,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=add_fact,
        arguments=("subject", "predicate", "object"),
    ),
)
