"""Finding what was said in conversations, with the turns around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.errors import Forbidden, Invalid, NotFound, StoreError
from weft.instants import parse_instant, to_iso
from weft.loom import Loom
from weft.operations.archived_hits import without_archived
from weft.operations.asking import notes_of
from weft.operations.bounds import bounded
from weft.operations.conversations import conversation_id
from weft.operations.fields import Label, Limit, Moment, Name, Query
from weft.operations.moments import read_when
from weft.operations.registry import Operation
from weft.operations.showing import NodeShown, show_cited
from weft.retrieval import recipes
from weft.retrieval.flow import turn_beside
from weft.retrieval.from_log import search_log
from weft.retrieval.pipeline import Answer, Ask, Candidate, run
from weft.retrieval.within import MAX_MESSAGES, messages_of, within
from weft.types import MAX_IDS_PER_READ, NodeVersion, When

MAX_NEIGHBOURS = 3  # turns on each side of one that was found
MESSAGE = "Message"

Anywhere = Annotated[bool, Meta(description="search every project")]
OtherProject = Annotated[Label | None, Meta(description="another project than this directory's")]
AsOf = Annotated[Moment | None, Meta(description="as it was true then")]
KnownAt = Annotated[Moment | None, Meta(description="as weft knew it then")]


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
    asked_at: Annotated[Moment | None, Meta(description="when it is asked: what yesterday is")] = None
    min_score: Annotated[float, Meta(ge=0.0, le=2.0, description="least evidence to answer; 0 always does")] | None = (
        None
    )


class TurnShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What somebody said: `speaker` is a name, `role` a plain role such as user; `verdict` if it came in not clean."""

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
    """Messages, best first. `degraded` says why the graph could not answer and the log did."""

    query: str
    messages: tuple[MessageFound, ...]
    valid_at: str
    known_at: str
    session: str = ""
    degraded: str = ""
    notes: tuple[str, ...] = ()


def conversation_search(loom: Loom, given: ConversationSearch) -> MessagesFound:
    """Finds what was said in conversations, with the turns before and after it.

    With --session one conversation only, of which every message is compared. Archived conversations are left out,
    unless one is named or --archived is given. Public agents search their own session and no other.
    """
    check_text(given.query, "conversation_search: query")
    conversations, unsure = _conversations(loom, given.session)
    ask = Ask(
        query=given.query,
        when=read_when(loom, as_of=given.as_of, known_at=given.known_at),
        limit=given.limit,
        projects=projects_asked(loom, given.project, everywhere=given.everywhere or conversations is not None),
        kinds=(MESSAGE,),
        min_score=given.min_score,
        asked_at=None if given.asked_at is None else parse_instant(given.asked_at, field="asked_at"),
    )
    answer, notes = _searched(loom, ask, conversations)
    if conversations is None and not given.archived:
        answer, hidden = without_archived(loom, answer)
        notes += hidden
    ranked = [
        each
        for each in answer.ranked or ()
        if conversations is None or each.node.props.get("conversation") in conversations
    ][: given.limit]
    messages, unserved = _with_neighbours(loom, answer, ranked, given.neighbours)
    when, then = answer.ask.when, given.as_of is not None or given.known_at is not None
    found = MessagesFound(
        query=given.query,
        messages=messages,
        valid_at=to_iso(when.valid_at or 0),
        known_at=to_iso(when.known_at or 0),
        session="" if conversations is None else conversations[0],
        degraded=answer.degraded,
        notes=(*unsure, *notes, *notes_of(loom, answer, ranked, then=then), *unserved),
    )
    return bounded(found, "messages", beside={"turns around messages": ("before", "after")})


def _searched(loom: Loom, ask: Ask, conversations: Sequence[str] | None) -> tuple[Answer, tuple[str, ...]]:
    """What was found, and notes on where. All of a conversation is searched, in the log too where the graph is away."""
    if conversations is None:
        return run(recipes.RECIPES["default"], loom, ask), ()
    try:
        ask = replace(ask, when=loom.store.pin(loom.viewer, ask.when))
        messages = [each for name in conversations for each in messages_of(loom, ask.when, name)]
    except StoreError as problem:
        return _in_log(loom, ask, problem.message), ()
    notes: tuple[str, ...] = () if messages else (f"the session {conversations[0]!r} has no messages",)
    if len(messages) >= MAX_MESSAGES:
        notes = (f"the session is long: its latest {MAX_MESSAGES:,} messages were searched",)
    answer = run(within(messages), loom, ask)
    return (_in_log(loom, ask, answer.degraded) if answer.degraded else answer), notes


def _in_log(loom: Loom, ask: Ask, problem: str) -> Answer:
    """From the log many more than are asked for: those of other conversations are among them."""
    return search_log(loom, replace(ask, limit=MAX_MESSAGES), problem=problem)


def _conversations(loom: Loom, session: str | None) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """The id of the one conversation to search, None for all, and a note where the graph cannot tell of it: then there
    are two, what was written and what it would be in this project.

    Raises Forbidden where a public viewer names another than its own, NotFound for one that the viewer cannot see.
    """
    written = None if session is None else session.strip()
    if written == "":
        raise Invalid("the session has no name", hint="say which conversation to search, or leave it out")
    project, own = loom.settings.project, loom.settings.session
    if loom.viewer.audience == "public":
        conversation = conversation_id(project, own)
        if written not in (None, own, conversation):
            raise Forbidden("public agents search their own session only", hint="leave session out")
        return (conversation,), ()
    if written is None:
        return None, ()
    either = (written, conversation_id(project, written))
    try:
        for conversation in either:
            versions = loom.store.history(loom.viewer, conversation, limit=1)
            if versions and versions[0].kind == "Session":
                return (conversation,), ()
    except StoreError as problem:
        return either, (f"whether there is a session {written[:80]!r} cannot be told: {problem.message}",)
    raise NotFound(
        f"there is no session {written[:80]!r} that you may see", hint="`weft recall` tells where a thing was said"
    )


def _with_neighbours(
    loom: Loom, answer: Answer, ranked: Sequence[Candidate], neighbours: int
) -> tuple[tuple[MessageFound, ...], tuple[str, ...]]:
    """The messages, and notes on what beside them the store cannot serve: the turns around them, citations."""
    steps = [*range(-neighbours, 0), *range(1, neighbours + 1)]
    beside = {each.node.id: {step: turn_beside(each.node.id, step) for step in steps} for each in ranked}
    wanted = [turn for turns in beside.values() for turn in turns.values() if turn is not None]
    around, alone = _around(loom, answer, wanted)
    nodes = {each.node.id: each.node for each in ranked} | around
    cited, uncited = show_cited(loom, tuple(nodes.values()), answer)
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


def _around(loom: Loom, answer: Answer, ids: Sequence[str]) -> tuple[dict[str, NodeVersion], tuple[str, ...]]:
    """The turns beside messages, by id; none of an answer from the log, which has told why."""
    if answer.degraded:
        return {}, ()
    try:
        return {node.id: node for node in read_nodes(loom, answer.ask.when, ids) if node.kind == MESSAGE}, ()
    except StoreError as problem:
        return {}, (f"the turns around messages cannot be told: {problem.message}",)


def read_nodes(loom: Loom, when: When, ids: Sequence[str]) -> list[NodeVersion]:
    """However many nodes, in reads of what one may hold."""
    distinct = list(dict.fromkeys(ids))
    pages = range(0, len(distinct), MAX_IDS_PER_READ)
    return [
        node
        for start in pages
        for node in loom.store.nodes(loom.viewer, when, distinct[start : start + MAX_IDS_PER_READ])
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


def projects_asked(loom: Loom, project: str | None, *, everywhere: bool) -> tuple[str | None, ...] | None:
    """The projects to search, with what is kept for all of them; None for every one."""
    return None if everywhere else (project or loom.settings.project, None)


def check_text(text: str, field: str) -> None:
    """Raises Invalid for what is no text to look for."""
    if "\x00" in text:
        raise Invalid(f"{field} holds a NUL character", hint="remove it: NUL is not text")
    if not text.strip():
        raise Invalid(f"{field} is empty", hint="say what to look for")


OPERATIONS = (
    Operation(
        name="conversation_search",
        summary="find what was said in conversations, with the turns around it",
        input=ConversationSearch,
        output=MessagesFound,
        effect="read",
        toolset="memory",
        run=conversation_search,
        arguments=("query",),
    ),
)
