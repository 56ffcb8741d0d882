"""The size limit of an answer, and what is cut first: one order for every operation that searches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

OUTPUT_CHARACTERS: Final = 80_000
LEAST_CHARACTERS: Final = 20_000  # for results, however long the context beside them
FOR_NOTES: Final = 800  # on omitted data
LENGTHS: Final = (64_000, 32_000, 16_000, 8_000, 4_000, 2_000, 1_000, 500)  # of one text, tried in this order
LAST_LENGTH: Final = 100
MARK_CHARACTERS: Final = 40  # texts longer by less are not cut: the mark would be as long
PROPERTIES: Final = 4  # all properties of a node may be so many times as long as one text
WORDS: Final = frozenset(
    {"by", "code", "description", "detail", "input", "marks", "name", "note", "output", "path", "reason", "result"}
    | {"role", "speaker", "summary", "text"}
)
PROPS: Final = frozenset({"inputs", "outputs", "props"})
PAYLOAD: Final = "payload"  # of an event: anything
OWN_BUDGET: Final = ("context", "answer")  # fields that the caller limits by tokens

Bounded = TypeVar("Bounded", bound=Struct)


def size(value: Any) -> int:
    """The number of characters as JSON."""
    return len(msgspec.json.encode(value).decode())


def bounded(
    answer: Bounded, rows: str, *, beside: Mapping[str, tuple[str, ...]] = {}, most: int = OUTPUT_CHARACTERS
) -> Bounded:
    """The answer within so many characters, with notes on omitted data. Ids and citations are never cut.

    `rows` names the field of the results. First the fields in `beside`, by the name that a note gives them, are
    emptied, from the last result up; then long texts and properties are cut, all to one length; then parts of results
    go, then the last results, but never the first. A context has its own budget: results have some room beside it,
    however long it is.
    """
    own = sum(size(getattr(answer, name, "")) for name in OWN_BUDGET)
    most_in_all = max(most - FOR_NOTES, own + LEAST_CHARACTERS)
    if size(answer) <= max(most, own + LEAST_CHARACTERS):
        return answer
    notes: list[str] = []
    for called, fields in beside.items():
        answer = _lightened(answer, rows, (called, fields), most_in_all, notes)
    answer = _cut_to(answer, LENGTHS, most_in_all, notes)
    answer = _lightened(answer, rows, ("parts of results", ("parts",)), most_in_all, notes)
    answer = _cut_to(answer, (LAST_LENGTH,), most_in_all, notes)
    answer = _without_last(answer, rows, most_in_all, notes, "results")
    return _told(answer, notes, most)


def bounded_lists(answer: Bounded, lists: tuple[str, ...]) -> Bounded:
    """The same for an answer of several lists, in the order in which they are shortened: each keeps its first item."""
    if size(answer) <= OUTPUT_CHARACTERS:
        return answer
    notes: list[str] = []
    answer = _cut_to(answer, LENGTHS, OUTPUT_CHARACTERS - FOR_NOTES, notes)
    for rows in lists:
        answer = _without_last(answer, rows, OUTPUT_CHARACTERS - FOR_NOTES, notes, f"`{rows}`")
    return _told(answer, notes, OUTPUT_CHARACTERS)


def _told(answer: Bounded, notes: list[str], most: int) -> Bounded:
    told: tuple[str, ...] = getattr(answer, "notes", ())
    return replace(answer, notes=(*told, *(f"to stay within {most:,} characters {note}" for note in notes)))


def _lightened(answer: Bounded, rows: str, light: tuple[str, tuple[str, ...]], most: int, notes: list[str]) -> Bounded:
    """Empties some fields of results, from the last result up, as far as needed."""
    called, fields = light
    total, kept, gone = size(answer), list(getattr(answer, rows)), 0
    for at in reversed(range(len(kept))):
        if total <= most:
            break
        bare, count = _bare(kept[at], fields)
        total, kept[at], gone = total + size(bare) - size(kept[at]), bare, gone + count
    if not gone:
        return answer
    notes.append(f"{gone} {called} are left out")
    return replace(answer, **{rows: tuple(kept)})


def _bare(row: Any, fields: tuple[str, ...]) -> tuple[Any, int]:
    """A result, or a structure in it, without these fields; and how many items they held."""
    changed: dict[str, Any] = {}
    gone = 0
    for name in row.__struct_fields__:
        held = getattr(row, name)
        if name in fields and held:
            changed[name], gone = (), gone + len(held)
        elif isinstance(held, Struct):
            bare, count = _bare(held, fields)
            if count:
                changed[name], gone = bare, gone + count
    return (replace(row, **changed) if changed else row), gone


def _cut_to(answer: Bounded, lengths: tuple[int, ...], most: int, notes: list[str]) -> Bounded:
    """With texts of the first of these lengths that does it, or of the last."""
    whole = answer
    for length in lengths:
        if size(answer) <= most:
            break
        answer = _shorter(whole, length)
        if answer is not whole:
            notes[:] = [note for note in notes if not note.startswith("long texts")]
            notes.append(f"long texts and properties are cut after {length:,}: `weft show` and `weft cite` print all")
    return answer


def _shorter(value: Any, most: int, *, is_words: bool = False) -> Any:
    """The value itself where nothing in it is too long."""
    if isinstance(value, Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        made = {
            name: _properties(held, most)
            if name in PROPS
            else _property(held, most)
            if name == PAYLOAD
            else _shorter(held, most, is_words=name in WORDS)
            for name, held in fields.items()
        }
        changed = {name: held for name, held in made.items() if held is not fields[name]}
        return replace(value, **changed) if changed else value
    if isinstance(value, tuple):
        cut = tuple(_shorter(each, most, is_words=is_words) for each in value)
        return cut if any(one is not other for one, other in zip(cut, value, strict=True)) else value
    return _text(value, most) if is_words and isinstance(value, str) else value


def _text(text: str, most: int) -> str:
    more = len(text) - most
    return text if more <= MARK_CHARACTERS else f"{text[:most]}… ({more:,} more characters)"


def _properties(props: Mapping[str, Any], most: int) -> Mapping[str, Any]:
    """Properties with long values cut, a list or an object to its beginning as text; the longest go, if all are too
    many: short ones stay.
    """
    made = {name: _property(value, most) for name, value in props.items()}
    sizes = {name: size(name) + size(value) for name, value in made.items()}
    total = sum(sizes.values())
    for name in sorted(sizes, key=lambda each: -sizes[each]):
        if total <= PROPERTIES * most:
            break
        total -= sizes[name]
        del made[name]
    same = len(made) == len(props) and all(made[name] is props[name] for name in made)
    return props if same else made


def _property(value: Any, most: int) -> Any:
    if isinstance(value, str):
        return _text(value, most)
    written = msgspec.json.encode(value).decode()
    return value if len(written) <= most + MARK_CHARACTERS else _text(written, most)


def _without_last(answer: Bounded, rows: str, most: int, notes: list[str], called: str) -> Bounded:
    """Drops the last results, as far as needed."""
    results = getattr(answer, rows)
    total, count = size(answer), len(results)
    while total > most and count > 1:
        count -= 1
        total -= size(results[count]) + 1
    if count == len(results):
        return answer
    notes.append(f"the last {len(results) - count} of {len(results)} {called} are left out")
    return replace(answer, **{rows: results[:count]})
