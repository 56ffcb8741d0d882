"""The one way into the log: drafts in, sealed events and their graph changes out, in one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.commits import Batch, Changes, LexedText, LockedView
from weft.embedding import Embedding
from weft.errors import Conflict, StoreError, WeftError
from weft.governing import Pass, is_operator, marks_approval
from weft.instants import Clock
from weft.kinds import ERASED, PROVENANCE_RELATIONS
from weft.lexical import lex
from weft.log.draft import Draft, Prepared, Ready, check_name, encoded, prepare, seal
from weft.log.kinds import code, conversation, document, graph, memory, payload_of
from weft.ports import Store
from weft.projection.sentry import Sentry
from weft.projection.weave import weave
from weft.queries import Vector, Which
from weft.screen import Screen
from weft.types import SCOPES, Actor, Event, NodeVersion, Viewer

ERASED_SINCE: Final = "what this request wrote was erased since: if this is something else, use a new request id"
SEALED_SINCE: Final = "what this request wrote is sealed with a key that is not given here, and was not compared"
UNFIT: Final = (
    "the embedder answers with another dimension than its vectors here have: it is another model by the same name;"
    " saved without vectors, give the model another name"
)
MAX_TOUCHED: Final = 500  # versions that a fence looks at; where more were touched it counts as moved


class Writer(Struct, frozen=True, kw_only=True):
    """Who writes, and into which session of which account."""

    account: str
    session: str
    actor: Actor


class Fence(Struct, frozen=True, kw_only=True):
    """What a decision rests on: how nodes of these kinds, or in these slots, stood at a position of the log.

    `concerns` says of a node touched since whether it matters; without it every one does.
    """

    pos: int
    kinds: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()
    concerns: Callable[[NodeVersion], bool] | None = None


class Moved(Conflict):
    """What a fence guards was touched since: decide again. Never leaves `weft.operations`. Nothing was written."""


class Appended(Struct, frozen=True, kw_only=True):
    """What became of an append: its events, whether a retried request found them there.

    `note` says that vectors failed, or that what a retried request wrote was erased since.
    """

    events: tuple[Event, ...]
    repeated: bool
    note: str = ""


def append(
    store: Store,
    writer: Writer,
    drafts: Sequence[Draft],
    *,
    clock: Clock,
    viewer: Viewer | None = None,
    embedding: Embedding | None = None,
    request_id: str | None = None,
    expected_head: int | None = None,
    fence: Fence | None = None,
    approval: Pass | None = None,
    screen: Screen | None = None,
) -> Appended:
    """Writes drafts as one commit: all of them or none. With a request id, a repeated call writes nothing.

    What is written has passed `screen`: secrets are redacted, sensitive words are sealed. Without one there is no key,
    and sensitive words are refused.

    With a fence, raises Moved if what it guards was touched since: looked up inside the lock, so that of two writers
    who decided from the same state only one gets through.

    Raises Misconfigured for sensitive words without a key, Invalid or TooLarge for bad input, Conflict when the session
    moved past `expected_head` or the request id was used for something else, Forbidden where the drafts touch nodes
    that `viewer` may not see (weft's own upkeep writes as no viewer). Who is not the operator changes what is kept for
    all projects only with an `approval`, which is spent in the same commit: raises NeedsApproval otherwise.
    """
    check_name(writer.account, field="account")
    check_name(writer.session, field="session")
    check_name(writer.actor.agent, field="agent")
    check_name(writer.actor.role, field="role")
    if request_id is not None:
        check_name(request_id, field="request_id")
    screen = screen or Screen()
    drafts = screen.drafts(drafts, sensitive=lambda ids: any_sensitive(store, writer.account, ids))
    prepared = prepare(drafts)
    marks = () if approval is None or not (made := approval.marks()) else prepare(screen.drafts(made))
    lexed = lex_all(drafts)
    texts = tuple(lexed.values())
    vectors, note = ((), "") if embedding is None or viewer is None else embedding.of_texts(store, viewer, texts)

    def plan(view: LockedView) -> Batch:
        if request_id is not None and (earlier := view.request(request_id)):
            _check_same_request(prepared, earlier, request_id)
            return Batch(commit=None, events=earlier, changes=Changes())
        if fence is not None:
            _check_fence(view, fence, screen)
        sentry = _sentry(view, writer, viewer, approval, clock)
        commit, events = seal(
            (*prepared, *marks),
            view,
            account=writer.account,
            session=writer.session,
            actor=writer.actor,
            request_id=request_id,
            expected_head=expected_head,
            now_us=clock.now_us(),
        )
        return Batch(commit=commit, events=events, changes=weave(view, events, lexed, viewer, sentry), vectors=vectors)

    batch = store.commit(writer.account, plan)
    if batch.commit is None and request_id is not None:
        note = _compare_rewritten(store, writer.account, prepared, batch.events, request_id, screen)
    if approval is not None and batch.commit is not None:
        approval.used()
    if batch.commit is not None and embedding is not None and viewer is not None:
        note = UNFIT if len(batch.vectors) < len(vectors) else note
        note = _caught_up(embedding, store, viewer, texts, vectors) or note
    return Appended(events=batch.events, repeated=batch.commit is None, note=note)


def _caught_up(
    embedding: Embedding, store: Store, viewer: Viewer, texts: Sequence[LexedText], made: Sequence[Vector]
) -> str:
    """What is written stays written: whatever its vectors meet afterwards is a note. `made` are those of the commit.

    Also those that the commit passed over: made again they would fit as little.
    """
    try:
        return embedding.catch_up(store, viewer, texts, made)
    except WeftError as problem:
        return f"saved without all of its vectors, `weft reindex` adds them: {problem.message}"


def _sentry(
    view: LockedView, writer: Writer, viewer: Viewer | None, approval: Pass | None, clock: Clock
) -> Sentry | None:
    """Who watches over what is kept for all projects; nobody where the operator writes."""
    if is_operator(writer.actor, viewer):
        return None
    if approval is not None:
        approval.check(view, clock.now_us())
    return Sentry(view, admitted=approval is not None, own=None if approval is None else approval.id)


def written_under(store: Store, account: str, request_id: str) -> tuple[Event, ...]:
    """The events that were written under a request id; none if it was never used. Writes nothing."""
    batch = store.commit(account, lambda view: Batch(commit=None, events=view.request(request_id), changes=Changes()))
    return batch.events


def any_sensitive(store: Store, account: str, ids: Sequence[str]) -> bool | None:
    """Whether one of these nodes is sensitive; None if that cannot be told, as of one that is not there."""
    reader = Viewer(account=account, scopes=frozenset(SCOPES), sensitive=True)
    wanted = tuple(dict.fromkeys(ids))
    try:
        seen = store.last_versions(reader, Which(ids=wanted), limit=len(wanted))
    except StoreError:
        return None
    if any(node.guard.sensitive for node in seen):
        return True
    return False if len(seen) == len(wanted) else None


def _check_fence(view: LockedView, fence: Fence, screen: Screen) -> None:
    if view.head().pos == fence.pos:
        return
    found = view.touched_since(fence.pos, kinds=fence.kinds, slots=fence.slots, limit=MAX_TOUCHED + 1)
    if len(found) > MAX_TOUCHED or any(fence.concerns is None or fence.concerns(screen.node(node)) for node in found):
        raise Moved(f"the log moved on since position {fence.pos}", hint="repeat the call")


def _check_same_request(prepared: Sequence[Prepared], earlier: Sequence[Event], request_id: str) -> None:
    """A payload that was replaced since is compared afterwards; that it spent an approval counts as the same."""
    prepared, earlier = _without_whence(prepared, earlier)
    same = len(prepared) <= len(earlier) and all(
        one.draft.kind == event.kind and (event.rewritten or event.payload in (None, one.raw))
        for one, event in zip(prepared, earlier, strict=False)
    )
    same = same and all(marks_approval(event) for event in earlier[len(prepared) :])
    if not same:
        raise _used_otherwise(request_id)


def _compare_rewritten(
    store: Store,
    account: str,
    prepared: Sequence[Prepared],
    earlier: Sequence[Event],
    request_id: str,
    screen: Screen,
) -> str:
    """Compares payloads that were replaced since with what is sent now: both open, for the key may be another by now.

    Raises Conflict where they differ. A note where words were erased, or cannot be opened: then nobody can tell.
    """
    own = screen.fresh()
    for one, event in zip(*_without_whence(prepared, earlier), strict=False):
        if not event.rewritten or own.event(replace(event, payload=one.raw)).payload == own.event(event).payload:
            continue
        if erased_since(store, account, event):
            return ERASED_SINCE
        if own.keys is not None and not own.unopened:
            raise _used_otherwise(request_id)
        return SEALED_SINCE
    return ""


def erased_since(store: Store, account: str, event: Event) -> bool:
    """Whether words of an event were erased; sealing it anew does not count."""
    if not event.rewritten:
        return False
    told = store.rewriting(Viewer(account=account, scopes=frozenset(SCOPES), sensitive=True), event)
    return told is None or told.why == "erased" or ERASED.encode() in (event.payload or b"")


def _used_otherwise(request_id: str) -> Conflict:
    return Conflict(
        f"request id {request_id!r} was used for something else", hint="use a new request id for a new request"
    )


def _without_whence(
    prepared: Sequence[Prepared], earlier: Sequence[Event]
) -> tuple[Sequence[Prepared], Sequence[Event]]:
    return (
        [one for one in prepared if not _says_whence(one.draft.payload)],
        [event for event in earlier if not _says_whence(payload_of(event))],
    )


def _says_whence(payload: Any) -> bool:
    """Whether an event does no more than say what others came of: that depends on when it is said."""
    if not isinstance(payload, graph.Asserted) or payload.nodes or not payload.edges:
        return False
    return all(edge.rel in PROVENANCE_RELATIONS for edge in payload.edges)


def lex_all(drafts: Sequence[Draft]) -> dict[bytes, LexedText]:
    """Makes the texts of these drafts ready for the index, outside the lock."""
    return {text.content_hash: text for draft in drafts for text in _lexed(draft)}


def _lexed(draft: Draft) -> Iterable[LexedText]:
    if draft.ready is not None:
        return draft.ready.texts
    return (lex(*fields) for fields in _texts(draft.payload))


def made_ready(draft: Draft, about: Struct) -> Draft:
    """A draft with all that needs no store made ahead. Its words have been put through the screen.

    `about` stands for its payload from now on: the same without what it says. Raises Invalid for what cannot be kept.
    """
    raw = encoded(draft.payload)
    return replace(draft, payload=about, ready=Ready(raw=raw, texts=tuple(lex_all([draft]).values())))


def _texts(payload: Struct) -> list[tuple[str, str, str]]:
    match payload:
        case memory.Remembered():
            entities = [(node.name, node.summary, node.text) for node in payload.entities]
            return [*entities, (payload.name, payload.summary, payload.text)]
        case graph.Asserted():
            return [(node.name, node.summary, node.text) for node in payload.nodes]
        case document.Ingested():
            sections = [(each.title, each.summary, each.text) for each in payload.sections]
            chunks = [("", chunk.summary, chunk.text) for each in payload.sections for chunk in each.chunks]
            return [(payload.title, payload.summary, ""), *sections, *chunks]
        case conversation.Recorded():
            head = [(payload.title, "", "")] if payload.opens else []
            return [*head, *(("", "", message.text) for message in payload.messages)]
        case code.Indexed():
            symbols = ((each.name or each.key, payload.path, each.text) for each in payload.symbols)
            return [(payload.path, "", payload.text), *symbols]
        case code.Linked():
            return [(each.name, "", "") for each in payload.outside]
        case _:
            return []
