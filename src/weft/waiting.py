"""A write that waits for the store, as it is kept on the disk: all it takes to append it later, and for whom."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from weft.append import Writer
from weft.errors import Conflict, Invalid, StoreError
from weft.log.canonical import canonical
from weft.log.draft import Draft, check_name, prepare
from weft.log.kinds import kind_named
from weft.types import Actor, Audience, Viewer

FORMAT: Final = 1
# Of the first node of a write: what it says and for whom. Its other fields may carry the moment of the call.
WORDS: Final = ("id", "text", "name", "kind", "node_kind", "project", "scope", "agents", "sensitive")


class WaitingDraft(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An event that waits; its payload is what `Draft` holds, as JSON."""

    kind: str
    payload: Any
    occurred_at: int | None = None
    caused_by: tuple[str, ...] = ()
    task: str | None = None
    conversation: str | None = None


class Waiting(Struct, frozen=True, kw_only=True):
    """One write that waits: what, by whom, with which rights, since when, and what kept it from the store."""

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
    drafts: tuple[WaitingDraft, ...]

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


def waiting_of(
    drafts: Sequence[Draft], writer: Writer, viewer: Viewer, *, request_id: str | None, at: int, problem: StoreError
) -> Waiting:
    """A write as it will wait, with a request id made up if it has none. Raises Invalid or TooLarge for a bad one.

    Events that do not say when they happened, happened at `at`: now, not when they are delivered.
    """
    prepare(drafts)  # what is wrong is the caller's to hear, now
    for field, name in (("account", writer.account), ("session", writer.session), ("agent", writer.actor.agent)):
        check_name(name, field=field)
    if request_id is not None:
        check_name(request_id, field="request_id")
    return Waiting(
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
            WaitingDraft(
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


def _same_words(one: Waiting, other: Waiting) -> bool:
    if (one.writer, one.viewer) != (other.writer, other.viewer):
        return False
    words = _first_words(one)
    return words is not None and words == _first_words(other)


def _first_words(waiting: Waiting) -> tuple[Any, ...] | None:
    """What the first node of a write says, under which id and for whom; None if it writes none."""
    first = waiting.drafts[0]
    node = first.payload
    if first.kind == "graph.asserted":
        node = next(iter(node.get("nodes", ())), {})
    if not node.get("id") or not node.get("text"):
        return None
    return first.kind, *(node.get(name) for name in WORDS)


def draft_of(waiting: WaitingDraft) -> Draft:
    """The draft as it was. Raises Invalid for one that no kind of event fits, as from a newer weft."""
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


def check_same(there: Waiting | None, waiting: Waiting) -> None:
    """Raises Conflict unless both say the same under their one request id.

    What is read out of words carries the moment of the call: the same words by the same writer are the same request.
    """
    said = [(each.kind, canonical(each.payload)) for each in waiting.drafts]
    if there is None or (
        [(each.kind, canonical(each.payload)) for each in there.drafts] != said and not _same_words(there, waiting)
    ):
        raise Conflict(
            f"request id {waiting.request_id!r} waits with something else",
            hint="use a new request id for a new request",
        )
