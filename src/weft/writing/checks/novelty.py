"""The novelty check on writing, and the weak reinforcement of memories that a new text repeats.

Nothing is dropped: the tag is stored in the event and may be interpreted differently later.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from weft.core.kinds import DERIVED_FROM, FEEDBACK_KIND, FEEDBACK_RELATION, MULTIPLIERS
from weft.core.queries import TextQuery
from weft.core.types import MAX_IDS_PER_READ, Guard, NodeVersion, When
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.log.kinds.memory import Novelty
from weft.runtime.call_context import CallContext
from weft.text.lexical import query_terms, tokens
from weft.writing.build.references import covers

NEAREST: Final = 5  # by words that are compared at a time
FEW: Final = 3  # compared, below which the next ones are
RAREST: Final = 6  # words of a text by which similar ones are looked up
LOOKED_AT: Final = 100  # texts with one of them, or with several of those that are in many texts
REDUNDANT: Final = 0.9
REINFORCING: Final = 0.6
REINFORCING_IF_KNOWN: Final = 0.4  # if all entities that it names are known
GATED_CHARACTERS: Final = 20_000  # of a long text
# Kinds that people and agents write, not read from files or recorded by weft itself.
MEMORY_KINDS: Final = (
    "Memory",
    "Fact",
    "Event",
    "Decision",
    "Pattern",
    "Preference",
    "Learning",
    "Concept",
    "Cause",
    "Context",
)
DAY_US: Final = 86_400_000_000


class NoveltyCheck(Struct, frozen=True, kw_only=True):
    """The novelty tag for the event, and the nearest existing memory."""

    gate: Novelty
    nearest: NodeVersion | None = None


def check_novelty(
    ctx: CallContext, text: str, entities: Sequence[str] = (), *, guard: Guard | None = None, kind: str = "Memory"
) -> NoveltyCheck:
    """The novelty of a text: its highest word overlap with the five nearest memories of the project.

    `entities` are the ids of the entities it names. Only memories are compared that everybody may see who may see the
    text (under `guard`), since the tag is visible to all of them.
    """
    words = gated_words(text)
    nearest, share = _nearest(ctx, text[:GATED_CHARACTERS], words, guard, kind)
    if nearest is None:
        return NoveltyCheck(gate=Novelty(tag="novel"))
    if share >= REDUNDANT:
        gate = Novelty(tag="redundant", nearest=nearest.id, jaccard=round(share, 3))
    elif share >= REINFORCING or (share >= REINFORCING_IF_KNOWN and _all_known(ctx, entities)):
        gate = Novelty(tag="reinforcing", nearest=nearest.id, jaccard=round(share, 3))
    else:
        gate = Novelty(tag="novel", nearest=nearest.id, jaccard=round(share, 3))
    return NoveltyCheck(gate=gate, nearest=nearest)


def gated_words(text: str) -> frozenset[str]:
    """The words of a text by which it is compared."""
    return frozenset(tokens(text[:GATED_CHARACTERS]))


def _nearest(
    ctx: CallContext, text: str, words: frozenset[str], guard: Guard | None, kind: str
) -> tuple[NodeVersion | None, float]:
    terms = query_terms(text)
    if not terms or not words:
        return None, 0.0
    project = ctx.settings.project if guard is None else guard.project
    kinds = tuple(dict.fromkeys((kind, *MEMORY_KINDS)))
    # A text that shares most words shares some of the rarest ones, which are looked up.
    query = TextQuery(terms=terms, projects=(project,), kinds=kinds, rarest=RAREST, most=LOOKED_AT, together=True)
    when = ctx.store.pin(ctx.viewer, When())
    hits = ctx.store.search_text(ctx.viewer, when, query, limit=2 * NEAREST).hits
    shown: list[NodeVersion] = []
    for some in (hits[:NEAREST], hits[NEAREST:]):
        nodes = ctx.store.nodes(ctx.viewer, when, [hit.node.id for hit in some]) if len(shown) < FEW else ()
        nodes = tuple(node for node in nodes if DERIVED_FROM not in node.props)
        shown += [node for node in nodes if guard is None or covers(node.guard, guard)]
    shares = [(jaccard(words, gated_words(node.text)), node) for node in shown]
    share, nearest = max(shares, key=lambda each: each[0], default=(0.0, None))
    return nearest, share


def jaccard(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """The Jaccard similarity of two sets."""
    return len(one & other) / len(one | other) if one and other else 0.0


def _all_known(ctx: CallContext, entities: Sequence[str]) -> bool:
    wanted = tuple(dict.fromkeys(entities))[:MAX_IDS_PER_READ]
    return bool(wanted) and len(ctx.store.nodes(ctx.viewer, When(), wanted)) == len(wanted)


def reinforcement(
    ctx: CallContext, node: NodeVersion, outcome: str, *, record: str | None = None, note: str = ""
) -> Draft:
    """A feedback record, to be written in the commit that gives the feedback, with the guard of the memory."""
    name = record or ctx.new_id()
    props = feedback_props(node, outcome, note)
    guard = asdict(node.guard)
    told = graph.NodeAssertion(id=name, kind=FEEDBACK_KIND, props=props, **guard)
    # The heaviest edges are read first: the latest feedback counts most.
    weight = max(1.0, ctx.clock.now_us() / DAY_US)
    about = graph.EdgeAssertion(src=name, rel=FEEDBACK_RELATION, dst=node.id, weight=weight, **guard)
    return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(told,), edges=(about,)))


def feedback_props(node: NodeVersion, outcome: str, note: str = "") -> dict[str, object]:
    """The properties of a feedback record."""
    told: dict[str, object] = {"outcome": outcome, "multiplier": MULTIPLIERS[outcome], "about": node.id}
    return told | ({"note": note} if note.strip() else {})
