"""What was compiled of a thing, when one of its sources goes or changes: it is dropped in the same commit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.append import Fence
from weft.kinds import COMPILED_PROPS, COMPILED_TRUTH
from weft.log.draft import Draft
from weft.loom import Loom
from weft.operations.versions import new_versions, version_draft
from weft.types import MAX_IDS_PER_READ, MAX_LIMIT, NOW, Find, NodeVersion, When

TRUTH: Final = COMPILED_TRUTH
COMPILED: Final = COMPILED_PROPS


class Dropped(Struct, frozen=True, kw_only=True):
    """New versions of things, without what was compiled of them; none where nothing was."""

    things: tuple[str, ...] = ()
    drafts: tuple[Draft, ...] = ()
    slots: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def fence(self, fence: Fence) -> Fence:
        """The same fence, which also holds that nobody changed these things."""
        if not self.slots:
            return fence
        own, test = frozenset(self.slots), fence.concerns
        concerns = None if test is None else lambda node: node.slot in own or test(node)
        return replace(fence, slots=(*fence.slots, *self.slots), concerns=concerns)


def truths_from(loom: Loom, node: NodeVersion) -> Dropped:
    """Drops what was compiled of the things that a node, or what was read out of it, involves.

    It may say what the node said.
    """
    read = loom.store.find(loom.viewer, NOW, Find(id_prefix=f"{node.id}:"), limit=MAX_LIMIT).nodes
    sources = [node.id, *(each.id for each in read)]
    ids: dict[str, None] = {}
    for when in (NOW, When(valid_at=node.interval.valid_from)):  # one that has ended is joined to them no more
        steps = loom.store.neighbours(loom.viewer, when, sources, rels=("INVOLVES",), direction="out", limit=MAX_LIMIT)
        ids |= dict.fromkeys(step.node.id for step in steps)
    return truths_of(loom, ids)


def what_they_involve(loom: Loom, nodes: Sequence[NodeVersion]) -> tuple[str, ...]:
    """The things that many nodes involve, now and when the first of them began to hold."""
    ids: dict[str, None] = {}
    moments = (NOW, When(valid_at=nodes[0].interval.valid_from)) if nodes else ()
    for when, start in product(moments, range(0, len(nodes), MAX_IDS_PER_READ)):
        some = [node.id for node in nodes[start : start + MAX_IDS_PER_READ]]
        steps = loom.store.neighbours(loom.viewer, when, some, rels=("INVOLVES",), direction="out", limit=MAX_LIMIT)
        ids |= dict.fromkeys(step.node.id for step in steps)
    return tuple(ids)


def truths_of(loom: Loom, ids: Iterable[str]) -> Dropped:
    """Drops what was compiled of these things, as far as the caller may see them."""
    wanted = tuple(dict.fromkeys(ids))
    things = loom.store.nodes(loom.viewer, NOW, wanted) if wanted else ()
    told = [thing for thing in things if TRUTH in thing.props]
    return Dropped(
        things=tuple(thing.id for thing in told),
        drafts=tuple(
            version_draft(loom, thing, new_versions(loom, thing, **without_truth(thing)), reason="a source changed")
            for thing in told
        ),
        slots=tuple(dict.fromkeys(slot for thing in told for slot in (thing.slot, thing.id))),
        notes=tuple(
            f"what was compiled of {thing.name or thing.id} is dropped: `weft compile-truth {thing.id}` makes it again"
            for thing in told
        ),
    )


def without_truth(thing: NodeVersion) -> dict[str, Any]:
    """The fields of a thing that change when what was compiled of it goes."""
    props = {key: value for key, value in thing.props.items() if key not in COMPILED}
    return {"props": props, "summary": "" if thing.summary == thing.props.get(TRUTH) else thing.summary}
