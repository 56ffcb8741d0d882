"""Elicitation: asks the client's user for the operator's approval where a call is refused for lack of it.

The user sees all that would be written; a yes is good for exactly that, once. A user who may not see it, or cannot be
asked, is not asked: then the refusal is the answer.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import anyio
import msgspec
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import Struct
from msgspec.structs import replace
from pydantic import ValidationError

from weft.core.errors import NeedsApproval
from weft.operations import operation as operation_of
from weft.runtime.operation import TOKEN, Operation, read_input

if TYPE_CHECKING:
    from weft.memory.facade import Memory
    from weft.runtime.call_context import CallContext, Progress
    from weft.runtime.settings.load import Settings

ASK_SECONDS: Final = 300.0  # a person who has not answered by then is not there
MAX_SHOWN_CHARACTERS: Final = 8_000  # what is longer nobody reads in a dialogue, and nobody approves what was not read
KEY: Final = "approval"
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "approve": {
            "type": "boolean",
            "title": "Approve",
            "description": "Write exactly this, once, for all projects",
            "default": False,
        }
    },
    "required": ["approve"],
}
_log = logging.getLogger("weft.mcp")

Context = ServerRequestContext[Any, Any]


class BlockedCall(Struct, frozen=True, kw_only=True):
    """A call that lacks only the operator's approval."""

    memory: Memory
    operation: Operation
    given: dict[str, Any]
    client: str


class ApprovalQuestion(Struct, frozen=True, kw_only=True):
    """The question for a user, and the digest of the call that a yes allows."""

    wanted: BlockedCall
    text: str
    digest: str


class ApprovalWatch:
    """An operation that records whether its run ended for lack of an approval, whatever its answer says."""

    def __init__(self, operation: Operation) -> None:
        self.problem: NeedsApproval | None = None
        self.operation = replace(operation, run=self._watched(operation.run)) if operation.governed else operation

    def _watched(self, run: Callable[[CallContext, Any], Struct]) -> Callable[[CallContext, Any], Struct]:
        def watched(ctx: CallContext, given: Any) -> Struct:
            try:
                return run(ctx, given)
            except NeedsApproval as problem:
                self.problem = problem
                raise

        return watched


# ---- who can be asked


def client_of(context: Context) -> str:
    """The name of the client, on one line; empty if it gave none."""
    told = context.session.client_params
    return "" if told is None else told.client_info.name


def can_ask(context: Context) -> bool:
    """Whether the client can show a form to its user, and this request can reach it."""
    told = context.session.client_capabilities
    if told is None or told.elicitation is None:
        return False
    forms = told.elicitation.form is not None or told.elicitation.url is None  # older clients only said that they can
    return forms and (is_modern(context) or context.session.can_send_request)


def is_modern(context: Context) -> bool:
    """Whether a question goes back as an answer, and the call is sent again with the reply; else it is asked over the
    open connection.
    """
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


# ---- what is asked


def question_of(wanted: BlockedCall, why: str) -> ApprovalQuestion | None:
    """The question for a call; None if the caller's user may not approve, or may not see what would be written."""
    from weft.access.approve import is_sensitive
    from weft.surfaces.render.changes import argument
    from weft.surfaces.render.page import TextPage, one_line
    from weft.writing.checks.approvals import for_all, told_arguments
    from weft.writing.checks.redact_arguments import redacted_input

    ctx, operation, given = wanted.memory.ctx, wanted.operation, wanted.given
    if not ctx.settings.elicit:
        return None
    asked_for = redacted_input(ctx, operation, read_input(operation, given))
    told = told_arguments(asked_for if "level" in given else for_all(asked_for))  # as a request for approval has it
    if not ctx.viewer.sensitive and is_sensitive(ctx, given, told):
        return None
    page = TextPage("model")
    page.block()
    for name, value in told.items():
        argument(page, name, value)
    shown = "\n\n".join(page.rendered().blocks)
    if len(shown) > MAX_SHOWN_CHARACTERS:
        return None
    actor = ctx.writer.actor
    at = f", at {one_line(wanted.client)}," if wanted.client else ""
    text = (
        f"{one_line(actor.agent)} ({one_line(actor.role)}){at} wants to call {operation.name}, which is for all "
        f"projects of account {one_line(ctx.writer.account)}. {one_line(why, 500)}.\n\n{shown}\n\n"
        "With your yes it is done once, exactly as shown. Without, nothing is written."
    )
    return ApprovalQuestion(wanted=wanted, text=text, digest=_digest(ctx, operation, told))


def _digest(ctx: CallContext, operation: Operation, told: dict[str, Any]) -> str:
    from weft.log.canonical import canonical

    actor = ctx.writer.actor
    who = {"account": ctx.writer.account, "agent": actor.agent, "role": actor.role}
    bound = {"operation": operation.name, "arguments": told, **who}
    return hashlib.sha256(canonical(msgspec.to_builtins(bound))).hexdigest()


# ---- asking


async def says_yes(context: Context, question: ApprovalQuestion) -> bool:
    """Asks over the open connection. No reply, a no and any error count as no."""
    with anyio.move_on_after(ASK_SECONDS):
        try:
            reply = await context.session.elicit_form(question.text, SCHEMA, related_request_id=context.request_id)
        except (MCPError, ValidationError) as problem:
            _log.debug("the client could not ask: %s", problem)
            return False
        return is_yes(reply)
    return False


def to_be_asked(question: ApprovalQuestion, state: str) -> InputRequiredResult:
    """The question as an answer: the client asks, and sends the call again with the reply and this state."""
    form = ElicitRequestFormParams(message=question.text, requested_schema=SCHEMA)
    return InputRequiredResult(input_requests={KEY: ElicitRequest(params=form)}, request_state=state)


def is_yes(reply: object) -> bool:
    """Only a form that was submitted with the box ticked."""
    return isinstance(reply, ElicitResult) and reply.action == "accept" and (reply.content or {}).get("approve") is True


# ---- after a yes


def run_approved(wanted: BlockedCall, progress: Progress) -> Struct:
    """Requests the approval as the caller, grants it as the operator, and makes the call with it.

    Each step is in the log and the audit; the approval names the client whose user was asked.
    """
    from weft.surfaces.render.page import one_line

    memory, operation, given = wanted.memory, wanted.operation, wanted.given
    where = f"asked at {one_line(wanted.client) or 'the client'}"
    request = operation_of("request_global_write_approval")
    asked = memory.run(request, {"operation": operation.name, "arguments": given, "reason": where}, surface="mcp")
    asked_for: Any = asked
    if asked_for.status == "waiting":
        person = memory.serving(_person(memory.ctx.settings))
        person.run(_approve(where), {"id": asked_for.id}, surface="mcp")
    return memory.run(operation, {**given, TOKEN: asked_for.token}, progress=progress, surface="mcp")


def _approve(where: str) -> Operation:
    from weft.access.approve import ApprovalDecided, Approve, decide

    def approve(ctx: CallContext, given: Approve) -> ApprovalDecided:
        return ApprovalDecided(approval=decide(ctx, given.id or "", "approved", reason=where))

    return replace(operation_of("approve"), run=approve)


def _person(settings: Settings) -> Settings:
    """The operator's settings for the user of this client."""
    from weft.core.types import SCOPES

    return replace(
        settings, agent=f"person-at-{settings.agent}", role="operator", audience="internal", scopes=tuple(SCOPES)
    )
