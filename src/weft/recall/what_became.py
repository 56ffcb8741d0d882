"""Later corrections and ends of what an event recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from weft.core.clock import to_iso
from weft.core.kinds import DERIVED_FROM
from weft.core.types import MAX_LIMIT, Event, NodeVersion
from weft.log.citation import EventCitation, parse_citation
from weft.recall.show_values import show_events
from weft.retrieval.citations.resolve import event_of
from weft.runtime.call_context import CallContext


class Since(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A later change of a cited node: `corrected` (by which event, why, the present text), `withdrawn` or `over`."""

    how: Literal["corrected", "over", "withdrawn"]
    at: str
    citation: str = ""
    agent: str = ""
    reason: str = ""
    text: str = ""


def since_then(ctx: CallContext, event: Event, nodes: Sequence[NodeVersion]) -> tuple[Since, ...]:
    """The later changes of nodes that the event itself recorded; extracted nodes are left out."""
    own = [node for node in nodes if node.kind != "Mention" and DERIVED_FROM not in node.props]
    return tuple(each for each in (_of(ctx, event, node) for node in own) if each is not None)


def _of(ctx: CallContext, event: Event, node: NodeVersion) -> Since | None:
    versions = ctx.store.history(ctx.viewer, node.id, limit=MAX_LIMIT)
    live = [each for each in versions if each.retired_at is None]
    if not live and versions:
        return taken_back(ctx, versions)
    later = [each for each in live if each.event > event.pos and _says(each) != _says(node)]
    if later:
        return _corrected(ctx, later[-1])
    ends = [each.interval.valid_to for each in live]
    now = ctx.clock.now_us()
    over = [end for end in ends if end is not None and end <= now]
    return Since(how="over", at=to_iso(max(over))) if over and len(over) == len(ends) else None


def _says(node: NodeVersion) -> tuple[str, str, str]:
    return node.name, node.text, node.summary


def taken_back(ctx: CallContext, versions: Sequence[NodeVersion]) -> Since:
    """The change of a node that was ended before it began: it was never true.

    If a reason was given, the last version was written in the same commit, to carry it.
    """
    last = max(versions, key=lambda each: (each.retired_at or 0, each.event))
    at = to_iso(last.retired_at or last.recorded_at)
    if last.tx != last.retired_tx:
        return Since(how="withdrawn", at=at)
    return replace(_corrected(ctx, last), how="withdrawn", at=at, text="")


def reason_of(ctx: CallContext, node: NodeVersion) -> str:
    """Why this version was written, as its event says, if the asker may read that."""
    return _corrected(ctx, node).reason


def _corrected(ctx: CallContext, node: NodeVersion) -> Since:
    """With the reason that the event gives, if the asker may read it."""
    citation = ctx.store.citations(ctx.viewer, [node.event]).get(node.event, "")
    parsed = parse_citation(citation) if citation else None
    event = event_of(ctx, parsed) if isinstance(parsed, EventCitation) else None
    told = show_events(ctx, [event])[0] if event is not None else None
    payload = told.payload if told is not None and isinstance(told.payload, dict) else {}
    reason = payload.get("reason")
    return Since(
        how="corrected",
        at=to_iso(node.recorded_at),
        citation=citation,
        agent=told.agent if told is not None else "",
        reason=reason if isinstance(reason, str) else "",
        text=node.text or node.name,
    )
