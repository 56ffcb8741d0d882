"""A question, answered: in a language model's words where there is one, and with the cited lines either way."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from msgspec.structs import asdict

from weft.context.linearise import BUDGET_TOKENS
from weft.loom import Loom
from weft.operations.asking import Asking
from weft.operations.recalling import Recall, Recalled, recall
from weft.operations.registry import Operation


class Question(Asking, frozen=True, kw_only=True):
    """Input of `ask`."""

    max_tokens: Annotated[int, Meta(ge=50, le=100_000, description="what the context may cost")] = BUDGET_TOKENS


class Asked(Recalled, frozen=True, kw_only=True, omit_defaults=True):
    """What `recall` gives, to be read: `answer`, if a model wrote one, and the `context` that it rests on."""


def ask(loom: Loom, given: Question) -> Asked:
    """Answers a question from what is remembered, with a source for every statement.

    Where a language model is configured (the setting `model`), it writes the answer, from the lines that are shown
    below it and from nothing else. Where none is, the cited lines are the answer. `weft recall` shows memory by memory,
    with scores.
    """
    return Asked(**asdict(recall(loom, Recall(**asdict(given), synthesize=True))))


OPERATIONS = (
    Operation(
        name="ask",
        summary="answer a question from what is remembered, with sources",
        input=Question,
        output=Asked,
        effect="read",
        toolset="memory",
        run=ask,
        arguments=("query",),
        rare=("asked_at", "min_score"),
        budget="max_tokens",
        told=("hits", "query", "intent", "valid_at", "known_at"),
    ),
)
