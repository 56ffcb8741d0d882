"""Communities of a workspace's files: computed after the first indexing and after a full rebuild, stored as nodes.

A community is a node of kind Community; files belong to it by BELONGS_TO edges, one per file, in a slot of the file's
own: a later run moves the file, and earlier states remain queryable. Walks do not follow these edges. A community has
the guard of its files, and files with different guards are never in one community: who may not see the files does not
see it. Sensitive files, and files in unsupported languages, are in none.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from weft.code.communities.detect import (
    Community,
    LinkedFiles,
    communities_of,
    summary_of_community,
    text_of_community,
    weight_of,
)
from weft.code.index.linking import beginnings
from weft.core.kinds import COMMUNITY
from weft.core.slices import in_slices
from weft.core.types import NOW, EdgeVersion, Find, Guard, NodeVersion, When
from weft.documents.keep.source_lines import told_of
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.runtime.call_context import CallContext
from weft.runtime.read_nodes import read_nodes
from weft.writing.build.commit import commit

MEMBER: Final = "BELONGS_TO"
MEMBER_WEIGHT: Final = 1e-6  # files of one community are not joined by it: no walk to speak of goes this way
MAX_FILES: Final = 50_000
MAX_COMMUNITIES: Final = 2_000
MAX_LINKS: Final = 2_000_000
PAGE: Final = 10_000
EDGES_AN_EVENT: Final = 1_000
NODES_AN_EVENT: Final = 50


class CommunitiesFound(Struct, frozen=True, kw_only=True):
    """The result of a run: `changed` communities are new or modified, `ended` no longer exist."""

    communities: int
    files: int
    changed: int = 0
    ended: int = 0
    notes: tuple[str, ...] = ()


def find_communities(ctx: CallContext) -> CommunitiesFound:
    """Finds the communities of this project's present index, and writes the differences, if any."""
    groups = {guard: _Group(paths) for guard, paths in _paths(ctx).items()}
    if groups:
        _fill(ctx, list(groups.values()))
    wanted: dict[str, graph.NodeAssertion] = {}
    members: dict[str, tuple[str, Guard]] = {}
    for guard, group in sorted(groups.items(), key=lambda each: (-len(each[1].paths), next(iter(each[1].paths)))):
        linked = group.linked()
        found = communities_of(linked)[:MAX_COMMUNITIES]
        wanted |= {made.id: made for made in _nodes(ctx, guard, linked, found, members)}
    return _kept(ctx, wanted, members)


def _paths(ctx: CallContext) -> dict[Guard, dict[str, str]]:
    """Paths by file, by guard."""
    find = Find(kinds=("File",), projects=(ctx.settings.project,))
    by_guard: defaultdict[Guard, dict[str, str]] = defaultdict(dict)
    for node in ctx.store.find(ctx.viewer, NOW, find, limit=MAX_FILES).nodes:
        if node.props.get("language") and node.props.get("path") and not node.guard.sensitive:
            by_guard[node.guard][node.id] = str(node.props["path"])
    return by_guard


class _Group:
    """The files with one guard, and the links among them, counted as they are read."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self.paths = paths
        self.calls: Counter[tuple[str, str]] = Counter()
        self.imports: Counter[tuple[str, str]] = Counter()
        self.degrees: Counter[str] = Counter()
        self.called: Counter[str] = Counter()
        self.symbols: defaultdict[str, list[str]] = defaultdict(list)

    def take(self, edge: EdgeVersion, one: str, other: str) -> None:
        """Counts a link from something in a file to something in another or the same."""
        if edge.rel == "CONTAINS":
            self.symbols[one].append(edge.dst)
            return
        self.degrees[edge.src] += 1
        self.degrees[edge.dst] += 1
        is_call = edge.rel == "CALLS"
        if is_call and edge.dst != other:
            self.called[edge.dst] += 1
        if one != other:
            (self.calls if is_call else self.imports)[one, other] += 1

    def linked(self) -> LinkedFiles:
        pairs = sorted(self.calls.keys() | self.imports.keys())  # sums of weights depend on their order
        users = Counter(other for _, other in pairs)
        weights: defaultdict[tuple[str, str], float] = defaultdict(float)
        for one, other in pairs:
            weight = weight_of(self.calls[one, other], self.imports[one, other], users[other])
            weights[min(one, other), max(one, other)] += weight
        return LinkedFiles(
            paths=self.paths, weights=weights, degrees=self.degrees, called=self.called, symbols=self.symbols
        )


class _FileOf(dict[str, str | None]):
    """Node → its file of these, or itself if it is one; None for external nodes. Each is found once."""

    def __init__(self, files: Collection[str]) -> None:
        super().__init__()
        self._files = files

    def __missing__(self, node_id: str) -> str | None:
        self[node_id] = found = next((each for each in beginnings(node_id) if each in self._files), None)
        return found


def _fill(ctx: CallContext, groups: Sequence[_Group]) -> None:
    """Reads calls, imports and containment of all files of these groups; what joins two groups is left out."""
    group_of = {file: group for group in groups for file in group.paths}
    file_of = _FileOf(group_of)
    for edge in links_of(ctx, ("CALLS", "IMPORTS", "CONTAINS")):
        one, other = file_of[edge.src], file_of[edge.dst]
        if one is not None and other is not None and group_of[one] is group_of[other]:
            group_of[one].take(edge, one, other)


def links_of(ctx: CallContext, rels: tuple[str, ...], when: When = NOW) -> Iterator[EdgeVersion]:
    """All edges of these relations in this project."""
    when = ctx.store.pin(ctx.viewer, when)
    after, seen = 0, 0
    while seen < MAX_LINKS:
        rows = ctx.store.relations(ctx.viewer, when, rels, projects=(ctx.settings.project,), after=after, limit=PAGE)
        yield from rows
        if len(rows) < PAGE:
            return
        after, seen = rows[-1].row, seen + len(rows)


def community_prefix(project: str | None) -> str:
    """The prefix of the ids of a project's communities."""
    return f"{project or ''}::community::"


def _nodes(
    ctx: CallContext,
    guard: Guard,
    linked: LinkedFiles,
    found: Sequence[Community],
    members: dict[str, tuple[str, Guard]],
) -> Iterator[graph.NodeAssertion]:
    """The nodes of communities; fills `members` with the community of each file."""
    told = _symbols(ctx, {each for community in found for each in (*community.top, community.central)})
    names = {each: node.name for each, node in told.items() if node.kind != "File"}
    lines = {each: f"{node.name}: {told_of(node) or node.summary}" for each, node in told.items()}
    mark = _mark(guard)
    for community in found:
        node_id = f"{community_prefix(guard.project)}{community.label}{mark}"
        members |= dict.fromkeys(community.files, (node_id, guard))
        yield graph.NodeAssertion(
            id=node_id,
            kind=COMMUNITY,
            name=community.label,
            summary=summary_of_community(community, names, linked.paths),
            text=text_of_community(community, lines, linked.paths),
            props={
                "central": community.central,
                "top": list(community.top),
                "files": len(community.files),
                "symbols": community.symbols,
            },
            project=guard.project,
            scope=guard.scope,
            agents=guard.agents,
        )


def _mark(guard: Guard) -> str:
    """A key for the guard of a community's files."""
    if guard.scope == Guard().scope and not guard.agents:
        return ""
    return "~" + hashlib.sha256(repr((guard.scope, guard.agents)).encode()).hexdigest()[:8]


def _symbols(ctx: CallContext, ids: set[str]) -> dict[str, NodeVersion]:
    return {node.id: node for node in read_nodes(ctx, NOW, sorted(ids))}


def _kept(
    ctx: CallContext, wanted: Mapping[str, graph.NodeAssertion], members: Mapping[str, tuple[str, Guard]]
) -> CommunitiesFound:
    """Writes the differences from the stored communities."""
    standing = {node.id: node for node in communities_at(ctx, NOW)}
    changed = [node for node in wanted.values() if not _says(standing.get(node.id), node)]
    gone = tuple(sorted(standing.keys() - wanted.keys()))
    belongs = {edge.src: edge.dst for edge in links_of(ctx, (MEMBER,))}
    moved = [
        graph.EdgeAssertion(
            src=file,
            rel=MEMBER,
            dst=community,
            weight=MEMBER_WEIGHT,
            slot=f"{MEMBER} {file}",
            project=guard.project,
            scope=guard.scope,
            agents=guard.agents,
        )
        for file, (community, guard) in sorted(members.items())
        if belongs.get(file) != community
    ]
    left = tuple(
        graph.EdgeName(src=file, rel=MEMBER, dst=community)
        for file, community in sorted(belongs.items())
        if file not in members and community in wanted
    )
    drafts = _drafts(changed, moved, graph.Ended(nodes=gone, edges=left))
    notes = commit(ctx, drafts).notes if drafts else ()
    return CommunitiesFound(
        communities=len(wanted), files=len(members), changed=len(changed), ended=len(gone), notes=tuple(notes)
    )


def _says(node: NodeVersion | None, wanted: graph.NodeAssertion) -> bool:
    if node is None:
        return False
    same = (node.name, node.summary, node.text) == (wanted.name, wanted.summary, wanted.text)
    return same and dict(node.props) == wanted.props and node.guard.agents == wanted.agents


def _drafts(
    nodes: Sequence[graph.NodeAssertion], edges: Sequence[graph.EdgeAssertion], over: graph.Ended
) -> list[Draft]:
    """The events of a run; nodes come before their edges."""
    drafts = [
        Draft(kind="graph.asserted", payload=graph.Asserted(nodes=tuple(some)))
        for some in in_slices(nodes, NODES_AN_EVENT)
    ]
    drafts += [
        Draft(kind="graph.asserted", payload=graph.Asserted(edges=tuple(links)))
        for links in in_slices(edges, EDGES_AN_EVENT)
    ]
    if over.nodes or over.edges:
        drafts.append(Draft(kind="graph.ended", payload=over))
    return drafts


def communities_at(ctx: CallContext, when: When) -> tuple[NodeVersion, ...]:
    """The communities of this project that the caller may see, at a moment."""
    find = Find(kinds=(COMMUNITY,), id_prefix=community_prefix(ctx.settings.project), projects=(ctx.settings.project,))
    return ctx.store.find(ctx.viewer, when, find, limit=MAX_COMMUNITIES).nodes
