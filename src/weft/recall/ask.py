"""Answers a question: in a language model's words if one is configured, and with the cited lines in any case."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from msgspec.structs import asdict

from weft.context.assemble import BUDGET_TOKENS
from weft.recall.recall import Recall, Recalled, recall
from weft.recall.request import Asking
from weft.runtime.call_context import CallContext
from weft.runtime.operation import Operation


class AskInput(Asking, frozen=True, kw_only=True):
    """Input of `ask`."""

    max_tokens: Annotated[int, Meta(ge=50, le=100_000, description="the most tokens of the context")] = BUDGET_TOKENS


class AskResult(Recalled, frozen=True, kw_only=True, omit_defaults=True):
    """An answer of `recall` to be read: `answer`, if a model wrote one, and the `context` that it rests on."""


def ask(ctx: CallContext, given: AskInput) -> AskResult:
    """Answers a question from memory, with a source for every statement.

    With a language model (the setting `model`) the answer is written from the lines below it and from nothing else.
    Without one, the cited lines are the answer. `weft recall` shows single memories with scores.
    """
    return AskResult(**asdict(recall(ctx, Recall(**asdict(given), synthesize=True))))


OPERATIONS = (
    Operation(
        name="ask",
        summary="answer a question from memory, with sources",
        input=AskInput,
        output=AskResult,
        effect="read",
        toolset="memory",
        run=ask,
        arguments=("query",),
        rare=("asked_at", "min_score"),
        budget="max_tokens",
        told=("hits", "query", "intent", "valid_at", "known_at"),
    ),
)
