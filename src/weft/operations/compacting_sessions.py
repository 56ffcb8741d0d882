"""Session compaction: when an agent's window runs full, it leaves a briefing with which the session goes on.

A briefing is one node for each conversation, `<conversation>:briefing`, with the conversation's own rights; every
compaction is a new version of it. It replaces nothing: the turns stay as they are.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from msgspec.structs import asdict

from weft.context.briefing import DUE_SHARE, PARTS, PROMPT, Briefing, is_due, read_briefing, share_of
from weft.errors import Forbidden, Invalid, NotFound
from weft.instants import to_iso
from weft.log.draft import Draft
from weft.log.kinds.graph import Asserted, NodeAssertion
from weft.loom import Loom
from weft.operations.citing import Cite, cite
from weft.operations.committing import commit
from weft.operations.conversations import standing_of
from weft.operations.fields import Label, Name
from weft.operations.planned import answered
from weft.operations.registry import Operation
from weft.operations.rights import write_guard
from weft.operations.scoping import write_scope
from weft.operations.stamping import conversation_key, conversation_named
from weft.types import NOW, Guard, NodeVersion

BRIEFING: Final = "Briefing"
MAX_STATEMENTS: Final = 100  # of one part
MAX_CITATIONS: Final = 200
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
    learned: Annotated[Saids, Meta(description="what the person told about themselves")] = ()
    window_tokens: Window = None
    used_tokens: Used = None
    request_id: Annotated[Label | None, Meta(description="repeat a call with the same id and it is written once")] = (
        None
    )


class SessionCompacted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The briefing as it was kept. `due` says whether it was time, `share` how much of the window was used.

    `cited` of its `statements` rest on a citation that resolves; the others are told by the agent alone.
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


def session_compact(loom: Loom, given: SessionCompact) -> SessionCompacted:
    """Keeps a briefing of a session, with which it goes on in an empty window; `memory_checkout` brings it back.

    Give whole statements. One that cites its source, as `[weft://…]` or `[file://…:12]` behind it, is checked; one that
    cites none is kept as told by the agent. `weft session-status` says when it is time, and what to ask the agent for.
    """
    key = conversation_key(loom, given.session)
    if before := answered(loom, given.request_id, lambda payload: _wrote(payload, key)):
        return SessionCompacted(
            status=before.status,
            id=before.id,
            session=key,
            citation=before.citation,
            due=is_due(given.used_tokens, given.window_tokens),
            notes=before.notes,
        )
    briefing = read_briefing({name: getattr(given, name) for name in PARTS})
    if len(briefing.text()) > MAX_CHARACTERS:
        raise Invalid(f"the briefing is longer than {MAX_CHARACTERS:,} characters", hint="say less, in fewer words")
    guard = _guard(loom, key)
    briefing, notes = _checked(loom, briefing)
    node = NodeAssertion(
        id=briefing_id(key),
        kind=BRIEFING,
        name=f"Briefing of {given.session}",
        text=briefing.text(),
        props=_props(key, given, briefing),
        **asdict(guard),
    )
    draft = Draft(kind="graph.asserted", payload=Asserted(nodes=(node,)), conversation=key)
    done = commit(loom, [draft], request_id=given.request_id)
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


def briefing_id(conversation: str) -> str:
    """The id of the briefing of a conversation."""
    return f"{conversation}:briefing"


def briefing_of(loom: Loom, session: str) -> NodeVersion | None:
    """The newest briefing of a conversation, by its name in this project or by its id; None if there is none to see."""
    found = loom.store.nodes(loom.viewer, NOW, [briefing_id(conversation_key(loom, session))])
    return next((node for node in found if node.kind == BRIEFING), None)


class SessionStatusInput(Struct, frozen=True, kw_only=True):
    """Input of `session_status`."""

    session: Session
    used_tokens: Used = None
    window_tokens: Window = None


class SessionStatus(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whether a session should be compacted now, what to ask the agent for then, and the briefing that is there."""

    session: str
    due: bool
    share: float | None = None
    prompt: str = ""
    briefing: str = ""
    citation: str = ""
    briefed_at: str | None = None
    notes: tuple[str, ...] = ()


def session_status(loom: Loom, given: SessionStatusInput) -> SessionStatus:
    """Says whether a session should be compacted: above 75 % of its window. Then `prompt` is what to ask the agent for.

    The last briefing of the session comes with it.
    """
    key = conversation_key(loom, given.session)
    share, due = share_of(given.used_tokens, given.window_tokens), is_due(given.used_tokens, given.window_tokens)
    node = briefing_of(loom, given.session)
    citation = "" if node is None else loom.store.citations(loom.viewer, [node.event]).get(node.event, "")
    notes: tuple[str, ...] = ()
    if share is None:
        notes = ("whether it is due cannot be told without used_tokens and window_tokens",)
    return SessionStatus(
        session=key,
        due=due,
        share=share,
        prompt=PROMPT if due else "",
        briefing="" if node is None else node.text,
        citation=citation,
        briefed_at=None if node is None else to_iso(node.recorded_at),
        notes=notes,
    )


def _guard(loom: Loom, key: str) -> Guard:
    """The conversation's; for one that was never recorded, what this caller writes with.

    Raises Forbidden for a conversation that is not the caller's to see.
    """
    known = conversation_named(loom, key)
    if known is not None:
        return known.guard
    if (hidden := standing_of(loom, key).guard) is not None:  # deleted, or of another time
        return hidden
    project = write_scope(loom, project=None, focus=None, level="project").project
    return write_guard(loom, scope=None, agents=(), project=project)


def _checked(loom: Loom, briefing: Briefing) -> tuple[Briefing, tuple[str, ...]]:
    """The briefing without citations that point at nothing the caller may see, and a note on those."""
    written = briefing.citations
    if len(written) > MAX_CITATIONS:
        raise Invalid(f"the briefing cites {len(written)} sources; the limit is {MAX_CITATIONS}", hint="cite fewer")
    good = [each for each in written if _resolves(loom, each)]
    bad = [each for each in written if each not in good]
    if not bad:
        return briefing, ()
    named = ", ".join(bad[:5]) + (f" and {len(bad) - 5} more" if len(bad) > 5 else "")
    return briefing.citing_only(good), (
        f"these citations point at nothing that you may see, and were left out: {named}",
    )


def _resolves(loom: Loom, citation: str) -> bool:
    try:
        cite(loom, Cite(citation=citation))
    except (Forbidden, Invalid, NotFound):
        return False
    return True


def _props(key: str, given: SessionCompact, briefing: Briefing) -> dict[str, Any]:
    """`conversation` is what takes a briefing with it when the conversation is erased."""
    window = {"window_tokens": given.window_tokens, "used_tokens": given.used_tokens}
    return {"conversation": key, **briefing.props(), **{name: n for name, n in window.items() if n is not None}}


def _wrote(payload: Any, key: str) -> str | None:
    nodes = payload.nodes if isinstance(payload, Asserted) else ()
    return next((node.id for node in nodes if node.kind == BRIEFING and node.id == briefing_id(key)), None)


def _not_due(given: SessionCompact) -> str:
    share = share_of(given.used_tokens, given.window_tokens)
    if share is None:
        return "whether it was due is not known: used_tokens and window_tokens were not given"
    return f"it was not due yet: {share:.0%} of the window is used, and {DUE_SHARE:.0%} is the mark; it is kept"


OPERATIONS = (
    Operation(
        name="session_compact",
        summary="keep a briefing of a session, with which it goes on in an empty window",
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
