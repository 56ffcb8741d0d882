"""Session compaction: a briefing with which a session goes on when the agent's window is full.

A briefing is one node for each conversation, `<conversation>:briefing`, with the conversation's own rights; every
compaction is a new version of it. It replaces nothing: the turns stay as they are.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from msgspec.structs import asdict

from weft.checkout.briefings import BRIEFING, briefing_id, briefing_of, default_guard, left_by, read_kept, sources_of
from weft.context.briefing import DUE_SHARE, PARTS, PROMPT, Briefing, is_due, read_briefing, share_of
from weft.conversations.turns import standing_of
from weft.core.clock import to_iso
from weft.core.errors import Invalid, NotFound
from weft.core.types import Guard
from weft.log.draft import MAX_CAUSES, Draft
from weft.log.kinds.graph import Asserted, NodeAssertion
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Name, RequestId
from weft.runtime.operation import Operation
from weft.writing.build.commit import commit
from weft.writing.build.deletions import deleted_node
from weft.writing.build.planned_write import earlier_result
from weft.writing.checks.provenance import conversation_key, conversation_named

__all__ = ["OPERATIONS", "briefing_id", "briefing_of"]

MAX_STATEMENTS: Final = 100  # of one part
MAX_CITATIONS: Final = MAX_CAUSES  # each is a cause of the event: erasing one erases the briefing
MAX_CHARACTERS: Final = 60_000

Said = Annotated[str, Meta(min_length=1, max_length=2_000)]
Saids = Annotated[tuple[Said, ...], Meta(max_length=MAX_STATEMENTS)]
Tokens = Annotated[int, Meta(ge=1, le=100_000_000)]
Session = Annotated[Name, Meta(description="the conversation, as record_turns names it")]
Used = Annotated[Tokens | None, Meta(description="how many tokens of the window are used")]
Window = Annotated[Tokens | None, Meta(description="how many tokens the model's window has")]


class SessionCompact(Struct, frozen=True, kw_only=True):
    """Input of `session_compact`."""

    session: Session
    asked: Annotated[Saids, Meta(description="what the person asked for")] = ()
    done: Annotated[Saids, Meta(description="what was done, with results")] = ()
    decided: Annotated[Saids, Meta(description="what was decided, and why")] = ()
    in_progress: Annotated[Saids, Meta(description="what is unfinished, and the next step")] = ()
    learned: Annotated[Saids, Meta(description="preferences and facts that the person gave about themselves")] = ()
    window_tokens: Window = None
    used_tokens: Used = None
    request_id: RequestId = None


class SessionCompacted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The stored briefing. `due` says whether it was time, `share` how much of the window was used.

    `cited` of its `statements` have a citation that resolves; the others rest on the agent's word.
    """

    status: str
    id: str
    session: str
    citation: str
    due: bool
    statements: int = 0
    cited: int = 0
    share: float | None = None
    text: str = ""
    notes: tuple[str, ...] = ()


def session_compact(ctx: CallContext, given: SessionCompact) -> SessionCompacted:
    """Stores a briefing of a session, with which it goes on in an empty window; `memory_checkout` brings it back.

    Give whole statements. A citation behind a statement, `[weft://…]` or `[file://…:12]`, is checked; a statement
    without one rests on the agent's word. `weft session-status` says when it is time, and what to ask the agent for.
    """
    key = conversation_key(ctx, given.session)
    briefing = read_briefing({name: getattr(given, name) for name in PARTS})
    if before := earlier_result(ctx, given.request_id, lambda payload: _wrote(payload, key, briefing)):
        return SessionCompacted(
            status=before.status,
            id=before.id,
            session=key,
            citation=before.citation,
            due=is_due(given.used_tokens, given.window_tokens),
            notes=before.notes,
        )
    if len(briefing.text()) > MAX_CHARACTERS:
        raise Invalid(f"the briefing is longer than {MAX_CHARACTERS:,} characters", hint="shorten it")
    guard = _guard(ctx, key)
    briefing, causes, notes = _checked(ctx, briefing)
    node = NodeAssertion(
        id=briefing_id(key),
        kind=BRIEFING,
        name=f"Briefing of {given.session}",
        text=briefing.text(),
        props=_props(key, given, briefing),
        **asdict(guard),
    )
    draft = Draft(kind="graph.asserted", payload=Asserted(nodes=(node,)), caused_by=causes, conversation=key)
    done = commit(ctx, [draft], request_id=given.request_id)
    due = is_due(given.used_tokens, given.window_tokens)
    return SessionCompacted(
        status=done.status,
        id=node.id,
        session=key,
        citation=done.citation,
        due=due,
        statements=briefing.count,
        cited=sum(bool(said.citations) for part in briefing.parts.values() for said in part),
        share=share_of(given.used_tokens, given.window_tokens),
        text=node.text,
        notes=(*notes, *(() if due else (_not_due(given),)), *done.notes),
    )


class SessionStatusInput(Struct, frozen=True, kw_only=True):
    """Input of `session_status`."""

    session: Session
    used_tokens: Used = None
    window_tokens: Window = None


class SessionStatus(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whether a session should be compacted now, the prompt for the agent, and the present briefing."""

    session: str
    due: bool
    share: float | None = None
    prompt: str = ""
    briefing: str = ""
    citation: str = ""
    briefed_at: str | None = None
    briefed_by: str = ""
    notes: tuple[str, ...] = ()


def session_status(ctx: CallContext, given: SessionStatusInput) -> SessionStatus:
    """Says whether a session should be compacted: above 75 % of its window. Then `prompt` asks the agent for a
    briefing.

    The last briefing of the session comes with it.
    """
    key = conversation_key(ctx, given.session)
    share, due = share_of(given.used_tokens, given.window_tokens), is_due(given.used_tokens, given.window_tokens)
    left = left_by(ctx, given.session)
    notes = () if left is None else left.notes
    if share is None:
        notes += ("give used_tokens and window_tokens to learn whether it is due",)
    return SessionStatus(
        session=key,
        due=due,
        share=share,
        prompt=PROMPT if due else "",
        briefing="" if left is None else left.node.text,
        citation="" if left is None else left.citation,
        briefed_at=None if left is None else to_iso(left.node.recorded_at),
        briefed_by="" if left is None else left.by,
        notes=notes,
    )


def _guard(ctx: CallContext, key: str) -> Guard:
    """The guard of the conversation; for one that was never recorded, the rights that this caller writes with.

    Raises Forbidden for a conversation that the caller may not see, NotFound for a deleted one.
    """
    known = conversation_named(ctx, key)
    if known is not None:
        return known.guard
    if deleted_node(ctx, key) is not None:
        raise NotFound(f"the conversation {key[:80]} is deleted", hint=f"`weft restore {key}` brings it back first")
    hidden = standing_of(ctx, key).guard  # of another time
    return default_guard(ctx) if hidden is None else hidden


def _checked(ctx: CallContext, briefing: Briefing) -> tuple[Briefing, tuple[str, ...], tuple[str, ...]]:
    """The briefing without citations that point at nothing the caller may see, the events it rests on, and a note."""
    written = briefing.citations
    if len(written) > MAX_CITATIONS:
        raise Invalid(f"the briefing cites {len(written)} sources; the limit is {MAX_CITATIONS}", hint="cite fewer")
    found = {each: sources_of(ctx, each) for each in written}
    causes = tuple(dict.fromkeys(source for sources in found.values() for source in sources or ()))[:MAX_CAUSES]
    bad = [each for each, sources in found.items() if sources is None]
    if not bad:
        return briefing, causes, ()
    named = ", ".join(bad[:5]) + (f" and {len(bad) - 5} more" if len(bad) > 5 else "")
    told = f"these citations point at nothing that you may see and were removed: {named}"
    return briefing.citing_only([each for each in written if each not in bad]), causes, (told,)


def _props(key: str, given: SessionCompact, briefing: Briefing) -> dict[str, Any]:
    """`conversation` makes an erased conversation take its briefing with it."""
    window = {"window_tokens": given.window_tokens, "used_tokens": given.used_tokens}
    return {"conversation": key, **briefing.props(), **{name: n for name, n in window.items() if n is not None}}


def _wrote(payload: Any, key: str, briefing: Briefing) -> str | None:
    """The id of the briefing that an earlier request wrote, if it has the same statements."""
    nodes = payload.nodes if isinstance(payload, Asserted) else ()
    said = {name: [each.text for each in part] for name, part in briefing.parts.items()}
    for node in nodes:
        kept = {name: [each.text for each in part] for name, part in read_kept(node.props).parts.items()}
        if node.kind == BRIEFING and node.id == briefing_id(key) and kept == said:
            return node.id
    return None


def _not_due(given: SessionCompact) -> str:
    share = share_of(given.used_tokens, given.window_tokens)
    if share is None:
        return "whether it was due is unknown: used_tokens and window_tokens were not given"
    return f"it was not due yet: {share:.0%} of the window is used, and {DUE_SHARE:.0%} is the mark; it is kept"


OPERATIONS = (
    Operation(
        name="session_compact",
        summary="keep a briefing of a session, so that it can go on with an empty context window",
        input=SessionCompact,
        output=SessionCompacted,
        effect="write",
        toolset="memory",
        run=session_compact,
        arguments=("session",),
    ),
    Operation(
        name="session_status",
        summary="whether a session should be compacted, and its last briefing",
        input=SessionStatusInput,
        output=SessionStatus,
        effect="read",
        toolset="memory",
        run=session_status,
        arguments=("session",),
    ),
)
