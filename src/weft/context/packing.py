"""Sections of lines as one cited text within a budget of tokens: whole lines, the least of them left out. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.context.arrange import Group, Line
from weft.context.linearise import MOST_PER_TOKEN, STEP, Said, Telling, Written, body_of, flagged, sources_of, spent
from weft.context.rooms import WHOLE_CHARACTERS, longer, rooms_of, widest
from weft.context.ties import Ties
from weft.context.tokens import CHARACTERS_PER_TOKEN, count_tokens
from weft.errors import OverBudget

SOURCE_TOKENS: Final = 7  # of a line's source in the footer
AROUND_TOKENS: Final = 20  # headings and the marker


class Section(Struct, frozen=True, kw_only=True):
    """Lines in the order in which they are kept, `heading` them once, and how they are read.

    `share` is what they may take of the budget before the others had theirs; what is left goes to the first that
    needs it. `groups` puts those that are kept in the order in which they are read.
    """

    name: str
    lines: Sequence[Line]
    share: float
    groups: Callable[[Sequence[Line]], Sequence[Group]]


class Packed(Struct, frozen=True, kw_only=True):
    """The text; lines by section, and how many of each had no room. `sources` are citations by number, from 1."""

    text: str
    tokens: int
    lines: dict[str, tuple[Written, ...]]
    left_out: dict[str, int]
    sources: tuple[str, ...]


def pack(sections: Sequence[Section], ties: Ties, head: str, budget_tokens: int) -> Packed:
    """The most of every section that fits, under one head. Raises OverBudget where not one line does."""
    sections = [replace(each, lines=[flagged(line) for line in each.lines]) for each in sections]
    every = [line for each in sections for line in each.lines]
    told = Telling(every)
    left = budget_tokens - count_tokens(head) - AROUND_TOKENS
    rooms = _rooms(sections, told.needs, left * CHARACTERS_PER_TOKEN)
    body = body_of([Group(heading="", lines=tuple(every))], ties, told.within(rooms))
    price = {line.id: count_tokens(line.text) + SOURCE_TOKENS for line in body.lines}

    def write(kept: dict[str, list[Line]], rooms: Mapping[str, int]) -> Packed:
        return _packed(sections, kept, ties, head, budget_tokens, told.within(rooms))

    kept = _kept(sections, price, left)
    packed = write(kept, rooms)
    while packed.tokens > budget_tokens and any(kept.values()):
        longest = max((each for each in sections if kept[each.name]), key=lambda each: len(kept[each.name]))
        kept[longest.name].pop()
        packed = write(kept, rooms)
    if packed.tokens > budget_tokens or (every and not any(kept.values())):
        least = {each: min(need, WHOLE_CHARACTERS) for each, need in told.needs.items()}
        return _one_line(sections, lambda kept: write(kept, least), budget_tokens)
    shown = {line.node.id: rooms[line.node.id] for lines in kept.values() for line in lines}
    more = sum(told.needs[each] - room for each, room in shown.items())
    wider = widest(
        lambda characters: write(kept, longer(shown, told.needs, characters)),
        lambda made: made.tokens <= budget_tokens,
        min(more, MOST_PER_TOKEN * budget_tokens),
        STEP,
    )
    return wider or packed


def _one_line(
    sections: Sequence[Section], write: Callable[[dict[str, list[Line]]], Packed], budget_tokens: int
) -> Packed:
    """The first line that fits alone. Raises OverBudget, which names the least with which one does."""
    alone = []
    for section in sections:
        for line in section.lines:
            made = write({each.name: [line] if each is section else [] for each in sections})
            if made.tokens <= budget_tokens:
                return made
            alone.append(made.tokens)
    least = min(alone, default=write({each.name: [] for each in sections}).tokens)
    raise OverBudget(
        f"not one line fits into {budget_tokens:,} tokens: the shortest takes {least:,}",
        hint=f"give max_tokens {least:,} or more",
    )


def _rooms(sections: Sequence[Section], needs: Mapping[str, int], characters: int) -> dict[str, int]:
    """Of every line: by rank within the share of its section, and little where that has none left for it."""
    rooms = {each: min(need, WHOLE_CHARACTERS) for each, need in needs.items()}
    shares = sum(each.share for each in sections if each.lines) or 1.0
    for section in sections:
        own = {line.node.id: needs[line.node.id] for line in section.lines}
        rooms |= rooms_of(own, int(characters * section.share / shares))
    return rooms


def _kept(sections: Sequence[Section], price: dict[str, int], left: int) -> dict[str, list[Line]]:
    """What each section takes of its share, and then of what is left."""
    kept = {each.name: _fitting(each.lines, price, int(left * each.share)) for each in sections}
    left -= sum(price[line.node.id] for lines in kept.values() for line in lines)
    for each in sections:
        more = _fitting(each.lines[len(kept[each.name]) :], price, left)
        left -= sum(price[line.node.id] for line in more)
        kept[each.name] += more
    return kept


def _fitting(lines: Sequence[Line], price: dict[str, int], budget: int) -> list[Line]:
    """From the first on, as far as they fit."""
    taken: list[Line] = []
    for line in lines:
        budget -= price[line.node.id]
        if budget < 0:
            break
        taken.append(line)
    return taken


def _packed(
    sections: Sequence[Section], kept: dict[str, list[Line]], ties: Ties, head: str, budget_tokens: int, words: Said
) -> Packed:
    grouped = [(each, [group for group in each.groups(kept[each.name]) if group.lines]) for each in sections]
    body = body_of([group for _, groups in grouped for group in groups], ties, words)
    by_id = {line.id: line for line in body.lines}
    gone = {each.name: len(each.lines) - len(kept[each.name]) for each in sections}
    blocks = [head, *body.blocks]
    if any(gone.values()):
        said = ", ".join(f"{number} of {name}" for name, number in gone.items() if number)
        blocks.append(f"(left out: {said}{spent(budget_tokens).replace(':', ';')})")
    if body.sources:
        blocks.append(sources_of(body.sources))
    text = "\n\n".join(blocks)
    return Packed(
        text=text,
        tokens=count_tokens(text),
        lines={
            each.name: tuple(by_id[line.node.id] for group in groups for line in group.lines)
            for each, groups in grouped
        },
        left_out={name: number for name, number in gone.items() if number},
        sources=body.sources,
    )
