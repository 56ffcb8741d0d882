"""Writing memories: free text, kept verbatim, with what can be read out of it."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct, field
from msgspec.structs import asdict, replace

from weft.append import Fence
from weft.errors import Away, Busy, Conflict, Invalid, StoreError
from weft.instants import parse_instant, to_iso
from weft.kinds import UNSEARCHED_KINDS
from weft.log.draft import Draft
from weft.log.kinds import memory
from weft.loom import Loom
from weft.operations.committing import Choice, Committed, commit, decided
from weft.operations.fields import KindName, Moment
from weft.operations.gate import Gated, gate_of, reinforcement
from weft.operations.moments import check_interval
from weft.operations.proposals import open_proposal, proposal_draft
from weft.operations.reading_out import Memory, ReadOut, read_out
from weft.operations.registry import Operation
from weft.operations.remembered import REPEATED, Remembered
from weft.operations.standing import Statement, fact_payload, fence_of, stand
from weft.operations.write_options import WriteOptions, focus_of, guard_of, props_of
from weft.retrieval.derived import DERIVED_FROM
from weft.types import NodeVersion

Text = Annotated[str, Meta(min_length=1, max_length=1_000_000, description="the words to keep, verbatim")]
Props = dict[str, str | int | float | bool | None]
OWN_KINDS = UNSEARCHED_KINDS | {"Project", "Focus"}
READ_KINDS = frozenset({"Memory", "Decision", "Event", "Episode", "Learning", "Preference", "Context"})


class Remember(WriteOptions, frozen=True, kw_only=True):
    """Input of `remember`."""

    text: Text
    name: Annotated[str, Meta(max_length=512, description="a short title")] = ""
    kind: Annotated[KindName, Meta(description="what sort of memory")] = "Memory"
    speaker: Annotated[str, Meta(min_length=1, max_length=128, description="who says I in it")] | None = None
    valid_from: Annotated[Moment | None, Meta(description="since when it holds; when it happened if unset")] = None
    valid_to: Annotated[Moment | None, Meta(description="until when it holds")] = None
    occurred_at: Annotated[Moment | None, Meta(description="when it happened")] = None
    props: Annotated[Props, Meta(max_length=64, description="properties to filter by")] = field(default_factory=dict)
    expected_head: Annotated[int, Meta(ge=0, description="write only if the session stands here")] | None = None


def remember(loom: Loom, given: Remember) -> Remembered:
    """Keeps words for good, verbatim, with who said them and when.

    They can be found at once by `weft recall`, cited by the citation this prints, and asked for as they were known at
    any later moment. What they name, claim, like and hold for a cause is read out and joined to them; a claim that
    contradicts what stands waits for review (`weft proposal-list`) and ends nothing.
    """
    if not given.text.strip():
        raise Invalid("the text is empty", hint="say what to remember")
    if given.kind in OWN_KINDS:
        raise Invalid(f"weft makes {given.kind} nodes itself", hint="choose another kind, such as Memory")
    if DERIVED_FROM in given.props:
        raise Invalid(f"the property {DERIVED_FROM} is weft's own", hint="name it otherwise")
    check_interval(given.valid_from, given.valid_to)
    if (before := _written_before(loom, given)) is not None:
        return before
    planned = _planned(loom, given)
    try:
        return _written(loom, given, planned)
    except Conflict:
        if (before := _written_before(loom, given)) is not None:  # by the same request, at the same time
            return before
        raise


def _written(loom: Loom, given: Remember, planned: Planned) -> Remembered:
    if not planned.claims:
        done = commit(loom, planned.drafts, request_id=given.request_id, expected_head=given.expected_head)
        return _answer(planned, done, ())
    try:
        told, decision = decided(loom, lambda pos: _decided(loom, planned, pos), request_id=given.request_id)
    except (Busy, Away):  # the words can wait; what they claim could be another matter by then
        return _answer(planned, commit(loom, planned.drafts, request_id=given.request_id), ())
    assert decision is not None  # the memory itself is always written
    return _answer(planned, decision, told)


def _written_before(loom: Loom, given: Remember) -> Remembered | None:
    """The same words under the same request id: how new they are, and what they name, is told otherwise by now."""
    if given.request_id is None:
        return None
    node_id = loom.new_id(given.request_id)
    found = loom.store.history(loom.viewer, node_id, limit=1)
    if not found or (found[0].text, found[0].name, found[0].kind) != (given.text, given.name, given.kind):
        return None
    citation = loom.store.citations(loom.viewer, [found[0].event]).get(found[0].event, "")
    return Remembered(status="duplicate_skip", id=node_id, citation=citation, notes=(REPEATED,))


class Planned(Struct, frozen=True, kw_only=True):
    """A memory ready to be written: the drafts that depend on nothing, and the claims that do."""

    id: str
    drafts: tuple[Draft, ...]
    claims: tuple[Statement, ...]
    occurred_at: int | None
    linked: tuple[str, ...]
    notes: tuple[str, ...]
    focus: str | None = None
    props: dict[str, Any] = {}


def _planned(loom: Loom, given: Remember) -> Planned:
    guard = guard_of(loom, given)
    node_id = loom.new_id(given.request_id)
    occurred_at = None if given.occurred_at is None else parse_instant(given.occurred_at, field="occurred_at")
    began = None if given.valid_from is None else parse_instant(given.valid_from, field="valid_from")
    at = next((each for each in (occurred_at, began) if each is not None), loom.clock.now_us())
    until = None if given.valid_to is None else parse_instant(given.valid_to, field="valid_to")
    said = Memory(
        id=node_id,
        text=given.text,
        guard=guard,
        at=at,
        until=until,
        speaker=given.speaker,
        focus=focus_of(loom, given),
        props=props_of(given),
    )
    # What must be told of the session's very state writes the words alone: it is read by nobody's rules.
    reads = given.kind in READ_KINDS and given.expected_head is None and not guard.sensitive
    out, gated = _looked_at(loom, said, given.kind, reads=reads)
    payload = memory.Remembered(
        id=node_id,
        text=given.text,
        node_kind=given.kind,
        name=given.name,
        props={**given.props, **props_of(given)},
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
        drafts += (reinforcement(loom, gated.nearest, "surfaced", record=f"{node_id}:repeats"),)
        notes += (f"says what {gated.nearest.id} says already; that one counts a little more now",)
    return Planned(
        id=node_id,
        drafts=drafts,
        claims=out.claims,
        occurred_at=occurred_at,
        linked=out.things,
        notes=notes,
        focus=said.focus,
        props=said.props,
    )


def _looked_at(loom: Loom, said: Memory, kind: str, *, reads: bool) -> tuple[ReadOut, Gated | None]:
    """What is read out of it, and how new it is. Where the graph cannot tell, the words are kept all the same."""
    try:
        out = read_out(loom, said) if reads else ReadOut()
        if said.guard.sensitive:  # what is sealed is compared with nothing: the tag would tell of its words
            return out, None
        return out, gate_of(loom, said.text, out.things, guard=said.guard, kind=kind)
    except StoreError as problem:
        return ReadOut(notes=(f"nothing was read out of it: {problem.message}",)), None


def _decided(loom: Loom, planned: Planned, pos: int) -> Choice[tuple[str, ...]]:
    """The memory, and each claim as a fact in a free place, or as a proposal where another value stands."""
    drafts, notes = list(planned.drafts), []
    fences = [fence_of(said, pos) for said in planned.claims]
    for number, said in enumerate(planned.claims):
        found = stand(loom, said)
        claim_id = f"{planned.id}:claim:{number}"
        if found.verdict == "new":
            payload = fact_payload(said, claim_id, None)
            payload = replace(
                payload, props=planned.props | payload.props | {DERIVED_FROM: planned.id}, focus=planned.focus
            )
            drafts.append(Draft(kind="memory.remembered", payload=payload, occurred_at=planned.occurred_at))
        elif found.verdict == "other" and found.fact is not None and open_proposal(loom, said, found.fact) is None:
            drafts.append(proposal_draft(loom, said, found.fact, proposal=claim_id, source=planned.id))
            notes.append(f"{said.text!r} contradicts {found.fact.text!r}: `weft proposal-review {claim_id}` decides")
    kinds = tuple(dict.fromkeys(kind for fence in fences for kind in fence.kinds))
    slots = tuple(dict.fromkeys(slot for fence in fences for slot in fence.slots))
    tests = [fence.concerns for fence in fences if fence.concerns is not None]

    def concerns(node: NodeVersion) -> bool:
        return node.slot in slots or any(test(node) for test in tests)

    fence = Fence(pos=pos, kinds=kinds, slots=slots, concerns=concerns if tests else None)
    return Choice(told=tuple(notes), drafts=drafts, fence=fence)


def _answer(planned: Planned, done: Committed, told: tuple[str, ...]) -> Remembered:
    return Remembered(
        status=done.status,
        id=planned.id,
        citation=done.citation,
        linked=planned.linked,
        notes=(*planned.notes, *told, *done.notes) if done.status != "duplicate_skip" else done.notes,
    )


OPERATIONS = (
    Operation(
        name="remember",
        summary="keep words for good, verbatim, with their source",
        input=Remember,
        output=Remembered,
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
