"""What of a long text is shown where there is not room for all of it: the sentences that are nearest to the question.

Pieces are sentences, rows of a table, items of a list. Each is worth what its meaning and its words have to do with
the question, and a share of what the one before it is worth: an answer often follows the sentence that is like the
question. They stand in their order, and dots are where something is left out. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from weft.context.wording import cut
from weft.lexical import stems
from weft.retrieval.views.ground import flat
from weft.sentences import sentence_spans

Span = tuple[int, int, float]  # from and to which character, and how near that is to the question

FOLLOWING, LEADING = 0.5, 0.2  # of what the piece before it is worth, and of the one behind it
BY_WORDS: Final = 0.5  # of a piece's worth; the rest is by meaning, where that is known
LEAST_PIECE: Final = 40  # characters of a piece that is shown in part
DOTS: Final = " … "


class Excerpts:
    """One text, cut to any length. What its pieces are worth is worked out once, and only if it has to be cut."""

    def __init__(self, text: str, asked: Mapping[str, float], near: Sequence[Span] = ()) -> None:
        self.whole = flat(text)
        self._text, self._asked, self._near = text, asked, near
        self._spans: list[tuple[int, int]] = []
        self._pieces: list[str] = []
        self._ranked: list[int] = []
        self._made: dict[int, str] = {}

    def within(self, most: int) -> str:
        """At most so many characters of it; as it begins where nothing of it has to do with the question."""
        if len(self.whole) <= most:
            return self.whole
        if most not in self._made:
            self._rank()
            self._made[most] = self._chosen(most) if self._ranked else cut(self.whole, most)
        return self._made[most]

    def _rank(self) -> None:
        if self._pieces:
            return
        self._spans = sentence_spans(self._text)
        self._pieces = [flat(self._text[start:end]) for start, end in self._spans]
        own = self._worth()
        if not any(own):
            return
        before, behind = [0.0, *own[:-1]], [*own[1:], 0.0]
        worth = [
            each + FOLLOWING * first + LEADING * last for each, first, last in zip(own, before, behind, strict=True)
        ]
        best = worth.index(max(worth))  # what is worth nothing is at least told near to it
        self._ranked = sorted(range(len(worth)), key=lambda at: (-worth[at], abs(at - best), at))

    def _worth(self) -> list[float]:
        """Of each piece, from 0 to 1."""
        by_words = _shares([self._by_words(piece) for piece in self._pieces])
        cosines = [_cosine(self._near, start, end) for start, end in self._spans]
        if not self._near or max(cosines) <= 0.0:
            return by_words
        least = min(cosines)
        by_meaning = _shares([each - least for each in cosines])
        return [
            BY_WORDS * words + (1 - BY_WORDS) * meaning for words, meaning in zip(by_words, by_meaning, strict=True)
        ]

    def _by_words(self, piece: str) -> float:
        return sum(self._asked.get(stem, 0.0) for stem in set(stems(piece))) if self._asked else 0.0

    def _chosen(self, most: int) -> str:
        """The best pieces that fit, whole, in their order; of the next one as much as there is room for."""
        kept: dict[int, str] = {}
        left = most - len(DOTS)
        for at in self._ranked:
            joins = (at - 1 in kept) + (at + 1 in kept)
            cost = len(self._pieces[at]) + 1 + len(DOTS) * (1 - joins)
            if cost > left:
                room = left - 2 * len(DOTS)
                if kept and (room < LEAST_PIECE or at - 1 not in kept or at + 1 in kept):
                    continue  # only what goes on is shown in part, and no hole of a few words is left
                kept[at] = cut(self._pieces[at], max(room, 1))
                break
            kept[at] = ""
            left -= cost
        return self._joined(kept)

    def _joined(self, kept: Mapping[int, str]) -> str:
        """What stands together in the text is taken as it stands there."""
        said: list[str] = []
        order = sorted(kept)
        at = 0
        while at < len(order):
            last = at
            while last + 1 < len(order) and order[last + 1] == order[last] + 1 and not kept[order[last]]:
                last += 1
            part = kept[order[last]]  # only the last of a run may be cut
            end = self._spans[order[last]][0 if part else 1]
            run = flat(self._text[self._spans[order[at]][0] : end])
            said.append(f"{run} {part}".strip())
            at = last + 1
        first = "… " if order[0] > 0 else ""
        ended = order[-1] == len(self._pieces) - 1 or said[-1].endswith("…")
        return first + _with_dots(said) + ("" if ended else " …")


def _with_dots(parts: Sequence[str]) -> str:
    """Those of which the end is left out have dots already."""
    return "".join(
        part if at == len(parts) - 1 else f"{part} " if part.endswith("…") else part + DOTS
        for at, part in enumerate(parts)
    )


def _cosine(near: Sequence[Span], start: int, end: int) -> float:
    """Of the place that a piece shares most characters with."""
    best, shared = 0.0, 0
    for first, last, cosine in near:
        common = min(end, last) - max(start, first)
        if common > shared:
            best, shared = cosine, common
    return best


def _shares(values: Sequence[float]) -> list[float]:
    most = max(values, default=0.0)
    return [each / most if most > 0.0 else 0.0 for each in values]
