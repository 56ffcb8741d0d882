"""Asking the person at the client for the operator's approval, where a call is refused for want of it.

What is shown is all that would be written; a yes is good for exactly that, once. Whoever may not see it, or cannot be
asked, is not asked: then the call is answered as it is without this.
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

from weft.errors import NeedsApproval
from weft.operations import operation as operation_of
from weft.operations.registry import TOKEN, Operation, read_input

if TYPE_CHECKING:
    from weft.config import Settings
    from weft.loom import Loom, Progress
    from weft.memory import Memory

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


class Wanted(Struct, frozen=True, kw_only=True):
    """A call that only the operator's approval is missing for."""

    memory: Memory
    operation: Operation
    given: dict[str, Any]
    client: str


class Question(Struct, frozen=True, kw_only=True):
    """What a person is asked, in words, and the digest of what a yes is good for."""

    wanted: Wanted
    text: str
    digest: str


class Watch:
    """An operation that remembers whether a run of it ended for want of an approval, whatever its answer then says."""

    def __init__(self, operation: Operation) -> None:
        self.problem: NeedsApproval | None = None
        self.operation = replace(operation, run=self._watched(operation.run)) if operation.governed else operation

    def _watched(self, run: Callable[[Loom, Any], Struct]) -> Callable[[Loom, Any], Struct]:
        def watched(loom: Loom, given: Any) -> Struct:
            try:
                return run(loom, given)
            except NeedsApproval as problem:
                self.problem = problem
                raise

        return watched


# ---- who can be asked


def client_of(context: Context) -> str:
    """What the client calls itself, on one line; empty where it does not say."""
    told = context.session.client_params
    return "" if told is None else told.client_info.name


def can_ask(context: Context) -> bool:
    """Whether the client can show its person a form, and this request has a way to it."""
    told = context.session.client_capabilities
    if told is None or told.elicitation is None:
        return False
    forms = told.elicitation.form is not None or told.elicitation.url is None  # older clients only said that they can
    return forms and (is_modern(context) or context.session.can_send_request)


def is_modern(context: Context) -> bool:
    """Whether questions go back as an answer, to be sent again with the reply, and not over the open connection."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


# ---- what is asked


def question_of(wanted: Wanted, why: str) -> Question | None:
    """What to ask for a call. None where this caller's person may not approve, or may not see what would be written."""
    from weft.operations.approvals import for_all, told_arguments
    from weft.operations.approving import is_sensitive
    from weft.operations.redacting import redacted_input
    from weft.surfaces.mcp.words import line

    loom, operation, given = wanted.memory.loom, wanted.operation, wanted.given
    if not loom.settings.elicit:
        return None
    asked_for = redacted_input(loom, operation, read_input(operation, given))
    told = told_arguments(asked_for if "level" in given else for_all(asked_for))  # as a request for approval has it
    if not loom.viewer.sensitive and is_sensitive(loom, given, told):
        return None
    shown = "\n".join(_argument(name, value) for name, value in told.items())
    if len(shown) > MAX_SHOWN_CHARACTERS:
        return None
    actor = loom.writer.actor
    at = f", at {line(wanted.client)}," if wanted.client else ""
    text = (
        f"{line(actor.agent)} ({line(actor.role)}){at} wants to call {operation.name}, which is for all projects of "
        f"account {line(loom.writer.account)}. {line(why, 500)}.\n\n{shown}\n\n"
        "With your yes it is done once, exactly as shown. Without, nothing is written."
    )
    return Question(wanted=wanted, text=text, digest=_digest(loom, operation, told))


def _argument(name: str, value: Any) -> str:
    from weft.surfaces.mcp.words import block

    if isinstance(value, str):
        return f"{name}:\n{block(value)}"
    if isinstance(value, list | tuple) and any(isinstance(each, dict) for each in value):
        return "\n".join([f"{name}: {len(value)}", *(block(msgspec.json.encode(each).decode()) for each in value)])
    return f"{name}:\n{block(msgspec.json.encode(value).decode())}"


def _digest(loom: Loom, operation: Operation, told: dict[str, Any]) -> str:
    from weft.log.canonical import canonical

    actor = loom.writer.actor
    who = {"account": loom.writer.account, "agent": actor.agent, "role": actor.role}
    bound = {"operation": operation.name, "arguments": told, **who}
    return hashlib.sha256(canonical(msgspec.to_builtins(bound))).hexdigest()


# ---- asking


async def says_yes(context: Context, question: Question) -> bool:
    """Asks over the open connection. No reply, a no and any trouble are all no yes."""
    with anyio.move_on_after(ASK_SECONDS):
        try:
            reply = await context.session.elicit_form(question.text, SCHEMA, related_request_id=context.request_id)
        except (MCPError, ValidationError) as problem:
            _log.debug("the client could not ask: %s", problem)
            return False
        return is_yes(reply)
    return False


def to_be_asked(question: Question, state: str) -> InputRequiredResult:
    """The question as an answer: the client asks, and sends the call again with the reply and this state."""
    form = ElicitRequestFormParams(message=question.text, requested_schema=SCHEMA)
    return InputRequiredResult(input_requests={KEY: ElicitRequest(params=form)}, request_state=state)


def is_yes(reply: object) -> bool:
    """Only a form that was sent off with the box ticked."""
    return isinstance(reply, ElicitResult) and reply.action == "accept" and (reply.content or {}).get("approve") is True


# ---- after a yes


def run_approved(wanted: Wanted, progress: Progress) -> Struct:
    """Asks for the approval as the caller, gives it as the operator, and makes the call with it.

    Each is in the log and the audit; the approval says where the person was asked.
    """
    from weft.surfaces.mcp.words import line

    memory, operation, given = wanted.memory, wanted.operation, wanted.given
    where = f"asked at {line(wanted.client) or 'the client'}"
    request = operation_of("request_global_write_approval")
    asked = memory.run(request, {"operation": operation.name, "arguments": given, "reason": where}, surface="mcp")
    asked_for: Any = asked
    if asked_for.status == "waiting":
        person = memory.serving(_person(memory.loom.settings))
        person.run(_approve(where), {"id": asked_for.id}, surface="mcp")
    return memory.run(operation, {**given, TOKEN: asked_for.token}, progress=progress, surface="mcp")


def _approve(where: str) -> Operation:
    from weft.operations.approving import ApprovalDecided, Approve, decide

    def approve(loom: Loom, given: Approve) -> ApprovalDecided:
        return ApprovalDecided(approval=decide(loom, given.id or "", "approved", reason=where))

    return replace(operation_of("approve"), run=approve)


def _person(settings: Settings) -> Settings:
    """The operator, in the person of who sits at this caller's client."""
    from weft.types import SCOPES

    return replace(
        settings, agent=f"person-at-{settings.agent}", role="operator", audience="internal", scopes=tuple(SCOPES)
    )
