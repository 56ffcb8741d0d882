"""The nodes that lines of an explanation name, resolved while all of them are visible."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import Final

from weft.core.types import MAX_IDS_PER_READ, Find, NodeVersion
from weft.retrieval.pipeline import VIEW_NAMES, Answer
from weft.retrieval.sources.subscriptions import readable
from weft.retrieval.views.shared import label
from weft.runtime.call_context import CallContext

Subjects = Mapping[str, tuple[str, ...] | None]
Called = dict[str, set[str]]

MAX_NAMES: Final = 500
MAX_NODES: Final = 10_000
SHORT_WORDS: Final = 24  # of a line that is searched for ids of several words
ID_WORDS: Final = 6
_LINK = re.compile(r" (?:-\[[^\]]*\]->|<-\[[^\]]*\]-|~\[[^\]]*\]~) ")
_LINK_SIGNS: Final = ("]->", "<-[", "]~")
_VIEWS = re.compile(rf"(?:{'|'.join(VIEW_NAMES)})(?: \+ (?:{'|'.join(VIEW_NAMES)}))*: ")
_WEIGHED = re.compile(r"; x [\d.]+ by profile .*$")
_AMOUNT = re.compile(r"-?\d+\.\d+[,:;]?")


def subjects_of(
    ctx: CallContext,
    found: Answer,
    *,
    naming: Collection[str],
    telling: Collection[str],
    ways: Mapping[str, Set[str]] = {},
) -> Subjects:
    """The ids of the nodes that each line names; None if a line names something that cannot be resolved.

    Lines in `naming` always name a node by its id, lines in `telling` may. If several nodes have a name, all are
    returned. Lines that name nothing are omitted. `ways` maps paths through the graph's views to their ids.
    """
    subjects: dict[str, tuple[str, ...] | None] = {}
    for line in telling:
        known = ways.get(line) or ways.get(_bare(line))
        if known and line not in naming:
            subjects[line] = tuple(sorted(known))
    telling = [line for line in telling if line not in subjects]
    links = [line for line in telling if line not in naming and any(sign in line for sign in _LINK_SIGNS)]
    plain = [line for line in dict.fromkeys((*naming, *telling)) if line not in links]
    called: Called = {}
    _call(called, found.pool.nodes)
    drawn = {line: _steps(line) for line in links}
    steps = {each for way in drawn.values() for step in way for each in step}
    spans = {each for line in plain for each in _spans(line)}
    _call(called, _by_id(ctx, found, steps | spans))
    _call(called, _by_name(ctx, found, sorted(steps)))
    for line, way in drawn.items():
        ends = [set().union(*(called.get(each, ()) for each in step)) for step in way]
        subjects[line] = tuple(sorted(set().union(*ends))) if all(ends) else None
    subjects |= {line: tuple(sorted(found.pool.named[line])) for line in plain if line in found.pool.named}
    for line in plain:
        if line in subjects:
            continue
        ids = {each for word, ids in called.items() if names(line, word) for each in ids}
        if ids or line in naming:
            subjects[line] = tuple(sorted(ids)) or None
    return subjects


def names(line: str, word: str) -> bool:
    """Whether an id or a name occurs in a line as a whole word."""
    return word in line and re.search(rf"(?<!\S){re.escape(word)}(?=[,:;.]?(?:\s|$))", line) is not None


def _call(called: Called, nodes: Iterable[NodeVersion]) -> None:
    """Adds nodes under every text that a line may use for them."""
    for node in nodes:
        for word in {node.id, node.name, label(node)} - {""}:
            called.setdefault(word, set()).add(node.id)


def _bare(line: str) -> str:
    """A path in a reason, without the views before it and the weight after it."""
    return _VIEWS.sub("", _WEIGHED.sub("", line), count=1)


def _steps(way: str) -> list[tuple[str, ...]]:
    """The ends of each relation of a path, as they may be written; view names may precede the first."""
    first, *others = _LINK.split(_WEIGHED.sub("", way))
    return [(first, _VIEWS.sub("", first, count=1)), *((each,) for each in others)]


def _spans(line: str) -> Iterator[str]:
    """Every text of a line that may be an id: its words and, in a short line, runs of words. Numbers are skipped."""
    words = line.split()
    most = ID_WORDS if len(words) <= SHORT_WORDS else 1
    for start in range(len(words)):
        for end in range(start + 1, min(start + most, len(words)) + 1):
            if _AMOUNT.fullmatch(words[end - 1]):
                break
            span = " ".join(words[start:end])
            yield span
            if span[-1] in ",:;." and span[:-1]:
                yield span[:-1]


def _by_id(ctx: CallContext, found: Answer, ids: Collection[str]) -> Iterator[NodeVersion]:
    wanted = sorted(ids)
    for start in range(0, len(wanted), MAX_IDS_PER_READ):
        some = wanted[start : start + MAX_IDS_PER_READ]
        yield from readable(ctx, found.ask.when, some, followed=found.followed)


def _by_name(ctx: CallContext, found: Answer, written: Sequence[str]) -> Iterator[NodeVersion]:
    for start in range(0, len(written), MAX_NAMES):
        find = Find(names=tuple(written[start : start + MAX_NAMES]))
        yield from ctx.store.find(ctx.viewer, found.ask.when, find, limit=MAX_NODES).nodes
