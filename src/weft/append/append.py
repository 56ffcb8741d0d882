"""Append: drafts in; chained events and their graph changes out, in one commit. Every write goes through here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.append.approval import ApprovalUse, is_operator, marks_approval
from weft.append.privacy import PrivacyFilter
from weft.core.clock import Clock
from weft.core.commits import Batch, Changes, LexedText, LockedView
from weft.core.errors import Conflict, StoreError, WeftError
from weft.core.kinds import ERASED, PROVENANCE_RELATIONS
from weft.core.ports import Store
from weft.core.queries import NodeFilter, TextVector
from weft.core.types import SCOPES, Event, NodeVersion, Viewer, Writer
from weft.graph.apply_moves import apply_events
from weft.graph.global_changes import GlobalWriteCheck
from weft.log.draft import Draft, Prepared, Ready, chained, check_head, check_name, encoded, prepare
from weft.log.kinds import code, conversation, document, graph, memory, payload_of
from weft.models.embedding import Embedding
from weft.text.lexical import lex

ERASED_SINCE: Final = "what this request wrote has been erased since; for a different write, use a new request id"
ENCRYPTED_SINCE: Final = (
    "what this request wrote is encrypted with a key that this process does not have, so it was not compared"
)
OTHER_DIMENSIONS: Final = (
    "saved without vectors: the embedder returns another dimension than this model's vectors have here,"
    " so it is a different model under the same name; give it another name"
)
MAX_TOUCHED: Final = 500  # versions that a fence inspects; if more were touched, the fence counts as broken


class Fence(Struct, frozen=True, kw_only=True):
    """The state a decision was made from: nodes of these kinds, or in these slots, at a position of the log.

    `concerns` tells whether a node touched since then matters; without it every node does.
    """

    pos: int
    kinds: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()
    concerns: Callable[[NodeVersion], bool] | None = None


class FenceMoved(Conflict):
    """A node behind a fence was touched since: decide again. Handled inside weft. Nothing was written."""


class AppendOptions(Struct, frozen=True, kw_only=True):
    """Rights, preconditions and filters of one append.

    Without a `viewer`, weft's own maintenance writes: no visibility check. Without an `embedding`, no vectors.
    `request_id` makes a retry write nothing; `expected_head` and `fence` refuse a write that was decided on an older
    state; `approval` allows a change of what is kept for all projects. Without `privacy` there is no key, and
    sensitive words are refused.
    """

    viewer: Viewer | None = None
    embedding: Embedding | None = None
    request_id: str | None = None
    expected_head: int | None = None
    fence: Fence | None = None
    approval: ApprovalUse | None = None
    privacy: PrivacyFilter | None = None


PLAIN: Final = AppendOptions()


class AppendResult(Struct, frozen=True, kw_only=True):
    """The events of an append; `repeated` if a retried request found them already written.

    `note` says that vectors failed, or that what the retried request wrote was erased since.
    """

    events: tuple[Event, ...]
    repeated: bool
    note: str = ""


def append(
    store: Store, writer: Writer, drafts: Sequence[Draft], *, clock: Clock, options: AppendOptions = PLAIN
) -> AppendResult:
    """Writes drafts as one commit: all of them or none. With a request id, a repeated call writes nothing.

    Secrets are redacted and sensitive words encrypted before anything is stored. Fences are checked inside the write
    lock: of two writers who decided on the same state, one gets FenceMoved.

    Raises Misconfigured for sensitive words without a key, Invalid or TooLarge for bad input, Conflict when the session
    moved past `expected_head` or the request id belongs to another write, Forbidden where the drafts touch nodes that
    the viewer may not see. A writer who is not the operator changes what is kept for all projects only with an
    approval, which the same commit uses up: raises NeedsApproval otherwise.
    """
    _check_names(writer, options.request_id)
    request_id, viewer, embedding = options.request_id, options.viewer, options.embedding
    privacy = options.privacy or PrivacyFilter()
    drafts = privacy.drafts(drafts, sensitive=lambda ids: any_sensitive(store, writer.account, ids))
    prepared = prepare(drafts)
    marks = options.approval.marks() if options.approval is not None else ()
    marked = prepare(privacy.drafts(marks)) if marks else ()
    lexed = lex_all(drafts)
    texts = tuple(lexed.values())
    vectors, note = ((), "") if embedding is None or viewer is None else embedding.of_texts(store, viewer, texts)

    def plan(view: LockedView) -> Batch:
        if request_id is not None and (earlier := view.request(request_id)):
            _check_same_request(prepared, earlier, request_id)
            return Batch(commit=None, events=earlier, changes=Changes())
        if options.fence is not None:
            _check_fence(view, options.fence, privacy)
        check = _global_write_check(view, writer, options, clock)
        if options.expected_head is not None:
            check_head(view, writer.session, options.expected_head)
        commit, events = chained((*prepared, *marked), view, writer, request_id=request_id, now_us=clock.now_us())
        changes = apply_events(view, events, lexed, viewer, check)
        return Batch(commit=commit, events=events, changes=changes, vectors=vectors)

    batch = store.commit(writer.account, plan)
    if batch.commit is None:
        if request_id is not None:
            note = _compare_rewritten(store, prepared, batch.events, request_id, privacy)
        return AppendResult(events=batch.events, repeated=True, note=note)
    if options.approval is not None:
        options.approval.used()
    if embedding is not None and viewer is not None:
        note = OTHER_DIMENSIONS if len(batch.vectors) < len(vectors) else note
        note = _catch_up(embedding, store, viewer, texts, vectors) or note
    return AppendResult(events=batch.events, repeated=False, note=note)


def _check_names(writer: Writer, request_id: str | None) -> None:
    check_name(writer.account, field="account")
    check_name(writer.session, field="session")
    check_name(writer.actor.agent, field="agent")
    check_name(writer.actor.role, field="role")
    if request_id is not None:
        check_name(request_id, field="request_id")


def _catch_up(
    embedding: Embedding, store: Store, viewer: Viewer, texts: Sequence[LexedText], made: Sequence[TextVector]
) -> str:
    """Adds vectors for a space that came into use during the commit. A failure is only a note.

    `made` includes the vectors that the commit skipped: made again, they would not fit either.
    """
    try:
        return embedding.catch_up(store, viewer, texts, made)
    except WeftError as problem:
        return f"saved without all of its vectors, `weft reindex` adds them: {problem.message}"


def _global_write_check(
    view: LockedView, writer: Writer, options: AppendOptions, clock: Clock
) -> GlobalWriteCheck | None:
    """The check of changes to what is kept for all projects; None if the operator writes."""
    if is_operator(writer.actor, options.viewer):
        return None
    approval = options.approval
    if approval is not None:
        approval.check(view, clock.now_us())
    return GlobalWriteCheck(view, admitted=approval is not None, own=None if approval is None else approval.id)


def written_under(store: Store, account: str, request_id: str) -> tuple[Event, ...]:
    """The events written under a request id; none if it was never used. Writes nothing."""
    batch = store.commit(account, lambda view: Batch(commit=None, events=view.request(request_id), changes=Changes()))
    return batch.events


def any_sensitive(store: Store, account: str, ids: Sequence[str]) -> bool | None:
    """Whether one of these nodes is sensitive; None if that is not known, as for an id that does not exist."""
    wanted = tuple(dict.fromkeys(ids))
    try:
        seen = store.last_versions(_reader(account), NodeFilter(ids=wanted), limit=len(wanted))
    except StoreError:
        return None
    if any(node.guard.sensitive for node in seen):
        return True
    return False if len(seen) == len(wanted) else None


def _reader(account: str) -> Viewer:
    return Viewer(account=account, scopes=frozenset(SCOPES), sensitive=True)


def _check_fence(view: LockedView, fence: Fence, privacy: PrivacyFilter) -> None:
    if view.head().pos == fence.pos:
        return
    found = view.touched_since(fence.pos, kinds=fence.kinds, slots=fence.slots, limit=MAX_TOUCHED + 1)
    if len(found) > MAX_TOUCHED or any(fence.concerns is None or fence.concerns(privacy.node(node)) for node in found):
        raise FenceMoved(f"the log moved on since position {fence.pos}", hint="repeat the call")


# Retried requests


def _check_same_request(prepared: Sequence[Prepared], earlier: Sequence[Event], request_id: str) -> None:
    """Raises Conflict unless these drafts are what the request wrote. Its use of an approval is ignored.

    A payload that was rewritten since is compared afterwards, outside the lock.
    """
    prepared, earlier = _without_provenance(prepared, earlier)
    same = len(prepared) <= len(earlier) and all(
        one.draft.kind == event.kind and (event.rewritten or event.payload in (None, one.raw))
        for one, event in zip(prepared, earlier, strict=False)
    )
    if not (same and all(marks_approval(event) for event in earlier[len(prepared) :])):
        raise request_id_reused(request_id)


def _compare_rewritten(
    store: Store, prepared: Sequence[Prepared], earlier: Sequence[Event], request_id: str, privacy: PrivacyFilter
) -> str:
    """Compares rewritten payloads with the new ones, both decrypted: the key may have changed since.

    Raises Conflict where they differ. Returns a note where words were erased or cannot be decrypted.
    """
    own = privacy.fresh()
    for one, event in zip(*_without_provenance(prepared, earlier), strict=False):
        if not event.rewritten or own.event(replace(event, payload=one.raw)).payload == own.event(event).payload:
            continue
        if erased_since(store, event.account, event):
            return ERASED_SINCE
        if own.keys is not None and not own.unopened:
            raise request_id_reused(request_id)
        return ENCRYPTED_SINCE
    return ""


def erased_since(store: Store, account: str, event: Event) -> bool:
    """Whether words of an event were erased; encryption with a new key does not count."""
    if not event.rewritten:
        return False
    record = store.rewriting(_reader(account), event)
    return record is None or record.why == "erased" or ERASED.encode() in (event.payload or b"")


def request_id_reused(request_id: str) -> Conflict:
    """The error for a request id that was used before, for another request."""
    return Conflict(
        f"request id {request_id!r} was used for something else", hint="use a new request id for a new request"
    )


def _without_provenance(
    prepared: Sequence[Prepared], earlier: Sequence[Event]
) -> tuple[Sequence[Prepared], Sequence[Event]]:
    """Both without the events that only record provenance: those depend on the time of the call."""

    def only_provenance(payload: Any) -> bool:
        if not isinstance(payload, graph.Asserted) or payload.nodes or not payload.edges:
            return False
        return all(edge.rel in PROVENANCE_RELATIONS for edge in payload.edges)

    return (
        [one for one in prepared if not only_provenance(one.draft.payload)],
        [event for event in earlier if not only_provenance(payload_of(event))],
    )


# Texts for the index


def lex_all(drafts: Sequence[Draft]) -> dict[bytes, LexedText]:
    """The texts of these drafts, ready for the index, by content hash. Runs outside the lock."""
    return {
        text.content_hash: text
        for draft in drafts
        for text in (_lexed(draft.payload) if draft.ready is None else draft.ready.texts)
    }


def made_ready(draft: Draft, about: Struct) -> Draft:
    """A draft that is encoded and lexed ahead of its write. Its words must have passed the privacy filter.

    `about` replaces its payload: the same without the words. Raises Invalid for a payload that cannot be stored.
    """
    raw = encoded(draft.payload)
    return replace(draft, payload=about, ready=Ready(raw=raw, texts=tuple(lex_all([draft]).values())))


def _lexed(payload: Struct) -> Iterable[LexedText]:
    fields: list[tuple[str, str, str]]
    match payload:
        case memory.Remembered():
            entities = [(node.name, node.summary, node.text) for node in payload.entities]
            fields = [*entities, (payload.name, payload.summary, payload.text)]
        case graph.Asserted():
            fields = [(node.name, node.summary, node.text) for node in payload.nodes]
        case document.Ingested():
            sections = [(each.title, each.summary, each.text) for each in payload.sections]
            chunks = [("", chunk.summary, chunk.text) for each in payload.sections for chunk in each.chunks]
            fields = [(payload.title, payload.summary, ""), *sections, *chunks]
        case conversation.Recorded():
            head = [(payload.title, "", "")] if payload.opens else []
            fields = [*head, *(("", "", message.text) for message in payload.messages)]
        case code.Indexed():
            symbols = ((each.name or each.key, payload.path, each.text) for each in payload.symbols)
            fields = [(payload.path, "", payload.text), *symbols]
        case code.Linked():
            fields = [(each.name, "", "") for each in payload.outside]
        case _:
            fields = []
    return (lex(*each) for each in fields)
