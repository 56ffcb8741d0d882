"""`erase`: removes a person, a source, a session or everything for good, with all that was made from it.

Without `yes` it only previews. The log keeps its hash chain and records that something was erased, when and by whom,
and nothing else.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from weft.conversations.turns import log_session
from weft.core.errors import Invalid
from weft.core.types import Viewer
from weft.erasure.carry_out import Erasure, ErasureRequest, carry_out
from weft.erasure.delete import names_of, path_in_project
from weft.erasure.selection import Selected, select_everything, select_session, select_source, select_subject
from weft.runtime.call_context import CallContext
from weft.runtime.operation import Operation


class Erase(Struct, frozen=True, kw_only=True):
    """Input of `erase`."""

    subject: (
        Annotated[str, Meta(min_length=1, max_length=512, description="a person or thing, by name, alias or id")] | None
    ) = None
    source: Annotated[str, Meta(min_length=1, max_length=4096, description="a file that was ingested")] | None = None
    session: Annotated[str, Meta(min_length=1, max_length=512, description="a session or conversation")] | None = None
    everything: Annotated[bool, Meta(description="all memories of the account")] = False
    dry_run: Annotated[bool, Meta(description="list what would be erased; write nothing")] = False
    yes: Annotated[bool, Meta(description="erase it for good; this cannot be undone")] = False
    confirm: Annotated[
        str, Meta(max_length=256, description="the account's name, required when most memories would be erased")
    ] = ""


def erase(ctx: CallContext, given: Erase) -> Erasure:
    """Erases a person, a source, a session or everything for good, with all that was made from it.

    The words are removed from memories, vectors, summaries, receipts, the outbox and the audit. The log still verifies
    and records when and by whom something was erased. Without --yes this only previews. To remove something that can
    be restored for some days, use `weft delete`.
    """
    viewer = ctx.operator("erase")
    selected, written = _selected(ctx, viewer, given)
    request = ErasureRequest(
        selected=selected, written=written, go=given.yes and not given.dry_run, confirm=given.confirm
    )
    return carry_out(ctx, viewer, request)


def _selected(ctx: CallContext, viewer: Viewer, given: Erase) -> tuple[Selected, str]:
    """The selection, and how the caller named it. Raises Invalid unless exactly one thing is named."""
    asked = [name for name in ("subject", "source", "session") if getattr(given, name) is not None]
    asked += ["everything"] if given.everything else []
    if len(asked) != 1:
        raise Invalid(
            "nothing to erase was named" if not asked else f"{' and '.join(asked)} cannot be erased in one call",
            hint="give exactly one of --subject, --source, --session and --everything",
        )
    for name in ("subject", "source", "session"):
        written = getattr(given, name)
        if written is not None and (not written.strip() or "\x00" in written):
            raise Invalid(f"the {name} is blank or contains a NUL character", hint=f"name the {name} to erase")
    if given.subject is not None:
        return select_subject(ctx, viewer, given.subject), given.subject
    if given.source is not None:
        path = path_in_project(ctx, given.source)
        paths = frozenset(names_of(ctx, given.source, path)) | ({path} if path else set())
        return select_source(ctx, viewer, paths), given.source
    if given.session is not None:
        names = frozenset(names_of(ctx, given.session))
        return select_session(ctx, viewer, names | {log_session(name) for name in names}), given.session
    return select_everything(ctx, viewer), "everything"


OPERATIONS = (
    Operation(
        name="erase",
        summary="erase a person, a source or a session for good, with all that was made from it",
        input=Erase,
        output=Erasure,
        effect="destructive",
        toolset="governance",
        audited_words="none",
        run=erase,
    ),
)
