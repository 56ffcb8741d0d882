"""Shortening an answer by omitting whole fields, then whole rows. Pure: no store, no surface.

Data is the result of `msgspec.to_builtins`: dictionaries, lists and plain values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Final

from msgspec import Struct

from weft.context.fit import largest
from weft.context.wording import cut
from weft.runtime.priorities import LEVELS, Priorities, Priority, priority_of

Data = dict[str, Any]
Place = tuple[str | int, ...]  # names of fields and numbers of items, from the top
MOST_NAMED: Final = 4  # fields that a remark names
LEAST_CHARACTERS: Final = 120  # of a text that is cut
MOST_CUT: Final = 3  # texts of one answer
SHARES_OF_TEXT: Final = (0.75, 0.5, 0.25)  # of the longest text that is allowed beside others
MARK: Final = "({:,} more characters)"
# Fields that are words to read. Nothing else is ever cut.
WORDS: Final = frozenset(
    {"answer", "context", "description", "detail", "lines", "message", "name", "note", "problem", "reason", "result"}
    | {"summary", "text", "title"}
)
FIXED_CHARACTERS: Final = 32  # words of a fixed set, dates and short ids are no longer


class Removal(Struct, frozen=True):
    """One removal: fields of the object at `place`, or, without fields, the last item of the list there."""

    level: Priority
    place: Place
    fields: tuple[str, ...] = ()


class Shaped(Struct, frozen=True, kw_only=True):
    """Data, and the removals made from it."""

    data: Data
    taken: tuple[Removal, ...] = ()
    cut: int = 0  # characters that are missing from texts


Cost = Callable[[Shaped], int]


def shape(
    whole: Data,
    priorities: Priorities,
    cost: Cost,
    budget: int,
    *,
    longest: int | None = None,
    may_cut: bool = True,
) -> Shaped | None:
    """The data with the fewest removals that cost no more than the budget; None if that is impossible.

    Low fields go first, from the last row up, then medium, then high ones, then rows from the end. Required fields
    stay, and the first row. A level that would save nothing is skipped. Texts are cut in two cases: before rows go,
    texts of more than `longest` characters; and, if `may_cut`, the longest text where even the first row has no room.
    """
    shaped = Shaped(data=whole)
    for level, group in groupby(steps_of(whole, priorities), key=lambda step: step.level):
        if cost(shaped) <= budget:
            return shaped
        if level == "required" and longest is not None:
            shaped = _with_short_texts(shaped, cost, budget, longest)
        before = cost(shaped)
        steps = tuple(group)
        bare = _without(shaped, steps)
        spent = cost(bare)
        if spent <= budget:
            return _fewest(shaped, steps, cost, budget)
        shaped = bare if spent < before else shaped
    if cost(shaped) <= budget:
        return shaped
    return _cut(shaped, cost, budget) if may_cut else None


def _fewest(shaped: Shaped, steps: tuple[Removal, ...], cost: Cost, budget: int) -> Shaped:
    """With the fewest of these steps that do; all of them do."""
    found = largest(
        lambda kept: _without(shaped, steps[: len(steps) - kept]), lambda made: cost(made) <= budget, len(steps)
    )
    return _without(shaped, steps) if found is None else found


def without(whole: Data, paths: Sequence[str], path: str = "") -> Data:
    """The data without the fields at these paths: names from the top, joined by dots, without the places in lists."""

    def kept(value: Any, own: str) -> Any:
        if isinstance(value, list):
            return [kept(each, own) for each in value]
        return without(value, paths, f"{own}.") if isinstance(value, dict) else value

    return {name: kept(held, f"{path}{name}") for name, held in whole.items() if f"{path}{name}" not in paths}


def steps_of(whole: Data, priorities: Priorities) -> list[Removal]:
    """All possible removals, in order."""
    found = list(_steps(whole, (), "", priorities))
    found.reverse()  # from the last row up
    return sorted(found, key=lambda step: LEVELS.index(step.level))


def _steps(value: Data, place: Place, path: str, priorities: Priorities) -> Iterator[Removal]:
    """The possible removals from an object. An object that is declared to be required stays whole."""
    fields: dict[Priority, list[str]] = {}
    lists = 0
    for name, held in value.items():
        own = f"{path}.{name}" if path else name
        lists += isinstance(held, list)
        first = not path and lists == 1 and isinstance(held, list)
        level = priority_of(own, held, priorities, is_first_list=first)
        if isinstance(held, list) and held:
            yield from _items(held, (*place, name), own, level, priorities)
        elif level != "required":
            fields.setdefault(level, []).append(name)
        elif isinstance(held, dict) and own not in priorities:
            yield from _steps(held, (*place, name), own, priorities)
    for level, names in fields.items():
        yield Removal(level, place, tuple(names))


def _items(held: list[Any], place: Place, path: str, level: Priority, priorities: Priorities) -> Iterator[Removal]:
    """Items go one by one, from the end; of a list that is required, the first stays, and rows may lose fields."""
    for number, item in enumerate(held):
        if number or level != "required":
            yield Removal(level, place)
        if level == "required" and isinstance(item, dict):
            yield from _steps(item, (*place, number), path, priorities)


def _without(shaped: Shaped, steps: Sequence[Removal]) -> Shaped:
    data = _copied(shaped.data)
    for step in steps:
        _take(data, step)
    return Shaped(data=data, taken=(*shaped.taken, *steps), cut=shaped.cut)


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(each) for name, each in value.items()}
    return [_copied(each) for each in value] if isinstance(value, list) else value


def _take(data: Data, step: Removal) -> None:
    *way, last = ("", *step.place)
    outer: Any = {"": data}
    for each in way:
        outer = outer[each]
    held = outer[last]
    for name in step.fields:
        del held[name]
    if not step.fields:
        gone = held.pop()
        if isinstance(gone, str) and isinstance(words := data.get("words"), dict):
            words.pop(gone, None)  # the words of listed items go with them
        if not held:
            del outer[last]


# Words


def _with_short_texts(shaped: Shaped, cost: Cost, budget: int, longest: int) -> Shaped:
    """With texts of more than `longest` characters cut to the greatest share of that with which all has room, or to
    the smallest.
    """
    long = [(place, text) for place, text in _texts(shaped.data, ()) if len(text) > longest]
    made = shaped
    for share in SHARES_OF_TEXT if long else ():
        made = shaped
        for place, text in long:
            made = _with_cut(made, place, text, round(longest * share))
        if cost(made) <= budget:
            break
    return made


def _cut(shaped: Shaped, cost: Cost, budget: int) -> Shaped | None:
    """With the longest text cut to the room there is, at the end of a sentence or a word; then the next one."""

    def fits(made: Shaped) -> bool:
        return cost(made) <= budget

    for place, text in sorted(_texts(shaped.data, ()), key=lambda each: -len(each[1]))[:MOST_CUT]:
        most = max(len(text) - 1, LEAST_CHARACTERS)
        found = largest(partial(_with_cut, shaped, place, text), fits, most, least=LEAST_CHARACTERS)
        if found is not None:
            return found
        shaped = _with_cut(shaped, place, text, LEAST_CHARACTERS)
    return None


def _with_cut(shaped: Shaped, place: Place, text: str, most: int) -> Shaped:
    words = cut(text, most)
    missing = len(text) - len(words.removesuffix("…").rstrip())
    if missing <= len(MARK):
        return shaped
    data = _copied(shaped.data)
    holder: Any = data
    for each in place[:-1]:
        holder = holder[each]
    holder[place[-1]] = f"{words} {MARK.format(missing)}"
    return Shaped(data=data, taken=shaped.taken, cut=shaped.cut + missing)


def _texts(value: Any, place: Place) -> Iterator[tuple[Place, str]]:
    """Words that may be cut; ids and citations never are."""
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(each, (*place, key))
    elif isinstance(value, str) and _name(place) in WORDS:
        yield place, value


def _name(place: Place) -> str:
    """The name of the field that it is, or is in."""
    return next((each for each in reversed(place) if isinstance(each, str)), "")


def remark(whole: Data, shaped: Shaped, *, fields: bool = True) -> str:
    """The removals in words: `7 of 10 nodes, props, views`. Without `fields` these are only `details`."""
    gone: Counter[str] = Counter()
    details: dict[str, None] = {}
    for step in shaped.taken:
        if step.fields:
            details |= dict.fromkeys(name for name in step.fields if name.isidentifier())
        elif any(isinstance(each, int) for each in step.place):  # a list inside of a row is a field of it
            details[_name(step.place)] = None
        else:
            gone[str(step.place[0])] += 1
    said = [f"{count} of {_items_in(whole[name])} {name.replace('_', ' ')}" for name, count in gone.items()]
    if details and fields:
        more = len(details) - MOST_NAMED
        said += [*list(details)[:MOST_NAMED], *([f"{more} more fields"] if more > 1 else list(details)[MOST_NAMED:])]
    elif details:
        said.append("details")
    if shaped.cut:
        said.append(f"{shaped.cut:,} characters of long texts")
    return ", ".join(said)


def _items_in(held: Any) -> int:
    """The items of a list, or of all lists in an object."""
    return len(held) if isinstance(held, list) else sum(len(each) for each in held.values() if isinstance(each, list))


def refilled(shaped: Any, whole: Any, *, deep: bool = False) -> Any:
    """Restores every removed field of shortened data with an empty value, so that it decodes as the answer's type.

    Numbers and short words are kept, since an empty one would mean something else. With `deep`, objects keep their
    fields.
    """
    if isinstance(shaped, dict):
        kept = {name: refilled(each, whole[name], deep=deep) for name, each in shaped.items()}
        return {name: kept[name] if name in kept else _empty(each, deep=deep) for name, each in whole.items()}
    if isinstance(shaped, list):
        return [refilled(each, other, deep=deep) for each, other in zip(shaped, whole, strict=False)]
    return shaped


def _empty(value: Any, *, deep: bool) -> Any:
    match value:
        case str():
            return value if len(value) <= FIXED_CHARACTERS and " " not in value else ""
        case list():
            return []
        case dict():
            return {name: _empty(each, deep=deep) for name, each in value.items()} if deep else {}
        case _:
            return value
