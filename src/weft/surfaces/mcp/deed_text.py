"""How what was done, and what waits to be decided, reads to a model: writes, proposals, approvals, deletions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from weft.retrieval.views.ground import flat
from weft.surfaces.mcp.words import QUOTED, Rendered, block, counted, facts, kind, line, node_id, said

if TYPE_CHECKING:
    from weft.operations.approvals import ApprovalShown
    from weft.operations.approving import ApprovalDecided, ApprovalList, ApprovalRequested
    from weft.operations.batches import BatchWritten, ItemWritten
    from weft.operations.deleting import Deleted, DeletionList, DeletionShown
    from weft.operations.erasing import Erasure
    from weft.operations.pending import PendingShown, PendingShownAll
    from weft.operations.proposals import ProposalList, ProposalShown
    from weft.operations.recording import TurnsRecorded


def batch(answer: BatchWritten) -> Rendered:
    """How many were written, and a line for each."""
    failed = f", {len(answer.failed)} not" if answer.failed else ""
    items = "\n".join(map(_item, answer.items))
    return Rendered(
        summary=f"{answer.written:,} of {len(answer.items):,} written{failed}.", blocks=(items,) if items else ()
    )


def _item(item: ItemWritten) -> str:
    ended = f"ends {', '.join(map(node_id, item.supersedes))}" if item.supersedes else ""
    wrong = f"{line(item.error, 500)} ({line(item.hint, 500)})" if item.error else ""
    notes = "; ".join(line(note, 500) for note in item.notes)
    name = node_id(item.id) if item.id else ""
    return f"{item.index}: {facts(item.status, name, flat(item.citation), ended, wrong, notes)}"


def turns(answer: TurnsRecorded) -> Rendered:
    """How many turns a conversation got."""
    if answer.status == "held":
        return Rendered(summary=f"The first message of {node_id(answer.session)} waits for a second.")
    what = "were there already" if answer.status == "duplicate_skip" else "recorded"
    last = f", the last as {flat(answer.turns[-1].citation)}" if answer.turns else ""
    return Rendered(summary=f"{counted(len(answer.turns), 'turn')} {what} in {node_id(answer.session)}{last}.")


def proposals(answer: ProposalList) -> Rendered:
    """Both sides of each, in their own words."""
    if not answer.proposals:
        return Rendered(summary="No proposal is there.")
    blocks = tuple(map(_proposal, answer.proposals))
    return Rendered(summary=f"{counted(len(blocks), 'proposal')}, the latest first. {QUOTED}", blocks=blocks)


def _proposal(shown: ProposalShown) -> str:
    sure = f"confidence {shown.confidence:.2f}" if shown.confidence is not None else ""
    head = facts(
        node_id(shown.id), shown.status, f"{said(shown.subject)} {said(shown.predicate)}", shown.proposed_at[:16], sure
    )
    parts = [
        head,
        facts(f"stands: {said(shown.stands)}", shown.stands_since[:10], flat(shown.old_citation)),
        *([block(shown.stands_text)] if shown.stands_text else []),
        facts(f"proposed: {said(shown.proposed)}", flat(shown.source_citation or shown.citation)),
        *([block(shown.source_text)] if shown.source_text else []),
        *([f"reason: {said(shown.reason, 500)}"] if shown.reason else []),
    ]
    return "\n".join(parts)


def approval_requested(answer: ApprovalRequested) -> Rendered:
    """The token, and how it is used."""
    call = f"call {answer.operation} with governance_token={answer.token}"
    if answer.status == "approved":
        return Rendered(summary=f"Approved: {call} until {answer.until[:19]}Z.")
    return Rendered(summary=f"Request {answer.id} waits for the operator until {answer.until[:19]}Z; then {call}.")


def approvals(answer: ApprovalList) -> Rendered:
    """What would be written with each, and how it stands."""
    if not answer.approvals:
        return Rendered(summary="There is no such request.")
    blocks = tuple(map(_approval, answer.approvals))
    return Rendered(summary=f"{counted(len(blocks), 'request')} to write for all projects. {QUOTED}", blocks=blocks)


def approval_decided(answer: ApprovalDecided) -> Rendered:
    """What became of a request."""
    return Rendered(summary=f"{answer.approval.status.capitalize()}. {QUOTED}", blocks=(_approval(answer.approval),))


def _approval(shown: ApprovalShown) -> str:
    until = "until" if shown.status in ("waiting", "approved") else "was until"
    head = facts(
        node_id(shown.id),
        shown.status,
        f"{line(shown.operation)} by {line(shown.agent)} ({line(shown.role)})",
        f"asked {shown.requested_at[:16]}",
        f"{until} {shown.until[:16]}",
    )
    parts = [head, *(["(sensitive, and its key is not here)"] if shown.sealed else [])]
    parts += [f"{line(name)}:\n{block(_value(value))}" for name, value in shown.arguments.items()]
    parts += [f"because {said(shown.why, 500)}"] if shown.why else []
    if shown.decided_by:
        parts.append(facts(f"decided by {line(shown.decided_by)}", said(shown.reason, 500) if shown.reason else ""))
    return "\n".join(parts)


def _value(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def deleted(answer: Deleted) -> Rendered:
    """What went, or came back."""
    if answer.status == "failed":
        return Rendered(summary="Nothing was done.")  # the notes say why
    until = f" It can be brought back until {answer.until[:10]}." if answer.until else ""
    cited = f" ({flat(answer.citation)})" if answer.citation else ""
    summary = f"{node_id(answer.id)}: {counted(answer.nodes, 'node')}{_kinds(answer.kinds)}{cited}.{until}"
    return Rendered(summary=summary)


def deletions(answer: DeletionList) -> Rendered:
    """What is deleted and can be brought back."""
    if not answer.deletions:
        return Rendered(summary="Nothing is deleted.")
    lines = "\n".join(map(_deletion, answer.deletions))
    count = counted(len(answer.deletions), "deletion")
    return Rendered(
        summary=f"{count}; each can be brought back for {answer.grace_days:g} days. {QUOTED}", blocks=(lines,)
    )


def _deletion(shown: DeletionShown) -> str:
    state = "cleared" if shown.cleared else "may be purged" if shown.over else f"until {shown.until[:10]}"
    name = f" {said(shown.name)}" if shown.name else ""
    why = f"because {said(shown.reason)}" if shown.reason else ""
    what = f"{node_id(shown.id)} {kind(shown.kind)}{name}"
    return facts(what, counted(shown.nodes, "node"), f"{shown.at[:16]} by {line(shown.by)}", state, why)


def erasure(answer: Erasure) -> Rendered:
    """What went for good, or would."""
    done = "Erased for good" if answer.status == "erased" else "It would go for good; nothing is erased yet"
    what = facts(
        counted(answer.events, "event"),
        counted(answer.nodes, "node") + _kinds(answer.kinds),
        counted(answer.texts, "text"),
    )
    shown = [f"{node_id(each.id)} {kind(each.kind)} {said(each.words)}" for each in answer.shown]
    shown += [f"the file {said(each, 4_096)}" for each in answer.files]
    left = [f"out of reach: {said(each, 500)}" for each in answer.out_of_reach]
    return Rendered(summary=f"{done}: {what}. {QUOTED}", blocks=("\n".join(shown + left),) if shown or left else ())


def _kinds(kinds: dict[str, int]) -> str:
    return f" ({', '.join(f'{line(name)} {number:,}' for name, number in kinds.items())})" if kinds else ""


def pending(answer: PendingShownAll) -> Rendered:
    """Writes that wait for the store, and those that it refused."""
    if not answer.waiting and not answer.refused:
        return Rendered(summary="No write waits.")
    lines = [_waiting("waits", each) for each in answer.waiting] + [
        _waiting("refused", each) for each in answer.refused
    ]
    return Rendered(
        summary=f"{len(answer.waiting):,} wait, {len(answer.refused):,} were refused.", blocks=("\n".join(lines),)
    )


def _waiting(state: str, shown: PendingShown) -> str:
    kinds = ", ".join(map(line, shown.kinds))
    problem = said(shown.reason or shown.problem, 500) if shown.reason or shown.problem else ""
    return facts(
        f"{state}: {node_id(shown.entry)}", kinds, f"since {shown.since[:16]}", f"by {line(shown.agent)}", problem
    )
