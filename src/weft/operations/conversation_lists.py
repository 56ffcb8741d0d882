"""Which conversations there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.errors import Forbidden
from weft.instants import to_iso
from weft.loom import Loom
from weft.operations.archiving import is_archived
from weft.operations.conversations import LATEST, MAX_TURNS, message_id
from weft.operations.fields import Limit
from weft.operations.finding import Anywhere, OtherProject, projects_asked
from weft.operations.registry import Operation
from weft.queries import Which
from weft.types import MAX_IDS_PER_READ, Find, NodeVersion

MAX_LOOKED_AT: Final = 2_000  # conversations, those that were written to last


class ConversationList(Struct, frozen=True, kw_only=True):
    """Input of `conversation_list`."""

    archived: Annotated[bool, Meta(description="archived ones too")] = False
    limit: Limit = 20
    offset: Annotated[int, Meta(ge=0, le=MAX_LOOKED_AT, description="how many of the latest to pass over")] = 0
    project: OtherProject = None
    everywhere: Anywhere = False


class ConversationShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A conversation: how many turns it has, when the first and the last were said. `name` is how to ask for it."""

    id: str
    name: str
    turns: int
    first_at: str
    last_at: str
    title: str = ""
    project: str | None = None
    archived: bool = False


class ConversationsShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Conversations, the latest first; `total` counts all that fit."""

    conversations: tuple[ConversationShown, ...]
    total: int
    notes: tuple[str, ...] = ()


def conversation_list(loom: Loom, given: ConversationList) -> ConversationsShown:
    """Lists conversations, the one that was added to last first: title, turns, first and last time.

    Archived ones are left out unless asked for. The next page: --offset.
    """
    if loom.viewer.audience == "public":
        raise Forbidden("public agents see no list of conversations", hint="conversation_search finds in their own")
    projects = projects_asked(loom, given.project, everywhere=given.everywhere)
    sessions, more = _sessions(loom, projects)
    hidden = [each for each in sessions if is_archived(each)]
    kept = [each for each in sessions if given.archived or not is_archived(each)]
    turns = _turns(loom, [each.id for each in kept])
    last = _last_times(loom, turns)
    kept.sort(key=lambda each: (-last.get(each.id, each.interval.valid_from), each.id))
    page = kept[given.offset : given.offset + given.limit]
    notes: tuple[str, ...] = ()
    if not sessions and not given.everywhere:
        project = given.project or loom.settings.project
        notes += (f"none in project {project}: --everywhere lists those of all projects",)
    if hidden and not given.archived:
        notes += (f"{len(hidden)} archived {'one is' if len(hidden) == 1 else 'ones are'} left out: --archived",)
    if more:
        notes += (f"there are more than {MAX_LOOKED_AT:,}: those that were written to last are listed",)
    if len(kept) > given.offset + given.limit:
        notes += (f"{len(kept) - given.offset - given.limit} more: --offset {given.offset + given.limit}",)
    shown = tuple(_shown(loom, each, turns[each.id], last.get(each.id)) for each in page)
    return ConversationsShown(conversations=shown, total=len(kept), notes=notes)


def _sessions(loom: Loom, projects: tuple[str | None, ...] | None) -> tuple[list[NodeVersion], bool]:
    find = Find(kinds=("Session",), projects=projects)
    found = loom.store.find(loom.viewer, LATEST, find, limit=MAX_LOOKED_AT + 1).nodes
    return list(found[:MAX_LOOKED_AT]), len(found) > MAX_LOOKED_AT


def _turns(loom: Loom, conversations: Sequence[str]) -> dict[str, int]:
    """The number of the last turn of each: searched for in all at once, by doubling and then by halving.

    Turns that ended or were deleted keep their numbers, so there are no gaps.
    """
    low, high = dict.fromkeys(conversations, 0), dict.fromkeys(conversations, 1)  # taken, and maybe free
    doubling = set(conversations)
    while True:
        probes = {each: high[each] for each in doubling if high[each] <= MAX_TURNS}
        halved = {each: (low[each] + high[each]) // 2 for each in conversations if each not in probes}
        probes |= {each: at for each, at in halved.items() if at > low[each]}
        if not probes:
            return low
        there = _there(loom, [message_id(each, at) for each, at in probes.items()])
        for each, at in probes.items():
            if message_id(each, at) not in there:
                high[each] = at
                doubling.discard(each)
                continue
            low[each] = at
            if each in doubling:
                high[each] = min(at * 2, MAX_TURNS + 1)


def _there(loom: Loom, ids: Sequence[str]) -> set[str]:
    pages = (tuple(ids[start : start + MAX_IDS_PER_READ]) for start in range(0, len(ids), MAX_IDS_PER_READ))
    return {
        node.id for page in pages for node in loom.store.last_versions(loom.viewer, Which(ids=page), limit=len(page))
    }


def _last_times(loom: Loom, turns: dict[str, int]) -> dict[str, int]:
    """When the last turn of each was said."""
    ids = {message_id(each, count): each for each, count in turns.items() if count}
    listed = list(ids)
    pages = (tuple(listed[start : start + MAX_IDS_PER_READ]) for start in range(0, len(listed), MAX_IDS_PER_READ))
    return {
        ids[node.id]: node.interval.asserted_from
        for page in pages
        for node in loom.store.last_versions(loom.viewer, Which(ids=page), limit=len(page))
    }


def _shown(loom: Loom, session: NodeVersion, turns: int, last: int | None) -> ConversationShown:
    project = session.guard.project
    own = project == loom.settings.project
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
