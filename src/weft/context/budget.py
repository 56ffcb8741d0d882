"""Token budgets: of an answer by profile, and of the slots of a context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from weft.runtime.priorities import Profile

# None: bounded only as every answer is (`weft.recall.answer_limits`).
PROFILE_TOKENS: Final[Mapping[Profile, int | None]] = {"compact": 300, "balanced": 1_200, "debug": None}
CONTEXT_TOKENS: Final = 1_200  # of a context, unless the caller says otherwise
ENVELOPE_TOKENS: Final = 30  # of a profile, for the summary and notes around a context
DEBUG_TOKENS: Final = 20_000  # of a context, where the profile has no bound
Slot = Literal["core", "dependencies", "decisions", "plan", "episodes"]
SHARES: Final[Mapping[Slot, float]] = {
    "core": 0.40,
    "dependencies": 0.25,
    "decisions": 0.20,
    "plan": 0.10,
    "episodes": 0.05,
}


def wider(profile: Profile) -> Profile:
    """The next larger profile; the largest stays itself."""
    names = tuple(PROFILE_TOKENS)
    return names[min(names.index(profile) + 1, len(names) - 1)]


def context_tokens(profile: Profile) -> int:
    """The tokens for the text of a context, so that the whole answer, as text or as data, stays within the profile."""
    tokens = PROFILE_TOKENS[profile]
    return DEBUG_TOKENS if tokens is None else tokens - tokens // 10 - ENVELOPE_TOKENS
