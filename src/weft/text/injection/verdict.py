"""Verdict on a message from its matches and its channel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from weft.text.injection.categories import UNSTEERING
from weft.text.injection.detect import InjectionHit

Channel = Literal["admin", "public", "direct", "group"]
Verdict = Literal["CLEAN", "SUSPICIOUS", "DISCARD"]
ORDER: Final[tuple[Verdict, ...]] = ("CLEAN", "SUSPICIOUS", "DISCARD")
ADVISORY: Final[frozenset[Channel]] = frozenset({"admin"})  # messages here are never blocked or changed

SPAM_LINKS: Final = 5
_LINK: Final = re.compile(r"https?://")
LINKS: Final = InjectionHit(category="spam", reason="contains many links", words="")


def links_in(message: str) -> tuple[InjectionHit, ...]:
    """A match for a message with many links."""
    return (LINKS,) if len(_LINK.findall(message)) >= SPAM_LINKS else ()


def is_injection(hits: Sequence[InjectionHit]) -> bool:
    """Whether a match is an attempt to steer an assistant."""
    return any(hit.category not in UNSTEERING for hit in hits)


def verdict_of(hits: Sequence[InjectionHit], channel: Channel) -> Verdict:
    """CLEAN without a match, SUSPICIOUS with one; DISCARD with matches of two categories, or with two reasons of spam
    or abuse.

    A single match may be a discussion of such attempts. Additional words never soften a verdict. On advisory channels
    the worst verdict is SUSPICIOUS.
    """
    kinds = {hit.category for hit in hits}
    unwanted = {hit.reason for hit in hits if hit.category in UNSTEERING}
    clear = len(kinds) > 1 or len(unwanted) > 1
    worst: Verdict = "DISCARD" if clear else "SUSPICIOUS" if hits else "CLEAN"
    return capped(worst, channel)


def capped(verdict: Verdict, channel: Channel) -> Verdict:
    """The verdict, with SUSPICIOUS for DISCARD on advisory channels."""
    return "SUSPICIOUS" if verdict == "DISCARD" and channel in ADVISORY else verdict


def worse(one: Verdict, other: Verdict) -> Verdict:
    """The more severe of two verdicts."""
    return max(one, other, key=ORDER.index)
