"""List of conversations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.conversations.archive import is_archived
from weft.conversations.turns import LATEST, MAX_TURNS, message_id
from weft.core.clock import to_iso
from weft.core.errors import Forbidden
from weft.core.queries import NodeFilter
from weft.core.types import MAX_IDS_PER_READ, Find, NodeVersion
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Anywhere, Limit, OtherProject, projects_asked
from weft.runtime.operation import Operation

MAX_LOOKED_AT: Final = 2_000  # conversations, the most recently continued


class ConversationList(Struct, frozen=True, kw_only=True):
    """Input of `conversation_list`."""

    archived: Annotated[bool, Meta(description="include archived ones")] = False
    limit: Limit = 20
    offset: Annotated[int, Meta(ge=0, le=MAX_LOOKED_AT, description="number of conversations to skip")] = 0
    project: OtherProject = None
    everywhere: Anywhere = False


class ConversationShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A conversation: its number of turns, and the times of the first and last one. `name` selects it in commands."""

    id: str
    name: str
    turns: int
    first_at: str
    last_at: str
    title: str = ""
    project: str | None = None
    archived: bool = False


class ConversationsShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Conversations, the latest first; `total` counts all matching ones."""

    conversations: tuple[ConversationShown, ...]
    total: int
    notes: tuple[str, ...] = ()


def conversation_list(ctx: CallContext, given: ConversationList) -> ConversationsShown:
    """Lists conversations, most recently continued first: title, turns, first and last time.

    Archived ones are left out by default. The next page: --offset.
    """
    if ctx.viewer.audience == "public":
        raise Forbidden("public agents cannot list conversations", hint="conversation_search searches their own")
    projects = projects_asked(ctx, given.project, everywhere=given.everywhere)
    sessions, more = _sessions(ctx, projects)
    hidden = [each for each in sessions if is_archived(each)]
    kept = [each for each in sessions if given.archived or not is_archived(each)]
    turns = _turns(ctx, [each.id for each in kept])
    last = _last_times(ctx, turns)
    kept.sort(key=lambda each: (-last.get(each.id, each.interval.valid_from), each.id))
    page = kept[given.offset : given.offset + given.limit]
    notes: tuple[str, ...] = ()
    if not sessions and not given.everywhere:
        project = given.project or ctx.settings.project
        notes += (f"project {project} has none: --everywhere lists all projects",)
    if hidden and not given.archived:
        notes += (f"{len(hidden)} archived not listed: --archived lists {'it' if len(hidden) == 1 else 'them'}",)
    if more:
        notes += (f"more than {MAX_LOOKED_AT:,} exist: the most recently continued are listed",)
    if len(kept) > given.offset + given.limit:
        notes += (f"{len(kept) - given.offset - given.limit} more: --offset {given.offset + given.limit}",)
    shown = tuple(_shown(ctx, each, turns[each.id], last.get(each.id)) for each in page)
    return ConversationsShown(conversations=shown, total=len(kept), notes=notes)


def _sessions(ctx: CallContext, projects: tuple[str | None, ...] | None) -> tuple[list[NodeVersion], bool]:
    find = Find(kinds=("Session",), projects=projects)
    found = ctx.store.find(ctx.viewer, LATEST, find, limit=MAX_LOOKED_AT + 1).nodes
    return list(found[:MAX_LOOKED_AT]), len(found) > MAX_LOOKED_AT


def _turns(ctx: CallContext, conversations: Sequence[str]) -> dict[str, int]:
    """The last turn number of each, found for all at once by exponential and binary search.

    Ended and deleted turns keep their numbers, so there are no gaps.
    """
    low, high = (
        dict.fromkeys(conversations, 0),
        dict.fromkeys(conversations, 1),
    )  # highest known number, lowest possibly free one
    doubling = set(conversations)
    while True:
        probes = {each: high[each] for each in doubling if high[each] <= MAX_TURNS}
        halved = {each: (low[each] + high[each]) // 2 for each in conversations if each not in probes}
        probes |= {each: at for each, at in halved.items() if at > low[each]}
        if not probes:
            return low
        there = _there(ctx, [message_id(each, at) for each, at in probes.items()])
        for each, at in probes.items():
            if message_id(each, at) not in there:
                high[each] = at
                doubling.discard(each)
                continue
            low[each] = at
            if each in doubling:
                high[each] = min(at * 2, MAX_TURNS + 1)


def _there(ctx: CallContext, ids: Sequence[str]) -> set[str]:
    pages = (tuple(ids[start : start + MAX_IDS_PER_READ]) for start in range(0, len(ids), MAX_IDS_PER_READ))
    return {
        node.id for page in pages for node in ctx.store.last_versions(ctx.viewer, NodeFilter(ids=page), limit=len(page))
    }


def _last_times(ctx: CallContext, turns: dict[str, int]) -> dict[str, int]:
    """The time of each conversation's last turn."""
    ids = {message_id(each, count): each for each, count in turns.items() if count}
    listed = list(ids)
    pages = (tuple(listed[start : start + MAX_IDS_PER_READ]) for start in range(0, len(listed), MAX_IDS_PER_READ))
    return {
        ids[node.id]: node.interval.asserted_from
        for page in pages
        for node in ctx.store.last_versions(ctx.viewer, NodeFilter(ids=page), limit=len(page))
    }


def _shown(ctx: CallContext, session: NodeVersion, turns: int, last: int | None) -> ConversationShown:
    project = session.guard.project
    own = project == ctx.settings.project
    begun = session.interval.asserted_from
    return ConversationShown(
        id=session.id,
        name=session.id.removeprefix(f"{project}/") if own and project else session.id,
        turns=turns,
        first_at=to_iso(begun),
        last_at=to_iso(begun if last is None else last),
        title=session.name,
        project=project,
        archived=is_archived(session),
    )


OPERATIONS = (
    Operation(
        name="conversation_list",
        summary="list conversations, the latest first",
        input=ConversationList,
        output=ConversationsShown,
        effect="read",
        toolset="memory",
        run=conversation_list,
    ),
)
