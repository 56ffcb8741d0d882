"""Belief proposals: a statement that contradicts what stands, and that nobody has decided on yet.

What was only read out of a text, or is not sure, ends nothing by itself. It waits here, joined to what it contradicts,
until somebody accepts it (then it is a fact, and ends the older one) or rejects it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from weft.append import Fence
from weft.errors import Conflict, Invalid, NotFound
from weft.instants import parse_instant, to_iso
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.operations.committing import Choice, decided
from weft.operations.compiled import truths_of
from weft.operations.fields import GovernanceToken, Label, Limit
from weft.operations.references import assertion_of
from weft.operations.registry import Operation
from weft.operations.remembered import REPEATED, Remembered
from weft.operations.standing import FACT, Statement, candidate, fact_payload, stand
from weft.operations.values import relation
from weft.projection.moves import shared_slot
from weft.types import MAX_LIMIT, NOW, Find, NodeVersion

PROPOSAL: Final = "Proposal"
CONFLICTS_WITH: Final = "CONFLICTS_WITH"
PENDING: Final = "pending"
MAX_TOLD: Final = 2_000  # characters of each side's words
MAX_OPEN: Final = 50  # proposals on one fact that are compared with a new one

Status = Literal["pending", "accepted", "rejected"]
ProposalName = Annotated[
    str, Meta(min_length=1, max_length=1024, description="the proposal's id, as proposal_list gives it")
]


# ---- making one


def propose(
    loom: Loom, said: Statement, *, source: str | None = None, confidence: float | None = None
) -> Remembered | None:
    """Puts a statement up for review if it contradicts what stands; None, and nothing written, where it does not.

    `source` is the node that says so (a memory). The same proposal, still open, is not made twice.
    """
    fresh = loom.new_id()

    def choose(pos: int) -> Choice[Remembered | None]:
        found = stand(loom, said)
        if found.verdict != "other" or found.fact is None:
            return Choice(told=None)
        if (before := open_proposal(loom, said, found.fact)) is not None:
            return Choice(told=Remembered(status="duplicate_skip", id=before.id, notes=("proposed already",)))
        props = {} if confidence is None else {"confidence": confidence}
        draft = proposal_draft(loom, said, found.fact, proposal=fresh, source=source, props=props)
        told = Remembered(status="manual_review", id=fresh, candidates=(candidate(loom, found.fact),))
        return Choice(told=told, drafts=(draft,), fence=proposal_fence(said, pos))

    told, done = decided(loom, choose)
    return replace(told, citation=done.events[0].citation) if told is not None and done is not None else told


def proposal_draft(
    loom: Loom,
    said: Statement,
    old: NodeVersion,
    *,
    proposal: str,
    source: str | None = None,
    props: dict[str, Any] | None = None,
) -> Draft:
    """The event of a proposal against the fact `old`, for a commit that may hold its source as well.

    It has the guard of the statement, which is that of the fact: who sees one sees the other.
    """
    guard = asdict(said.guard)
    cited = loom.store.citations(loom.viewer, [old.event]).get(old.event, "")
    told = {
        "status": PENDING,
        "slot": said.slot,
        "subject": said.entity,
        "subject_name": said.subject,
        "predicate": said.predicate,
        "words": said.words,
        "object": said.value,
        "old_fact": old.id,
        "old_value": old.props.get("object"),
        "old_citation": cited,
        "source": source,
        "begins": None if said.begin is None else to_iso(said.begin),
        "ends": None if said.end is None else to_iso(said.end),
    }
    node = graph.NodeAssertion(
        id=proposal,
        kind=PROPOSAL,
        text=f"{said.text} (stands: {old.text})",
        props={name: value for name, value in told.items() if value is not None} | (props or {}),
        **guard,
    )
    sources = (proposal,) if source is None else (proposal, source)
    edges = tuple(graph.EdgeAssertion(src=each, rel=CONFLICTS_WITH, dst=old.id, **guard) for each in sources)
    causes = (cited,) if cited else ()
    return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(node,), edges=edges), caused_by=causes)


def open_proposal(loom: Loom, said: Statement, old: NodeVersion) -> NodeVersion | None:
    """The proposal against a fact that says the same and still waits."""
    steps = loom.store.neighbours(loom.viewer, NOW, [old.id], rels=(CONFLICTS_WITH,), direction="in", limit=MAX_OPEN)
    for step in steps:
        node = step.node
        waits = node.kind == PROPOSAL and node.props.get("status") == PENDING
        if waits and relation(said.predicate, str(node.props.get("object", "")), said.value) == "same":
            return node
    return None


def proposal_fence(said: Statement, pos: int) -> Fence:
    """What making a proposal rests on: what stands, and that nobody proposes the same."""

    def matters(node: NodeVersion) -> bool:
        return node.kind == FACT or node.props.get("slot") == said.slot

    slots = () if said.slot is None else (shared_slot(said.slot, said.guard),)
    return Fence(pos=pos, kinds=(PROPOSAL,), slots=slots, concerns=matters)


# ---- listing


class ListProposals(Struct, frozen=True, kw_only=True):
    """Input of `proposal_list`."""

    id: Annotated[ProposalName | None, Meta(description="only this one, whatever its status")] = None
    status: Annotated[Literal["pending", "accepted", "rejected", "all"], Meta(description="which ones")] = PENDING
    limit: Limit = 20


class ProposalShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A proposal: what stands, what it says instead, and where both come from, in their own words."""

    id: str
    status: str
    subject: str
    predicate: str
    stands: str
    proposed: str
    old_fact: str
    old_citation: str
    citation: str
    proposed_at: str
    source: str = ""
    source_citation: str = ""
    source_text: str = ""
    stands_text: str = ""
    stands_since: str = ""
    confidence: float | None = None
    reason: str = ""


class ProposalList(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Proposals, the latest first."""

    proposals: tuple[ProposalShown, ...]
    notes: tuple[str, ...] = ()


def proposal_list(loom: Loom, given: ListProposals) -> ProposalList:
    """Lists statements that contradict what stands and wait for review, with the words and the sources of both sides.

    `weft proposal-review ID accept` makes one a fact that ends what stands; `weft proposal-review ID reject` does not.
    """
    nodes = (_proposal(loom, given.id),) if given.id is not None else _proposals(loom, given)
    named = [str(node.props[name]) for node in nodes for name in ("source", "old_fact") if name in node.props]
    sides = {node.id: node for node in loom.store.nodes(loom.viewer, NOW, named)} if named else {}
    citations = loom.store.citations(loom.viewer, [node.event for node in (*nodes, *sides.values())])
    shown = tuple(_shown(node, sides, citations) for node in nodes)
    return ProposalList(proposals=shown, notes=() if shown else ("there are none",))


def _proposals(loom: Loom, given: ListProposals) -> tuple[NodeVersion, ...]:
    props = {} if given.status == "all" else {"status": given.status}
    find = Find(kinds=(PROPOSAL,), projects=(loom.settings.project, None), props=props)
    return loom.store.find(loom.viewer, NOW, find, limit=given.limit).nodes


def _shown(node: NodeVersion, sides: Mapping[str, NodeVersion], citations: Mapping[int, str]) -> ProposalShown:
    """A proposal with what is still there of both sides."""
    props = node.props
    source, old = sides.get(str(props.get("source"))), sides.get(str(props.get("old_fact")))
    return ProposalShown(
        id=node.id,
        status=str(props.get("status")),
        subject=str(props.get("subject_name", "")),
        predicate=str(props.get("predicate", "")),
        stands=str(props.get("old_value", "")),
        proposed=str(props.get("object", "")),
        old_fact=str(props.get("old_fact", "")),
        old_citation=str(props.get("old_citation", "")),
        citation=citations.get(node.event, ""),
        proposed_at=to_iso(node.interval.valid_from),
        source=str(props.get("source", "")),
        source_citation="" if source is None else citations.get(source.event, ""),
        source_text="" if source is None else source.text[:MAX_TOLD],
        stands_text="" if old is None else old.text[:MAX_TOLD],
        stands_since="" if old is None else to_iso(old.interval.valid_from),
        confidence=props.get("confidence"),
        reason=str(props.get("reason", "")),
    )


# ---- reviewing


class ReviewProposal(Struct, frozen=True, kw_only=True):
    """Input of `proposal_review`."""

    id: ProposalName
    decision: Annotated[Literal["accept", "reject"], Meta(description="accept or reject")]
    reason: Annotated[str, Meta(max_length=2_000, description="why, in a few words")] = ""
    request_id: Annotated[Label | None, Meta(description="repeat a call with the same id and it is written once")] = (
        None
    )
    governance_token: GovernanceToken = None


def proposal_review(loom: Loom, given: ReviewProposal) -> Remembered:
    """Accepts a proposal, which makes it a fact that ends what it contradicts, or rejects it.

    Both are kept, with the reason. A proposal is decided once; later knowledge comes as a new fact.
    """
    fresh = loom.new_id(given.request_id)
    if given.request_id is not None and (before := _reviewed_before(loom, given, fresh)):
        return before
    told, done = decided(loom, lambda pos: _review(loom, given, fresh, pos), request_id=given.request_id)
    assert done is not None
    return replace(told, citation=done.events[0].citation)


def _review(loom: Loom, given: ReviewProposal, fresh: str, pos: int) -> Choice[Remembered]:
    node = _pending(loom, given)
    said = _statement(node)
    status: Status = "accepted" if given.decision == "accept" else "rejected"
    props = {**node.props, "status": status, "reviewed_as": fresh} | (
        {"reason": given.reason} if given.reason.strip() else {}
    )
    closed = replace(assertion_of(node), props=props)
    over = Draft(kind="graph.ended", payload=graph.Ended(edges=_conflicts(node), reason=status))
    fence = Fence(pos=pos, slots=(node.id, *(() if said.slot is None else (shared_slot(said.slot, said.guard),))))
    causes = _causes(loom, node)
    found = stand(loom, said)
    if given.decision == "reject" or found.verdict == "same":
        payload = graph.Asserted(nodes=(closed,), reason=given.reason)
        draft = Draft(kind="graph.asserted", payload=payload, caused_by=causes)
        notes = ("it holds already: nothing else was written",) if given.decision == "accept" else ()
        return Choice(told=Remembered(status="saved", id=node.id, notes=notes), drafts=(draft, over), fence=fence)
    older = tuple(row.id for row in found.ended)
    fact = fact_payload(said, fresh, None, supersedes=older)
    kept = {"confidence": node.props["confidence"]} if "confidence" in node.props else {}
    fact = replace(fact, entities=(closed,), props=fact.props | kept)
    draft = Draft(kind="memory.remembered", payload=fact, caused_by=causes)
    stale = truths_of(loom, [said.entity])
    told = Remembered(status="superseded" if older else "saved", id=fresh, supersedes=older, notes=stale.notes)
    return Choice(told=told, drafts=(draft, over, *stale.drafts), fence=stale.fence(fence))


def _reviewed_before(loom: Loom, given: ReviewProposal, fresh: str) -> Remembered | None:
    """The same decision under the same request id."""
    found = loom.store.nodes(loom.viewer, NOW, [given.id])
    decision = {"accepted": "accept", "rejected": "reject"}
    if not found or found[0].kind != PROPOSAL or found[0].props.get("reviewed_as") != fresh:
        return None
    if decision.get(str(found[0].props.get("status"))) != given.decision:
        return None
    citation = loom.store.citations(loom.viewer, [found[0].event]).get(found[0].event, "")
    made = loom.store.history(loom.viewer, fresh, limit=1)
    return Remembered(status="duplicate_skip", id=fresh if made else given.id, citation=citation, notes=(REPEATED,))


def _proposal(loom: Loom, name: str) -> NodeVersion:
    found = loom.store.nodes(loom.viewer, NOW, [name])
    if not found:
        raise NotFound(
            f"there is no proposal {name[:80]!r} that you may see",
            hint="`weft proposal-list` lists those that wait",
        )
    (node,) = found
    if node.kind != PROPOSAL:
        raise Invalid(f"{name[:80]!r} is a {node.kind}, not a proposal", hint="`weft proposal-list` gives ids")
    return node


def _pending(loom: Loom, given: ReviewProposal) -> NodeVersion:
    node = _proposal(loom, given.id)
    if node.props.get("status") != PENDING:
        raise Conflict(
            f"the proposal was {node.props.get('status')} already", hint="what is known now is written with add_fact"
        )
    return node


def _statement(node: NodeVersion) -> Statement:
    """What a proposal says. Without a beginning of its own it holds since it was proposed, not since the review."""
    props = node.props
    begins, ends = props.get("begins"), props.get("ends")
    return Statement(
        entity=str(props["subject"]),
        subject=str(props["subject_name"]),
        predicate=str(props["predicate"]),
        words=str(props["words"]),
        value=str(props["object"]),
        single="slot" in props,
        place=str(props.get("slot", "")).rpartition("/")[2],
        guard=node.guard,
        begin=node.interval.asserted_from if begins is None else parse_instant(str(begins)),
        end=None if ends is None else parse_instant(str(ends)),
    )


def _conflicts(node: NodeVersion) -> tuple[graph.EdgeName, ...]:
    sources = (node.id, *((str(node.props["source"]),) if "source" in node.props else ()))
    old = str(node.props["old_fact"])
    return tuple(graph.EdgeName(src=each, rel=CONFLICTS_WITH, dst=old) for each in sources)


def _causes(loom: Loom, node: NodeVersion) -> tuple[str, ...]:
    """The events of both sides and of the proposal, as far as the caller may see them."""
    ids = [str(node.props[name]) for name in ("old_fact", "source") if name in node.props]
    events = [node.event]
    for each in ids:
        events += [version.event for version in loom.store.history(loom.viewer, each, limit=MAX_LIMIT)[:1]]
    return tuple(dict.fromkeys(loom.store.citations(loom.viewer, events).values()))


OPERATIONS = (
    Operation(
        name="proposal_list",
        summary="list statements that contradict what stands and wait for review",
        input=ListProposals,
        output=ProposalList,
        effect="read",
        toolset="memory",
        run=proposal_list,
        arguments=("id",),
        priorities={
            "proposals.subject": "required",
            "proposals.predicate": "required",
            "proposals.stands": "required",
            "proposals.proposed": "required",
            "proposals.old_fact": "low",
        },
    ),
    Operation(
        name="proposal_review",
        summary="accept or reject a statement that contradicts what stands",
        input=ReviewProposal,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=proposal_review,
        arguments=("id", "decision"),
    ),
)
