"""The order of lines: along causes, through time, by entity, or best first. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from weft.context.excerpts import Span
from weft.context.relations import Entity, Ties, entity_of
from weft.context.wording import moment_of, plain, quoted
from weft.core.kinds import DERIVED_FROM
from weft.core.types import NodeVersion
from weft.retrieval.pipeline import View
from weft.retrieval.views.chains import in_causal_order
from weft.retrieval.views.shared import ENTITY_KINDS
from weft.text.extract.question.intent import Intent


class RelationStep(Struct, frozen=True, kw_only=True):
    """A relation from another node to this one; `outward` if that is its own direction."""

    start: str
    rel: str
    outward: bool


class TurnBefore(Struct, frozen=True, kw_only=True):
    """The words of the turn before, with their speaker, and their citation."""

    words: str
    citation: str


class ContextLine(Struct, frozen=True, kw_only=True):
    """A node for a context: its score, the views that found it, its citation.

    `words` are shown in place of its own, such as those of the turns that answer; `marks` are remarks on it; `steps`
    lead to it from other nodes. `before` is the turn that this one answers. `parts` are the citations of the parts
    whose words are shown. `asked` are the stems of the question by weight, and `near` the places of the shown words
    with their cosine: both decide the excerpt of a long text.
    """

    node: NodeVersion
    score: float
    views: tuple[View, ...] = ()
    citation: str = ""
    words: str = ""
    marks: tuple[str, ...] = ()
    steps: tuple[RelationStep, ...] = ()
    before: TurnBefore | None = None
    parts: tuple[str, ...] = ()
    asked: Mapping[str, float] = {}
    near: tuple[Span, ...] = ()


class LineGroup(Struct, frozen=True, kw_only=True):
    """Lines under one heading; of one entity, if it is one's."""

    heading: str
    lines: tuple[ContextLine, ...]
    entity: Entity | None = None


def by_worth(lines: Iterable[ContextLine], intent: Intent, ties: Ties) -> list[ContextLine]:
    """In the order in which they are to be kept when room is short: best first, and to WHY causes before all else."""
    linked = {each for pair in ties.causes for each in pair} if intent == "WHY" else set()
    return sorted(lines, key=lambda line: (line.node.id not in linked, -line.score, line.node.id))


def order_of(intent: Intent, ties: Ties) -> Intent:
    """The intent by which lines can be put in order: causes and entities take ties, time and worth do not."""
    return intent if ties.known or intent == "WHEN" else "WHAT"


def arrange(lines: Sequence[ContextLine], intent: Intent, ties: Ties) -> list[LineGroup]:
    """The lines, each once, in groups by intent; best first where relations are unknown."""
    ranked = sorted(lines, key=lambda line: (-line.score, line.node.id))
    match order_of(intent, ties):
        case "WHY":
            groups = _by_cause(ranked, ties)
        case "WHEN":
            groups = _by_time(ranked)
        case "WHO":
            groups = _by_entity(ranked, ties)
        case _:
            groups = [LineGroup(heading="", lines=tuple(ranked))]
    return [group for group in groups if group.lines]


def answer_first(lines: Sequence[ContextLine], intent: Intent, ties: Ties) -> list[LineGroup]:
    """The best line, then what supports it: along causes for WHY, through time for WHEN, else best first."""
    ranked = sorted(lines, key=lambda line: (-line.score, line.node.id))
    best, rest = ranked[:1], ranked[1:]
    match order_of(intent, ties):
        case "WHY" if best and (chain := _chain_of(best[0].node.id, ties)):
            first = _by_cause([line for line in ranked if line.node.id in chain], ties)[0]
            others = tuple(line for line in ranked if line.node.id not in chain)
            return [first, *([LineGroup(heading="Also known", lines=others)] if others else [])]
        case "WHY":
            groups = _by_cause(rest, ties)
        case "WHEN":
            groups = _by_time(rest)
        case _:
            groups = [LineGroup(heading="", lines=tuple(rest))]
    groups = [group for group in groups if group.lines]
    if groups and not groups[0].heading:
        return [replace(groups[0], lines=(*best, *groups[0].lines)), *groups[1:]]
    return [LineGroup(heading="", lines=tuple(best)), *groups] if best else []


def _chain_of(node_id: str, ties: Ties) -> set[str]:
    """All that is joined to a node by causes and effects; empty where nothing is."""
    chain, size = {node_id}, 0
    while len(chain) > size:
        size = len(chain)
        chain |= {each for pair in ties.causes if chain & set(pair) for each in pair}
    return chain if size > 1 else set()


def without_repeated_causes(lines: Sequence[ContextLine], ties: Ties) -> list[ContextLine]:
    """Without causes extracted from a memory that is a line itself, unless they join it to another one."""
    return [line for line in lines if not _repeats_its_source(line, lines, ties)]


def _repeats_its_source(line: ContextLine, lines: Sequence[ContextLine], ties: Ties) -> bool:
    source = line.node.props.get(DERIVED_FROM)
    if line.node.kind != "Cause" or source is None or all(other.node.id != source for other in lines):
        return False
    tied = {each for pair in ties.causes if line.node.id in pair for each in pair}
    return all(other.node.props.get(DERIVED_FROM) == source for other in lines if other.node.id in tied)


def _by_cause(ranked: Sequence[ContextLine], ties: Ties) -> list[LineGroup]:
    by_id = {line.node.id: line for line in ranked}
    order = in_causal_order(list(by_id), ties.causes)
    rest = [line for line in ranked if line.node.id not in set(order)]
    chain = LineGroup(heading="What led to what", lines=tuple(by_id[each] for each in order))
    return [chain, LineGroup(heading="Also known" if order else "", lines=tuple(rest))]


def _by_time(ranked: Sequence[ContextLine]) -> list[LineGroup]:
    dated = [(moment, line) for line in ranked if (moment := moment_of(line.node)) is not None]
    dated.sort(key=lambda pair: (pair[0], pair[1].node.id))
    undated = [line for line in ranked if moment_of(line.node) is None]
    ordered = LineGroup(heading="", lines=tuple(line for _, line in dated))
    return [ordered, LineGroup(heading="Without a date" if dated else "", lines=tuple(undated))]


def _by_entity(ranked: Sequence[ContextLine], ties: Ties) -> list[LineGroup]:
    """A line about several entities is under the best of them; an entity's own line comes first."""
    worth = {line.node.id: line.score for line in ranked}
    own = {line.node.id: entity_of(line.node) for line in ranked if line.node.kind in ENTITY_KINDS}
    groups: dict[str, list[ContextLine]] = {}
    entities: dict[str, Entity] = dict(own)
    nobody: list[ContextLine] = []
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
    return [*found, LineGroup(heading="About no particular entity" if found else "", lines=tuple(nobody))]


def _standing(lines: Sequence[ContextLine], entity: str) -> tuple[float, int, str]:
    return (-max(line.score for line in lines), -len(lines), entity)


def _group(entity: Entity, lines: Sequence[ContextLine]) -> LineGroup:
    return LineGroup(heading=f"{quoted(entity.name)} ({plain(entity.kind)})", lines=tuple(lines), entity=entity)
