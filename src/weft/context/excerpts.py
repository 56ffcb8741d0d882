"""Excerpts of long texts: the sentences and code blocks that are nearest to the question, in their order. Pure.

Pieces are sentences, rows of a table, items of a list, code blocks. The worth of a piece is how near its meaning and
its words are to the question, plus a share of its neighbours': an answer often follows the sentence that is like the
question. Dots stand where something is left out. Code keeps its lines and stands apart from the prose.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from weft.context.code_blocks import CodeBlock, around_blocks, code_blocks, fenced, fenced_blocks
from weft.context.wording import WORD_CHARACTERS, cut
from weft.text.lexical import stems
from weft.text.one_line import flat
from weft.text.sentences import sentence_spans

# Source code; text as it was written, in which Markdown may mark code; text in which all code stands in fences.
TextForm = Literal["code", "markup", "plain"]
Span = tuple[int, int, float]  # from and to which character, and how near that is to the question

FOLLOWING, LEADING = 0.5, 0.2  # of the worth of the piece before, and of the one behind
BY_WORDS: Final = 0.5  # of a piece's worth; the rest is by meaning, where cosines are known
LEAST_PIECE: Final = 40  # characters of a piece that is shown in part
DOTS: Final = " … "


class Excerpt(Struct, frozen=True):
    """Prose on one line, then code blocks and more prose in the order of the text.

    `below` holds blocks: a fenced one is code, any other is prose on one line.
    """

    prose: str
    below: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.prose) + sum(len(block) + 1 for block in self.below)

    @property
    def code(self) -> tuple[str, ...]:
        """The fenced blocks."""
        return tuple(block for block in self.below if block.startswith("```"))

    @property
    def said(self) -> str:
        """All the prose, on one line."""
        return " ".join(filter(None, (self.prose, *(block for block in self.below if not block.startswith("```")))))


class _Piece(Struct, frozen=True):
    start: int
    end: int
    prose: str
    block: CodeBlock | None = None

    @property
    def size(self) -> int:
        return len(self.prose) if self.block is None else len(fenced(self.block.code, self.block.language)) + 1


class Excerpts:
    """One text that can be cut to any length. Its pieces are ranked once, and only if it has to be cut."""

    def __init__(
        self, text: str, asked: Mapping[str, float], near: Sequence[Span] = (), *, form: TextForm = "markup"
    ) -> None:
        self._text, self._asked, self._near = text, asked, near
        match form:
            case "code":
                self._blocks = [CodeBlock(0, len(text), text)] if text.strip() else []
            case "markup":
                self._blocks = code_blocks(text)
            case "plain":
                self._blocks = fenced_blocks(text)
        self._pieces: list[_Piece] = []
        self._ranked: list[int] | None = None
        self._made: dict[int, Excerpt] = {}
        self.whole = Excerpt(flat(text)) if not self._blocks else self._all()

    def within(self, most: int) -> Excerpt:
        """An excerpt of at most that many characters; the beginning if nothing matches the question."""
        if len(self.whole) <= most:
            return self.whole
        if most not in self._made:
            self._rank()
            ranked = self._rank()
            self._made[most] = self._chosen(ranked, most) if ranked else Excerpt(cut(self.whole.said, most))
        return self._made[most]

    def _all(self) -> Excerpt:
        self._split()
        return self._joined(dict.fromkeys(range(len(self._pieces)), ""))

    def _split(self) -> None:
        """The pieces of the text, in order."""
        if self._pieces:
            return
        at = 0
        for block in [*self._blocks, CodeBlock(len(self._text), len(self._text), "")]:
            part = self._text[at : block.start]
            self._pieces += [_Piece(at + start, at + end, flat(part[start:end])) for start, end in sentence_spans(part)]
            if block.code:
                self._pieces.append(_Piece(block.start, block.end, "", block))
            at = block.end

    def _rank(self) -> list[int]:
        """Numbers of pieces, best first; none where prose does not match the question."""
        if self._ranked is not None:
            return self._ranked
        self._split()
        own = self._worth()
        if not any(own):
            self._ranked = list(range(len(self._pieces))) if self._blocks else []
            return self._ranked
        before, behind = [0.0, *own[:-1]], [*own[1:], 0.0]
        worth = [
            each + FOLLOWING * first + LEADING * last for each, first, last in zip(own, before, behind, strict=True)
        ]
        best = worth.index(max(worth))  # pieces worth nothing are at least shown near to it
        self._ranked = sorted(range(len(worth)), key=lambda at: (-worth[at], abs(at - best), at))
        return self._ranked

    def _worth(self) -> list[float]:
        """The relevance of each piece, from 0 to 1."""
        by_words = _shares([self._by_words(piece) for piece in self._pieces])
        cosines = [_cosine(self._near, piece.start, piece.end) for piece in self._pieces]
        if not self._near or max(cosines, default=0.0) <= 0.0:
            return by_words
        least = min(cosines)
        by_meaning = _shares([each - least for each in cosines])
        return [
            BY_WORDS * words + (1 - BY_WORDS) * meaning for words, meaning in zip(by_words, by_meaning, strict=True)
        ]

    def _by_words(self, piece: _Piece) -> float:
        words = piece.prose if piece.block is None else piece.block.code
        return sum(self._asked.get(stem, 0.0) for stem in set(stems(words))) if self._asked else 0.0

    def _chosen(self, ranked: Sequence[int], most: int) -> Excerpt:
        """The best pieces that fit, whole, in their order; of the next one as much as there is room for."""
        kept: dict[int, str] = {}
        left = most - len(DOTS)
        for at in ranked:
            piece = self._pieces[at]
            joins = (at - 1 in kept) + (at + 1 in kept)
            cost = piece.size + 1 + len(DOTS) * (1 - joins)
            if cost > left:
                room = left - 2 * len(DOTS)
                # A piece is cut only where it continues the one before, and not to a few words.
                if kept and (room < LEAST_PIECE or at - 1 not in kept or at + 1 in kept):
                    continue
                if piece.block is None:
                    kept[at] = cut(piece.prose, max(room, 1))
                elif first := _first_lines(piece.block, room):
                    kept[at] = first
                elif not kept:
                    continue
                break
            kept[at] = ""
            left -= cost
        return self._joined(kept) if kept else Excerpt(cut(flat(self._text), most))

    def _joined(self, kept: Mapping[int, str]) -> Excerpt:
        """Neighbouring sentences are taken with the text between them; `kept` holds the shown part of a piece that is
        cut.
        """
        blocks: list[str] = []
        runs: list[str] = []
        order = sorted(kept)
        at = 0
        while at < len(order):
            if (block := self._pieces[order[at]].block) is not None:
                blocks += [_with_dots(runs)] if runs else []
                blocks.append(kept[order[at]] or fenced(block.code, block.language))
                runs = []
                at += 1
                continue
            last = at
            while last + 1 < len(order) and self._goes_on(order[last], order[last + 1], kept):
                last += 1
            part = kept[order[last]]  # only the last of a run may be cut
            end = self._pieces[order[last]].start if part else self._pieces[order[last]].end
            run = flat(self._text[self._pieces[order[at]].start : end])
            if run.startswith("```"):  # the marks of an empty block would open a fence below the line
                run = run.lstrip("` ")
            before = "" if runs or self._follows(order, at) else "… "
            behind = "" if part or self._leads(order, last) else " …"
            runs += [f"{before}{run} {part}".strip() + behind] if run or part else []
            at = last + 1
        blocks += [_with_dots(runs)] if runs else []
        if not blocks or blocks[0].startswith("```"):
            return Excerpt("", tuple(blocks))
        return Excerpt(blocks[0], tuple(blocks[1:]))

    def _follows(self, order: Sequence[int], at: int) -> bool:
        """Whether nothing is omitted before a kept piece."""
        return order[at] == (order[at - 1] + 1 if at else 0)

    def _leads(self, order: Sequence[int], at: int) -> bool:
        """Whether nothing is omitted after it, or dots are there anyway."""
        if at + 1 == len(order):
            return order[at] == len(self._pieces) - 1
        return order[at + 1] == order[at] + 1 or self._pieces[order[at + 1]].block is None

    def _goes_on(self, at: int, then: int, kept: Mapping[int, str]) -> bool:
        return then == at + 1 and not kept[at] and self._pieces[then].block is None


def excerpt(text: str, start: int, end: int, around: int) -> str:
    """The surroundings of a place in a text: from the beginning of a sentence or a word to the end of a word, code
    blocks whole.
    """
    first, last = max(0, start - around), max(end, start + around) + around
    if first:
        before = text[first:start]
        spans = sentence_spans(before)
        blank = next((at for at, sign in enumerate(before) if sign.isspace()), len(before))
        first += spans[1][0] if len(spans) > 1 else blank
    if last < len(text):
        least = max(end, last - WORD_CHARACTERS)
        last = next((at for at in range(last, least, -1) if text[at].isspace()), last)
    first, last = around_blocks(text, first, last)
    return ("…" if first else "") + text[first:last].strip() + ("…" if last < len(text) else "")


def excerpt_of_code(text: str, start: int, end: int, around: int) -> str:
    """The whole lines of code around a place."""
    first = text.rfind("\n", 0, max(0, start - around)) + 1
    last = text.find("\n", min(len(text), max(end, start + around) + around))
    return ("…\n" if first else "") + text[first : last if last >= 0 else len(text)] + ("\n…" if last >= 0 else "")


def _first_lines(block: CodeBlock, room: int) -> str:
    """The first lines of a code block that fit, with dots below; empty where not even one does."""
    kept: list[str] = []
    left = room - len(fenced("…", block.language))
    for line in block.code.split("\n"):
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    return fenced("\n".join([*kept, "…"]), block.language) if any(map(str.strip, kept)) else ""


def _with_dots(parts: Sequence[str]) -> str:
    """Adds dots where text is omitted; pieces that are cut at their end have them already."""
    return "".join(
        part if at == len(parts) - 1 else f"{part} " if part.endswith("…") else part + DOTS
        for at, part in enumerate(parts)
    )


def _cosine(near: Sequence[Span], start: int, end: int) -> float:
    """The cosine of the passage that a piece overlaps most."""
    best, shared = 0.0, 0
    for first, last, cosine in near:
        common = min(end, last) - max(start, first)
        if common > shared:
            best, shared = cosine, common
    return best


def _shares(values: Sequence[float]) -> list[float]:
    most = max(values, default=0.0)
    return [each / most if most > 0.0 else 0.0 for each in values]


# ---- repetition: shared runs of three words, whatever marks separate them

RUN: Final = 3  # words in a row: shorter runs are shared by chance
MOST: Final = 0.8  # of the runs: links and code are spelt differently
_WORDS: Final = re.compile(r"\w+")

WordRun = tuple[str, ...]


def tells_again(short: str, long: str) -> bool:
    """Whether a longer text contains nearly all word sequences of a shorter one."""
    runs = _runs(short)
    there = _runs(long, len(next(iter(runs)))) if runs else runs
    return bool(runs) and len(runs & there) >= MOST * len(runs)


def repeats(text: str, other: str) -> bool:
    """Whether two texts share three consecutive words; of a shorter one, such as a heading, all words."""
    runs = _runs(other)
    return bool(runs) and bool(runs & _runs(text, len(next(iter(runs)))))


def _runs(text: str, size: int = RUN) -> set[WordRun]:
    words = _WORDS.findall(text.casefold())
    size = min(size, len(words))
    return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)} if size else set()
