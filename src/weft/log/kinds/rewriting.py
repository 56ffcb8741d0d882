"""Family `log`: changes of the log itself. Without words: these events remain where words had to go."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Why = Literal["erased", "resealed"]
What = Literal["subject", "source", "session", "deleted", "key", "everything"]


class Rewritten(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Payloads of earlier events were replaced; their headers and hashes are unchanged.

    `events` are (session, number, payload hash in hexadecimal): each event's new payload. The newest event that names a
    payload counts. `nodes` are the ids of tombstones: nodes that lost their words and names and are never visible
    again.
    """

    why: Why
    what: What
    events: tuple[tuple[str, int, str], ...]
    nodes: tuple[str, ...] = ()
