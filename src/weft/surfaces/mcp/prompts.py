"""Prompts: messages for a user to send, filled from memory.

Words of memories are quoted in them, as in every answer; the instructions around them are weft's own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)
from msgspec import Struct

from weft.surfaces.mcp.dispatch import Context, Dispatcher

ARGUMENT_CHARACTERS: Final = 4_000
PART_CHARACTERS: Final = 8_000
LEFT_OUT: Final = frozenset({"not_found", "forbidden", "invalid"})  # a part that this caller has nothing of

CHECKOUT: Final = (
    "Begin with what is known. Where a memory decides something, name its citation; `cite` shows its source. Where "
    "what you find differs from what memory says, trust what you find, and correct the memory. What is decided or "
    "learnt on the way, remember in a full sentence with its reason."
)
REVIEW: Final = (
    "Go through these items one by one. For a proposal, read the sources of both sides (`cite`) and say which one is "
    "right; `proposal_review` accepts or rejects it: accepting replaces the current fact. A request for approval is "
    "for the operator to decide: sum up what would be written and for whom, and do not decide it yourself. Waiting "
    "writes were not delivered yet; `deliver_pending` tries again. Ask before anything is deleted. Tools that are not"
    " listed are called through `find_tool`."
)
IMPACT: Final = (
    "Before the edit, say what it may break: decisions that it contradicts, things that depend on it, earlier "
    "problems. Check each against its source (`cite`) and the current files: memory may be out of date. Then make the"
    " edit, and remember what was changed and why."
)

CLAIM_FIRST: Final = (
    "Claim what you are going to change before you change it (`agent_claim`), with the task; on a conflict take other "
    "work. Record decisions, edits, test results and errors as you go (`episode_add`), and end with `task_update`, "
    "which releases the claims. Tools that are not listed are called through `find_tool`."
)
CARRY_ON: Final = (
    "Carry on with this task, unless it has ended. Read what was decided and what is open first, and check it against "
    "the current files (`cite` shows a source). Take the task over (`handoff` with take_over) before you change "
    "anything; that is refused while its agent is at work. " + CLAIM_FIRST
)


class _Written(Struct, frozen=True, kw_only=True):
    prompt: Prompt
    write: Callable[[PromptHandlers, Context, dict[str, str]], Awaitable[str]]


class PromptHandlers:
    """Handlers of prompts/list and prompts/get."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def list_prompts(self, context: Context, params: PaginatedRequestParams | None) -> ListPromptsResult:
        """All prompts, on one page; none for an agent without live memory."""
        if self._dispatcher.offered(context).closed:
            return ListPromptsResult(prompts=[])
        return ListPromptsResult(prompts=[each.prompt for each in PROMPTS.values()])

    async def get(self, context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        """One prompt, filled. An unknown name and wrong arguments are errors of the protocol, in words."""
        if closed := self._dispatcher.offered(context).closed:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name[:80]!r}; {closed}")
        known = PROMPTS.get(params.name)
        if known is None:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name[:80]!r}; there are {', '.join(PROMPTS)}")
        given = _checked(known.prompt, params.arguments or {})
        text = await known.write(self, context, given)
        message = PromptMessage(role="user", content=TextContent(type="text", text=text))
        return GetPromptResult(description=known.prompt.description, messages=[message])

    async def checkout(self, context: Context, given: dict[str, str]) -> str:
        """A task, and what is known about it."""
        from weft.surfaces.render.page import quotation

        tool = "memory_checkout" if "memory_checkout" in self._dispatcher.offered(context).callable else "recall"
        told = {"query": given["task"]} | ({"purpose": given["purpose"]} if given.get("purpose") else {})
        known = await self._part(context, tool, told if tool != "recall" else {"query": given["task"]}, needed=True)
        return _joined(
            f"The task:\n{quotation(given['task'])}", "What is known about it, from long-term memory:", known, CHECKOUT
        )

    async def review_memory(self, context: Context, given: dict[str, str]) -> str:
        """Everything that waits for a decision."""
        parts = [
            ("Statements that contradict current facts:", "proposal_list", {"limit": 10}),
            ("Requests to write for all projects:", "approval_list", {"limit": 10}),
            ("Alerts:", "alert_list", {"limit": 10}),
            ("Writes that are not delivered yet:", "pending_list", {}),
        ]
        told = [f"{head}\n\n{await self._part(context, name, arguments)}" for head, name, arguments in parts]
        return _joined("Review what waits for a decision in long-term memory.", *told, REVIEW)

    async def impact_before_edit(self, context: Context, given: dict[str, str]) -> str:
        """The known facts on the target of an edit, and related nodes."""
        from weft.context.wording import quoted

        target = given["target"]
        joined = await self._part(context, "show", {"id": target})
        about = f"{target}: decisions, rules, problems, what depends on it"
        known = await self._part(context, "recall", {"query": about}, needed=True)
        head = f"I am about to change {quoted(target)}."
        return _joined(head, f"It in memory:\n\n{joined}", f"What is known about it:\n\n{known}", IMPACT)

    async def fleet_board(self, context: Context, given: dict[str, str]) -> str:
        """Claims, conflicts and open tasks."""
        del given
        parts = [
            ("Who works on what:", "coordination_overview", {"limit": 20}),
            ("What blocks the work:", "blocking_issues", {"limit": 20}),
            ("Open tasks:", "progress_query", {"open_only": True, "limit": 20}),
        ]
        told = [f"{head}\n\n{await self._part(context, name, arguments)}" for head, name, arguments in parts]
        return _joined("Other agents work here too. Choose work that is free.", *told, CLAIM_FIRST)

    async def carry_on(self, context: Context, given: dict[str, str]) -> str:
        """A task as another agent left it."""
        from weft.context.wording import quoted

        pack = await self._part(context, "handoff", {"task": given["task"]}, needed=True)
        return _joined(f"The task {quoted(given['task'])} as it was left:", pack, CARRY_ON)

    async def _part(self, context: Context, name: str, given: dict[str, Any], *, needed: bool = False) -> str:
        """The answer of an operation for this caller, within PART_CHARACTERS, or a placeholder."""
        if name not in self._dispatcher.offered(context).callable:
            if needed:
                await self._dispatcher.turn_away(context, name)
                raise MCPError(INVALID_PARAMS, f"this prompt needs {name}, which you may not call")
            return "(not visible to this caller)"
        answer = await self._dispatcher.use(context, name, given)
        if not answer.envelope.ok and (needed or answer.envelope.error_code not in LEFT_OUT):
            code = INVALID_PARAMS if answer.envelope.error_code in LEFT_OUT else INTERNAL_ERROR
            raise MCPError(code, answer.envelope.summary, {"hint": answer.envelope.hint})
        if not answer.envelope.ok:
            return "(nothing)"
        text = answer.text
        return text if len(text) <= PART_CHARACTERS else f"{text[:PART_CHARACTERS].rpartition(chr(10))[0]}\n(cut here)"


def _checked(prompt: Prompt, given: dict[str, str]) -> dict[str, str]:
    known = {each.name: bool(each.required) for each in prompt.arguments or ()}
    if unknown := sorted(set(given) - set(known)):
        takes = f"it takes {', '.join(known)}" if known else "it takes none"
        raise MCPError(INVALID_PARAMS, f"prompt {prompt.name} has no argument {', '.join(unknown)[:200]}; {takes}")
    for name, required in known.items():
        value = given.get(name, "")
        if required and not value.strip():
            raise MCPError(INVALID_PARAMS, f"prompt {prompt.name} needs the argument {name}")
        if len(value) > ARGUMENT_CHARACTERS:
            most = f"{ARGUMENT_CHARACTERS:,} characters"
            raise MCPError(INVALID_PARAMS, f"prompt {prompt.name}: {name} is longer than {most}")
    return given


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


PROMPTS: Final = {
    each.prompt.name: each
    for each in (
        _Written(
            prompt=Prompt(
                name="checkout",
                title="Begin a task with what is known",
                description="Recalls what memory knows about a task, to begin it with",
                arguments=[
                    PromptArgument(name="task", description="what is to be done", required=True),
                    PromptArgument(
                        name="purpose",
                        description="coding, review, release, security, research or coordinate",
                        required=False,
                    ),
                ],
            ),
            write=PromptHandlers.checkout,
        ),
        _Written(
            prompt=Prompt(
                name="review_memory",
                title="Review memory",
                description="Everything in memory that waits for a decision, and how to decide it",
            ),
            write=PromptHandlers.review_memory,
        ),
        _Written(
            prompt=Prompt(
                name="impact_before_edit",
                title="Impact before an edit",
                description="What memory knows that an edit may break",
                arguments=[
                    PromptArgument(name="target", description="a file, a symbol or any other thing", required=True)
                ],
            ),
            write=PromptHandlers.impact_before_edit,
        ),
        _Written(
            prompt=Prompt(
                name="fleet_board",
                title="Who works on what",
                description="Claims, what is in the way, and open tasks, to choose work that nobody has claimed",
            ),
            write=PromptHandlers.fleet_board,
        ),
        _Written(
            prompt=Prompt(
                name="carry_on",
                title="Carry on a task",
                description="All that is needed to carry on a task that another agent began",
                arguments=[PromptArgument(name="task", description="the task's id or title", required=True)],
            ),
            write=PromptHandlers.carry_on,
        ),
    )
}
