"""Answers to calls: an envelope as text and as data, both within one budget.

Several clients show a model only one of the two, so each is complete and fitted by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.context.budget import PROFILE_TOKENS, wider
from weft.context.tokens import CHARACTERS_PER_TOKEN, count_tokens
from weft.core.errors import OverBudget, WeftError
from weft.recall.answer_limits import OUTPUT_CHARACTERS
from weft.runtime.operation import Operation
from weft.runtime.priorities import TEXTS, Priorities, Profile
from weft.surfaces.mcp.fitting import ENVELOPE_CHARACTERS, fit, size

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
STORAGE: Final = frozenset({"recorded_at", "project", "scope", "views"})  # of a node in a list: `show` tells them
ROOM_FOR_COUNT: Final = 99_999  # stands for the estimate until that is known

# What to do about an error that gives no hint itself.
NEXT_STEPS: Final[Mapping[str, str]] = {
    "error": "send it again; if it fails again, ask the operator to run `weft doctor`",
    "invalid": "send the arguments as the tool's input schema says; find_tool with the tool's name describes it",
    "too_large": "send less at a time: several calls, or a shorter text",
    "blocked_scope": "`weft project-list` names the projects and focus areas that there are",
    "unproven": "send produced_by_task_id: the task that this came from",
    "over_budget": "ask with profile debug",
    "conflict": "read the current state, then send it again",
    "not_found": "`weft recall` finds what there is by words; an id or a citation must be as an answer gave it",
    "forbidden": "go on without it, or ask the operator for access",
    "needs_approval": "ask for approval with `weft request-global-write-approval`, or write it for this project alone",
    "misconfigured": "ask the operator: `weft config` shows every setting and its source",
    "model_error": "go on without it: memories are saved and found all the same; ask the operator to run `weft doctor`",
    "store_error": "send it again in a moment; if it fails again, ask the operator to run `weft doctor`",
    "not_a_store": "ask the operator: `weft config` shows which store is meant",
    "schema_mismatch": "ask the operator to update weft",
    "busy": "nothing was written: send it again in a moment",
    "away": "nothing was written: send it again later",
    "read_only": "ask the operator for a store that can be written",
    "disk_full": "nothing was written: ask the operator to free some space",
    "corrupt": "ask the operator to run `weft doctor`",
    "internal": "the call may be repeated; the operator finds the cause on the server's standard error",
}

Wording = Callable[[str], str]


class Envelope(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Every answer: whether it worked, a summary, its cost in tokens, then the output of the operation."""

    ok: bool
    summary: str
    profile: str
    token_estimate: int
    data: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()
    hint: str = ""
    error_code: str = ""


class ToolAnswer(Struct, frozen=True, kw_only=True):
    """An envelope, and its contents as text."""

    text: str
    envelope: Envelope


def success(
    output: Struct, *, wording: Wording, profile: Profile | None = None, operation: Operation | None = None
) -> ToolAnswer:
    """The output of an operation within the budget; `wording` turns notes into the caller's words.

    The budget is 4,000 tokens without a profile, and with debug the most characters that any answer may have. Raises
    OverBudget if a profile has no room for the required fields of a read; a write is always reported.
    """
    whole: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(output))
    notes = tuple(map(wording, whole.pop("notes", ())))
    if profile is None or PROFILE_TOKENS[profile] is None:
        return _fitted(output, whole, notes, profile, operation)
    try:
        return _shaped(output, whole, notes, profile, operation)
    except OverBudget:
        if operation is None or operation.effect == "read":
            raise
        return _summed_up(output, profile)


def failure(problem: WeftError, *, wording: Wording, profile: Profile | None = None) -> ToolAnswer:
    """An error with its next step."""
    hint = problem.hint or NEXT_STEPS.get(problem.code, NEXT_STEPS["error"])
    return _failure(problem.message, wording(hint), problem.code, profile)


def internal_failure(profile: Profile | None = None) -> ToolAnswer:
    """A fault of weft itself; the details are on standard error."""
    hint = "the call may be repeated; the operator finds the cause on the server's standard error"
    return _failure("internal error in weft", hint, "internal", profile)


def _failure(message: str, hint: str, code: str, profile: Profile | None) -> ToolAnswer:
    from weft.text.one_line import flat

    most = _tokens(profile) * CHARACTERS_PER_TOKEN // 3
    message, hint = _bounded(message, most), _bounded(hint, most)
    text = f"error ({code}): {flat(message)}\nhint: {flat(hint)}"
    envelope = Envelope(
        ok=False, summary=message, profile=profile or UNSAID, token_estimate=ROOM_FOR_COUNT, hint=hint, error_code=code
    )
    return _priced(ToolAnswer(text=text, envelope=envelope))


# Without a profile, and for debugging


def _fitted(
    output: Struct, whole: dict[str, Any], notes: tuple[str, ...], profile: Profile | None, operation: Operation | None
) -> ToolAnswer:
    """Fits a bound that few answers reach by cutting long texts."""
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
    told = operation.told if operation is not None and kept else ()
    for _ in range(MAX_ROUNDS):
        data, cuts = fit(whole, room, within)
        text, summary = _words(msgspec.convert(data | texts, type(output)), notes + cuts)
        envelope = Envelope(
            ok=True,
            summary=summary,
            profile=profile or UNSAID,
            token_estimate=ROOM_FOR_COUNT,
            data=(data if profile else _brief(data, told)) | kept,
            notes=notes + cuts,
        )
        if max(len(text), size(envelope)) <= most and (profile or count_tokens(text) <= tokens):
            break
        room = room * 2 // 3  # quoting many short lines takes more than the data itself
    return _priced(ToolAnswer(text=text, envelope=envelope))


def _brief(data: dict[str, Any], told: tuple[str, ...]) -> dict[str, Any]:
    """Data for a model: without what a text beside it tells, and rows without the details of their storage."""
    return {
        name: [_brief_row(row) for row in held] if isinstance(held, list) else held
        for name, held in data.items()
        if name not in told
    }


def _brief_row(row: Any) -> Any:
    if not isinstance(row, dict):
        return row
    if "recorded_at" in row and "citation" in row:
        return {name: held for name, held in row.items() if name not in STORAGE}
    return {name: _brief_row(held) for name, held in row.items()}


# With a profile


def _shaped(
    output: Struct, whole: dict[str, Any], notes: tuple[str, ...], profile: Profile, operation: Operation | None
) -> ToolAnswer:
    """Fits the tokens of a profile by omitting the least important fields. Notes are few, and fewer if need be."""
    tokens = _tokens(profile)
    some = _few(notes, tokens * CHARACTERS_PER_TOKEN // NOTES_SHARE)
    none = _few(notes, 0)
    for told, may_cut in ((some, False), (none, False), (some, True), (none, True)):
        made = _Shaping(output, whole, told, profile, operation).answer(may_cut=may_cut)
        if made is not None:
            return _priced(made)
    name = operation.name if operation is not None else type(output).__name__
    raise OverBudget(
        f"{name} takes more than the {tokens:,} tokens of profile {profile}, even without every optional field",
        hint=_wider(output, whole, notes, profile, operation),
    )


def _wider(output: Struct, whole: dict[str, Any], notes: tuple[str, ...], profile: Profile, operation: Any) -> str:
    """The hint that names the next profile with enough room."""
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
    """Both forms of one answer, each with as little omitted as its budget allows."""

    def __init__(
        self,
        output: Struct,
        whole: dict[str, Any],
        notes: tuple[str, ...],
        profile: Profile,
        operation: Operation | None,
    ) -> None:
        from weft.context.shaping import without
        from weft.surfaces.render import render

        self._type, self._whole, self._notes, self._profile = type(output), whole, notes, profile
        self._priorities: Priorities = operation.priorities if operation is not None else {}
        self._summary = _summary(render(output, "model").summary)
        # What a context tells in words is not told again beside it: there would be room for neither.
        told = operation.told if operation is not None and any(whole.get(name) for name in TEXTS) else ()
        self._data = {name: held for name, held in whole.items() if name not in told}
        if profile == "compact" and operation is not None:
            self._data = without(self._data, operation.spare)

    def answer(self, *, may_cut: bool) -> ToolAnswer | None:
        """Both forms, or None if one has no room for its required fields."""
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
        return None if words is None else ToolAnswer(text=self._text(words), envelope=self._envelope(data))

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
            f"omitted to stay within {tokens:,} tokens: {gone}; profile {wider(self._profile)} has more",
        )


def _summed_up(output: Struct, profile: Profile) -> ToolAnswer:
    """Reports a write whose answer has no room."""
    from weft.surfaces.render import render

    summary = _summary(render(output, "model").summary)
    notes = (f"done; its answer does not fit profile {profile}",)
    envelope = Envelope(ok=True, summary=summary, profile=profile, token_estimate=ROOM_FOR_COUNT, notes=notes)
    return _priced(ToolAnswer(text=f"{summary}\n\nnote: {notes[0]}", envelope=envelope))


# Words


def _words(output: Struct, notes: tuple[str, ...], summary: str = "") -> tuple[str, str]:
    """The text of an answer and its summary (its own if none is given)."""
    from weft.surfaces.render import render
    from weft.text.one_line import flat

    rendered = render(output, "model")
    short = summary or _summary(rendered.summary)
    whole = [rendered.summary] if not summary and short != rendered.summary else []
    said = ["\n".join(f"note: {flat(note)}" for note in notes)] if notes else []
    return "\n\n".join(filter(None, (short, *whole, rendered.text, *rendered.blocks, *said))), short


def _summary(written: str) -> str:
    """At most SUMMARY_CHARACTERS: an id in it may be of any length."""
    from weft.context.wording import cut

    return cut(written, SUMMARY_CHARACTERS)


def _few(notes: tuple[str, ...], most: int) -> tuple[str, ...]:
    """Whole notes up to `most` characters, then the number of the rest."""
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
    """At most `most` characters, without lone surrogates: a message may repeat what was sent."""
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


def _priced(answer: ToolAnswer) -> ToolAnswer:
    """The answer with the tokens of its longer form."""
    tokens = max(count_tokens(answer.text), count_tokens(_json(answer.envelope)))
    return replace(answer, envelope=replace(answer.envelope, token_estimate=tokens))
