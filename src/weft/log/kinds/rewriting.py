"""Family `log`: what was done to the log itself. No words, ever: these are what is left where words had to go."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Why = Literal["erased", "resealed"]
What = Literal["subject", "source", "session", "deleted", "key", "everything"]


class Rewritten(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Payloads of earlier events were replaced; the events' own headers and hashes stand as they were.

    `events` are (session, number, payload hash in hexadecimal): what each event's payload is from now on. Of several
    that name one event the newest counts. `nodes` are the ids of tombstones: nodes that lost their words and their
    names, and that nobody sees any more.
    """

    why: Why
    what: What
    events: tuple[tuple[str, int, str], ...]
    nodes: tuple[str, ...] = ()
