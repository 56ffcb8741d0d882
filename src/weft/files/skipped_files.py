"""Skipped files: the first of them with their reasons, and a count per reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from weft.files.walk import Skipped

MAX_TOLD: Final = 100  # files, and reasons
NAMED: Final = 3  # per reason, before more of another


class SkippedFiles:
    """Collects skipped files. Of many for one reason, some give way to one for a new reason."""

    def __init__(self) -> None:
        self._told: list[Skipped] = []
        self._reasons: Counter[str] = Counter()

    def add(self, skipped: Skipped) -> None:
        """Adds one."""
        known = skipped.sort in self._reasons or len(self._reasons) < MAX_TOLD
        self._reasons[skipped.sort if known else "for other reasons"] += 1
        if len(self._told) == MAX_TOLD and self._reasons[skipped.sort] == 1:  # a new reason before more of one
            common = Counter(each.sort for each in self._told).most_common(1)[0][0]
            del self._told[max(at for at, each in enumerate(self._told) if each.sort == common)]
        if len(self._told) < MAX_TOLD:
            self._told.append(skipped)

    def take(self, other: SkippedFiles) -> None:
        """Adds those of another collection."""
        for each in other.told:
            self.add(each)
        self._reasons.update(other._reasons - Counter(each.sort for each in other.told))

    @property
    def told(self) -> tuple[Skipped, ...]:
        """The skipped files that are named."""
        return tuple(self._told)

    @property
    def reasons(self) -> dict[str, int]:
        """The number of files per reason, the most common first."""
        return dict(self._reasons.most_common())

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on further skipped files, if there are more than are named."""
        more = self._reasons.total() - len(self._told)
        return (f"and {more:,} more were skipped",) if more else ()


def some_of_each(skipped: Sequence[Skipped], limit: int) -> tuple[Skipped, ...]:
    """Up to `limit` skipped files, at least one and, if there is room, three per reason."""
    counted: Counter[str] = Counter()
    ranked = []
    for at, each in enumerate(skipped):
        counted[each.sort] += 1
        ranked.append((min(counted[each.sort], NAMED + 1), at))
    firsts = sum(rank == 1 for rank, _ in ranked)
    return tuple(skipped[at] for at in sorted(at for _, at in sorted(ranked)[: max(limit, firsts)]))
