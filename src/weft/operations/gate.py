"""How new a text is when it is written, and the weak reinforcement of what it repeats.

Nothing is ever dropped: the tag rides in the event, and whoever reads it later may think otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from weft.lexical import query_terms, tokens
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.log.kinds.memory import Gate
from weft.loom import Loom
from weft.operations.references import covers
from weft.queries import TextQuery
from weft.retrieval.cognitive import FEEDBACK_KIND, FEEDBACK_RELATION, MULTIPLIERS
from weft.retrieval.derived import DERIVED_FROM
from weft.types import MAX_IDS_PER_READ, Guard, NodeVersion, When

NEAREST: Final = 5
RAREST: Final = 6  # words of a text by which its like are looked up
LOOKED_AT: Final = 300  # texts that hold one of them
REDUNDANT: Final = 0.9
REINFORCING: Final = 0.6
REINFORCING_IF_KNOWN: Final = 0.4  # where all that it names is known
GATED_CHARACTERS: Final = 20_000  # of a long text, the beginning
# Kinds that somebody said, rather than read from a file or noted by weft itself.
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


class Gated(Struct, frozen=True, kw_only=True):
    """The gate's tag for the event, and the memory that it names, as it stands."""

    gate: Gate
    nearest: NodeVersion | None = None


def gate_of(
    loom: Loom, text: str, entities: Sequence[str] = (), *, guard: Guard | None = None, kind: str = "Memory"
) -> Gated:
    """How new a text is against the nearest memories: the share of words it has in common with the best of five.

    `entities` are the ids of what it names. Only memories of the same project are looked at, and of these only what
    everyone may see who may see the text (under `guard`): the tag is told to all of them.
    """
    words = frozenset(tokens(text[:GATED_CHARACTERS]))
    nearest, share = _nearest(loom, text[:GATED_CHARACTERS], words, guard, kind)
    if nearest is None:
        return Gated(gate=Gate(tag="novel"))
    if share >= REDUNDANT:
        gate = Gate(tag="redundant", nearest=nearest.id, jaccard=round(share, 3))
    elif share >= REINFORCING or (share >= REINFORCING_IF_KNOWN and _all_known(loom, entities)):
        gate = Gate(tag="reinforcing", nearest=nearest.id, jaccard=round(share, 3))
    else:
        gate = Gate(tag="novel", nearest=nearest.id, jaccard=round(share, 3))
    return Gated(gate=gate, nearest=nearest)


def _nearest(
    loom: Loom, text: str, words: frozenset[str], guard: Guard | None, kind: str
) -> tuple[NodeVersion | None, float]:
    terms = query_terms(text)
    if not terms or not words:
        return None, 0.0
    project = loom.settings.project if guard is None else guard.project
    kinds = tuple(dict.fromkeys((kind, *MEMORY_KINDS)))
    # What shares most of its words shares some of the rarest: a few of those find it.
    query = TextQuery(terms=terms, projects=(project,), kinds=kinds, rarest=RAREST, most=LOOKED_AT)
    when = loom.store.pin(loom.viewer, When())
    found = loom.store.search_text(loom.viewer, when, query, limit=2 * NEAREST)
    nodes = loom.store.nodes(loom.viewer, when, [hit.node.id for hit in found.hits])
    nodes = tuple(node for node in nodes if DERIVED_FROM not in node.props)
    shown = [node for node in nodes if guard is None or covers(node.guard, guard)]
    shares = [(jaccard(words, frozenset(tokens(node.text[:GATED_CHARACTERS]))), node) for node in shown]
    share, nearest = max(shares, key=lambda each: each[0], default=(0.0, None))
    return nearest, share


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that two sets have in common."""
    return len(one & other) / len(one | other) if one and other else 0.0


def _all_known(loom: Loom, entities: Sequence[str]) -> bool:
    wanted = tuple(dict.fromkeys(entities))[:MAX_IDS_PER_READ]
    return bool(wanted) and len(loom.store.nodes(loom.viewer, When(), wanted)) == len(wanted)


def reinforcement(loom: Loom, node: NodeVersion, outcome: str, *, record: str | None = None, note: str = "") -> Draft:
    """A record that a memory was of use (or not), to be written in the commit that tells so.

    It has the memory's own guard: who may not see the memory learns nothing of it.
    """
    name = record or loom.new_id()
    props = feedback_props(node, outcome, note)
    guard = asdict(node.guard)
    told = graph.NodeAssertion(id=name, kind=FEEDBACK_KIND, props=props, **guard)
    # The heaviest edges are read first, and of these the latest count most.
    weight = max(1.0, loom.clock.now_us() / DAY_US)
    about = graph.EdgeAssertion(src=name, rel=FEEDBACK_RELATION, dst=node.id, weight=weight, **guard)
    return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(told,), edges=(about,)))


def feedback_props(node: NodeVersion, outcome: str, note: str = "") -> dict[str, object]:
    """What a record of feedback says."""
    told: dict[str, object] = {"outcome": outcome, "multiplier": MULTIPLIERS[outcome], "about": node.id}
    return told | ({"note": note} if note.strip() else {})
