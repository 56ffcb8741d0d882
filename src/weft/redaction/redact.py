"""Takes secrets out of texts, and leaves everything else as it was."""

from __future__ import annotations

from collections import Counter

from weft.redaction.finding import find_secrets
from weft.redaction.given import MARK

__all__ = ["redact"]


def redact(text: str, counts: Counter[str] | None = None) -> str:
    """The text with `[redacted: <sort>]` in place of each secret; lines keep their numbers.

    The same text always gives the same, and what is redacted already stays. `counts` gets how many there were, by sort.
    """
    found = find_secrets(text)
    if not found:
        return text
    pieces: list[str] = []
    done = 0
    for secret in found:
        lines = text.count("\n", secret.start, secret.end)
        pieces += (text[done : secret.start], MARK, secret.sort, "]", "\n" * lines)
        done = secret.end
        if counts is not None:
            counts[secret.sort] += 1
    return "".join((*pieces, text[done:]))
