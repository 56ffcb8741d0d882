"""What goes back to the model: an envelope, as text and as data, both within the same budget.

Several clients show a model only one of the two, so each says everything by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.errors import WeftError

BUDGET_TOKENS: Final = 4_000
CHARACTERS_PER_TOKEN: Final = 4
BUDGET_CHARACTERS: Final = BUDGET_TOKENS * CHARACTERS_PER_TOKEN
ENVELOPE_CHARACTERS: Final = 1_000  # room for the summary and our own notes
MESSAGE_CHARACTERS: Final = 2_000
NOTES_CHARACTERS: Final = 4_000
LEAST_CHARACTERS: Final = 200  # of a text: ids, citations and words of a fixed set are shorter, and never cut
MAX_ROUNDS: Final = 12
MAX_LISTS: Final = 20  # of one answer that are shortened
# What goes first when room is short; the words themselves and their citations never go.
LOW: Final = frozenset({"payload", "props", "stages", "summary", "why"})


class Envelope(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Every answer: whether it worked, a summary, what it costs to read, then the operation's own output."""

    ok: bool
    summary: str
    token_estimate: int
    data: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()
    hint: str = ""
    error_code: str = ""


class Answer(Struct, frozen=True, kw_only=True):
    """An envelope and the same in words."""

    text: str
    envelope: Envelope


def success(output: Struct, *, wording: Callable[[str], str]) -> Answer:
    """What an operation gave, within the budget. `wording` turns notes into the caller's words."""
    whole = msgspec.to_builtins(output)
    context = whole.pop("context", "")  # is the text of the answer; the data says the same by itself
    notes = _few(tuple(map(wording, whole.pop("notes", ()))))
    room = BUDGET_CHARACTERS - ENVELOPE_CHARACTERS
    for _ in range(MAX_ROUNDS):
        data, cuts = fit(whole, room)
        answer = _write(_with_context(msgspec.convert(data, type(output)), context), data, notes + cuts)
        if _characters(answer) <= BUDGET_CHARACTERS:
            break
        room = room * 2 // 3  # quoting many short lines takes more than the data itself
    return _priced(answer)


def _few(notes: tuple[str, ...]) -> tuple[str, ...]:
    """Notes up to their share of the room; of more, how many they are."""
    kept: list[str] = []
    left = NOTES_CHARACTERS
    for note in map(_bounded, notes):
        left -= len(note)
        if left < 0:
            return (*kept, f"and {len(notes) - len(kept)} more notes")
        kept.append(note)
    return tuple(kept)


def _with_context(output: Struct, context: str) -> Struct:
    return replace(output, context=context) if context else output


def failure(problem: WeftError, *, wording: Callable[[str], str]) -> Answer:
    """What went wrong and what to do next."""
    return _failure(_bounded(problem.message), _bounded(wording(problem.hint)), problem.code)


def internal_failure() -> Answer:
    """Something that is weft's own fault; what exactly is on standard error."""
    return _failure("weft failed inside", "the server's standard error says how; the call may be repeated", "internal")


def _write(output: Struct, data: dict[str, Any], notes: tuple[str, ...]) -> Answer:
    from weft.retrieval.views.ground import flat  # with the first answer: not needed to say which tools there are
    from weft.surfaces.mcp.render import render

    rendered = render(output)
    said = [f"note: {flat(note)}" for note in notes]
    text = "\n\n".join([rendered.summary, *rendered.blocks, *(["\n".join(said)] if said else [])])
    return Answer(
        text=text, envelope=Envelope(ok=True, summary=rendered.summary, token_estimate=0, data=data, notes=notes)
    )


def _failure(message: str, hint: str, code: str) -> Answer:
    from weft.retrieval.views.ground import flat

    text = f"error ({code}): {flat(message)}" + (f"\nhint: {flat(hint)}" if hint else "")
    return _priced(
        Answer(text=text, envelope=Envelope(ok=False, summary=message, token_estimate=0, hint=hint, error_code=code))
    )


def _priced(answer: Answer) -> Answer:
    tokens = ceil(_characters(answer) / CHARACTERS_PER_TOKEN)
    return replace(answer, envelope=replace(answer.envelope, token_estimate=tokens))


def _characters(answer: Answer) -> int:
    """Of the longer form."""
    return max(len(answer.text), _size(answer.envelope))


def _size(value: Any) -> int:
    return len(msgspec.json.encode(value).decode())


def _bounded(text: str) -> str:
    """Not too long, and without halves of characters: a message may repeat what was sent."""
    kept = text if len(text) <= MESSAGE_CHARACTERS else text[:MESSAGE_CHARACTERS] + "…"
    return kept.encode("utf-8", "replace").decode()


# Fitting


def fit(whole: dict[str, Any], room: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Data of at most `room` characters, and notes on what was taken out.

    Single texts that would fill the answer alone are cut, then details go, then the last of the longest list.
    """
    if _size(whole) <= room:
        return whole, ()
    listed = max((len(value) for value in whole.values() if isinstance(value, list)), default=1)
    share = max(room - ENVELOPE_CHARACTERS if listed <= 1 else room // 4, LEAST_CHARACTERS)
    notes: list[str] = []
    kept = whole
    if _size(_cut(whole, share)) > room:
        kept = _without_details(whole)
        notes.append("details are left out, the words are there")
    data = _cut(kept, share)
    if data != kept:
        alone = "" if listed <= 1 else "; cite one alone to read more of it"
        notes.append(f"texts are cut after {share:,} characters{alone}")
    return _shortened(data, room, notes), tuple(notes)


def _cut(value: Any, share: int) -> Any:
    match value:
        case str() if len(value) > share:
            return f"{value[:share]}… ({len(value) - share:,} more characters)"
        case dict():
            return {key: _cut(each, share) for key, each in value.items()}
        case list() | tuple():
            return [_cut(each, share) for each in value]
        case _:
            return value


def _without_details(value: Any) -> Any:
    match value:
        case dict():
            kept = {key: _without_details(each) for key, each in value.items() if key not in LOW}
            return kept | {key: each for key, each in _emptied(value).items() if key in LOW}
        case list() | tuple():
            return [_without_details(each) for each in value]
        case _:
            return value


def _emptied(value: dict[str, Any]) -> dict[str, Any]:
    """What stays of details: words that are said nowhere else, and of what an output must have, that it is empty."""
    words = {key: each for key, each in value.items() if isinstance(each, str)}
    if words.get("text"):
        words.pop("summary", None)  # of a node that says it all
    lists: dict[str, Any] = {key: [] for key, each in value.items() if isinstance(each, list | tuple)}
    return words | lists | ({"payload": None} if "payload" in value else {})


def _shortened(data: dict[str, Any], room: int, notes: list[str]) -> dict[str, Any]:
    """The longest list loses its last items, then the next longest, until it fits or all are empty."""
    for _ in range(MAX_LISTS):
        over = _size(data) - room
        lists = dict(_lists(data))
        if over <= 0 or not lists:
            break
        where = max(lists, key=lambda path: _size(lists[path]))
        kept = _first(lists[where], _size(lists[where]) - over)
        gone = len(lists[where]) - len(kept)
        listed = ".".join(where)
        notes.append(f"{gone} of {gone + len(kept)} {listed} are left out to stay within {BUDGET_TOKENS:,} tokens")
        data = _replaced(data, where, kept)
    return data


def _lists(value: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """Lists that hold something, and the names that lead to them; not those inside of others."""
    for name, each in value.items():
        if isinstance(each, dict):
            yield from _lists(each, (*path, name))
        elif isinstance(each, list) and each:
            yield (*path, name), each


def _first(items: list[Any], room: int) -> list[Any]:
    left = room - 2  # the brackets
    for count, item in enumerate(items):
        left -= _size(item) + 1
        if left < 0:
            return items[:count]
    return items


def _replaced(data: dict[str, Any], where: tuple[str, ...], kept: list[Any]) -> dict[str, Any]:
    name, *rest = where
    return data | {name: _replaced(data[name], tuple(rest), kept) if rest else kept}
