"""Many writes in one call: good ones are written, bad ones are named, and neither hinders the other."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.embedding import WITHOUT_VECTORS
from weft.errors import Invalid, StoreError, TooLarge, WeftError
from weft.loom import Loom
from weft.operations import concepts, decisions, entities, facts, happenings, remembering
from weft.operations.committing import Choice, Committed, WriteStatus, decided
from weft.operations.fields import GovernanceToken, Label, ProducedBy
from weft.operations.planned import Planned, SoFar, answer, fence_of
from weft.operations.registry import Operation, read_input
from weft.operations.remembered import Remembered
from weft.operations.stamping import UNPROVEN
from weft.operations.tasks import for_task

MAX_ITEMS: Final = 1_000
SLICE_ITEMS: Final = 50  # of one commit, so that the lock is held briefly
SLICE_CHARACTERS: Final = 500_000

Plan = Callable[[Loom, Any, SoFar], Planned]
Item = tuple[int, Any]


class Items(Struct, frozen=True, kw_only=True):
    """Input of every batch form. Each item says what the single form takes."""

    items: Annotated[
        tuple[dict[str, Any], ...],
        Meta(
            description=f"up to {MAX_ITEMS:,} items, each with the arguments of the single form",
            extra_json_schema={"minItems": 1, "maxItems": MAX_ITEMS},
        ),
    ]
    request_id: Annotated[
        Label | None, Meta(description="repeat a call with the same id and each item is written once")
    ] = None
    governance_token: GovernanceToken = None
    produced_by_task_id: ProducedBy = None


class ItemWritten(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one item: as the single form answers, or the error and what to do about it."""

    index: int
    status: WriteStatus
    id: str = ""
    citation: str = ""
    supersedes: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    error: str = ""
    hint: str = ""
    notes: tuple[str, ...] = ()


class BatchWritten(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a batch: `saved` if all went through, `partial` if some did, `failed` if none did.

    `items` are in the order given; `failed` are the places of those that were not written, from 0.
    """

    status: WriteStatus
    written: int
    items: tuple[ItemWritten, ...]
    failed: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


class Form(Struct, frozen=True, kw_only=True):
    """A single form and, if several of it can share a commit, its plan."""

    single: Operation
    plan: Plan | None = None


def write_batch(loom: Loom, form: Form, given: Items) -> BatchWritten:
    """Writes items in order, those without a request id of their own together. What is bad is named, the rest written.

    Where the store itself fails, the items from there on are named as not written.
    """
    if not given.items:
        raise Invalid(f"{form.single.name}: there are no items", hint="give at least one")
    if len(given.items) > MAX_ITEMS:
        raise TooLarge(f"{len(given.items):,} items; the limit is {MAX_ITEMS:,}", hint="write in smaller batches")
    done: dict[int, ItemWritten] = {}
    good: list[Item] = []
    for index, item in enumerate(given.items):
        try:
            good.append((index, _read(form, item, given.request_id, index)))
        except WeftError as problem:
            done[index] = _failed(index, problem)
    for group in _slices(form, good):
        try:
            written = _write_slice(loom, form, group)
        except StoreError as problem:
            done |= {index: _failed(index, problem) for index, _ in good if index not in done}
            break
        done |= {each.index: each for each in written}
        loom.progress("writing", len(done), len(given.items))
    return _told([done[index] for index in sorted(done)])


def _read(form: Form, item: dict[str, Any], request_id: str | None, index: int) -> Any:
    """An item as the single form takes it. Under a request id of the batch each item has its own."""
    made = read_input(form.single, item)
    if request_id is None or getattr(made, "request_id", None) is not None:
        return made
    return read_input(form.single, {**item, "request_id": f"{request_id}.{index}"})


def _slices(form: Form, items: Sequence[Item]) -> Iterator[list[Item]]:
    """Items that share a commit, in order: all of one task. One with a request id is alone: it stands for a commit."""
    group: list[Item] = []
    size = 0
    for item in items:
        alone = form.plan is None or item[1].request_id is not None
        characters = len(msgspec.json.encode(item[1]))
        other = bool(group) and group[0][1].produced_by_task_id != item[1].produced_by_task_id
        if group and (alone or other or len(group) == SLICE_ITEMS or size + characters > SLICE_CHARACTERS):
            yield group
            group, size = [], 0
        if alone:
            yield [item]
        else:
            group.append(item)
            size += characters
    if group:
        yield group


def _write_slice(loom: Loom, form: Form, group: Sequence[Item]) -> list[ItemWritten]:
    """One commit of all that can be written; where that is refused, one commit for each."""
    plan = form.plan
    if plan is None or group[0][1].request_id is not None:
        return [_write_alone(loom, form, item) for item in group]

    def decide(pos: int) -> Choice[tuple[list[tuple[int, Planned]], list[ItemWritten]]]:
        plans, bad = _plans(loom, plan, group)
        drafts = [draft for _, planned in plans for draft in planned.drafts]
        return Choice(told=(plans, bad), drafts=drafts, fence=fence_of([planned for _, planned in plans], pos))

    try:
        loom = for_task(loom, group[0][1])
        (plans, bad), done = decided(loom, decide)
    except StoreError:
        raise
    except WeftError:
        return [_write_alone(loom, form, item) for item in group]
    return [*bad, *_answers(loom, plans, done)]


def _plans(loom: Loom, plan: Plan, group: Sequence[Item]) -> tuple[list[tuple[int, Planned]], list[ItemWritten]]:
    """What each item comes to, given those before it; a bad one leaves nothing behind."""
    so_far = SoFar()
    plans: list[tuple[int, Planned]] = []
    bad: list[ItemWritten] = []
    for index, given in group:
        try:
            planned = plan(loom, given, so_far)
        except StoreError:
            raise
        except WeftError as problem:
            bad.append(_failed(index, problem))
        else:
            so_far.take(planned)
            plans.append((index, planned))
    return plans, bad


def _answers(loom: Loom, plans: Sequence[tuple[int, Planned]], done: Committed | None) -> list[ItemWritten]:
    """What became of each plan of a commit. One that wrote nothing may be what another of them wrote."""
    events = iter(done.events if done else ())
    made: dict[str, str] = {}
    told: list[ItemWritten] = []
    for index, planned in plans:
        citations = [event.citation for event in itertools.islice(events, len(planned.drafts))]
        one = answer(loom, planned, done, citations[0] if citations else None)
        if citations:
            made[planned.id] = one.citation
        else:
            one = replace(one, citation=made.get(planned.id, one.citation))
        told.append(_item(index, one))
    return told


def _write_alone(loom: Loom, form: Form, item: Item) -> ItemWritten:
    index, given = item
    try:
        answered = form.single.run(for_task(loom, given), given)
    except StoreError:
        raise
    except WeftError as problem:
        return _failed(index, problem)
    assert isinstance(answered, Remembered)
    return _item(index, answered)


def _item(index: int, one: Remembered) -> ItemWritten:
    return ItemWritten(
        index=index,
        status=one.status,
        id=one.id,
        citation=one.citation,
        supersedes=one.supersedes,
        linked=one.linked,
        notes=one.notes,
    )


def _failed(index: int, problem: WeftError) -> ItemWritten:
    status: WriteStatus = "blocked_scope" if problem.code == "blocked_scope" else "failed"
    return ItemWritten(index=index, status=status, error=problem.message, hint=problem.hint)


def _told(items: Sequence[ItemWritten]) -> BatchWritten:
    failed = tuple(each.index for each in items if each.error)
    kept = {each.status for each in items if not each.error}
    status: WriteStatus = "saved"
    if failed:
        status = "partial" if kept else "failed"
    elif "pending_retry" in kept:
        status = "pending_retry" if kept == {"pending_retry"} else "partial"
    elif kept == {"duplicate_skip"}:
        status = "duplicate_skip"
    written = sum(each.status in ("saved", "superseded") for each in items)
    # Said of each item that it concerns, and once is enough.
    every = dict.fromkeys(note for each in items for note in each.notes)
    notes = tuple(note for note in every if note == UNPROVEN or note.endswith(WITHOUT_VECTORS))  # once for all
    said = tuple(replace(each, notes=tuple(note for note in each.notes if note not in notes)) for each in items)
    return BatchWritten(status=status, written=written, items=said, failed=failed, notes=notes)


def _single(family: tuple[Operation, ...], name: str) -> Operation:
    return next(each for each in family if each.name == name)


ENTITIES: Final = Form(single=_single(entities.OPERATIONS, "add_entity"), plan=entities.plan_entity)
EVENTS: Final = Form(single=_single(happenings.OPERATIONS, "add_event"), plan=happenings.plan_event)
LINKS: Final = Form(single=_single(happenings.OPERATIONS, "add_causal_link"), plan=happenings.plan_causal_link)
CONCEPTS: Final = Form(single=_single(concepts.OPERATIONS, "add_concept"), plan=concepts.plan_concept)
RELATIONS: Final = Form(single=_single(entities.OPERATIONS, "link_entities"), plan=entities.plan_link)
DECISIONS: Final = Form(single=_single(decisions.OPERATIONS, "save_decision"))
PATTERNS: Final = Form(single=_single(decisions.OPERATIONS, "save_pattern"))
CONTEXTS: Final = Form(single=_single(decisions.OPERATIONS, "save_context"))
PREFERENCES: Final = Form(single=_single(decisions.OPERATIONS, "save_preference"))
FACTS: Final = Form(single=_single(facts.OPERATIONS, "add_fact"))
MEMORIES: Final = Form(single=_single(remembering.OPERATIONS, "remember"))


def add_entities(loom: Loom, given: Items) -> BatchWritten:
    """Adds many entities, each as `add_entity` takes it. Bad ones are named; the rest is written."""
    return write_batch(loom, ENTITIES, given)


def add_events(loom: Loom, given: Items) -> BatchWritten:
    """Adds many events, each as `add_event` takes it. Bad ones are named; the rest is written."""
    return write_batch(loom, EVENTS, given)


def add_facts(loom: Loom, given: Items) -> BatchWritten:
    """Adds many facts, in order, each as `add_fact` takes it. Bad ones are named; the rest is written."""
    return write_batch(loom, FACTS, given)


def add_concepts(loom: Loom, given: Items) -> BatchWritten:
    """Adds many concepts, each as `add_concept` takes it. Bad ones are named; the rest is written."""
    return write_batch(loom, CONCEPTS, given)


def add_causal_links(loom: Loom, given: Items) -> BatchWritten:
    """Adds many causal links, each as `add_causal_link` takes it. Bad ones are named; the rest is written."""
    return write_batch(loom, LINKS, given)


def link_many(loom: Loom, given: Items) -> BatchWritten:
    """Joins many entities, each as `link_entities` takes it. Bad ones are named; the rest is written."""
    return write_batch(loom, RELATIONS, given)


def save_decisions(loom: Loom, given: Items) -> BatchWritten:
    """Saves many decisions, in order, each as `save_decision` takes it. Bad ones are named; the rest is written."""
    return write_batch(loom, DECISIONS, given)


def save_patterns(loom: Loom, given: Items) -> BatchWritten:
    """Saves many patterns, in order, each as `save_pattern` takes it. Bad ones are named; the rest is written."""
    return write_batch(loom, PATTERNS, given)


def save_contexts(loom: Loom, given: Items) -> BatchWritten:
    """Saves many contexts, in order, each as `save_context` takes it. Bad ones are named; the rest is written."""
    return write_batch(loom, CONTEXTS, given)


def save_preferences(loom: Loom, given: Items) -> BatchWritten:
    """Saves many preferences, in order, each as `save_preference` takes it. Bad ones are named; the rest is written."""
    return write_batch(loom, PREFERENCES, given)


def remember_many(loom: Loom, given: Items) -> BatchWritten:
    """Keeps many texts, in order, each as `remember` takes it. Bad ones are named; the rest is written."""
    return write_batch(loom, MEMORIES, given)


def _operation(name: str, what: str, run: Callable[[Loom, Items], BatchWritten]) -> Operation:
    return Operation(
        name=name,
        summary=f"add many {what} in one call; bad ones are named, the rest written",
        input=Items,
        output=BatchWritten,
        effect="write",
        toolset="memory",
        run=run,
    )


OPERATIONS = (
    _operation("add_entities", "entities", add_entities),
    _operation("add_events", "events", add_events),
    _operation("add_facts", "facts", add_facts),
    _operation("add_concepts", "concepts", add_concepts),
    _operation("add_causal_links", "causal links", add_causal_links),
    _operation("link_many", "relations", link_many),
    _operation("save_decisions", "decisions", save_decisions),
    _operation("save_patterns", "patterns", save_patterns),
    _operation("save_contexts", "contexts", save_contexts),
    _operation("save_preferences", "preferences", save_preferences),
    _operation("remember_many", "texts", remember_many),
)
