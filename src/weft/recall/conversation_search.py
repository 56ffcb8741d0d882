"""Search in conversations, with the turns around each message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.conversations.archive import is_archived
from weft.conversations.turns import LATEST, conversation_id
from weft.core.clock import parse_instant, to_iso
from weft.core.errors import Forbidden, Invalid, NotFound, StoreError
from weft.core.types import MAX_IDS_PER_READ, MAX_LIMIT, NodeVersion, When
from weft.recall.answer_limits import bounded
from weft.recall.request import notes_of
from weft.recall.show_values import NodeShown, show_cited
from weft.retrieval import recipes
from weft.retrieval.fallback.from_log import search_log
from weft.retrieval.pipeline import Answer, Ask, Candidate, run
from weft.retrieval.scoring.conversation_flow import turn_beside
from weft.retrieval.sources.one_conversation import MAX_MESSAGES, messages_of, within
from weft.runtime.call_context import CallContext
from weft.runtime.fields import (
    Anywhere,
    AsOf,
    KnownAt,
    Limit,
    Moment,
    Name,
    OtherProject,
    Query,
    check_text,
    projects_asked,
)
from weft.runtime.moments import read_when
from weft.runtime.operation import Operation

MAX_NEIGHBOURS = 3  # turns on each side of one that was found
MESSAGE = "Message"


class ConversationSearch(Struct, frozen=True, kw_only=True):
    """Input of `conversation_search`."""

    query: Query
    session: Annotated[Name | None, Meta(description="only this conversation, by its name or id")] = None
    limit: Limit = 10
    neighbours: Annotated[
        int, Meta(ge=0, le=MAX_NEIGHBOURS, description="turns shown before and after each message")
    ] = 1
    project: OtherProject = None
    everywhere: Anywhere = False
    archived: Annotated[bool, Meta(description="archived conversations too")] = False
    as_of: AsOf = None
    known_at: KnownAt = None
    asked_at: Annotated[Moment | None, Meta(description="the time of the question, for words like yesterday")] = None
    min_score: Annotated[float, Meta(ge=0.0, le=2.0, description="least evidence for an answer; 0: always")] | None = (
        None
    )


class TurnShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One turn: `speaker` is a name, `role` a plain role such as user; `verdict` is set if the gateway found it
    suspicious.
    """

    id: str
    text: str
    at: str
    citation: str
    speaker: str = ""
    role: str = ""
    verdict: str = ""
    flags: tuple[str, ...] = ()


class MessageFound(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message that answers, with its score, its conversation, and the turns around it, in their order."""

    score: float
    session: str
    message: TurnShown
    before: tuple[TurnShown, ...] = ()
    after: tuple[TurnShown, ...] = ()


class MessagesFound(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Messages, best first. `degraded` says why the log was searched instead of the graph."""

    query: str
    messages: tuple[MessageFound, ...]
    valid_at: str
    known_at: str
    session: str = ""
    degraded: str = ""
    notes: tuple[str, ...] = ()


def conversation_search(ctx: CallContext, given: ConversationSearch) -> MessagesFound:
    """Finds messages of conversations, with the turns before and after them.

    With --session only one conversation, every message of it. Archived conversations are left out, unless one is named
    or --archived is given. Public agents search their own session only.
    """
    check_text(given.query, "conversation_search: query")
    conversations, unsure = _conversations(ctx, given.session)
    ask = Ask(
        query=given.query,
        when=read_when(ctx, as_of=given.as_of, known_at=given.known_at),
        limit=given.limit,
        projects=projects_asked(ctx, given.project, everywhere=given.everywhere or conversations is not None),
        kinds=(MESSAGE,),
        min_score=given.min_score,
        asked_at=None if given.asked_at is None else parse_instant(given.asked_at, field="asked_at"),
    )
    answer, notes = _searched(ctx, ask, conversations)
    if conversations is None and not given.archived:
        answer, hidden = without_archived(ctx, answer)
        notes += hidden
    ranked = [
        each
        for each in answer.ranked or ()
        if conversations is None or each.node.props.get("conversation") in conversations
    ][: given.limit]
    messages, unserved = _with_neighbours(ctx, answer, ranked, given.neighbours)
    when, then = answer.ask.when, given.as_of is not None or given.known_at is not None
    found = MessagesFound(
        query=given.query,
        messages=messages,
        valid_at=to_iso(when.valid_at or 0),
        known_at=to_iso(when.known_at or 0),
        session="" if conversations is None else conversations[0],
        degraded=answer.degraded,
        notes=(*unsure, *notes, *notes_of(ctx, answer, ranked, then=then), *unserved),
    )
    return bounded(found, "messages", beside={"turns around messages": ("before", "after")})


def _searched(ctx: CallContext, ask: Ask, conversations: Sequence[str] | None) -> tuple[Answer, tuple[str, ...]]:
    """The answer, and notes on where it was searched. One conversation is searched whole, also in the log."""
    if conversations is None:
        return run(recipes.RECIPES["default"], ctx, ask), ()
    try:
        ask = replace(ask, when=ctx.store.pin(ctx.viewer, ask.when))
        messages = [each for name in conversations for each in messages_of(ctx, ask.when, name)]
    except StoreError as problem:
        return _in_log(ctx, ask, problem.message), ()
    notes: tuple[str, ...] = () if messages else (f"the session {conversations[0]!r} has no messages",)
    if len(messages) >= MAX_MESSAGES:
        notes = (f"the session is long: its latest {MAX_MESSAGES:,} messages were searched",)
    answer = run(within(messages), ctx, ask)
    return (_in_log(ctx, ask, answer.degraded) if answer.degraded else answer), notes


def _in_log(ctx: CallContext, ask: Ask, problem: str) -> Answer:
    """Searches the log for many more messages than requested, since other conversations' are among them."""
    return search_log(ctx, replace(ask, limit=MAX_MESSAGES), problem=problem)


def _conversations(ctx: CallContext, session: str | None) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """The id of the one conversation to search, or None for all; two possible ids, and a note, if the graph cannot be
    read.

    Raises Forbidden where a public viewer names another than its own, NotFound for one that the viewer cannot see.
    """
    written = None if session is None else session.strip()
    if written == "":
        raise Invalid("the session has no name", hint="say which conversation to search, or leave it out")
    project, own = ctx.settings.project, ctx.settings.session
    if ctx.viewer.audience == "public":
        conversation = conversation_id(project, own)
        if written not in (None, own, conversation):
            raise Forbidden("public agents search their own session only", hint="leave session out")
        return (conversation,), ()
    if written is None:
        return None, ()
    either = (written, conversation_id(project, written))
    try:
        for conversation in either:
            versions = ctx.store.history(ctx.viewer, conversation, limit=1)
            if versions and versions[0].kind == "Session":
                return (conversation,), ()
    except StoreError as problem:
        return either, (f"the session {written[:80]!r} could not be looked up: {problem.message}",)
    raise NotFound(f"there is no session {written[:80]!r} that you may see", hint="`weft recall` searches all of them")


def _with_neighbours(
    ctx: CallContext, answer: Answer, ranked: Sequence[Candidate], neighbours: int
) -> tuple[tuple[MessageFound, ...], tuple[str, ...]]:
    """The messages, and notes on turns and citations that could not be read."""
    steps = [*range(-neighbours, 0), *range(1, neighbours + 1)]
    beside = {each.node.id: {step: turn_beside(each.node.id, step) for step in steps} for each in ranked}
    wanted = [turn for turns in beside.values() for turn in turns.values() if turn is not None]
    around, alone = _around(ctx, answer, wanted)
    nodes = {each.node.id: each.node for each in ranked} | around
    cited, uncited = show_cited(ctx, tuple(nodes.values()), answer)
    shown = {each.id: _turn(nodes[each.id], each) for each in cited}

    def turns(found: NodeVersion, chosen: Iterable[int]) -> tuple[TurnShown, ...]:
        ids = [beside[found.id][step] for step in chosen]
        session = found.props.get("conversation")
        return tuple(
            shown[each] for each in ids if each in around and around[each].props.get("conversation") == session
        )

    found = tuple(
        MessageFound(
            score=each.score,
            session=str(each.node.props.get("conversation") or ""),
            message=shown[each.node.id],
            before=turns(each.node, [step for step in steps if step < 0]),
            after=turns(each.node, [step for step in steps if step > 0]),
        )
        for each in ranked
    )
    return found, (*alone, *uncited)


def _around(ctx: CallContext, answer: Answer, ids: Sequence[str]) -> tuple[dict[str, NodeVersion], tuple[str, ...]]:
    """The turns around messages, by id; none for an answer from the log."""
    if answer.degraded:
        return {}, ()
    try:
        return {node.id: node for node in read_nodes(ctx, answer.ask.when, ids) if node.kind == MESSAGE}, ()
    except StoreError as problem:
        return {}, (f"the turns around messages could not be read: {problem.message}",)


def read_nodes(ctx: CallContext, when: When, ids: Sequence[str]) -> list[NodeVersion]:
    """Any number of nodes, in reads of MAX_IDS_PER_READ."""
    distinct = list(dict.fromkeys(ids))
    pages = range(0, len(distinct), MAX_IDS_PER_READ)
    return [
        node
        for start in pages
        for node in ctx.store.nodes(ctx.viewer, when, distinct[start : start + MAX_IDS_PER_READ])
    ]


def _turn(node: NodeVersion, shown: NodeShown) -> TurnShown:
    speaker, role, verdict = (node.props.get(name) for name in ("speaker", "role", "verdict"))
    return TurnShown(
        id=node.id,
        text=node.text,
        at=shown.valid_from,
        citation=shown.citation,
        speaker=speaker if isinstance(speaker, str) else "",
        role=role if isinstance(role, str) else "",
        verdict=verdict if isinstance(verdict, str) else "",
        flags=shown.flags,
    )


def without_archived(ctx: CallContext, answer: Answer) -> tuple[Answer, tuple[str, ...]]:
    """The answer without messages of archived conversations, and a note that counts these.

    Only the conversations of hits are looked up, so a search without archived ones costs one read. If some are removed,
    the search is repeated with the largest limit. An answer from the log stays as it is, and so does one whose
    conversations cannot be read, with a note.
    """
    limit = answer.ask.limit
    try:
        kept, gone = _parted(ctx, answer)
        if gone and limit < MAX_LIMIT:
            answer = run(recipes.RECIPES["default"], ctx, replace(answer.ask, limit=MAX_LIMIT))
            kept, gone = _parted(ctx, answer)
    except StoreError as problem:
        note = f"messages of archived conversations may be among these: {problem.message}"
        return replace(answer, ranked=(answer.ranked or ())[:limit]), (note,)
    note = f"{gone} {'message' if gone == 1 else 'messages'} of archived conversations left out: --archived"
    return replace(answer, ranked=kept[:limit]), (note,) if gone else ()


def _parted(ctx: CallContext, answer: Answer) -> tuple[tuple[Candidate, ...], int]:
    """The candidates that are not archived, and how many are."""
    ranked = answer.ranked or ()
    hidden = _archived(ctx, answer)
    kept = tuple(each for each in ranked if each.node.props.get("conversation") not in hidden)
    return kept, len(ranked) - len(kept)


def _archived(ctx: CallContext, answer: Answer) -> set[object]:
    """The archived ones among the conversations of the hits."""
    if answer.degraded:
        return set()
    names = {each.node.props.get("conversation") for each in answer.ranked or ()}
    ids = [each for each in names if isinstance(each, str)][:MAX_IDS_PER_READ]
    return {node.id for node in ctx.store.nodes(ctx.viewer, LATEST, ids) if is_archived(node)}


OPERATIONS = (
    Operation(
        name="conversation_search",
        summary="find messages of conversations, with the turns around them",
        input=ConversationSearch,
        output=MessagesFound,
        effect="read",
        toolset="memory",
        run=conversation_search,
        arguments=("query",),
    ),
)
