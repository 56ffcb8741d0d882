"""Names of nodes, by full scan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from weft.backends.memory.search import lead_of
from weft.backends.memory.visible import GuardedAccount, ReadTime
from weft.core.queries import NameMatch
from weft.core.types import NodeVersion
from weft.text.names import is_misspelling, spelling_words

MOST_PER_KEY: Final = 32


def _rows(sight: GuardedAccount, moment: ReadTime, projects: tuple[str | None, ...] | None) -> Iterator[NodeVersion]:
    for row in sight.nodes_at(moment):
        if projects is None or row.guard.project in projects:
            yield row


def by_name(
    sight: GuardedAccount, moment: ReadTime, keys: Sequence[str], projects: tuple[str | None, ...] | None
) -> tuple[NameMatch, ...]:
    """Visible nodes with these names."""
    found = [
        NameMatch(key=key, weight=weight, node=lead_of(row))
        for row in _rows(sight, moment, projects)
        for key, weight in sight.graph.texts[row.content_hash].aliases
        if key in keys
    ]
    found.sort(key=lambda each: (each.key, -each.node.row))
    counts: dict[str, int] = {}
    kept = []
    for each in found:
        counts[each.key] = counts.get(each.key, 0) + 1
        if counts[each.key] <= MOST_PER_KEY:
            kept.append(each)
    return tuple(kept)


def spellings(
    sight: GuardedAccount, moment: ReadTime, word: str, projects: tuple[str | None, ...] | None
) -> tuple[str, ...]:
    """Words of names that `word` may be a misspelling of, with its first or its second half as written."""
    half = (len(word) - 1) // 2
    words = {
        each
        for row in _rows(sight, moment, projects)
        for key, _ in sight.graph.texts[row.content_hash].aliases
        for each in spelling_words(key)
    }
    halves = (each for each in words if each.startswith(word[:half]) or each[::-1].startswith(word[::-1][:half]))
    return tuple(sorted(each for each in halves if is_misspelling(word, each)))
