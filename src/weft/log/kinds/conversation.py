"""Family `conversation`: what was said, turn by turn."""

from __future__ import annotations

from msgspec import Struct

from weft.types import Scope


class Said(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One turn. `seq` counts the turns of the conversation from 1; `at` is when it was said.

    `speaker` is a name, and stands before the words in `text`; `role` is a plain role, such as user. `verdict` is what
    was found of a message from outside that is not clean: see `weft.gateway`.
    """

    id: str
    seq: int
    text: str
    speaker: str = ""
    role: str = ""
    at: str | None = None
    verdict: str = ""


class Recorded(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Turns of one conversation, from a live agent or from one record. Later events add turns to the same `id`.

    `opens` is set where this event brings the conversation's own node, or says its title or beginning anew. `whole`
    conversations are answered as a whole. `ended` are nodes that turn out to be wrong: they cease to hold at any time,
    before anything else of this event is said, maybe the same node with other words. An `archived` conversation is left
    out of lists; every event that `opens` says so again.
    """

    id: str
    messages: tuple[Said, ...]
    opens: bool = False
    title: str = ""
    begins: str | None = None
    whole: bool = False
    archived: bool = False
    record: str | None = None
    ended: tuple[str, ...] = ()
    project: str | None = None
    focus: str | None = None
    scope: Scope = "admin"
    agents: tuple[str, ...] = ()
    sensitive: bool = False
