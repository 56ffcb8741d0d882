"""Family `conversation`: messages, turn by turn."""

from __future__ import annotations

from msgspec import Struct

from weft.core.types import Scope


class MessageText(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One turn. `seq` counts the turns of the conversation from 1; `at` is when it was said.

    `speaker` is a name, and precedes the words in `text`; `role` is a plain role, such as user. `verdict` is the
    screening result of a message from outside that is not clean: see `weft.text.injection`.
    """

    id: str
    seq: int
    text: str
    speaker: str = ""
    role: str = ""
    at: str | None = None
    verdict: str = ""


class Recorded(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Turns of one conversation, live or from one record. Later events add turns to the same `id`.

    `opens` is set if this event creates the conversation's own node, or restates its title or start. `whole`
    conversations are answered as a whole. `ended` are nodes that turn out to be wrong: they cease to hold at any time,
    before the rest of this event applies, which may assert the same node with other words. An `archived` conversation
    is omitted from lists; every event that `opens` repeats it.
    """

    id: str
    messages: tuple[MessageText, ...]
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
