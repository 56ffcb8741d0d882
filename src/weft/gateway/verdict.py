"""What is to become of a message, told by what was found in it and where it came from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from weft.gateway.categories import UNSTEERING
from weft.gateway.finding import Hit

Channel = Literal["admin", "public", "direct", "group"]
Verdict = Literal["CLEAN", "SUSPICIOUS", "DISCARD"]
ORDER: Final[tuple[Verdict, ...]] = ("CLEAN", "SUSPICIOUS", "DISCARD")
ADVISORY: Final[frozenset[Channel]] = frozenset({"admin"})  # what comes in here is never blocked and never changed

SPAM_LINKS: Final = 5
_LINK: Final = re.compile(r"https?://")
LINKS: Final = Hit(category="spam", reason="holds many links", words="")


def links_in(message: str) -> tuple[Hit, ...]:
    """That a message is full of links, if it is."""
    return (LINKS,) if len(_LINK.findall(message)) >= SPAM_LINKS else ()


def is_injection(hits: Sequence[Hit]) -> bool:
    """Whether something in it tries to steer an assistant."""
    return any(hit.category not in UNSTEERING for hit in hits)


def verdict_of(hits: Sequence[Hit], channel: Channel) -> Verdict:
    """CLEAN without a find, SUSPICIOUS with one; DISCARD where finds are of two kinds, or two reasons of unwanted mail.

    One find may be somebody who talks about such things. More words around it never make a verdict milder. On advisory
    channels the worst is SUSPICIOUS.
    """
    kinds = {hit.category for hit in hits}
    unwanted = {hit.reason for hit in hits if hit.category in UNSTEERING}
    clear = len(kinds) > 1 or len(unwanted) > 1
    worst: Verdict = "DISCARD" if clear else "SUSPICIOUS" if hits else "CLEAN"
    return capped(worst, channel)


def capped(verdict: Verdict, channel: Channel) -> Verdict:
    """On advisory channels nothing is discarded."""
    return "SUSPICIOUS" if verdict == "DISCARD" and channel in ADVISORY else verdict


def worse(one: Verdict, other: Verdict) -> Verdict:
    """The harder of two."""
    return max(one, other, key=ORDER.index)
