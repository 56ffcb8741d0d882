"""Finding by other ways than a question to all memories: what was said in conversations, what is like something."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.errors import Forbidden, Invalid, NotFound
from weft.instants import parse_instant, to_iso
from weft.kinds import RECORD_KINDS
from weft.lexical import content_hash, query_terms, text_to_embed
from weft.loom import Loom
from weft.operations.conversations import conversation_id
from weft.operations.fields import KindNames, Label, Limit, Moment, Name, NodeName, Query
from weft.operations.moments import read_when
from weft.operations.reading import resolve
from weft.operations.registry import Operation
from weft.operations.showing import NodeShown, show_nodes
from weft.queries import Lead, TextQuery, VectorQuery
from weft.retrieval import recipes
from weft.retrieval.flow import turn_beside
from weft.retrieval.pipeline import Ask, Candidate, Stage, run
from weft.retrieval.within import MAX_MESSAGES, messages_of, within
from weft.types import MAX_IDS_PER_READ, MAX_QUERY_CHARACTERS, NodeVersion, When

MAX_NEIGHBOURS = 3  # turns on each side of one that was found
MESSAGE = "Message"
FETCHED = 5  # times the limit: parts of the thing itself are found and left out
MAX_FETCHED = 2_000
NO_WORDS = content_hash("", "", "")

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
    as_of: AsOf = None
    known_at: KnownAt = None
    asked_at: Annotated[Moment | None, Meta(description="when it is asked: what yesterday is")] = None
    min_score: Annotated[float, Meta(ge=0.0, le=2.0, description="least evidence to answer; 0 always does")] | None = (
        None
    )


class TurnShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What somebody said: `speaker` is a name, `role` a plain role such as user."""

    id: str
    text: str
    at: str
    citation: str
    speaker: str = ""
    role: str = ""


class MessageFound(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message that answers, with its score, its conversation, and the turns around it, in their order."""

    score: float
    session: str
    message: TurnShown
    before: tuple[TurnShown, ...] = ()
    after: tuple[TurnShown, ...] = ()


class MessagesFound(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Messages, best first."""

    query: str
    messages: tuple[MessageFound, ...]
    valid_at: str
    known_at: str
    session: str = ""
    notes: tuple[str, ...] = ()


def conversation_search(loom: Loom, given: ConversationSearch) -> MessagesFound:
    """Finds what was said in conversations, with the turns before and after it.

    With --session one conversation only, of which every message is compared. Public agents search their own session
    and no other.
    """
    _check_text(given.query, "conversation_search: query")
    when = loom.store.pin(loom.viewer, read_when(loom, as_of=given.as_of, known_at=given.known_at))
    conversation = _conversation(loom, given.session)
    ask = Ask(
        query=given.query,
        when=when,
        limit=given.limit,
        projects=_projects(loom, given.project, everywhere=given.everywhere or conversation is not None),
        kinds=(MESSAGE,),
        min_score=given.min_score,
        asked_at=None if given.asked_at is None else parse_instant(given.asked_at, field="asked_at"),
    )
    recipe, notes = _recipe(loom, when, conversation)
    answer = run(recipe, loom, ask)
    ranked = [each for each in answer.ranked or () if conversation in (None, each.node.props.get("conversation"))]
    notes += tuple(dict.fromkeys(filter(None, (*answer.notes, answer.skip))))
    if not ranked and not notes:
        notes = ("no message that you may see matches",)
    return MessagesFound(
        query=given.query,
        messages=_with_neighbours(loom, when, ranked, given.neighbours),
        valid_at=to_iso(when.valid_at or 0),
        known_at=to_iso(when.known_at or 0),
        session=conversation or "",
        notes=notes,
    )


def _recipe(loom: Loom, when: When, conversation: str | None) -> tuple[tuple[Stage, ...], tuple[str, ...]]:
    """How to search, and notes on what that leaves out."""
    if conversation is None:
        return recipes.RECIPES["default"], ()
    messages = messages_of(loom, when, conversation)
    notes: tuple[str, ...] = () if messages else (f"the session {conversation!r} has no messages",)
    if len(messages) >= MAX_MESSAGES:
        notes = (f"the session is long: its latest {MAX_MESSAGES:,} messages were searched",)
    return within(messages), notes


def _conversation(loom: Loom, session: str | None) -> str | None:
    """The id of the one conversation to search, None for all.

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
        return conversation
    if written is None:
        return None
    for conversation in (written, conversation_id(project, written)):
        versions = loom.store.history(loom.viewer, conversation, limit=1)
        if versions and versions[0].kind == "Session":
            return conversation
    raise NotFound(
        f"there is no session {written[:80]!r} that you may see", hint="`weft recall` tells where a thing was said"
    )


def _with_neighbours(loom: Loom, when: When, ranked: Sequence[Candidate], neighbours: int) -> tuple[MessageFound, ...]:
    steps = [*range(-neighbours, 0), *range(1, neighbours + 1)]
    beside = {each.node.id: {step: turn_beside(each.node.id, step) for step in steps} for each in ranked}
    wanted = [turn for turns in beside.values() for turn in turns.values() if turn is not None]
    around = {node.id: node for node in _nodes(loom, when, wanted) if node.kind == MESSAGE}
    nodes = {each.node.id: each.node for each in ranked} | around
    shown = {each.id: _turn(nodes[each.id], each) for each in show_nodes(loom, tuple(nodes.values()))}

    def turns(found: NodeVersion, chosen: Iterable[int]) -> tuple[TurnShown, ...]:
        ids = [beside[found.id][step] for step in chosen]
        session = found.props.get("conversation")
        return tuple(
            shown[each] for each in ids if each in around and around[each].props.get("conversation") == session
        )

    return tuple(
        MessageFound(
            score=each.score,
            session=str(each.node.props.get("conversation") or ""),
            message=shown[each.node.id],
            before=turns(each.node, [step for step in steps if step < 0]),
            after=turns(each.node, [step for step in steps if step > 0]),
        )
        for each in ranked
    )


def _nodes(loom: Loom, when: When, ids: Sequence[str]) -> list[NodeVersion]:
    distinct = list(dict.fromkeys(ids))
    pages = range(0, len(distinct), MAX_IDS_PER_READ)
    return [
        node
        for start in pages
        for node in loom.store.nodes(loom.viewer, when, distinct[start : start + MAX_IDS_PER_READ])
    ]


def _turn(node: NodeVersion, shown: NodeShown) -> TurnShown:
    speaker, role = (node.props.get(name) for name in ("speaker", "role"))
    return TurnShown(
        id=node.id,
        text=node.text,
        at=shown.valid_from,
        citation=shown.citation,
        speaker=speaker if isinstance(speaker, str) else "",
        role=role if isinstance(role, str) else "",
    )


def _projects(loom: Loom, project: str | None, *, everywhere: bool) -> tuple[str | None, ...] | None:
    return None if everywhere else (project or loom.settings.project, None)


def _check_text(text: str, field: str) -> None:
    if "\x00" in text:
        raise Invalid(f"{field} holds a NUL character", hint="remove it: NUL is not text")
    if not text.strip():
        raise Invalid(f"{field} is empty", hint="say what to look for")


# Alike


class FindSimilar(Struct, frozen=True, kw_only=True):
    """Input of `find_similar`: a node, or a text."""

    id: NodeName | None = None
    text: (
        Annotated[str, Meta(min_length=1, max_length=MAX_QUERY_CHARACTERS, description="words, not a node")] | None
    ) = None
    limit: Limit = 10
    kinds: KindNames | None = None
    min_score: Annotated[float, Meta(ge=0.0, le=1.0, description="least likeness")] = 0.0
    project: OtherProject = None
    everywhere: Anywhere = False
    as_of: AsOf = None
    known_at: KnownAt = None


class Similar(Struct, frozen=True, kw_only=True):
    """A node and how alike it is: the cosine, or the share of words where there are no vectors."""

    score: float
    node: NodeShown


class SimilarFound(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is alike, most alike first. `id` is the node that was compared with, if it was one."""

    hits: tuple[Similar, ...]
    id: str = ""
    notes: tuple[str, ...] = ()


class _Like(Struct, frozen=True, kw_only=True):
    """What to compare with: words, and the node whose words they are."""

    words: str
    node: NodeVersion | None = None


def find_similar(loom: Loom, given: FindSimilar) -> SimilarFound:
    """Finds what is most like a node, or like a text: by meaning, and by words where there is no embedder.

    The node itself and its own parts are left out. Scores are cosines; --min-score leaves out what is less alike.
    """
    when = loom.store.pin(loom.viewer, read_when(loom, as_of=given.as_of, known_at=given.known_at))
    like = _like(loom, given, when)
    kept: list[tuple[Lead, float]] = []
    notes: tuple[str, ...] = ()
    for fetched in (FETCHED * given.limit, MAX_FETCHED):  # parts of the thing itself may be most of what is near
        found, notes = _alike(loom, given, when, like, fetched)
        kept = [
            (lead, min(score, 1.0))
            for lead, score in found
            if score >= given.min_score
            and lead.content_hash != NO_WORDS
            and _is_other(lead, like.node)
            and (given.kinds or lead.kind not in RECORD_KINDS)
        ][: given.limit]
        if len(kept) == given.limit or len(found) < fetched:
            break
    scores = {lead.id: score for lead, score in kept}
    nodes = _nodes(loom, when, tuple(scores))
    hits = tuple(
        Similar(score=scores[node.id], node=shown) for node, shown in zip(nodes, show_nodes(loom, nodes), strict=True)
    )
    if not hits:
        notes += ("nothing that you may see is like it",)
    return SimilarFound(hits=hits, id="" if like.node is None else like.node.id, notes=notes)


def _alike(
    loom: Loom, given: FindSimilar, when: When, like: _Like, limit: int
) -> tuple[list[tuple[Lead, float]], tuple[str, ...]]:
    """The nearest by meaning, or by words; and notes on how."""
    projects = _projects(loom, given.project, everywhere=given.everywhere)
    data, problem = _vector(loom, like)
    if data is None or loom.embedding.model is None:
        found = _by_words(loom, when, like, TextQuery(terms=(), projects=projects, kinds=given.kinds), limit)
        return found, (f"{problem}; compared by words: a score is a share of the most that there could be",)
    query = VectorQuery(model=loom.embedding.model, data=data, projects=projects, kinds=given.kinds)
    matches = loom.store.search_vector(loom.viewer, when, query, limit=limit)
    notes = matches.notes
    if matches.pending:
        notes += (f"{matches.pending} texts have no vector yet and are not compared: `weft reindex`",)
    return [(hit.node, hit.cosine) for hit in matches.hits], notes


def _like(loom: Loom, given: FindSimilar, when: When) -> _Like:
    if (given.id is None) == (given.text is None):
        raise Invalid("give either an id or a text", hint="find_similar compares with one thing")
    if given.text is not None:
        _check_text(given.text, "find_similar: text")
        return _Like(words=given.text)
    written = (given.id or "").strip()
    nodes = loom.store.nodes(loom.viewer, when, [resolve(loom, written, when)]) if written else ()
    if not nodes:
        raise NotFound(
            f"there is no node {written[:80]!r} that you may see and that holds then",
            hint="`weft recall` finds nodes by their words",
        )
    (node,) = nodes
    words = text_to_embed(node.name, node.summary, node.text)
    if not words.strip():
        raise Invalid(f"{node.id[:80]!r} has no words of its own", hint="give one of its parts, or a text")
    return _Like(words=words, node=node)


def _vector(loom: Loom, like: _Like) -> tuple[bytes | None, str]:
    """The vector that is kept of a node, else one made of the words now; None and why where there is none."""
    model = loom.embedding.model
    if like.node is not None and model is not None:
        kept = loom.store.vectors(loom.viewer, model, [like.node.content_hash]).get(like.node.content_hash)
        if kept is not None:
            import numpy as np

            row = np.frombuffer(kept, "<f2").astype("<f4")
            return (row / max(float(np.linalg.norm(row)), 1e-9)).astype("<f4").tobytes(), ""
    return loom.embedding.query(like.words)


def _by_words(loom: Loom, when: When, like: _Like, query: TextQuery, limit: int) -> list[tuple[Lead, float]]:
    """What shares the most words, each as a share of what the words themselves would score."""
    matches = loom.store.search_text(loom.viewer, when, replace(query, terms=query_terms(like.words)), limit=limit)
    own = like.node.id if like.node is not None else None
    best = max((hit.score for hit in matches.hits if hit.node.id == own), default=0.0)
    best = best or max((hit.score for hit in matches.hits), default=0.0) or 1.0
    return [(hit.node, hit.score / best) for hit in matches.hits]


def _is_other(lead: Lead, node: NodeVersion | None) -> bool:
    """Neither the node itself nor a part of it: a turn of a session, a symbol of a file, a section of a document."""
    if node is None:
        return True
    inside = lead.id.startswith((f"{node.id}#", f"{node.id}::"))
    return lead.id != node.id and not inside and node.id not in (lead.whole, lead.conversation)


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
    Operation(
        name="find_similar",
        summary="find what is most like a node or a text",
        input=FindSimilar,
        output=SimilarFound,
        effect="read",
        toolset="memory",
        run=find_similar,
        arguments=("id",),
    ),
)
