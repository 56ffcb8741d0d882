"""Groups rewrites into short commits.

Events that share a token must be rewritten in one commit. A large connected component is held together by a few names
that occur in most of its events (a person, a conversation): those names are left until everything else is rewritten.
What remains is then quickly written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from weft.graph.placeholders import TOKEN, Tokens
from weft.graph.rewrite import EventRewrite

_RELATION: Final = re.compile(rb"ERASED_[0-9a-f]{8}")
_COMMON: Final = (
    50,
    20,
    10,
    5,
    2,
)  # a name in more events than this is common; the first limit that splits the component is used


class RewriteGroup(NamedTuple):
    """Events to rewrite in one commit, and the tokens assigned in it; None for all."""

    positions: tuple[int, ...]
    tokens: frozenset[str] | None


def rewrite_groups(rewrites: Sequence[EventRewrite], tokens: Tokens, *, most: int) -> list[RewriteGroup]:
    """Groups of about `most` events, in order. Only new tokens connect events, not those of earlier erasures.

    If groups leave common names out, the events are grouped again when all groups are written.
    """
    lasting = {token.encode() for token in tokens.named_relations()}
    bound = {token.encode(): whole.encode() for token, whole in tokens.bound().items()}
    new = {token.encode() for token in tokens.all_tokens()} | lasting
    held = {each.before.pos: {bound.get(token, token) for token in _held(each) & new} for each in rewrites}
    whole: list[list[int]] = []
    groups: list[RewriteGroup] = []
    for component in _components(held, frozenset()):
        inside = {pos: held[pos] for pos in component}
        waiting = _common(inside, most) | lasting if len(component) > most else frozenset()
        without = {pos: tokens - waiting for pos, tokens in inside.items() if tokens - waiting}
        if not waiting or not without:
            whole.append(component)
            continue
        for some in _packed(_components(without, frozenset()), most):
            given = {token for pos in some for token in without[pos]}
            given |= {token for token, whole in bound.items() if whole in given}
            groups.append(RewriteGroup(tuple(some), frozenset(token.decode() for token in given)))
    return [*groups, *(RewriteGroup(tuple(some), None) for some in _packed(whole, most))]


def _held(rewrite: EventRewrite) -> set[bytes]:
    payload = rewrite.after.payload or b""
    return {*TOKEN.findall(payload), *_RELATION.findall(payload)}


def _common(held: dict[int, set[bytes]], most: int) -> frozenset[bytes]:
    """The names that hold a large component together."""
    counts = Counter(token for tokens in held.values() for token in tokens)
    common: frozenset[bytes] = frozenset()
    for limit in _COMMON:
        common = frozenset(token for token, count in counts.items() if count > limit)
        if max(map(len, _components(held, common))) <= most:
            break
    return common


def _packed(components: Iterable[list[int]], most: int) -> list[list[int]]:
    """Components joined up to `most` events; a larger one stays alone."""
    packed: list[list[int]] = []
    for component in components:
        if packed and len(packed[-1]) + len(component) <= most:
            packed[-1] = [*packed[-1], *component]
        else:
            packed.append(component)
    return packed


def _components(held: dict[int, set[bytes]], without: frozenset[bytes]) -> list[list[int]]:
    """Positions connected by tokens, without some of them (union-find); in order of their first position."""
    above: dict[bytes | int, bytes | int] = {}

    def top(key: bytes | int) -> bytes | int:
        while above.setdefault(key, key) != key:
            above[key] = above[above[key]]
            key = above[key]
        return key

    for pos, tokens in held.items():
        for token in tokens - without:
            above[top(token)] = top(pos)
    found: dict[bytes | int, list[int]] = {}
    for pos in held:
        found.setdefault(top(pos), []).append(pos)
    return list(found.values())
