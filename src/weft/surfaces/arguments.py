"""Mapping of what a client sent to an operation's arguments. The caller's identity is never an argument."""

from __future__ import annotations

import re
from typing import Any, Final

from weft.core.errors import Forbidden, Invalid
from weft.runtime.operation import Operation, meant_argument
from weft.runtime.settings.load import Settings

# Names that would claim an identity. Where the operation has an argument of that name (such as the scope of a new
# memory), it is that argument.
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

    Raises Forbidden for an identity argument, unless it repeats the caller's own account or agent; Invalid for an
    argument given twice and for too many arguments. Unknown names are left to `read_input`.
    """
    if len(sent) > MAX_ARGUMENTS:
        raise Invalid(
            f"{operation.name}: {len(sent):,} arguments are given",
            hint=f"send at most {MAX_ARGUMENTS:,}",
        )
    known = operation.input.__struct_fields__
    given: dict[str, Any] = {}
    for written, value in sent.items():
        name = meant_argument(written, known)
        name = name if name in known else _HUMP.sub("_", written).lower()
        if name not in known and name in IDENTITY:
            _check_own(written, name, value, settings)
            continue
        name = name if name in known else written
        if name in given:
            raise Invalid(f"{operation.name}: {name} is given twice", hint=f"send {name} only once")
        given[name] = value
    return given


def _check_own(written: str, name: str, value: Any, settings: Settings) -> None:
    own = {"account": settings.account, "agent": settings.agent}.get(name.partition("_")[0])
    if own is not None and value == own:
        return
    if settings.origins["account"].origin.startswith("token "):
        raise Forbidden(
            f"{written} cannot be an argument: the token identifies the caller",
            hint=f"omit {written}; your token identifies you",
        )
    raise Forbidden(
        f"{written} cannot be an argument: the caller is set where the server is started",
        hint=f"omit {written}; the WEFT_* variables of the server set the caller",
    )
