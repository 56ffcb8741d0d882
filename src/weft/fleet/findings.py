"""`finding_report`, `finding_review`, `finding_promote`, `finding_list`: what workers found, and who may rely on it.

    pending  -> accepted -> promoted      by another agent than the one that reported it
             -> rejected

A finding is accepted with a proof packet: who reported and who reviewed it, and the citations that it rests on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from weft.core.clock import to_iso
from weft.core.errors import Conflict, Forbidden, Invalid, NotFound
from weft.core.types import NOW, Find, NodeVersion
from weft.fleet.episodes.involved import involved
from weft.fleet.episodes.writing import INVOLVES, own_guard
from weft.fleet.fences import every
from weft.log.citation import EventCitation, parse_citation
from weft.log.draft import Draft
from weft.log.kinds.graph import Asserted, EdgeAssertion, NodeAssertion
from weft.log.kinds.memory import Remembered
from weft.recall.answer_limits import bounded
from weft.retrieval.citations.cited_lines import node_at
from weft.retrieval.citations.resolve import event_of
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Limit, Name, NodeName, RequestId
from weft.runtime.operation import Operation
from weft.text.one_line import flat
from weft.writing.build.commit import WriteDecision, decide_and_commit
from weft.writing.build.entity_builder import check_text_field
from weft.writing.build.planned_write import asserts, earlier_result
from weft.writing.build.references import assertion_of
from weft.writing.build.versions import node_fence, result_of
from weft.writing.checks.provenance import task_named
from weft.writing.write_contract import WriteResult

FINDING: Final = "Finding"
PROOF: Final = "proof"
SUPPORTS: Final = "DERIVED_FROM"
READ: Final = 1_000
LEAD_CHARACTERS: Final = 400

State = Literal["pending", "accepted", "rejected", "promoted"]
Evidence = Annotated[str, Meta(min_length=1, max_length=1024)]


class FindingReport(Struct, frozen=True, kw_only=True):
    """Input of `finding_report`."""

    text: Annotated[str, Meta(min_length=1, max_length=20_000, description="what you found, in full sentences")]
    evidence: Annotated[
        tuple[Evidence, ...],
        Meta(min_length=1, max_length=32, description="what it rests on: citations (weft://…, file://path:line)"),
    ]
    entities: Annotated[tuple[Name, ...], Meta(max_length=64, description="what it is about")] = ()
    task_id: Annotated[NodeName | None, Meta(description="the task it was found for, by id or title")] = None
    request_id: RequestId = None


def finding_report(ctx: CallContext, given: FindingReport) -> WriteResult:
    """Reports what you found, for a coordinator to review: it is pending, and others do not rely on it yet.

    Give the citations that it rests on: each must exist. A checkout for the purpose `coordinate` leaves pending
    findings out.
    """
    check_text_field(given.text, field="text", most=20_000)
    if before := earlier_result(ctx, given.request_id, lambda payload: asserts(payload, FINDING, given.text)):
        return before
    for each in given.evidence:
        _check_cited(ctx, each)
    task = None if given.task_id is None else task_named(ctx, given.task_id).id
    ctx = ctx if task is None else replace(ctx, task=task)
    guard, node_id = own_guard(ctx), ctx.new_id(given.request_id)

    def decide(pos: int) -> WriteDecision[WriteResult]:
        about = involved(ctx, guard, given.entities, (), pos)
        edges = tuple(EdgeAssertion(src=node_id, rel=INVOLVES, dst=each, **asdict(guard)) for each in about.ids)
        payload = Remembered(
            id=node_id,
            node_kind=FINDING,
            text=given.text,
            props={
                "status": "pending",
                "agent": ctx.writer.actor.agent,
                "evidence": list(given.evidence),
                **({"task": task} if task else {}),
            },
            entities=about.entities,
            edges=edges,
            **asdict(guard),
        )
        told = WriteResult(status="saved", id=node_id, linked=about.ids, notes=about.notes)
        return WriteDecision(answer=told, drafts=(Draft(kind="memory.remembered", payload=payload),), fence=about.fence)

    return result_of(*decide_and_commit(ctx, decide, request_id=given.request_id))


def _check_cited(ctx: CallContext, written: str) -> None:
    """Raises NotFound for a citation of nothing that the caller may see, Invalid for what is no citation."""
    cited = parse_citation(written)
    if isinstance(cited, EventCitation):
        event = event_of(ctx, cited)
        if event is None or (cited.prefix and not event.hash.hex().startswith(cited.prefix)):
            raise NotFound(f"{written[:120]!r} cites no event that you may see", hint="`weft cite` prints a citation")
    elif node_at(ctx, cited) is None:
        raise NotFound(
            f"{written[:120]!r} cites no line that is known here",
            hint="cite lines of an indexed file or an ingested document; `weft index` reads the workspace",
        )


FindingName = Annotated[
    str, Meta(min_length=1, max_length=1024, description="the finding's id, as finding_list shows it")
]


class FindingReview(Struct, frozen=True, kw_only=True):
    """Input of `finding_review`."""

    id: FindingName
    verdict: Annotated[Literal["accept", "reject"], Meta(description="accept or reject")]
    reason: Annotated[str, Meta(min_length=1, max_length=5_000, description="why: what you checked")]


def finding_review(ctx: CallContext, given: FindingReview) -> WriteResult:
    """Accepts or rejects what another agent found, with the reason.

    An accepted finding carries its proof packet: who reported it, who reviewed it and why, and the citations it rests
    on, which must still exist. Nobody reviews a finding of its own.
    """

    def change(node: NodeVersion) -> dict[str, Any]:
        me = ctx.writer.actor.agent
        if node.props.get("agent") == me and ctx.writer.actor.role != "operator":
            raise Forbidden("this is your own finding", hint="another agent reviews it")
        _must_be(node, "pending", "be reviewed")
        review = {"reviewer": me, "reviewed_at": to_iso(ctx.clock.now_us()), "review": given.reason}
        if given.verdict == "reject":
            return {"status": "rejected", **review}
        evidence = [each for each in node.props.get("evidence", ()) if isinstance(each, str)]
        for each in evidence:
            _check_cited(ctx, each)
        report = ctx.store.citations(ctx.viewer, [node.event]).get(node.event, "")
        return {"status": "accepted", **review, PROOF: {"report": report, "evidence": evidence, **review}}

    return _changed(ctx, given.id, change)


class FindingPromote(Struct, frozen=True, kw_only=True):
    """Input of `finding_promote`."""

    id: FindingName


def finding_promote(ctx: CallContext, given: FindingPromote) -> WriteResult:
    """Makes an accepted finding part of the shared state, with its proof: every agent may build on it."""

    def change(node: NodeVersion) -> dict[str, Any]:
        _must_be(node, "accepted", "be promoted")
        if not isinstance(node.props.get(PROOF), dict):
            raise Invalid("this finding has no proof packet", hint="`weft finding-review` accepts a finding with one")
        review = ctx.store.citations(ctx.viewer, [node.event]).get(node.event, "")
        proof = {**node.props[PROOF], "acceptance": review, "promoted_by": ctx.writer.actor.agent}
        return {"status": "promoted", PROOF: proof}

    return _changed(ctx, given.id, change)


def _must_be(node: NodeVersion, state: State, what: str) -> None:
    now = str(node.props.get("status", ""))
    if now != state:
        raise Conflict(
            f"this finding is {now}: it cannot {what}",
            hint=f"`weft finding-list --status {state}` lists those that can",
        )


def _changed(ctx: CallContext, node_id: str, change: Callable[[NodeVersion], dict[str, Any]]) -> WriteResult:
    def decide(pos: int) -> WriteDecision[WriteResult]:
        node = _finding(ctx, node_id)
        after = {**node.props, **change(node)}
        again: NodeAssertion = replace(assertion_of(node), props=after, valid_from=None, valid_to=None)
        cited = ctx.store.citations(ctx.viewer, [node.event]).get(node.event)
        payload = Asserted(nodes=(again,), reason=f"finding {after['status']} by {ctx.writer.actor.agent}")
        draft = Draft(kind="graph.asserted", payload=payload, caused_by=() if cited is None else (cited,))
        fence = every(node_fence(node, pos))
        return WriteDecision(answer=WriteResult(status="saved", id=node.id), drafts=(draft,), fence=fence)

    return result_of(*decide_and_commit(ctx, decide))


def _finding(ctx: CallContext, node_id: str) -> NodeVersion:
    found = ctx.store.nodes(ctx.viewer, NOW, [node_id])
    if not found or found[0].kind != FINDING:
        raise NotFound(f"there is no finding {node_id[:80]!r} that you may see", hint="`weft finding-list` lists them")
    return found[0]


class FindingList(Struct, frozen=True, kw_only=True):
    """Input of `finding_list`."""

    status: Annotated[State | None, Meta(description="only with this status")] = None
    limit: Limit = 20


class FindingShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finding, its state, and the proof packet of an accepted one."""

    id: str
    status: str
    text: str
    by: str
    at: str
    citation: str
    reviewer: str = ""
    review: str = ""
    evidence: tuple[str, ...] = ()
    proof: dict[str, Any] = {}


class FindingsListed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Findings, latest first."""

    findings: tuple[FindingShown, ...]
    total: int
    notes: tuple[str, ...] = ()


def finding_list(ctx: CallContext, given: FindingList) -> FindingsListed:
    """Lists what workers found, latest first, with state and proof."""
    find = Find(kinds=(FINDING,), projects=(ctx.settings.project, None))
    nodes = ctx.store.find(ctx.viewer, NOW, find, limit=READ).nodes
    kept = [node for node in nodes if given.status is None or node.props.get("status") == given.status]
    page = kept[: given.limit]
    cited = ctx.store.citations(ctx.viewer, [node.event for node in page])
    shown = tuple(_show(node, cited.get(node.event, "")) for node in page)
    return bounded(FindingsListed(findings=shown, total=len(kept)), "findings")


def _show(node: NodeVersion, citation: str) -> FindingShown:
    props = node.props
    proof = props.get(PROOF)
    return FindingShown(
        id=node.id,
        status=str(props.get("status", "")),
        text=flat(node.text)[:LEAD_CHARACTERS],
        by=str(props.get("agent", "")),
        at=to_iso(node.recorded_at),
        citation=citation,
        reviewer=str(props.get("reviewer", "")),
        review=str(props.get("review", "")),
        evidence=tuple(each for each in props.get("evidence", ()) if isinstance(each, str)),
        proof=dict(proof) if isinstance(proof, dict) else {},
    )


OPERATIONS = (
    Operation(
        name="finding_report",
        summary="report what you found, for a coordinator to review",
        input=FindingReport,
        output=WriteResult,
        effect="write",
        toolset="fleet",
        run=finding_report,
        arguments=("text",),
    ),
    Operation(
        name="finding_review",
        summary="accept or reject what another agent found",
        input=FindingReview,
        output=WriteResult,
        effect="write",
        toolset="fleet",
        run=finding_review,
        arguments=("id", "verdict", "reason"),
    ),
    Operation(
        name="finding_promote",
        summary="make an accepted finding part of the shared state, with its proof",
        input=FindingPromote,
        output=WriteResult,
        effect="write",
        toolset="fleet",
        run=finding_promote,
        arguments=("id",),
    ),
    Operation(
        name="finding_list",
        summary="list what workers found, with state and proof",
        input=FindingList,
        output=FindingsListed,
        effect="read",
        toolset="fleet",
        run=finding_list,
        priorities={"findings.proof": "medium", "findings.evidence": "medium", "findings.id": "high"},
    ),
)
