"""What a checkout is asked, and what was found for it."""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

from msgspec import Meta, Struct, field

from weft.context.arrange import Line
from weft.context.budget import PROFILE_TOKENS
from weft.context.checkout_policy import Policy
from weft.operations.asking import Asking
from weft.operations.checkout_around import Around
from weft.operations.fields import Name
from weft.retrieval.pipeline import Answer

BUDGET_TOKENS: Final = PROFILE_TOKENS["balanced"] or 1_200
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
        Name | None, Meta(description="the conversation that asks: brings back the briefing that it left")
    ] = None
    max_tokens: Annotated[int, Meta(ge=50, le=100_000, description="what the prompt may cost")] = BUDGET_TOKENS
    fields: Annotated[tuple[FieldName, ...], Meta(max_length=16, description="only these beside the prompt")] | None = (
        None
    )
    diagnostics: Annotated[bool, Meta(description="say how it was found, what was left out and how long it took")] = (
        False
    )
    include_pending: Annotated[bool, Meta(description="what others only proposed, too")] = False


class Found(Struct, frozen=True, kw_only=True):
    """A checkout's question, the policy it is answered by, and all that was read for it.

    `briefing` is what the session left, of the day `briefed`.
    """

    given: MemoryCheckout
    policy: Policy
    answer: Answer
    beside: Around
    briefing: tuple[Line, ...] = ()
    briefed: str = ""

    @property
    def now_us(self) -> int:
        """The moment asked about."""
        return self.answer.ask.when.valid_at or 0
