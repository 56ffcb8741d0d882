"""What goes back to the model: an envelope, as text and as data, both within the same budget.

Several clients show a model only one of the two, so each says everything by itself, and each is made to fit by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.context.budget import PROFILE_TOKENS, Profile, wider
from weft.context.priorities import TEXTS, Priorities
from weft.context.tokens import CHARACTERS_PER_TOKEN, count_tokens
from weft.errors import OverBudget, WeftError
from weft.operations.bounds import OUTPUT_CHARACTERS
from weft.operations.registry import Operation
from weft.surfaces.mcp.fitting import ENVELOPE_CHARACTERS, fit, size
from weft.surfaces.mcp.next_steps import NEXT_STEPS

if TYPE_CHECKING:
    from weft.context.shaping import Shaped

BUDGET_TOKENS: Final = 4_000  # where no profile is given and the operation has none
BUDGET_CHARACTERS: Final = BUDGET_TOKENS * CHARACTERS_PER_TOKEN
MESSAGE_CHARACTERS: Final = 2_000
NOTES_CHARACTERS: Final = 4_000
NOTES_SHARE: Final = 5  # of a profile's tokens, notes may take so many times less
SUMMARY_CHARACTERS: Final = 240
MAX_ROUNDS: Final = 12
UNSAID: Final = "default"  # what an envelope calls the profile of those that gave none
ROOM_FOR_COUNT: Final = 99_999  # stands for the estimate until that is known

Wording = Callable[[str], str]


class Envelope(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Every answer: whether it worked, a summary, what it costs to read, then the operation's own output."""

    ok: bool
    summary: str
    profile: str
    token_estimate: int
    data: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()
    hint: str = ""
    error_code: str = ""


class Answer(Struct, frozen=True, kw_only=True):
    """An envelope and the same in words."""

    text: str
    envelope: Envelope


def success(
    output: Struct, *, wording: Wording, profile: Profile | None = None, operation: Operation | None = None
) -> Answer:
    """What an operation gave, within the budget. `wording` turns notes into the caller's words.

    Without a profile that is 4,000 tokens, with debug as many characters as any answer may have. Raises OverBudget if a
    profile has no room for what must not be left out; what was written is always told.
    """
    whole: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(output))
    notes = tuple(map(wording, whole.pop("notes", ())))
    if profile is None or PROFILE_TOKENS[profile] is None:
        return _fitted(output, whole, notes, profile)
    try:
        return _shaped(output, whole, notes, profile, operation)
    except OverBudget:
        if operation is None or operation.effect == "read":
            raise
        return _summed_up(output, profile)


def failure(problem: WeftError, *, wording: Wording, profile: Profile | None = None) -> Answer:
    """What went wrong and what to do next, always."""
    hint = problem.hint or NEXT_STEPS.get(problem.code, NEXT_STEPS["error"])
    return _failure(problem.message, wording(hint), problem.code, profile)


def internal_failure(profile: Profile | None = None) -> Answer:
    """Something that is weft's own fault; what exactly is on standard error."""
    hint = "the server's standard error says how; the call may be repeated"
    return _failure("weft failed inside", hint, "internal", profile)


def _failure(message: str, hint: str, code: str, profile: Profile | None) -> Answer:
    from weft.retrieval.views.ground import flat

    most = _tokens(profile) * CHARACTERS_PER_TOKEN // 3
    message, hint = _bounded(message, most), _bounded(hint, most)
    text = f"error ({code}): {flat(message)}\nhint: {flat(hint)}"
    envelope = Envelope(
        ok=False, summary=message, profile=profile or UNSAID, token_estimate=ROOM_FOR_COUNT, hint=hint, error_code=code
    )
    return _priced(Answer(text=text, envelope=envelope))


# Without a profile, and for debugging


def _fitted(output: Struct, whole: dict[str, Any], notes: tuple[str, ...], profile: Profile | None) -> Answer:
    """Within a bound that few answers reach: what is longer is cut."""
    rows = "hits" in whole
    texts = {name: whole.pop(name) for name in TEXTS if name in whole}
    notes = _few(notes, NOTES_CHARACTERS)
    tokens = _tokens(profile)
    most = tokens * CHARACTERS_PER_TOKEN
    within = f"{tokens:,} tokens" if profile is None else f"{most:,} characters"
    room = most - ENVELOPE_CHARACTERS
    # Hits say by themselves what a context says of them; elsewhere the words are the answer, and stay whole.
    kept = {} if rows or size(texts) > room - ENVELOPE_CHARACTERS else texts
    room -= size(kept)
    for _ in range(MAX_ROUNDS):
        data, cuts = fit(whole, room, within)
        text, summary = _words(msgspec.convert(data | texts, type(output)), notes + cuts)
        envelope = Envelope(
            ok=True,
            summary=summary,
            profile=profile or UNSAID,
            token_estimate=ROOM_FOR_COUNT,
            data=data | kept,
            notes=notes + cuts,
        )
        if max(len(text), size(envelope)) <= most and (profile or count_tokens(text) <= tokens):
            break
        room = room * 2 // 3  # quoting many short lines takes more than the data itself
    return _priced(Answer(text=text, envelope=envelope))


# With a profile


def _shaped(
    output: Struct, whole: dict[str, Any], notes: tuple[str, ...], profile: Profile, operation: Operation | None
) -> Answer:
    """Within the tokens of a profile, by leaving out what matters least. Notes are few, and fewer if need be."""
    tokens = _tokens(profile)
    some = _few(notes, tokens * CHARACTERS_PER_TOKEN // NOTES_SHARE)
    none = _few(notes, 0)
    for told, may_cut in ((some, False), (none, False), (some, True), (none, True)):
        made = _Shaping(output, whole, told, profile, operation).answer(may_cut=may_cut)
        if made is not None:
            return _priced(made)
    name = operation.name if operation is not None else type(output).__name__
    raise OverBudget(
        f"{name} takes more than the {tokens:,} tokens of profile {profile}, even without all that may be left out",
        hint=_wider(output, whole, notes, profile, operation),
    )


def _wider(output: Struct, whole: dict[str, Any], notes: tuple[str, ...], profile: Profile, operation: Any) -> str:
    """The next profile that has room for it."""
    wide = wider(profile)
    tokens = PROFILE_TOKENS[wide]
    if tokens is not None:
        try:
            _shaped(output, whole, notes, wide, operation)
        except OverBudget as problem:
            return problem.hint
        return f"ask with profile {wide} ({tokens:,} tokens)"
    return f"ask with profile {wide}, which has no bound but {OUTPUT_CHARACTERS:,} characters"


class _Shaping:
    """Both forms of one answer, each with as little left out as it takes."""

    def __init__(
        self,
        output: Struct,
        whole: dict[str, Any],
        notes: tuple[str, ...],
        profile: Profile,
        operation: Operation | None,
    ) -> None:
        from weft.context.shaping import without
        from weft.surfaces.mcp.render import render

        self._type, self._whole, self._notes, self._profile = type(output), whole, notes, profile
        self._priorities: Priorities = operation.priorities if operation is not None else {}
        self._summary = _summary(render(output).summary)
        # What a context tells in words is not told again beside it: there would be room for neither.
        told = operation.told if operation is not None and any(whole.get(name) for name in TEXTS) else ()
        self._data = {name: held for name, held in whole.items() if name not in told}
        if profile == "compact" and operation is not None:
            self._data = without(self._data, operation.spare)

    def answer(self, *, may_cut: bool) -> Answer | None:
        """Both, or none if one has no room for what must stay."""
        from weft.context.shaping import shape

        tokens = _tokens(self._profile)

        def of_data(made: Shaped) -> int:
            return count_tokens(_json(self._envelope(made)))

        def of_text(made: Shaped) -> int:
            return count_tokens(self._text(made))

        fitted = partial(
            shape, priorities=self._priorities, budget=tokens, longest=tokens * CHARACTERS_PER_TOKEN, may_cut=may_cut
        )
        data = fitted(self._data, cost=of_data)
        if data is None:
            return None
        words = fitted(self._whole, cost=of_text)
        return None if words is None else Answer(text=self._text(words), envelope=self._envelope(data))

    def _text(self, shaped: Shaped) -> str:
        from weft.context.shaping import refilled

        try:
            output = msgspec.convert(refilled(shaped.data, self._whole), self._type)
        except msgspec.ValidationError:  # an object that went has fields of its own
            output = msgspec.convert(refilled(shaped.data, self._whole, deep=True), self._type)
        return _words(output, self._with_remark(shaped, fields=False), self._summary)[0]

    def _envelope(self, shaped: Shaped) -> Envelope:
        return Envelope(
            ok=True,
            summary=self._summary,
            profile=self._profile,
            token_estimate=ROOM_FOR_COUNT,
            data=shaped.data,
            notes=self._with_remark(shaped, fields=True),
        )

    def _with_remark(self, shaped: Shaped, *, fields: bool) -> tuple[str, ...]:
        from weft.context.shaping import remark

        gone = remark(self._whole, shaped, fields=fields)
        if not gone:
            return self._notes
        tokens = _tokens(self._profile)
        return (
            *self._notes,
            f"left out to stay within {tokens:,} tokens: {gone}; profile {wider(self._profile)} has more",
        )


def _summed_up(output: Struct, profile: Profile) -> Answer:
    """Of what was written and has no room, that it was."""
    from weft.surfaces.mcp.render import render

    summary = _summary(render(output).summary)
    notes = (f"done; what it answered has no room in profile {profile}",)
    envelope = Envelope(ok=True, summary=summary, profile=profile, token_estimate=ROOM_FOR_COUNT, notes=notes)
    return _priced(Answer(text=f"{summary}\n\nnote: {notes[0]}", envelope=envelope))


# Words


def _words(output: Struct, notes: tuple[str, ...], summary: str = "") -> tuple[str, str]:
    """The text of an answer, and its summary, which is its own if none is given."""
    from weft.retrieval.views.ground import flat  # with the first answer: not needed to say which tools there are
    from weft.surfaces.mcp.render import render

    rendered = render(output)
    short = summary or _summary(rendered.summary)
    whole = [rendered.summary] if not summary and short != rendered.summary else []
    said = ["\n".join(f"note: {flat(note)}" for note in notes)] if notes else []
    return "\n\n".join([short, *whole, *rendered.blocks, *said]), short


def _summary(written: str) -> str:
    """In a few sentences: an id in it may be of any length."""
    from weft.context.wording import cut

    return cut(written, SUMMARY_CHARACTERS)


def _few(notes: tuple[str, ...], most: int) -> tuple[str, ...]:
    """Whole notes up to so many characters; of more, how many they are."""
    kept: list[str] = []
    left = most
    for note in (_bounded(each, MESSAGE_CHARACTERS) for each in notes):
        left -= len(note)
        if left < 0:
            gone = len(notes) - len(kept)
            return (*kept, f"and {gone} more {'note' if gone == 1 else 'notes'}")
        kept.append(note)
    return tuple(kept)


def _bounded(text: str, most: int) -> str:
    """Not too long, and without halves of characters: a message may repeat what was sent."""
    most = min(most, MESSAGE_CHARACTERS)
    kept = text if len(text) <= most else text[:most] + "…"
    return kept.encode("utf-8", "replace").decode()


# What it costs


def _tokens(profile: Profile | None) -> int:
    if profile is None:
        return BUDGET_TOKENS
    return PROFILE_TOKENS[profile] or OUTPUT_CHARACTERS // CHARACTERS_PER_TOKEN


def _json(envelope: Envelope) -> str:
    return msgspec.json.encode(envelope).decode()


def _priced(answer: Answer) -> Answer:
    """With what the longer form costs to read."""
    tokens = max(count_tokens(answer.text), count_tokens(_json(answer.envelope)))
    return replace(answer, envelope=replace(answer.envelope, token_estimate=tokens))
