"""The question of a checkout, and everything that is read for it."""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

from msgspec import Meta, Struct, field

from weft.checkout.beside import BesideHits
from weft.context.arrange import ContextLine
from weft.context.budget import CONTEXT_TOKENS
from weft.context.checkout_policy import CheckoutPolicy
from weft.recall.request import Asking
from weft.retrieval.pipeline import Answer
from weft.runtime.fields import Name

Part = Literal["role", "task", "risk", "horizon", "action", "permission", "evidence", "retention", "lens"]
FieldName = Literal[
    "working_set",
    "current_facts",
    "evidence",
    "provenance",
    "retention",
    "warnings",
    "guidance",
    "quality",
    "diagnostics",
    "counts",
    "token_use",
    "claims",
    "conflicts",
    "learnings",
]
FIELDS: Final[tuple[str, ...]] = get_args(FieldName)


class MemoryCheckout(Asking, frozen=True, kw_only=True):
    """Input of `memory_checkout`."""

    purpose: (
        Annotated[
            str,
            Meta(max_length=64, description="coding, review, release, security, research or coordinate; unset for any"),
        ]
        | None
    ) = None
    task_profile: Annotated[
        dict[Part, Annotated[str, Meta(max_length=200)]],
        Meta(description="the task: role, task, risk, horizon, action, permission, evidence, retention, lens"),
    ] = field(default_factory=dict)
    session: Annotated[
        Name | None, Meta(description="the conversation to continue: its last briefing begins the prompt")
    ] = None
    max_tokens: Annotated[int, Meta(ge=50, le=100_000, description="the most tokens of the prompt")] = CONTEXT_TOKENS
    fields: (
        Annotated[tuple[FieldName, ...], Meta(max_length=16, description="only these fields and the prompt")] | None
    ) = None
    diagnostics: Annotated[bool, Meta(description="details: omitted lines, and the time of each step")] = False
    include_pending: Annotated[bool, Meta(description="include proposals that nobody has decided yet")] = False


class CheckoutFindings(Struct, frozen=True, kw_only=True):
    """A question, the policy that applies to it, its answer, and the nodes beside the hits.

    `briefing` holds the statements that the session left, written on the day and by the agent in `briefed`.
    """

    given: MemoryCheckout
    policy: CheckoutPolicy
    answer: Answer
    beside: BesideHits
    briefing: tuple[ContextLine, ...] = ()
    briefed: str = ""

    @property
    def now_us(self) -> int:
        """The time asked about."""
        return self.answer.ask.when.valid_at or 0
