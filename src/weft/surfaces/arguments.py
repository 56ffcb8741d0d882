"""What a caller sent, as the operation's own arguments. Who the caller is, is never among them."""

from __future__ import annotations

import re
from typing import Any, Final

from weft.config import Settings
from weft.errors import Forbidden, Invalid
from weft.operations.registry import Operation

# Names under which callers try to say who they are. Where an operation has an argument of that name (the scope of what
# is remembered, the agents it is meant for), it is that argument.
IDENTITY: Final = frozenset(
    {
        "account",
        "account_id",
        "account_name",
        "accounts",
        "agent",
        "agent_id",
        "agent_name",
        "audience",
        "identity",
        "role",
        "scope",
        "scopes",
        "sensitive",
        "session",
        "session_id",
        "tenant",
        "tenant_id",
        "user",
        "user_id",
        "viewer",
    }
)
MAX_ARGUMENTS: Final = 1_000  # no operation takes nearly as many
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def read_arguments(operation: Operation, sent: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Arguments by their own names: camelCase is understood, identity is refused.

    Raises Forbidden for an argument that says who the caller is, unless it repeats the account or agent that the
    caller has anyway; Invalid for an argument given twice and for far too many. Unknown names are left to `read_input`.
    """
    if len(sent) > MAX_ARGUMENTS:
        raise Invalid(
            f"{operation.name}: {len(sent):,} arguments are given",
            hint=f"send {MAX_ARGUMENTS:,} at most, by their names",
        )
    known = operation.input.__struct_fields__
    given: dict[str, Any] = {}
    for written, value in sent.items():
        name = written if written in known else _HUMP.sub("_", written).lower()
        if name not in known and name in IDENTITY:
            _check_own(written, name, value, settings)
            continue
        name = name if name in known else written
        if name in given:
            raise Invalid(f"{operation.name}: {name} is given twice", hint=f"send {name} once")
        given[name] = value
    return given


def _check_own(written: str, name: str, value: Any, settings: Settings) -> None:
    own = {"account": settings.account, "agent": settings.agent}.get(name.partition("_")[0])
    if own is not None and value == own:
        return
    if settings.origins["account"].origin.startswith("token "):
        raise Forbidden(
            f"{written} cannot be an argument: who is asking is settled by the token",
            hint=f"leave {written} out; your token says who you are",
        )
    raise Forbidden(
        f"{written} cannot be an argument: who is asking is settled where the server is started",
        hint=f"leave {written} out; the WEFT_* variables of the server say who it serves",
    )
