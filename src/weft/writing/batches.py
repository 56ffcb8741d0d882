"""Batch writes: many items in one call, with errors reported item by item."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.core.errors import Invalid, StoreError, TooLarge, WeftError
from weft.models.embedding import WITHOUT_VECTORS
from weft.runtime.call_context import CallContext
from weft.runtime.fields import GovernanceToken, Label, ProducedBy
from weft.runtime.operation import Operation, read_input, with_resolved_times
from weft.writing import concepts, decisions, entities, facts
from weft.writing import events as happenings
from weft.writing import remember as remembering
from weft.writing.build.commit import Committed, WriteDecision, WriteStatus, decide_and_commit
from weft.writing.build.planned_write import BatchState, OwnCommit, PlannedWrite, plan_fence, planned_result
from weft.writing.checks.provenance import UNPROVEN, for_task
from weft.writing.write_contract import WriteResult

MAX_ITEMS: Final = 1_000
SLICE_ITEMS: Final = 50  # per commit, so that the write lock is held briefly
SLICE_CHARACTERS: Final = 500_000

Plan = Callable[[CallContext, Any, BatchState], PlannedWrite]
Item = tuple[int, Any]


class Items(Struct, frozen=True, kw_only=True):
    """Input of every batch operation. Each item takes the arguments of the single operation."""

    items: Annotated[
        tuple[dict[str, Any], ...],
        Meta(
            description=f"up to {MAX_ITEMS:,} items, each with the arguments of the single operation",
            extra_json_schema={"minItems": 1, "maxItems": MAX_ITEMS},
        ),
    ]
    request_id: Annotated[
        Label | None, Meta(description="repeat a call with the same id and each item is written once")
    ] = None
    governance_token: GovernanceToken = None
    produced_by_task_id: ProducedBy = None


class ItemWritten(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of one item: the answer of the single operation, or the error and a hint."""

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
    """The outcome of a batch: `saved` if all items succeeded, `partial` if some did, `failed` if none did.

    `items` are in the order given; `failed` are the positions of failed items, from 0.
    """

    status: WriteStatus
    written: int
    items: tuple[ItemWritten, ...]
    failed: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


class BatchForm(Struct, frozen=True, kw_only=True):
    """A single operation and, if several of its writes can share a commit, its plan."""

    single: Operation
    plan: Plan | None = None


def write_batch(ctx: CallContext, form: BatchForm, given: Items) -> BatchWritten:
    """Writes items in order; items without a request id of their own share commits. Failed items are reported.

    If the store itself fails, that item and all later ones are reported as failed.
    """
    if not given.items:
        raise Invalid(f"{form.single.name}: the list of items is empty", hint="give at least one item")
    if len(given.items) > MAX_ITEMS:
        raise TooLarge(f"{len(given.items):,} items; the limit is {MAX_ITEMS:,}", hint="write in smaller batches")
    done: dict[int, ItemWritten] = {}
    good: list[Item] = []
    now_us = ctx.clock.now_us()
    for index, item in enumerate(given.items):
        try:
            made = _read(form, item, given.request_id, index)
            good.append((index, with_resolved_times(made, now_us)))
        except WeftError as problem:
            done[index] = _failed(index, problem)
    for group in _slices(form, good):
        try:
            written = _write_slice(ctx, form, group)
        except StoreError as problem:
            done |= {index: _failed(index, problem) for index, _ in good if index not in done}
            break
        done |= {each.index: each for each in written}
        ctx.progress("writing", len(done), len(given.items))
    return _told([done[index] for index in sorted(done)])


def _read(form: BatchForm, item: dict[str, Any], request_id: str | None, index: int) -> Any:
    """The input of an item. Under a request id of the batch each item gets its own."""
    made = read_input(form.single, item)
    if request_id is None or getattr(made, "request_id", None) is not None:
        return made
    return read_input(form.single, {**item, "request_id": f"{request_id}.{index}"})


def _slices(form: BatchForm, items: Sequence[Item]) -> Iterator[list[Item]]:
    """Runs of items that share a commit, all for one task. An item with a request id has its own commit."""
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


def _write_slice(ctx: CallContext, form: BatchForm, group: Sequence[Item]) -> list[ItemWritten]:
    """Writes all valid items in one commit, but for those that need their own; if it is refused, each in its own."""
    plan = form.plan
    if plan is None or group[0][1].request_id is not None:
        return [_write_alone(ctx, form, item) for item in group]
    written: list[ItemWritten] = []
    while group:
        some, together = _write_together(ctx, form, plan, group)
        written += some
        own, group = group[together : together + 1], group[together + 1 :]
        written += [_write_alone(ctx, form, item) for item in own]
    return written


def _write_together(
    ctx: CallContext, form: BatchForm, plan: Plan, group: Sequence[Item]
) -> tuple[list[ItemWritten], int]:
    """Writes items in one commit, up to the first that needs its own; returns their outcomes, and how many they are."""

    def decide(pos: int) -> WriteDecision[tuple[list[tuple[int, PlannedWrite]], list[ItemWritten]]]:
        plans, bad = _plans(ctx, plan, group)
        drafts = [draft for _, planned in plans for draft in planned.drafts]
        return WriteDecision(
            answer=(plans, bad), drafts=drafts, fence=plan_fence([planned for _, planned in plans], pos)
        )

    try:
        ctx = for_task(ctx, group[0][1])
        (plans, bad), done = decide_and_commit(ctx, decide)
    except StoreError:
        raise
    except WeftError:
        return [_write_alone(ctx, form, item) for item in group], len(group)
    return [*bad, *_answers(ctx, plans, done)], len(bad) + len(plans)


def _plans(
    ctx: CallContext, plan: Plan, group: Sequence[Item]
) -> tuple[list[tuple[int, PlannedWrite]], list[ItemWritten]]:
    """The plan of each item, given the earlier ones, up to the first that needs its own commit; a failed item leaves
    nothing behind.
    """
    so_far = BatchState()
    plans: list[tuple[int, PlannedWrite]] = []
    bad: list[ItemWritten] = []
    for index, given in group:
        try:
            planned = plan(ctx, given, so_far)
        except OwnCommit:
            break
        except StoreError:
            raise
        except WeftError as problem:
            bad.append(_failed(index, problem))
        else:
            so_far.take(planned)
            plans.append((index, planned))
    return plans, bad


def _answers(ctx: CallContext, plans: Sequence[tuple[int, PlannedWrite]], done: Committed | None) -> list[ItemWritten]:
    """The outcomes of the plans of a commit. A plan that wrote nothing may equal an earlier one."""
    events = iter(done.events if done else ())
    made: dict[str, str] = {}
    told: list[ItemWritten] = []
    for index, planned in plans:
        citations = [event.citation for event in itertools.islice(events, len(planned.drafts))]
        one = planned_result(ctx, planned, done, citations[0] if citations else None)
        if citations:
            made[planned.id] = one.citation
        else:
            one = replace(one, citation=made.get(planned.id, one.citation))
        told.append(_item(index, one))
    return told


def _write_alone(ctx: CallContext, form: BatchForm, item: Item) -> ItemWritten:
    index, given = item
    try:
        answered = form.single.run(for_task(ctx, given), given)
    except StoreError:
        raise
    except WeftError as problem:
        return _failed(index, problem)
    assert isinstance(answered, WriteResult)
    return _item(index, answered)


def _item(index: int, one: WriteResult) -> ItemWritten:
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


def _batch(name: str, what: str, single: Operation, plan: Plan | None = None) -> Operation:
    form = BatchForm(single=single, plan=plan)

    def run(ctx: CallContext, given: Items) -> BatchWritten:
        return write_batch(ctx, form, given)

    run.__name__ = name
    run.__doc__ = f"Writes many {what}, in order, each as `{single.name}` takes it. Errors are reported item by item."
    return Operation(
        name=name,
        summary=f"write many {what} in one call; items with errors are reported, the others are written",
        input=Items,
        output=BatchWritten,
        effect="write",
        toolset="memory",
        run=run,
    )


_SINGLE: Final = {
    each.name: each
    for family in (entities, happenings, facts, concepts, decisions, remembering)
    for each in family.OPERATIONS
}

OPERATIONS = (
    _batch("add_entities", "entities", _SINGLE["add_entity"], entities.plan_entity),
    _batch("add_events", "events", _SINGLE["add_event"], happenings.plan_event),
    _batch("add_facts", "facts", _SINGLE["add_fact"]),
    _batch("add_concepts", "concepts", _SINGLE["add_concept"], concepts.plan_concept),
    _batch("add_causal_links", "causal links", _SINGLE["add_causal_link"], happenings.plan_causal_link),
    _batch("link_many", "relations", _SINGLE["link_entities"], entities.plan_link),
    _batch("save_decisions", "decisions", _SINGLE["save_decision"]),
    _batch("save_patterns", "patterns", _SINGLE["save_pattern"]),
    _batch("save_contexts", "contexts", _SINGLE["save_context"]),
    _batch("save_preferences", "preferences", _SINGLE["save_preference"]),
    _batch("remember_many", "texts", _SINGLE["remember"], remembering.plan_memory),
)
