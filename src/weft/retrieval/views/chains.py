"""Causes and effects put in order. Pure: ids and pairs in, ids out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

MAX_CHAINS: Final = 50
Pair = tuple[str, str]  # a cause and its effect


class CausalChains(Struct, frozen=True, kw_only=True):
    """Every way from a first cause to a last effect, as ids. `cut` are the pairs that would have closed a circle."""

    paths: tuple[tuple[str, ...], ...]
    cut: tuple[Pair, ...] = ()
    more: bool = False


def chains_of(ids: Sequence[str], pairs: Iterable[Pair]) -> CausalChains:
    """The longest ways along the pairs, at most 50; the first in `ids` is followed first."""
    effects, cut = _without_circles(ids, pairs)
    caused = {effect for each in effects.values() for effect in each}
    found: list[tuple[str, ...]] = []
    stack: list[tuple[str, ...]] = [(each,) for each in reversed(ids) if effects.get(each) and each not in caused]
    while stack and len(found) <= MAX_CHAINS:
        path = stack.pop()
        further = effects.get(path[-1], [])
        if further:
            stack.extend((*path, each) for each in reversed(further))
        else:
            found.append(path)
    return CausalChains(paths=tuple(found[:MAX_CHAINS]), cut=cut, more=len(found) > MAX_CHAINS)


def in_causal_order(ids: Sequence[str], pairs: Iterable[Pair]) -> list[str]:
    """The ids that are in a pair, every cause before its effects: the longest chain first, in one piece.

    Other causes of a link are right before it.
    """
    pairs = list(pairs)
    effects, _ = _without_circles(ids, pairs)
    causes: dict[str, list[str]] = {}
    for cause in ids:
        for effect in effects.get(cause, []):
            causes.setdefault(effect, []).append(cause)
    longest = sorted(chains_of(ids, pairs).paths, key=len, reverse=True)
    wanted = [*(each for path in longest for each in path), *ids]  # beyond the bound of chains, the rest
    order: dict[str, None] = {}
    for each in wanted:
        waiting = [each] if effects.get(each) or causes.get(each) else []
        while waiting:
            before = [cause for cause in causes.get(waiting[-1], []) if cause not in order]
            if before:
                waiting.extend(reversed(before))
            else:
                order[waiting.pop()] = None
    return list(order)


def _without_circles(ids: Sequence[str], pairs: Iterable[Pair]) -> tuple[dict[str, list[str]], tuple[Pair, ...]]:
    """The effects of each, in the order of `ids`, without the pairs that lead back to a cause of themselves."""
    place = {each: at for at, each in enumerate(ids)}
    known = {(cause, effect) for cause, effect in pairs if cause in place and effect in place}
    effects: dict[str, list[str]] = {}
    for cause, effect in sorted(known, key=lambda pair: (place[pair[0]], place[pair[1]])):
        effects.setdefault(cause, []).append(effect)
    caused = {effect for _, effect in known}
    cut: list[Pair] = []
    done: set[str] = set()
    for root in [*(each for each in ids if each not in caused), *ids]:
        # Nodes in progress are on the stack; an edge back to one closes a circle.
        under_way = [] if root in done else [(root, iter(effects.get(root, [])))]
        on_it = {root}
        while under_way:
            here, further = under_way[-1]
            step = next(further, None)
            if step is None:
                under_way.pop()
                on_it.discard(here)
                done.add(here)
            elif step in on_it:
                cut.append((here, step))
            elif step not in done:
                under_way.append((step, iter(effects.get(step, []))))
                on_it.add(step)
    gone = set(cut)
    kept = {cause: [each for each in after if (cause, each) not in gone] for cause, after in effects.items()}
    return kept, tuple(cut)
