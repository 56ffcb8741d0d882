"""What an agent of a project is to know: the memories tagged for it, and those of the topics it follows.

Seen with no more rights than the agent itself would have: public, of the scopes its file leaves, nothing sensitive.
What was replaced, is over, or looks like instructions is left out: baked knowledge is read without anybody looking.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.agent_profile import AgentProfile
from weft.context.baked import Known, said_in
from weft.errors import Forbidden, Invalid
from weft.instants import parse_instant
from weft.kinds import RECORD_KINDS, STRUCTURAL_KINDS, VIEWS
from weft.lexical import query_terms
from weft.loom import Loom
from weft.operations.showing import NodeShown, show_node
from weft.queries import TextQuery
from weft.retrieval.derived import DERIVED_FROM
from weft.retrieval.subscriptions import as_subscriber, fits_a_topic
from weft.types import MAX_IDS_PER_READ, NOW, Find, NodeVersion, Viewer

PAGE: Final = 1_000
MAX_TAGGED: Final = 5_000
MAX_OF_A_TOPIC: Final = 500
DEFAULT_SCOPES: Final = ("public",)  # of a file that names none
NOT_BAKED: Final = tuple(
    sorted((STRUCTURAL_KINDS - {"Section"}) | RECORD_KINDS | VIEWS["code"] | {"Mention", "Briefing"})
)
WEIGHTS: Final[Mapping[str, float]] = {"Decision": 0.5, "Preference": 0.5, "Fact": 0.4, "Concept": 0.3, "Report": 0.2}
TAGGED: Final = 0.5  # more for what somebody tagged than for what fits a topic


class Knowledge(Struct, frozen=True, kw_only=True):
    """Memories for one agent, the newest first; `left` says what is not among them, by reason.

    `said` is when each was recorded, by how it reads in a file.
    """

    known: tuple[Known, ...]
    tagged: int
    left: Mapping[str, int]
    said: Mapping[str, int]
    notes: tuple[str, ...] = ()


def knowledge_of(loom: Loom, profile: AgentProfile) -> Knowledge:
    """What the agent of this file would know. Raises Forbidden for who sees only what is tagged for another."""
    if loom.viewer.tagged_only and loom.viewer.agent != profile.slug:
        raise Forbidden(f"what {profile.slug} knows is not yours to see", hint="ask the operator to bake it")
    reader = _reader(loom, profile)
    tagged, whole = _tagged(reader, profile.slug)
    followed = [node for node in _followed(reader) if node.id not in {each.id for each in tagged}]
    nodes = sorted((*tagged, *followed), key=lambda node: (-node.recorded_at, -node.row))
    left: Counter[str] = Counter()
    replaced = _replaced(reader, nodes)
    kept: list[tuple[NodeVersion, NodeShown]] = []
    for node, shown in zip(nodes, _shown(reader, nodes), strict=True):
        why = _left_out(loom, node, shown, replaced)
        if why:
            left[why] += 1
        else:
            kept.append((node, shown))
    own = {node.id for node in tagged}
    known = tuple(_known(shown, tagged=node.id in own) for node, shown in kept)
    return Knowledge(
        known=known,
        tagged=sum(node.id in own for node, _ in kept),
        left=dict(left),
        said={said_in(each): node.recorded_at for each, (node, _) in zip(known, kept, strict=True)},
        notes=() if whole else (f"only the newest {MAX_TAGGED:,} that are tagged for it were looked at",),
    )


def scopes_of(profile: AgentProfile) -> tuple[str, ...]:
    """Of which scopes an agent is told."""
    return DEFAULT_SCOPES if profile.scopes is None else profile.scopes


def _reader(loom: Loom, profile: AgentProfile) -> Loom:
    scopes = loom.viewer.scopes.intersection(scopes_of(profile))
    viewer = Viewer(account=loom.viewer.account, scopes=scopes, agent=profile.slug, audience="public", sensitive=False)
    return replace(loom, viewer=viewer, settings=replace(loom.settings, keywords=profile.keywords))


def _tagged(loom: Loom, slug: str) -> tuple[list[NodeVersion], bool]:
    when = loom.store.pin(loom.viewer, NOW)
    find = Find(projects=(loom.settings.project, None), without_kinds=NOT_BAKED)
    found: list[NodeVersion] = []
    while page := loom.store.find(loom.viewer, when, find, limit=PAGE).nodes:
        found += [node for node in page if slug in node.guard.agents]
        if len(found) > MAX_TAGGED:
            return found[:MAX_TAGGED], False
        if len(page) < PAGE:
            break
        find = replace(find, before=page[-1].row)
    return found, True


def _followed(loom: Loom) -> Iterator[NodeVersion]:
    """What is tagged with a topic of the agent, or has all its words."""
    if not loom.settings.keywords:
        return
    follower = as_subscriber(loom)
    store, projects = loom.store, (loom.settings.project, None)
    find = Find(projects=projects, keywords=loom.settings.keywords, without_kinds=NOT_BAKED)
    found = {node.id: node for node in store.find(follower.viewer, NOW, find, limit=MAX_OF_A_TOPIC).nodes}
    for keyword in loom.settings.keywords:
        terms = tuple(query_terms(keyword))
        query = TextQuery(terms=terms, projects=projects)
        hits = store.search_text(follower.viewer, NOW, query, limit=MAX_OF_A_TOPIC).hits if terms else ()
        ids = [hit.node.id for hit in hits if hit.node.kind not in NOT_BAKED and hit.node.id not in found]
        nodes = store.nodes(follower.viewer, NOW, ids) if ids else ()
        found |= {node.id: node for node in nodes if fits_a_topic(loom, node)}
    yield from found.values()


def _shown(loom: Loom, nodes: Sequence[NodeVersion]) -> Iterator[NodeShown]:
    citations: dict[int, str] = {}
    follower = as_subscriber(loom)
    positions = list(dict.fromkeys(node.event for node in nodes))
    for start in range(0, len(positions), MAX_IDS_PER_READ):
        citations |= loom.store.citations(follower.viewer, positions[start : start + MAX_IDS_PER_READ])
    for node in nodes:
        yield show_node(node, citations)


def _replaced(loom: Loom, nodes: Sequence[NodeVersion]) -> frozenset[str]:
    follower, ids = as_subscriber(loom), [node.id for node in nodes]
    found: set[str] = set()
    for start in range(0, len(ids), MAX_IDS_PER_READ):
        some = ids[start : start + MAX_IDS_PER_READ]
        steps = loom.store.neighbours(follower.viewer, NOW, some, rels=("SUPERSEDES",), direction="in", limit=1)
        found.update(step.start for step in steps)
    return frozenset(found)


def _left_out(loom: Loom, node: NodeVersion, shown: NodeShown, replaced: Iterable[str]) -> str:
    """Why a node is not baked; nothing if it is."""
    if not (node.text.strip() or node.summary.strip()) or DERIVED_FROM in node.props:
        return "says nothing of its own"
    if node.kind == "Section" and not node.text.strip():
        return "says nothing of its own"
    if node.id in replaced:
        return "replaced by a newer one"
    if _is_over(node.props.get("expires_at"), loom.clock.now_us()):
        return "over"
    if shown.flags:
        return "looks like instructions"
    return "" if shown.citation else "no source"


def _is_over(written: Any, now: int) -> bool:
    try:
        return isinstance(written, str) and parse_instant(written) <= now
    except Invalid:
        return False


def _known(shown: NodeShown, *, tagged: bool) -> Known:
    importance = shown.props.get("importance")
    weight = float(importance) if isinstance(importance, int | float) else 1.0
    source = shown.props.get("source") if shown.kind in ("Chunk", "Section") else None
    return Known(
        id=shown.id,
        kind=shown.kind,
        name=shown.name,
        words=shown.text or shown.summary,
        citation=shown.citation,
        place=source if isinstance(source, str) else "",
        weight=weight + WEIGHTS.get(shown.kind, 0.0) + (TAGGED if tagged else 0.0),
    )
