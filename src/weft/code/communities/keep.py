"""Communities of a workspace's files: computed after the first indexing and after a full rebuild, stored as nodes.

A community is a node of kind Community; files belong to it by BELONGS_TO edges, one per file, in a slot of the file's
own: a later run moves the file, and earlier states remain queryable. Walks do not follow these edges. A community has
the guard of its files, and files with different guards are never in one community: who may not see the files does not
see it. Sensitive files, and files in unsupported languages, are in none.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
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
    project = ctx.settings.project
    files = ctx.store.find(ctx.viewer, NOW, Find(kinds=("File",), projects=(project,)), limit=MAX_FILES).nodes
    by_guard: defaultdict[Guard, list[NodeVersion]] = defaultdict(list)
    for node in files:
        if node.props.get("language") and node.props.get("path") and not node.guard.sensitive:
            by_guard[node.guard].append(node)
    links = _Links(ctx, {node.id for group in by_guard.values() for node in group}) if by_guard else None
    wanted: dict[str, graph.NodeAssertion] = {}
    members: dict[str, tuple[str, Guard]] = {}
    for guard, group in sorted(by_guard.items(), key=lambda each: (-len(each[1]), each[1][0].id)):
        assert links is not None
        linked = links.among({node.id: str(node.props["path"]) for node in group})
        found = communities_of(linked)[:MAX_COMMUNITIES]
        wanted |= {made.id: made for made in _nodes(ctx, guard, linked, found, members)}
    return _kept(ctx, wanted, members)


class _Links:
    """Calls, imports and containment of all files considered, by file."""

    def __init__(self, ctx: CallContext, files: set[str]) -> None:
        self._files = files
        self._rows: list[tuple[str, str, bool, str, str]] = []  # file, file, a call, from, to
        self._symbols: defaultdict[str, list[str]] = defaultdict(list)
        for edge in links_of(ctx, ("CALLS", "IMPORTS", "CONTAINS")):
            self._take(edge)

    def _take(self, edge: EdgeVersion) -> None:
        one, other = self._file_of(edge.src), self._file_of(edge.dst)
        if one is None or other is None:
            return
        if edge.rel == "CONTAINS":
            self._symbols[one].append(edge.dst)
        else:
            self._rows.append((one, other, edge.rel == "CALLS", edge.src, edge.dst))

    def _file_of(self, node_id: str) -> str | None:
        """The file of a symbol, or the file itself; None for external nodes."""
        if node_id in self._files:
            return node_id
        at = node_id.find("::")
        while at > 0:
            if node_id[:at] in self._files:
                return node_id[:at]
            at = node_id.find("::", at + 1)
        return None

    def among(self, paths: Mapping[str, str]) -> LinkedFiles:
        """The links among these files only."""
        calls: Counter[tuple[str, str]] = Counter()
        imports: Counter[tuple[str, str]] = Counter()
        degrees: Counter[str] = Counter()
        called: Counter[str] = Counter()
        for one, other, is_call, src, dst in self._rows:
            if one not in paths or other not in paths:
                continue
            degrees[src] += 1
            degrees[dst] += 1
            called[dst] += is_call and dst != other
            if one != other:
                (calls if is_call else imports)[one, other] += 1
        users = Counter(other for _, other in calls.keys() | imports.keys())
        weights: defaultdict[tuple[str, str], float] = defaultdict(float)
        for one, other in calls.keys() | imports.keys():
            weight = weight_of(calls[one, other], imports[one, other], users[other])
            weights[min(one, other), max(one, other)] += weight
        return LinkedFiles(paths=paths, weights=weights, degrees=degrees, called=called, symbols=self._symbols)


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
