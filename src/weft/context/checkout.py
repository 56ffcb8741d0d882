"""The prompt of a checkout: lines by slot, whole, cited, within a budget of tokens. Pure.

Five slots share the budget (see `budget`): what answers, what that is joined to, decisions and rules, open work, and
what happened lately. A briefing that the session left comes first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.context.arrange import Group, Line, arrange, by_worth, order_of
from weft.context.briefing import PARTS
from weft.context.budget import SHARES, Slot, fill
from weft.context.linearise import (
    MOST_PER_TOKEN,
    ORDERS,
    STEP,
    Body,
    Telling,
    Written,
    body_of,
    flagged,
    quoted_note,
    sources_of,
    spent,
)
from weft.context.linearise import SMALL_TOKENS as FEW_TOKENS
from weft.context.rooms import AROUND_WORDS, WHOLE_CHARACTERS, longer, rooms_of, widest
from weft.context.ties import Ties
from weft.context.tokens import CHARACTERS_PER_TOKEN, count_tokens
from weft.errors import OverBudget
from weft.extract.intent import Intent
from weft.types import NodeVersion

RULES: Final = frozenset({"Decision", "Preference", "Pattern", "Context", "Rule"})
WORK: Final = frozenset({"Task", "Feature", "Claim", "Handoff", "Proof"})
BRIEFING_SHARE: Final = 0.3  # of the budget, for what the session left
# A source costs a few tokens beside its line: in full once for a session or a file, then its number alone.
SOURCE_TOKENS: Final = 7
HEADING_TOKENS: Final = 6
MARKER_TOKENS: Final = 20
SMALL_TOKENS: Final = 600  # a budget that is for the answers alone
BESIDE: Final = frozenset({"dependencies", "episodes"})
NOTHING: Final = Body(blocks=(), lines=(), sources=())
HEADINGS: Final[Mapping[Slot, str]] = {
    "core": "What answers",
    "dependencies": "Joined to these",
    "decisions": "Decisions and rules",
    "plan": "Open work",
    "episodes": "Lately, newest last",
}
# As they are read: what answers, what binds, what is to be done, then what is around it.
READ: Final[tuple[Slot, ...]] = ("core", "decisions", "plan", "dependencies", "episodes")
# The order of a briefing where room is short: what goes on comes first.
PARTS_FIRST: Final = ("in_progress", "asked", "decided", "done", "learned")


class Wanted(Struct, frozen=True, kw_only=True):
    """Lines by slot, best first (of `episodes` oldest first), and what to write around them.

    `briefing` is what the session left, a line for each statement; `before` and `after` are weft's own words.
    """

    slots: Mapping[Slot, Sequence[Line]]
    intent: Intent
    ties: Ties
    before: str
    briefing: Sequence[Line] = ()
    briefed: str = ""
    warnings: Sequence[str] = ()
    guidance: Sequence[str] = ()


class Prompt(Struct, frozen=True, kw_only=True):
    """A prompt. `lines` are by slot, `briefing` those of the session's own; `left_out` had no room.

    `sources` are citations by number, from 1.
    """

    text: str
    tokens: int
    slots: Mapping[Slot, tuple[Written, ...]]
    briefing: tuple[Written, ...]
    left_out: Mapping[str, int]
    sources: tuple[str, ...]
    spent: Mapping[Slot, int]

    @property
    def shown(self) -> int:
        """How many lines there are."""
        return sum(map(len, self.slots.values())) + len(self.briefing)


def slot_of(node: NodeVersion, *, going: bool) -> Slot:
    """Where what a question found belongs; work that is over is evidence like any other."""
    if node.kind in RULES:
        return "decisions"
    return "plan" if node.kind in WORK and going else "core"


def briefing_lines(node: NodeVersion, citation: str) -> tuple[Line, ...]:
    """What a session left, a line for each statement, the unfinished first. What it rests on is in its text."""
    found = []
    for part in PARTS_FIRST:
        said = node.props.get(part)
        for at, each in enumerate(said if isinstance(said, list | tuple) else ()):
            words = each.get("text") if isinstance(each, Mapping) else each
            if isinstance(words, str) and words.strip():
                own = replace(node, id=f"{node.id}/{part}/{at}", kind=PARTS[part], name="", summary="", text=words)
                found.append(Line(node=own, score=1.0, citation=citation))
    return tuple(found) or (Line(node=node, score=1.0, citation=citation),)


def write_prompt(wanted: Wanted, budget_tokens: int) -> Prompt:
    """The most that fits, slot by slot; whole lines only. Raises OverBudget where not even one line does.

    The budget covers everything: headings, warnings, guidance, sources.
    """
    wanted = _prepared(wanted, small=budget_tokens < SMALL_TOKENS)
    writing = _Writing(wanted, budget_tokens)
    left = writing.left()
    briefed = _taken(wanted.briefing, writing.price, int(left * BRIEFING_SHARE))
    left -= sum(writing.price[line.node.id] for line in briefed)
    kept = writing.filled(max(0, left))
    made = writing.made(briefed, kept)
    while made.tokens > budget_tokens and _drop(briefed, kept):
        made = writing.made(briefed, kept)
    if made.tokens > budget_tokens or (writing.count and not made.shown):
        return writing.one_line()
    return writing.widened(made, briefed, kept)


def _prepared(wanted: Wanted, *, small: bool) -> Wanted:
    """Lines with their flags, in the order in which they are kept: of what happened lately the latest first.

    A small budget is for what answers, and the decisions and the work that the question found, not for what is beside.
    """
    slots: dict[Slot, list[Line]] = {}
    for slot, lines in wanted.slots.items():
        if small and slot in BESIDE:
            continue
        ordered = by_worth(lines, wanted.intent, wanted.ties) if slot == "core" else lines
        ordered = ordered[::-1] if slot == "episodes" else ordered
        slots[slot] = [flagged(line) for line in ordered if line.score > 0.0 or not small]
    return replace(wanted, slots=slots, briefing=[flagged(line) for line in wanted.briefing])


class _Writing:
    """One prompt in the making: what lines cost, and the text of those that are kept."""

    def __init__(self, wanted: Wanted, budget_tokens: int) -> None:
        self._wanted, self._budget = wanted, budget_tokens
        every = [*wanted.briefing, *(line for lines in wanted.slots.values() for line in lines)]
        self.count = len(every)
        self._told = Telling(every)
        self._rooms = self._shared(CHARACTERS_PER_TOKEN * max(0, self.left()))
        body = body_of([Group(heading="", lines=tuple(every))], wanted.ties, self._told.within(self._rooms))
        # With its source, as if all were shown.
        self.price = {line.id: count_tokens(line.text) + SOURCE_TOKENS for line in body.lines}

    def _shared(self, characters: int) -> dict[str, int]:
        """Room for words, by id: by rank within the share of the slot, and little where that has none left."""
        needs = self._told.needs
        rooms = {each: min(need, WHOLE_CHARACTERS) for each, need in needs.items()}
        slots = self._wanted.slots
        shared = [(BRIEFING_SHARE, self._wanted.briefing), *((SHARES[slot], lines) for slot, lines in slots.items())]
        whole = sum(share for share, own in shared if own) or 1.0
        left = 0.0
        for share, own in shared:
            left += characters * share / whole if own else 0.0
            given = rooms_of({line.node.id: needs[line.node.id] for line in own}, int(left))
            left -= sum(given.values()) + AROUND_WORDS * len(given)
            rooms |= given
        return rooms

    def left(self) -> int:
        """Tokens for lines: all but those of weft's own words around them."""
        bare = count_tokens(_text(self._wanted, NOTHING, 0, self._budget))
        headings = sum(bool(lines) for lines in self._wanted.slots.values()) + bool(self._wanted.briefing)
        return self._budget - bare - MARKER_TOKENS - HEADING_TOKENS * headings

    def filled(self, left: int) -> dict[Slot, list[Line]]:
        """The best line that answers, whatever its share, then slot by slot."""
        slots = dict(self._wanted.slots)
        best = list(slots.get("core", ()))[:1]
        left -= sum(self.price[line.node.id] for line in best)
        slots["core"] = list(slots.get("core", ()))[1:]
        taken = fill(slots, lambda line: self.price[line.node.id], max(0, left)).slots
        kept = {slot: list(lines) for slot, lines in taken.items()}
        return {**kept, "core": [*best, *kept.get("core", ())]} if best else kept

    def one_line(self) -> Prompt:
        """The first line that fits alone. Raises OverBudget, which names the least with which one does."""
        # As short as lines get, whatever the budget, so that what is named here does fit.
        self._rooms = {each: min(need, WHOLE_CHARACTERS) for each, need in self._told.needs.items()}
        alone = [self.made([line], {}) for line in self._wanted.briefing]
        alone += [self.made([], {slot: [line]}) for slot, lines in self._wanted.slots.items() for line in lines]
        least = min((made.tokens for made in alone), default=self.made([], {}).tokens)
        for made in alone:
            if made.tokens <= self._budget:
                return made
        raise OverBudget(
            f"a checkout does not fit into {self._budget:,} tokens: the shortest takes {least:,}",
            hint=f"give max_tokens {least:,} or more",
        )

    def widened(self, made: Prompt, briefed: list[Line], kept: dict[Slot, list[Line]]) -> Prompt:
        """With more lines where there is room left, those that answer first, and then with more words of them."""
        for line in self._wanted.briefing:
            if line not in briefed and self._may_fit(line, made):
                wider = self.made([*briefed, line], kept)
                if wider.tokens <= self._budget:
                    made, briefed = wider, [*briefed, line]
        for slot in SHARES:
            for line in self._wanted.slots.get(slot, ()):
                if line in kept.get(slot, ()) or not self._may_fit(line, made):
                    continue
                more = {**kept, slot: [*kept.get(slot, ()), line]}
                wider = self.made(briefed, more)
                if wider.tokens <= self._budget:
                    made, kept = wider, more
        return self._longer(made, briefed, kept)

    def _may_fit(self, line: Line, made: Prompt) -> bool:
        return self.price[line.node.id] - SOURCE_TOKENS <= self._budget - made.tokens

    def _longer(self, made: Prompt, briefed: Sequence[Line], kept: dict[Slot, list[Line]]) -> Prompt:
        shown = [*briefed, *(line for slot in SHARES for line in kept.get(slot, ()))]
        rooms = {line.node.id: self._rooms[line.node.id] for line in shown}
        more = sum(self._told.needs[each] - room for each, room in rooms.items())
        wider = widest(
            lambda characters: self.made(briefed, kept, longer(rooms, self._told.needs, characters)),
            lambda made: made.tokens <= self._budget,
            min(more, MOST_PER_TOKEN * self._budget),
            STEP,
        )
        return wider or made

    def made(
        self, briefed: Sequence[Line], kept: Mapping[Slot, Sequence[Line]], rooms: Mapping[str, int] | None = None
    ) -> Prompt:
        """The prompt of these lines, whatever it costs."""
        wanted = self._wanted
        groups: list[Group] = [Group(heading=wanted.briefed, lines=tuple(briefed))] if briefed else []
        ids: dict[Slot, list[str]] = {}
        for slot in READ:
            own = _groups(slot, kept.get(slot, ()), wanted)
            ids[slot] = [line.node.id for group in own for line in group.lines]
            groups += own
        body = body_of(groups, wanted.ties, self._told.within(rooms or self._rooms))
        by_id = {line.id: line for line in body.lines}
        slots = {slot: tuple(by_id[each] for each in own) for slot, own in ids.items() if own}
        text = _text(wanted, body, self.count - len(body.lines), self._budget)
        gone: dict[str, int] = {slot: len(lines) - len(slots.get(slot, ())) for slot, lines in wanted.slots.items()}
        gone["briefing"] = len(wanted.briefing) - len(briefed)
        return Prompt(
            text=text,
            tokens=count_tokens(text),
            slots=slots,
            briefing=tuple(by_id[line.node.id] for line in briefed),
            left_out={name: number for name, number in gone.items() if number},
            sources=body.sources,
            spent={slot: sum(count_tokens(line.text) for line in lines) for slot, lines in slots.items()},
        )


def _taken(lines: Sequence[Line], price: Mapping[str, int], budget: int) -> list[Line]:
    """From the first on, as far as they fit."""
    taken: list[Line] = []
    for line in lines:
        budget -= price[line.node.id]
        if budget < 0:
            break
        taken.append(line)
    return taken


def _drop(briefed: list[Line], kept: dict[Slot, list[Line]]) -> bool:
    """Leaves out the line that is missed least. False where there is none, or it is the last one."""
    for slot in reversed(tuple(SHARES)):
        if kept.get(slot) and (slot != "core" or len(kept[slot]) > 1):
            kept[slot].pop()
            return True
    if len(briefed) > (0 if kept.get("core") else 1):
        briefed.pop()
        return True
    return False


def _groups(slot: Slot, lines: Sequence[Line], wanted: Wanted) -> list[Group]:
    """The lines of a slot as they are read: those that answer in the order that the question wants."""
    if not lines:
        return []
    if slot != "core":
        ordered = sorted(lines, key=lambda line: line.node.row) if slot == "episodes" else lines
        return [Group(heading=HEADINGS[slot], lines=tuple(ordered))]
    groups = arrange(by_worth(lines, wanted.intent, wanted.ties), wanted.intent, wanted.ties)
    named = f"{HEADINGS[slot]} ({ORDERS[order_of(wanted.intent, wanted.ties)]})"
    return [replace(groups[0], heading=groups[0].heading or named), *groups[1:]]


def _text(wanted: Wanted, body: Body, left_out: int, budget_tokens: int) -> str:
    blocks = [f"{wanted.before} {quoted_note(budget_tokens)}"]
    if wanted.warnings:
        blocks.append("\n".join(f"! {warning}" for warning in wanted.warnings))
    blocks += body.blocks
    if left_out:
        lines = "1 line is" if left_out == 1 else f"{left_out} lines are"
        blocks.append(f"({lines} left out{spent(budget_tokens)})")
    elif not body.lines:
        blocks.append("(no lines: nothing is there to show)")
    # The first says in general how to use the lines; what follows is of this very task.
    if guidance := wanted.guidance[1 if budget_tokens < FEW_TOKENS else 0 :]:
        blocks.append("\n".join(guidance))
    if body.sources:
        blocks.append(sources_of(body.sources))
    return "\n\n".join(blocks)
