"""`proposal_list` and `proposal_review`: statements that contradict a current fact and wait for a decision.

Extracted or uncertain statements end nothing by themselves. Each waits as a proposal, joined to the fact that it
contradicts, until it is accepted (then it is a fact and ends the older one) or rejected.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from weft.append.append import Fence
from weft.core.clock import parse_instant, to_iso
from weft.core.errors import Conflict, Invalid, NotFound
from weft.core.types import MAX_LIMIT, NOW, Find, NodeVersion
from weft.graph.moves import shared_slot
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.runtime.call_context import CallContext
from weft.runtime.fields import GovernanceToken, Limit, Reason, RequestId
from weft.runtime.operation import Operation
from weft.writing.build.commit import REPEATED, WriteDecision, decide_and_commit
from weft.writing.build.compiled_truth import stale_truths_of
from weft.writing.build.references import assertion_of
from weft.writing.checks.current_value import FACT, FactStatement, compare_with_current, fact_payload
from weft.writing.checks.values import relation
from weft.writing.write_contract import WriteResult

PROPOSAL: Final = "Proposal"
CONFLICTS_WITH: Final = "CONFLICTS_WITH"
PENDING: Final = "pending"
MAX_TOLD: Final = 2_000  # characters of each side's text
MAX_OPEN: Final = 50  # proposals on one fact that are compared with a new one

Status = Literal["pending", "accepted", "rejected"]
ProposalName = Annotated[
    str, Meta(min_length=1, max_length=1024, description="the proposal's id, as proposal_list shows it")
]


# ---- proposing


class NewProposal(Struct, frozen=True, kw_only=True):
    """A proposal to be written: its id, the statement, the fact `old` that it contradicts, and its source, if any."""

    id: str
    said: FactStatement
    old: NodeVersion
    source: str | None = None
    props: dict[str, Any] = {}


def proposal_draft(ctx: CallContext, new: NewProposal) -> Draft:
    """The event of a proposal, for a commit that may hold its source as well.

    It has the guard of the statement, which is that of the fact: who sees one sees the other.
    """
    said, old, source = new.said, new.old, new.source
    guard = asdict(said.guard)
    cited = ctx.store.citations(ctx.viewer, [old.event]).get(old.event, "")
    told = {
        "status": PENDING,
        "slot": said.slot,
        "subject": said.entity,
        "subject_name": said.subject,
        "predicate": said.predicate,
        "words": said.words,
        "owner": said.owner or None,
        "object": said.value,
        "old_fact": old.id,
        "old_value": old.props.get("object"),
        "old_citation": cited,
        "source": source,
        "begins": None if said.begin is None else to_iso(said.begin),
        "ends": None if said.end is None else to_iso(said.end),
    }
    node = graph.NodeAssertion(
        id=new.id,
        kind=PROPOSAL,
        text=f"{said.text} (stands: {old.text})",
        props={name: value for name, value in told.items() if value is not None} | new.props,
        **guard,
    )
    sources = (new.id,) if source is None else (new.id, source)
    edges = tuple(graph.EdgeAssertion(src=each, rel=CONFLICTS_WITH, dst=old.id, **guard) for each in sources)
    causes = (cited,) if cited else ()
    return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(node,), edges=edges), caused_by=causes)


def open_proposal(ctx: CallContext, said: FactStatement, old: NodeVersion) -> NodeVersion | None:
    """The open proposal against a fact that says the same, if any."""
    steps = ctx.store.neighbours(ctx.viewer, NOW, [old.id], rels=(CONFLICTS_WITH,), direction="in", limit=MAX_OPEN)
    for step in steps:
        node = step.node
        waits = node.kind == PROPOSAL and node.props.get("status") == PENDING
        if waits and relation(said.predicate, str(node.props.get("object", "")), said.value) == "same":
            return node
    return None


def proposal_fence(said: FactStatement, pos: int) -> Fence:
    """What a proposal depends on: the current facts, and that nobody proposes the same."""

    def matters(node: NodeVersion) -> bool:
        return node.kind == FACT or node.props.get("slot") == said.slot

    slots = () if said.slot is None else (shared_slot(said.slot, said.guard),)
    return Fence(pos=pos, kinds=(PROPOSAL,), slots=slots, concerns=matters)


# ---- listing


class ListProposals(Struct, frozen=True, kw_only=True):
    """Input of `proposal_list`."""

    id: Annotated[ProposalName | None, Meta(description="only this proposal, whatever its status")] = None
    status: Annotated[
        Literal["pending", "accepted", "rejected", "all"], Meta(description="only proposals with this status")
    ] = PENDING
    limit: Limit = 20


class ProposalShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A proposal: the current value, the proposed one, and the sources and texts of both.

    `holds_now` is a value that replaced `stands` after the proposal was made; `begins` is since when `proposed` holds.
    """

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
    holds_now: str = ""
    begins: str = ""
    confidence: float | None = None
    reason: str = ""


class ProposalList(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Proposals, latest first."""

    proposals: tuple[ProposalShown, ...]
    notes: tuple[str, ...] = ()


def proposal_list(ctx: CallContext, given: ListProposals) -> ProposalList:
    """Lists statements that contradict a current fact and wait for a decision, with both texts and sources.

    `weft proposal-review ID accept` turns one into a fact that ends the current one; `weft proposal-review ID reject`
    does not.
    """
    nodes = (_proposal(ctx, given.id),) if given.id is not None else _proposals(ctx, given)
    holding = {node.id: _holding(ctx, node) for node in nodes if node.props.get("status") == PENDING}
    named = [str(node.props[name]) for node in nodes for name in ("source", "old_fact") if name in node.props]
    sides = {node.id: node for node in ctx.store.nodes(ctx.viewer, NOW, named)} if named else {}
    citations = ctx.store.citations(ctx.viewer, [node.event for node in (*nodes, *sides.values())])
    shown = tuple(_shown(node, sides, citations, holding.get(node.id, "")) for node in nodes)
    return ProposalList(proposals=shown)


def _proposals(ctx: CallContext, given: ListProposals) -> tuple[NodeVersion, ...]:
    props = {} if given.status == "all" else {"status": given.status}
    find = Find(kinds=(PROPOSAL,), projects=(ctx.settings.project, None), props=props)
    return ctx.store.find(ctx.viewer, NOW, find, limit=given.limit).nodes


def _holding(ctx: CallContext, node: NodeVersion) -> str:
    """The value that holds by now in the slot of a proposal, where it is another than the one it contradicts."""
    if "slot" not in node.props:
        return ""
    found = ctx.store.current_in_slot(
        ctx.viewer, shared_slot(str(node.props["slot"]), node.guard), after=ctx.clock.now_us(), limit=1
    )
    values = [str(row.props.get("object", "")) for row in found if row.id != node.props.get("old_fact")]
    return values[0] if values else ""


def _shown(
    node: NodeVersion, sides: Mapping[str, NodeVersion], citations: Mapping[int, str], holding: str
) -> ProposalShown:
    """A proposal with what still exists of both sides."""
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
        holds_now=holding,
        begins=str(props.get("begins", "")),
        confidence=props.get("confidence"),
        reason=str(props.get("reason", "")),
    )


# ---- reviewing


class ReviewProposal(Struct, frozen=True, kw_only=True):
    """Input of `proposal_review`."""

    id: ProposalName
    decision: Annotated[Literal["accept", "reject"], Meta(description="accept or reject")]
    reason: Reason = ""
    request_id: RequestId = None
    governance_token: GovernanceToken = None


def proposal_review(ctx: CallContext, given: ReviewProposal) -> WriteResult:
    """Accepts a proposal, which makes it a fact that ends the one it contradicts, or rejects it.

    Both are kept, with the reason. A proposal is decided once; later changes are new facts.
    """
    fresh = ctx.new_id(given.request_id)
    if given.request_id is not None and (before := _reviewed_before(ctx, given, fresh)):
        return before
    told, done = decide_and_commit(ctx, lambda pos: _review(ctx, given, fresh, pos), request_id=given.request_id)
    assert done is not None
    return replace(told, citation=done.events[0].citation)


def _review(ctx: CallContext, given: ReviewProposal, fresh: str, pos: int) -> WriteDecision[WriteResult]:
    node = _pending(ctx, given)
    said = _statement(node)
    status: Status = "accepted" if given.decision == "accept" else "rejected"
    props = {**node.props, "status": status, "reviewed_as": fresh} | (
        {"reason": given.reason} if given.reason.strip() else {}
    )
    closed = replace(assertion_of(node), props=props)
    over = Draft(kind="graph.ended", payload=graph.Ended(edges=_conflicts(node), reason=status))
    fence = Fence(pos=pos, slots=(node.id, *(() if said.slot is None else (shared_slot(said.slot, said.guard),))))
    causes = _causes(ctx, node)
    found = compare_with_current(ctx, said)
    if given.decision == "reject" or found.verdict == "same":
        payload = graph.Asserted(nodes=(closed,), reason=given.reason)
        draft = Draft(kind="graph.asserted", payload=payload, caused_by=causes)
        notes = ("the fact holds already: only the decision was written",) if given.decision == "accept" else ()
        return WriteDecision(
            answer=WriteResult(status="saved", id=node.id, notes=notes), drafts=(draft, over), fence=fence
        )
    older = tuple(row.id for row in found.ended)
    fact = fact_payload(said, fresh, None, supersedes=older)
    kept = {"confidence": node.props["confidence"]} if "confidence" in node.props else {}
    fact = replace(fact, entities=(closed,), props=fact.props | kept)
    draft = Draft(kind="memory.remembered", payload=fact, caused_by=causes)
    stale = stale_truths_of(ctx, [said.entity])
    told = WriteResult(status="superseded" if older else "saved", id=fresh, supersedes=older, notes=stale.notes)
    return WriteDecision(answer=told, drafts=(draft, over, *stale.drafts), fence=stale.fence(fence))


def _reviewed_before(ctx: CallContext, given: ReviewProposal, fresh: str) -> WriteResult | None:
    """The result of the same decision under the same request id."""
    found = ctx.store.nodes(ctx.viewer, NOW, [given.id])
    decision = {"accepted": "accept", "rejected": "reject"}
    if not found or found[0].kind != PROPOSAL or found[0].props.get("reviewed_as") != fresh:
        return None
    if decision.get(str(found[0].props.get("status"))) != given.decision:
        return None
    citation = ctx.store.citations(ctx.viewer, [found[0].event]).get(found[0].event, "")
    made = ctx.store.history(ctx.viewer, fresh, limit=1)
    return WriteResult(status="duplicate_skip", id=fresh if made else given.id, citation=citation, notes=(REPEATED,))


def _proposal(ctx: CallContext, name: str) -> NodeVersion:
    found = ctx.store.nodes(ctx.viewer, NOW, [name])
    if not found:
        raise NotFound(
            f"there is no proposal {name[:80]!r} that you may see",
            hint="`weft proposal-list` lists open proposals",
        )
    (node,) = found
    if node.kind != PROPOSAL:
        raise Invalid(f"{name[:80]!r} is a {node.kind}, not a proposal", hint="`weft proposal-list` shows ids")
    return node


def _pending(ctx: CallContext, given: ReviewProposal) -> NodeVersion:
    node = _proposal(ctx, given.id)
    if node.props.get("status") != PENDING:
        raise Conflict(
            f"the proposal was already {node.props.get('status')}", hint="to record a new value, use add_fact"
        )
    return node


def _statement(node: NodeVersion) -> FactStatement:
    """The statement of a proposal. Without a beginning it holds since it was proposed, not since the review."""
    props = node.props
    begins, ends = props.get("begins"), props.get("ends")
    return FactStatement(
        entity=str(props["subject"]),
        subject=str(props["subject_name"]),
        predicate=str(props["predicate"]),
        words=str(props["words"]),
        owner=str(props.get("owner", "")),
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


def _causes(ctx: CallContext, node: NodeVersion) -> tuple[str, ...]:
    """The events of the proposal and of both sides, as far as the caller may see them."""
    ids = [str(node.props[name]) for name in ("old_fact", "source") if name in node.props]
    events = [node.event]
    for each in ids:
        events += [version.event for version in ctx.store.history(ctx.viewer, each, limit=MAX_LIMIT)[:1]]
    return tuple(dict.fromkeys(ctx.store.citations(ctx.viewer, events).values()))


OPERATIONS = (
    Operation(
        name="proposal_list",
        summary="list statements that contradict current facts and wait for a decision",
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
        summary="accept or reject a statement that contradicts a current fact",
        input=ReviewProposal,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=proposal_review,
        arguments=("id", "decision"),
    ),
)
