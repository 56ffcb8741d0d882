"""What goes back to the model: an envelope, as text and as data, both within the same budget.

Several clients show a model only one of the two, so each says everything by itself.
"""

from __future__ import annotations

from collections.abc import Callable
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
MAX_ROUNDS: Final = 12
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
    notes = tuple(map(wording, whole.pop("notes", ())))
    room = BUDGET_CHARACTERS - ENVELOPE_CHARACTERS
    for _ in range(MAX_ROUNDS):
        data, cuts = fit(whole, room)
        answer = _write(_with_context(msgspec.convert(data, type(output)), context), data, notes + cuts)
        if _characters(answer) <= BUDGET_CHARACTERS:
            break
        room = room * 2 // 3  # quoting many short lines takes more than the data itself
    return _priced(answer)


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
    return text if len(text) <= MESSAGE_CHARACTERS else text[:MESSAGE_CHARACTERS] + "…"


# Fitting


def fit(whole: dict[str, Any], room: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Data of at most `room` characters, and notes on what was taken out.

    Single texts that would fill the answer alone are cut, then details go, then the last of the longest list.
    """
    if _size(whole) <= room:
        return whole, ()
    listed = max((len(value) for value in whole.values() if isinstance(value, list)), default=1)
    share = room - ENVELOPE_CHARACTERS if listed <= 1 else room // 4
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
    lists = {name: value for name, value in data.items() if isinstance(value, list)}
    if not lists or _size(data) <= room:
        return data
    longest = max(lists, key=lambda name: _size(lists[name]))
    left = room - _size(data | {longest: []})
    kept: list[Any] = []
    for item in lists[longest]:
        left -= _size(item) + 1
        if left < 0:
            break
        kept.append(item)
    gone = len(lists[longest]) - len(kept)
    notes.append(f"{gone} of {gone + len(kept)} {longest} are left out to stay within {BUDGET_TOKENS:,} tokens")
    return data | {longest: kept}
