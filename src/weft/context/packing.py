"""Sections of lines as one cited text within a budget of tokens: whole lines, the least of them left out. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.context.arrange import Group, Line
from weft.context.linearise import Written, body_of, flagged, room_for, sources_of
from weft.context.ties import Ties
from weft.context.tokens import count_tokens
from weft.errors import OverBudget

SOURCE_TOKENS: Final = 7  # of a line's source in the footer
AROUND_TOKENS: Final = 20  # headings and the marker
ADVISED: Final = (300, 1_200, 4_000)


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
    count = sum(len(each.lines) for each in sections)
    room = room_for(min(count, 12), budget_tokens)
    every = tuple(line for each in sections for line in each.lines)
    price = {
        line.id: count_tokens(line.text) + SOURCE_TOKENS
        for line in body_of([Group(heading="", lines=every)], ties, room).lines
    }
    left = budget_tokens - count_tokens(head) - AROUND_TOKENS
    kept = {each.name: _fitting(each.lines, price, int(left * each.share)) for each in sections}
    left -= sum(price[line.node.id] for lines in kept.values() for line in lines)
    for each in sections:
        more = _fitting(each.lines[len(kept[each.name]) :], price, left)
        left -= sum(price[line.node.id] for line in more)
        kept[each.name] += more
    packed = _packed(sections, kept, ties, head, budget_tokens, room)
    while packed.tokens > budget_tokens and any(kept.values()):
        longest = max((each for each in sections if kept[each.name]), key=lambda each: len(kept[each.name]))
        kept[longest.name].pop()
        packed = _packed(sections, kept, ties, head, budget_tokens, room)
    if packed.tokens > budget_tokens or (count and not any(kept.values())):
        least = count_tokens(head) + min(price.values(), default=0) + 2 * AROUND_TOKENS
        advised = next((each for each in ADVISED if each >= least and each > budget_tokens), least)
        raise OverBudget(
            f"not one line fits into {budget_tokens:,} tokens: the shortest takes about {least:,}",
            hint=f"give max_tokens {advised:,} or more",
        )
    return packed


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
    sections: Sequence[Section], kept: dict[str, list[Line]], ties: Ties, head: str, budget_tokens: int, room: int
) -> Packed:
    grouped = [(each, [group for group in each.groups(kept[each.name]) if group.lines]) for each in sections]
    body = body_of([group for _, groups in grouped for group in groups], ties, room)
    by_id = {line.id: line for line in body.lines}
    gone = {each.name: len(each.lines) - len(kept[each.name]) for each in sections}
    blocks = [head, *body.blocks]
    if any(gone.values()):
        said = ", ".join(f"{number} of {name}" for name, number in gone.items() if number)
        blocks.append(f"(left out: {said}; the budget of {budget_tokens} tokens is spent)")
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
