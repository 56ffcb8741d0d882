"""A queued write as it is stored on disk: all that is needed to append it later, and on whose behalf."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from weft.core.errors import Conflict, Invalid, StoreError
from weft.core.types import Actor, Audience, Viewer, Writer
from weft.log.canonical import canonical
from weft.log.draft import Draft, check_name, prepare
from weft.log.kinds import kind_named

FORMAT: Final = 1
# Fields of a write's first node that identify it; its other fields may depend on the time of the call.
WORDS: Final = ("id", "text", "name", "kind", "node_kind", "project", "scope", "agents", "sensitive")


class QueuedDraft(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A queued event; its payload is `Draft.payload` as JSON."""

    kind: str
    payload: Any
    occurred_at: int | None = None
    caused_by: tuple[str, ...] = ()
    task: str | None = None
    conversation: str | None = None


class QueuedWrite(Struct, frozen=True, kw_only=True):
    """One queued write: content, author, rights, time, and the problem that kept it from the store."""

    format: int = FORMAT
    request_id: str
    account: str
    session: str
    agent: str
    role: str
    scopes: tuple[str, ...]
    viewer_agent: str | None
    audience: Audience
    sensitive: bool
    since: int
    problem: str
    drafts: tuple[QueuedDraft, ...]

    @property
    def writer(self) -> Writer:
        return Writer(account=self.account, session=self.session, actor=Actor(agent=self.agent, role=self.role))

    @property
    def viewer(self) -> Viewer:
        return Viewer(
            account=self.account,
            scopes=frozenset(self.scopes),
            agent=self.viewer_agent,
            audience=self.audience,
            sensitive=self.sensitive,
        )


def queued_write(
    drafts: Sequence[Draft], writer: Writer, viewer: Viewer, *, request_id: str | None, at: int, problem: StoreError
) -> QueuedWrite:
    """A write as it will wait, with a request id made up if it has none. Raises Invalid or TooLarge for a bad one.

    Events that do not say when they happened, happened at `at`: now, not when they are delivered.
    """
    prepare(drafts)  # what is wrong is the caller's to hear, now
    for field, name in (("account", writer.account), ("session", writer.session), ("agent", writer.actor.agent)):
        check_name(name, field=field)
    if request_id is not None:
        check_name(request_id, field="request_id")
    return QueuedWrite(
        request_id=request_id or f"outbox-{uuid.uuid4()}",
        account=writer.account,
        session=writer.session,
        agent=writer.actor.agent,
        role=writer.actor.role,
        scopes=tuple(sorted(viewer.scopes)),
        viewer_agent=viewer.agent,
        audience=viewer.audience,
        sensitive=viewer.sensitive,
        since=at,
        problem=problem.message[:500],
        drafts=tuple(
            QueuedDraft(
                kind=draft.kind,
                payload=msgspec.to_builtins(draft.payload),
                occurred_at=at if draft.occurred_at is None else draft.occurred_at,
                caused_by=draft.caused_by,
                task=draft.task,
                conversation=draft.conversation,
            )
            for draft in drafts
        ),
    )


def _same_words(one: QueuedWrite, other: QueuedWrite) -> bool:
    if (one.writer, one.viewer) != (other.writer, other.viewer):
        return False
    words = _first_words(one)
    return words is not None and words == _first_words(other)


def _first_words(waiting: QueuedWrite) -> tuple[Any, ...] | None:
    """The words of a write's first node, its id and guard; None if it writes no node."""
    first = waiting.drafts[0]
    node = first.payload
    if first.kind == "graph.asserted":
        node = next(iter(node.get("nodes", ())), {})
    if not node.get("id") or not node.get("text"):
        return None
    return first.kind, *(node.get(name) for name in WORDS)


def draft_of(waiting: QueuedDraft) -> Draft:
    """The draft as it was. Raises Invalid for a payload that fits no known kind, for example from a newer weft."""
    try:
        payload = msgspec.convert(waiting.payload, kind_named(waiting.kind).payload)
    except msgspec.ValidationError as problem:
        raise Invalid(f"the payload does not fit {waiting.kind}: {problem}") from problem
    return Draft(
        kind=waiting.kind,
        payload=payload,
        occurred_at=waiting.occurred_at,
        caused_by=waiting.caused_by,
        task=waiting.task,
        conversation=waiting.conversation,
    )


def check_same(there: QueuedWrite | None, waiting: QueuedWrite) -> None:
    """Raises Conflict unless both writes say the same under one request id.

    Extracted values depend on the time of the call: the same words by the same writer are the same request.
    """
    said = [(each.kind, canonical(each.payload)) for each in waiting.drafts]
    if there is None or (
        [(each.kind, canonical(each.payload)) for each in there.drafts] != said and not _same_words(there, waiting)
    ):
        raise Conflict(
            f"request id {waiting.request_id!r} waits with something else",
            hint="use a new request id for a new request",
        )
