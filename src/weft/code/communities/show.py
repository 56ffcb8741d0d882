"""Communities as shown to a caller, without files and symbols that the caller may not see."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.code.ask.workspaces import workspace_of
from weft.code.communities.detect import Community, summary_of_community
from weft.code.communities.keep import MEMBER, communities_at, links_of
from weft.core.types import NodeVersion, When
from weft.recall.answer_limits import bounded
from weft.runtime.call_context import CallContext
from weft.runtime.fields import AsOf, KnownAt, Limit
from weft.runtime.moments import read_when
from weft.runtime.operation import Operation
from weft.runtime.priorities import Priorities
from weft.runtime.read_nodes import read_nodes

FILES_SHOWN: Final = 8
TO_DO: Final = "the first indexing of a workspace computes them, and so does a rebuild in mode full"
# Of a community its label and its line say the most: fewer of them, rather than labels alone.
PRIORITIES: Final[Priorities] = {
    "label": "required",
    "summary": "required",
    "id": "low",
    "files": "low",
    "symbols": "low",
    "central": "low",
    "top": "low",
    "paths": "low",
}


class CommunityShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Files that work together: their number, the first of them, the most linked symbol, and the most called ones."""

    id: str
    label: str
    summary: str
    files: int
    symbols: int = 0
    central: str = ""
    top: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class CommunityList(Struct, frozen=True, kw_only=True):
    """Input of `community_list`."""

    limit: Limit = 20
    offset: Annotated[int, Meta(ge=0, le=2_000, description="how many larger communities to skip")] = 0
    as_of: AsOf = None
    known_at: KnownAt = None


class CommunitiesListed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Communities, largest first. `next_offset` is where the rest begins, if there is more."""

    summary: str
    communities: tuple[CommunityShown, ...]
    total: int
    next_offset: int | None = None
    notes: tuple[str, ...] = ()


def community_list(ctx: CallContext, given: CommunityList) -> CommunitiesListed:
    """Lists the communities of this workspace's files, largest first: what works together, by calls and imports.

    They are found by the first indexing and by every full rebuild. `weft graph query --mode global`
    answers a question from them.
    """
    ctx = workspace_of(ctx)
    when = ctx.store.pin(ctx.viewer, read_when(ctx, as_of=given.as_of, known_at=given.known_at))
    found = communities_shown(ctx, when)
    page = found[given.offset : given.offset + given.limit]
    further = given.offset + len(page)
    files = sum(each.files for each in found)
    answer = CommunitiesListed(
        summary=f"{len(found):,} communities of {files:,} files" if found else "no communities are computed yet",
        communities=page,
        total=len(found),
        next_offset=further if further < len(found) else None,
        notes=() if found else (TO_DO,),
    )
    return bounded(answer, "communities")


def communities_shown(ctx: CallContext, when: When) -> tuple[CommunityShown, ...]:
    """All communities that the caller may see, largest first, at a pinned moment."""
    nodes = communities_at(ctx, when)
    if not nodes:
        return ()
    members: defaultdict[str, list[str]] = defaultdict(list)
    for edge in links_of(ctx, (MEMBER,), when):
        members[edge.dst].append(edge.src)
    named = {each for node in nodes for each in _named(node)}
    seen = _nodes(ctx, when, sorted(named))
    shown = [_shown(ctx, node, sorted(members[node.id]), seen) for node in nodes if members[node.id]]
    return tuple(sorted(shown, key=lambda each: (-each.files, -each.symbols, each.label)))


def _nodes(ctx: CallContext, when: When, ids: Sequence[str]) -> Mapping[str, NodeVersion]:
    return {node.id: node for node in read_nodes(ctx, when, ids)}


def _named(node: NodeVersion) -> tuple[str, ...]:
    """The symbols that it names, by id."""
    top = node.props.get("top")
    central = node.props.get("central")
    ids = [central, *(top if isinstance(top, list | tuple) else ())]
    return tuple(each for each in ids if isinstance(each, str))


def _shown(ctx: CallContext, node: NodeVersion, files: list[str], seen: Mapping[str, NodeVersion]) -> CommunityShown:
    prefix = "" if ctx.settings.project is None else f"{ctx.settings.project}/"
    ids = _named(node)
    symbols = node.props.get("symbols")
    count = symbols if isinstance(symbols, int) else 0
    paths = {each: each.removeprefix(prefix) for each in files}
    central = ids[0] if ids and ids[0] in seen else ""
    summary = node.summary
    if len(files) != node.props.get("files") or any(each not in seen for each in ids):
        # Something that it was made of is gone, or not for this caller: its words must not tell of that.
        names = {each: seen[each].name for each in ids if each in seen}
        made = Community(label=node.name, files=tuple(files), central=central, top=ids[1:], symbols=count)
        summary = summary_of_community(made, names, paths)
    return CommunityShown(
        id=node.id,
        label=node.name,
        summary=summary,
        files=len(files),
        symbols=count,
        central=central.removeprefix(prefix),
        top=tuple(seen[each].name for each in ids[1:] if each in seen),
        paths=tuple(paths.values())[:FILES_SHOWN],
    )


OPERATIONS = (
    Operation(
        name="community_list",
        summary="list which files of this workspace work together, with a label and a line on each group",
        input=CommunityList,
        output=CommunitiesListed,
        effect="read",
        toolset="code",
        run=community_list,
        rare=("known_at",),
        priorities={f"communities.{field}": priority for field, priority in PRIORITIES.items()},
    ),
)
