"""Which line comes where: along causes, through time, by entity, or best first. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from weft.context.excerpts import Span
from weft.context.ties import Entity, Ties, entity_of
from weft.context.wording import moment_of, plain, quoted
from weft.extract.intent import Intent
from weft.retrieval.pipeline import View
from weft.retrieval.views.chains import in_causal_order
from weft.retrieval.views.ground import ENTITY_KINDS
from weft.types import NodeVersion


class Step(Struct, frozen=True, kw_only=True):
    """That a relation leads from another node to this one; `outward` if it does in its own direction."""

    start: str
    rel: str
    outward: bool


class Before(Struct, frozen=True, kw_only=True):
    """What was said just before a turn, with who said it, and where that is written."""

    words: str
    citation: str


class Line(Struct, frozen=True, kw_only=True):
    """A node for a context: how good it is, which views found it, and where it comes from.

    `words` are shown in place of its own, such as those of the turns that answer; `marks` say what to know of it;
    `steps` lead to it from nodes that may be shown too. `before` is the turn that this one answers. `parts` are the
    citations of those parts of it whose words are shown. `asked` are the stems of the question by weight and `near`
    the places of these words (those in place of its own, or its own) with how near they are to it: what is shown of a
    long text goes by both.
    """

    node: NodeVersion
    score: float
    views: tuple[View, ...] = ()
    citation: str = ""
    words: str = ""
    marks: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    before: Before | None = None
    parts: tuple[str, ...] = ()
    asked: Mapping[str, float] = {}
    near: tuple[Span, ...] = ()


class Group(Struct, frozen=True, kw_only=True):
    """Lines under one heading; of one entity, if it is one's."""

    heading: str
    lines: tuple[Line, ...]
    entity: Entity | None = None


def by_worth(lines: Iterable[Line], intent: Intent, ties: Ties) -> list[Line]:
    """In the order in which they are to be kept when room is short: best first, and to WHY causes before all else."""
    linked = {each for pair in ties.causes for each in pair} if intent == "WHY" else set()
    return sorted(lines, key=lambda line: (line.node.id not in linked, -line.score, line.node.id))


def order_of(intent: Intent, ties: Ties) -> Intent:
    """The intent by which lines can be put in order: causes and entities take ties, time and worth do not."""
    return intent if ties.known or intent == "WHEN" else "WHAT"


def arrange(lines: Sequence[Line], intent: Intent, ties: Ties) -> list[Group]:
    """The lines, each once, in groups as the intent wants them; best first where that takes ties that are unknown."""
    ranked = sorted(lines, key=lambda line: (-line.score, line.node.id))
    match order_of(intent, ties):
        case "WHY":
            groups = _by_cause(ranked, ties)
        case "WHEN":
            groups = _by_time(ranked)
        case "WHO":
            groups = _by_entity(ranked, ties)
        case _:
            groups = [Group(heading="", lines=tuple(ranked))]
    return [group for group in groups if group.lines]


def _by_cause(ranked: Sequence[Line], ties: Ties) -> list[Group]:
    by_id = {line.node.id: line for line in ranked}
    order = in_causal_order(list(by_id), ties.causes)
    rest = [line for line in ranked if line.node.id not in set(order)]
    chain = Group(heading="What led to what", lines=tuple(by_id[each] for each in order))
    return [chain, Group(heading="Also known" if order else "", lines=tuple(rest))]


def _by_time(ranked: Sequence[Line]) -> list[Group]:
    dated = [(moment, line) for line in ranked if (moment := moment_of(line.node)) is not None]
    dated.sort(key=lambda pair: (pair[0], pair[1].node.id))
    undated = [line for line in ranked if moment_of(line.node) is None]
    ordered = Group(heading="", lines=tuple(line for _, line in dated))
    return [ordered, Group(heading="Without a date" if dated else "", lines=tuple(undated))]


def _by_entity(ranked: Sequence[Line], ties: Ties) -> list[Group]:
    """A line about several stands under the best of them; an entity's own line comes first under its name."""
    worth = {line.node.id: line.score for line in ranked}
    own = {line.node.id: entity_of(line.node) for line in ranked if line.node.kind in ENTITY_KINDS}
    groups: dict[str, list[Line]] = {}
    entities: dict[str, Entity] = dict(own)
    nobody: list[Line] = []
    for line in ranked:
        about = ties.about.get(line.node.id, ())
        if line.node.id in own:
            groups.setdefault(line.node.id, []).insert(0, line)
        elif about:
            best = min(about, key=lambda each: (each.id not in own, -worth.get(each.id, 0.0), each.id))
            entities.setdefault(best.id, best)
            groups.setdefault(best.id, []).append(line)
        else:
            nobody.append(line)
    order = sorted(groups, key=lambda each: _standing(groups[each], each))
    found = [_group(entities[each], groups[each]) for each in order]
    return [*found, Group(heading="About nobody in particular" if found else "", lines=tuple(nobody))]


def _standing(lines: Sequence[Line], entity: str) -> tuple[float, int, str]:
    return (-max(line.score for line in lines), -len(lines), entity)


def _group(entity: Entity, lines: Sequence[Line]) -> Group:
    return Group(heading=f"{quoted(entity.name)} ({plain(entity.kind)})", lines=tuple(lines), entity=entity)
