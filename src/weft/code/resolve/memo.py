"""Memoisation of recursive questions: bounded in depth, with a default answer for cycles."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar, cast

Answer = TypeVar("Answer")
_MISSING: Final = object()


class Memo(Generic[Answer]):
    """A cache of answers for one file that is being resolved."""

    def __init__(self, unknown: Answer, *, most_depth: int, most: int = 1_000_000, tries: int = 1) -> None:
        """`unknown` is the answer inside a cycle, beyond `most_depth`, or after `most` questions.

        An answer that depends on such a default may be incomplete: it is computed again, `tries` times in all.
        """
        self._unknown, self._most_depth, self._left, self._tries = unknown, most_depth, most, tries
        self._known: dict[Hashable, object] = {}
        self._busy: dict[Hashable, int] = {}  # questions being answered, with their depth
        self._tried: dict[Hashable, int] = {}
        self._cut = 0  # the depth of the outermost question that the current one ran into

    def once(self, key: Hashable, work: Callable[[], Answer]) -> Answer:
        """The cached answer to a question, computed if missing."""
        known = self._known.get(key, _MISSING)
        if known is not _MISSING:
            return cast("Answer", known)
        place = self._busy.get(key)
        depth = len(self._busy)
        if place is not None or depth >= self._most_depth or not self._left:
            self._cut = min(self._cut, place if place is not None else 0)
            return self._unknown
        self._left -= 1
        self._busy[key] = depth
        around, self._cut = self._cut, depth
        try:
            answer = work()
        finally:
            del self._busy[key]
            cut, self._cut = self._cut, min(around, self._cut)
        tried = self._tried.get(key, 0) + 1
        if cut >= depth or tried >= self._tries:
            self._known[key] = answer
        else:
            self._tried[key] = tried
        return answer
