"""Changes as text: writes, decisions, deletions, erasures and pending proposals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from weft.surfaces.render.page import (
    REASON_CHARACTERS,
    Colour,
    TextPage,
    as_json,
    counted,
    day,
    facts,
    minute,
    one_line,
    tally,
)
from weft.text.one_line import flat

if TYPE_CHECKING:
    from weft.access.approve import ApprovalDecided, ApprovalList, ApprovalRequested
    from weft.erasure.carry_out import Erasure
    from weft.erasure.delete import DeletionList, DeletionResult
    from weft.upkeep.pending import PendingDelivered, PendingShown, PendingShownAll
    from weft.writing.batches import BatchWritten
    from weft.writing.checks.approvals import ApprovalShown
    from weft.writing.curate import TruthCompiled
    from weft.writing.proposals import ProposalList, ProposalShown

STATUSES: Final[dict[str, Colour]] = {
    "waiting": "yellow",
    "pending": "yellow",
    "approved": "green",
    "accepted": "green",
    "used": "green",
    "denied": "red",
    "rejected": "red",
    "expired": "red",
}


def batch(p: TextPage, answer: BatchWritten) -> None:
    failed = f", {len(answer.failed)} not" if answer.failed else ""
    p.say(f"{answer.written:,} of {len(answer.items):,} written{failed}.")
    p.block()
    for item in answer.items:
        ended = f"replaces {counted(len(item.supersedes), 'older one')}" if item.supersedes else ""
        hint = f" ({one_line(item.hint, REASON_CHARACTERS)})" if item.hint else ""
        wrong = p.paint(f"{one_line(item.error, REASON_CHARACTERS)}{hint}", "red") if item.error else ""
        notes = "; ".join(one_line(note, REASON_CHARACTERS) for note in item.notes)
        name = p.name(item.id) if item.id else ""
        p.lines(f"{item.index}: {facts(item.status, p.dim(name), p.dim(flat(item.citation)), ended, wrong, notes)}")


def truth(p: TextPage, answer: TruthCompiled) -> None:
    if not answer.text:
        p.say("Nothing was compiled.")  # the notes say why
        return
    kept = f", {'already saved' if answer.status == 'duplicate_skip' else 'saved'} as {answer.citation}"
    p.say(f"Compiled from {counted(len(answer.sources), 'memory', 'memories')}{kept if answer.citation else ''}.")
    p.block()
    p.quote(answer.text)
    p.block(p.dim(f"id {p.name(answer.id)}") if answer.id else "")
    p.lines(*(p.dim(f"[{number}] {flat(each)}") for number, each in enumerate(answer.sources, start=1)))


# ---- what waits for a decision


def proposals(p: TextPage, answer: ProposalList) -> None:
    if not answer.proposals:
        p.empty("proposals")
        return
    p.say(f"{counted(len(answer.proposals), 'proposal')}, the latest first.")
    for each in answer.proposals:
        _proposal(p, each)


def _proposal(p: TextPage, each: ProposalShown) -> None:
    about = f"{p.words(each.subject)} {p.words(each.predicate.replace('_', ' '))}"
    sure = f"confidence {each.confidence:.0%}" if each.confidence is not None else ""
    status = p.paint(each.status, STATUSES.get(each.status, ""))
    p.block(facts(f"{status} {p.name(each.id)}", about, sure))
    since = f"since {day(each.stands_since)}" if each.stands_since and not each.holds_now else "no longer"
    since += f", now {p.words(each.holds_now)}" if each.holds_now else ""
    p.lines(facts(f"current: {p.words(each.stands)}", since, p.dim(flat(each.old_citation))))
    if each.stands_text:
        p.quote(each.stands_text, short=True)
    source = p.dim(flat(each.source_citation or each.citation))
    p.lines(facts(f"proposed: {p.words(each.proposed)}", f"since {day(each.begins or each.proposed_at)}", source))
    if each.source_text:
        p.quote(each.source_text, short=True)
    p.lines(p.reason(each.reason))
    if each.status == "pending":
        p.lines(p.dim(f"{p.call(f'proposal-review {each.id} accept')}, or reject, decides"))


def approval_requested(p: TextPage, answer: ApprovalRequested) -> None:
    until = minute(answer.until)
    if answer.status == "approved":
        p.say(f"Approved until {until}: call {answer.operation} with governance_token={answer.token}.")
    else:
        p.say(f"Request {answer.id} waits for the operator until {until}.")
        p.say(f"Then call {answer.operation} with governance_token={answer.token}.")
    by = f"asked by {one_line(answer.agent)} ({one_line(answer.role)})"
    p.block(p.dim(facts(f"id {answer.id}", by, f"bound to {answer.content_hash}")))


def approvals(p: TextPage, answer: ApprovalList) -> None:
    if not answer.approvals:
        p.empty("requests")
        return
    p.say(f"{counted(len(answer.approvals), 'request')} to write for all projects.")
    for shown in answer.approvals:
        approval(p, shown)


def approval_decided(p: TextPage, answer: ApprovalDecided) -> None:
    status = answer.approval.status
    p.say(f"{p.paint(status.capitalize(), STATUSES.get(status, ''))}.")
    approval(p, answer.approval)


def approval(p: TextPage, shown: ApprovalShown) -> None:
    """One request as a whole: nobody approves what is not shown."""
    until = "until" if shown.status in ("waiting", "approved") else "was until"
    by = f"{p.bold(one_line(shown.operation))} by {p.bold(f'{one_line(shown.agent)} ({one_line(shown.role)})')}"
    times = (f"asked {minute(shown.requested_at)}", f"{until} {minute(shown.until)}")
    status = p.paint(shown.status, STATUSES.get(shown.status, ""))
    p.block(facts(p.name(shown.id), status, by, *times, p.dim(flat(shown.citation))))
    if shown.sealed:
        p.lines(p.paint("(what it says is sensitive, and its key is not here)", "red"))
    for name, value in shown.arguments.items():
        argument(p, name, value)
    if shown.why:
        p.lines("because:")
        p.quote(shown.why)
    if shown.decided_by:
        how = "by the setting" if shown.automatic else "by"
        by = f"decided {minute(shown.decided_at)} {how} {one_line(shown.decided_by)}"
        p.lines(p.dim(facts(by, p.words(shown.reason, REASON_CHARACTERS) if shown.reason else "")))


def argument(p: TextPage, name: str, value: Any) -> None:
    if isinstance(value, list | tuple) and any(isinstance(each, dict) for each in value):
        p.lines(f"{one_line(name)}: {len(value)}")
        for each in value:
            p.quote(as_json(each))
        return
    p.lines(f"{one_line(name)}:")
    p.quote(value if isinstance(value, str) else as_json(value))


def pending(p: TextPage, answer: PendingShownAll) -> None:
    if not answer.waiting and not answer.refused:
        p.empty("waiting writes")
        return
    waiting, refused = counted(len(answer.waiting), "write"), len(answer.refused)
    p.say(f"{waiting} in the outbox, {refused:,} refused.")
    p.block()
    _writes(p, "waiting", answer.waiting)
    _writes(p, "refused", answer.refused)


def _writes(p: TextPage, state: str, writes: Iterable[PendingShown]) -> None:
    for each in writes:
        problem = p.words(each.reason or each.problem, REASON_CHARACTERS) if each.reason or each.problem else ""
        kinds, since = ", ".join(map(one_line, each.kinds)), f"since {minute(each.since)}" if each.since else ""
        request = f"request {p.name(each.request_id)}" if each.request_id else ""
        p.lines(facts(f"{state}: {p.name(each.entry)}", kinds, since, f"by {one_line(each.agent)}", request, problem))


def delivered(p: TextPage, answer: PendingDelivered) -> None:
    refused = f", {len(answer.refused):,} refused" if answer.refused else ""
    p.say(f"{counted(answer.delivered, 'write')} delivered, {answer.left:,} still in the outbox{refused}.")
    p.block(*(f"refused: {one_line(each, REASON_CHARACTERS)}" for each in answer.refused))


# ---- deleting and erasing


def deleted(p: TextPage, answer: DeletionResult) -> None:
    if answer.status == "failed":
        p.say(p.paint("Nothing was changed.", "red"))  # the notes say why
        return
    cited = f", as {flat(answer.citation)}" if answer.citation else ""
    what = f"{counted(answer.nodes, 'node')}{_kinds(answer.kinds)}"
    p.say(f"{p.paint('Done', 'green')}: {p.name(answer.id)}, {what}{cited}.")
    p.say(f"It can be brought back until {day(answer.until)}." if answer.until else "")


def deletions(p: TextPage, answer: DeletionList) -> None:
    if not answer.deletions:
        p.empty("deletions")
        return
    p.say(f"{counted(len(answer.deletions), 'deletion')}; each can be undone for {answer.grace_days:g} days.")
    p.block()
    for each in answer.deletions:
        state = f"cleared: {p.call('clear-graph --undo')} brings it back" if each.cleared else ""
        state = state or (p.paint("can be purged", "red") if each.over else f"until {day(each.until)}")
        name = f" {p.words(each.name)}" if each.name else ""
        about = (counted(each.nodes, "node"), f"{minute(each.at)} by {one_line(each.by)}", state, p.reason(each.reason))
        p.lines(facts(f"{p.kind(each.kind)}{name}", f"id {p.name(each.id)}", *about))


def erasure(p: TextPage, answer: Erasure) -> None:
    done = answer.status == "erased"
    if not (done or answer.nodes or answer.events or answer.outbox or answer.audit or answer.files):
        p.empty("data to erase")
        return
    counts = [
        counted(answer.events, "event"),
        counted(answer.nodes, "node") + _kinds(answer.kinds),
        counted(answer.texts, "text"),
    ]
    counts += [counted(answer.receipts, "receipt")] if answer.receipts else []
    counts += [counted(answer.outbox, "waiting write")] if answer.outbox else []
    counts += [counted(answer.audit, "recorded call")] if answer.audit else []
    verb = (
        p.paint("Erased for good", "red")
        if done
        else p.paint("It would be erased for good; nothing is erased yet", "yellow")
    )
    p.say(f"{verb}: {', '.join(counts)}.")
    p.block(*(f"{p.kind(each.kind)} {p.words(each.words)}  {p.dim(p.name(each.id))}" for each in answer.shown))
    if answer.shown and len(answer.shown) < answer.nodes:
        p.lines(p.dim(f"and {answer.nodes - len(answer.shown):,} more"))
    p.lines(*(f"the file {p.words(each, 4_096)}" for each in answer.files))
    p.lines(*(p.dim(f"as {flat(each)}") for each in answer.citations))
    if done:
        p.lines(p.dim(f"at {minute(answer.at)} by {one_line(answer.by)}"))
    p.lines(*(f"out of weft's reach: {p.words(each, REASON_CHARACTERS)}" for each in answer.out_of_reach))


def _kinds(kinds: dict[str, int]) -> str:
    return f" ({tally(kinds)})" if kinds else ""
