"""The facts that a memory's words state: each takes a free place, or waits as a proposal."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from weft.core.kinds import DERIVED_FROM
from weft.log.draft import Draft
from weft.runtime.call_context import CallContext
from weft.writing.checks.current_value import FactStatement, compare_with_current, fact_payload
from weft.writing.proposals import NewProposal, open_proposal, proposal_draft


class ClaimSource(Struct, frozen=True, kw_only=True):
    """The memory that states the facts: what ids of these begin with, and the options it was written with."""

    id: str
    stem: str
    props: dict[str, Any]
    focus: str | None
    occurred_at: int | None = None


class ClaimsWritten(Struct, frozen=True, kw_only=True):
    """The events of claims, and notes on those that contradict a current fact."""

    drafts: tuple[Draft, ...] = ()
    notes: tuple[str, ...] = ()


def claims_written(
    ctx: CallContext, claims: Sequence[FactStatement], source: ClaimSource, *, gone: Container[str] = ()
) -> ClaimsWritten:
    """A fact for each claim whose place is free, a proposal for each that contradicts a current fact.

    `gone` are facts and proposals that the same write removes. Read-only; depends on `statements_fence`.
    """
    drafts, notes = [], []
    for number, said in enumerate(claims):
        found = compare_with_current(ctx, said, gone=gone)
        claim_id = f"{source.stem}:claim:{number}"
        if found.verdict == "new":
            payload = fact_payload(said, claim_id, None)
            props = source.props | payload.props | {DERIVED_FROM: source.id}
            payload = replace(payload, props=props, focus=source.focus)
            drafts.append(Draft(kind="memory.remembered", payload=payload, occurred_at=source.occurred_at))
        elif found.verdict == "other" and found.fact is not None:
            waiting = open_proposal(ctx, said, found.fact)
            if waiting is not None and waiting.id not in gone:
                continue
            drafts.append(proposal_draft(ctx, NewProposal(id=claim_id, said=said, old=found.fact, source=source.id)))
            notes.append(f"{said.text!r} contradicts {found.fact.text!r}: `weft proposal-review {claim_id}` decides")
    return ClaimsWritten(drafts=tuple(drafts), notes=tuple(notes))
