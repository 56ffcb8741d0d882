"""Memories for one agent of a project: those tagged for it, and those of the topics it follows.

Read with the rights of the agent: public, in its scopes, nothing sensitive. Replaced and expired memories and those
that look like instructions are omitted, as nobody reviews the file before it is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.context.baked import BakedMemory, said_in
from weft.core.errors import Forbidden
from weft.core.kinds import DERIVED_FROM, RECORD_KINDS, STRUCTURAL_KINDS, VIEWS
from weft.core.queries import TextQuery
from weft.core.types import NOW, Find, NodeVersion, Viewer
from weft.recall.show_values import NodeShown, show_node
from weft.retrieval.judging.superseded import replaced_among
from weft.retrieval.scoring.retention import expires_at
from weft.retrieval.sources.subscriptions import as_subscriber, cited, fits_a_topic
from weft.runtime.call_context import CallContext
from weft.runtime.settings.agent_profile import AgentProfile
from weft.text.lexical import query_terms

PAGE: Final = 1_000
MAX_TAGGED: Final = 5_000
MAX_OF_A_TOPIC: Final = 500
DEFAULT_SCOPES: Final = ("public",)  # of a file that names none
NOT_BAKED: Final = tuple(
    sorted((STRUCTURAL_KINDS - {"Section"}) | RECORD_KINDS | VIEWS["code"] | {"Mention", "Briefing"})
)
WEIGHTS: Final[Mapping[str, float]] = {"Decision": 0.5, "Preference": 0.5, "Fact": 0.4, "Concept": 0.3, "Report": 0.2}
TAGGED: Final = 0.5  # added for a memory that is tagged, beside one that matches a topic


class Knowledge(Struct, frozen=True, kw_only=True):
    """Memories for one agent, the newest first; `left` counts the omitted ones by reason.

    `said` is the time each was recorded, by its text in a file.
    """

    known: tuple[BakedMemory, ...]
    tagged: int
    left: Mapping[str, int]
    said: Mapping[str, int]
    notes: tuple[str, ...] = ()


def knowledge_of(ctx: CallContext, profile: AgentProfile) -> Knowledge:
    """The memories for the agent of this file. Raises Forbidden for a caller that sees only memories tagged for
    another.
    """
    if ctx.viewer.tagged_only and ctx.viewer.agent != profile.slug:
        raise Forbidden(f"what {profile.slug} knows is private to it", hint="ask the operator to bake it")
    reader = _reader(ctx, profile)
    tagged, whole = _tagged(reader, profile.slug)
    followed = [node for node in _followed(reader) if node.id not in {each.id for each in tagged}]
    nodes = sorted((*tagged, *followed), key=lambda node: (-node.recorded_at, -node.row))
    left: Counter[str] = Counter()
    replaced = replaced_among(as_subscriber(reader), NOW, [node.id for node in nodes])
    kept: list[tuple[NodeVersion, NodeShown]] = []
    for node, shown in zip(nodes, _shown(reader, nodes), strict=True):
        why = _left_out(ctx, node, shown, replaced)
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
    """The scopes that an agent may see."""
    return DEFAULT_SCOPES if profile.scopes is None else profile.scopes


def _reader(ctx: CallContext, profile: AgentProfile) -> CallContext:
    scopes = ctx.viewer.scopes.intersection(scopes_of(profile))
    viewer = Viewer(account=ctx.viewer.account, scopes=scopes, agent=profile.slug, audience="public", sensitive=False)
    return replace(ctx, viewer=viewer, settings=replace(ctx.settings, keywords=profile.keywords))


def _tagged(ctx: CallContext, slug: str) -> tuple[list[NodeVersion], bool]:
    when = ctx.store.pin(ctx.viewer, NOW)
    find = Find(projects=(ctx.settings.project, None), without_kinds=NOT_BAKED)
    found: list[NodeVersion] = []
    while page := ctx.store.find(ctx.viewer, when, find, limit=PAGE).nodes:
        found += [node for node in page if slug in node.guard.agents]
        if len(found) > MAX_TAGGED:
            return found[:MAX_TAGGED], False
        if len(page) < PAGE:
            break
        find = replace(find, before=page[-1].row)
    return found, True


def _followed(ctx: CallContext) -> Iterator[NodeVersion]:
    """Memories tagged with a topic of the agent, or with all its words."""
    if not ctx.settings.keywords:
        return
    follower = as_subscriber(ctx)
    store, projects = ctx.store, (ctx.settings.project, None)
    find = Find(projects=projects, keywords=ctx.settings.keywords, without_kinds=NOT_BAKED)
    found = {node.id: node for node in store.find(follower.viewer, NOW, find, limit=MAX_OF_A_TOPIC).nodes}
    for keyword in ctx.settings.keywords:
        terms = tuple(query_terms(keyword))
        query = TextQuery(terms=terms, projects=projects)
        hits = store.search_text(follower.viewer, NOW, query, limit=MAX_OF_A_TOPIC).hits if terms else ()
        ids = [hit.node.id for hit in hits if hit.node.kind not in NOT_BAKED and hit.node.id not in found]
        nodes = store.nodes(follower.viewer, NOW, ids) if ids else ()
        found |= {node.id: node for node in nodes if fits_a_topic(ctx, node)}
    yield from found.values()


def _shown(ctx: CallContext, nodes: Sequence[NodeVersion]) -> Iterator[NodeShown]:
    citations = cited(as_subscriber(ctx), nodes)
    for node in nodes:
        yield show_node(node, citations)


def _left_out(ctx: CallContext, node: NodeVersion, shown: NodeShown, replaced: Set[str]) -> str:
    """Why a node is not baked; nothing if it is."""
    if not (node.text.strip() or node.summary.strip()) or DERIVED_FROM in node.props:
        return "says nothing of its own"
    if node.kind == "Section" and not node.text.strip():
        return "says nothing of its own"
    if node.id in replaced:
        return "replaced by a newer one"
    if expires_at(node) <= ctx.clock.now_us():
        return "over"
    if shown.flags:
        return "looks like instructions"
    return "" if shown.citation else "no source"


def _known(shown: NodeShown, *, tagged: bool) -> BakedMemory:
    importance = shown.props.get("importance")
    weight = float(importance) if isinstance(importance, int | float) else 1.0
    source = shown.props.get("source") if shown.kind in ("Chunk", "Section") else None
    return BakedMemory(
        id=shown.id,
        kind=shown.kind,
        name=shown.name,
        words=shown.text or shown.summary,
        citation=shown.citation,
        place=source if isinstance(source, str) else "",
        weight=weight + WEIGHTS.get(shown.kind, 0.0) + (TAGGED if tagged else 0.0),
    )
