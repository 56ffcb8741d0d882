"""Learnings in the graph: one for each pattern, surer with new evidence, less sure when contradicted, then retired."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from weft.append.append import Fence
from weft.core.types import NOW, Find, Guard, NodeVersion
from weft.fleet.episodes.contracts import LEARNING
from weft.fleet.reflecting.mine import LEAST_TO_LEARN, FoundPattern, Step, contradicts
from weft.log.draft import Draft
from weft.log.kinds.graph import Asserted, EdgeAssertion, Ended, NodeAssertion
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext

APPLIES_TO: Final = "APPLIES_TO"
DERIVED: Final = "DERIVED_FROM"
PREFIX: Final = "learning@"
REINFORCED: Final = 0.3  # of the doubt that is left, by each new piece of evidence seen together
HALVED: Final = 0.5  # by a contradiction
RETIRED_BELOW: Final = 0.45
MOST_SURE: Final = 0.98
MAX_LEARNINGS: Final = 1_000  # of a project that are compared
MAX_EVIDENCE: Final = 60
HISTORY: Final = 200


class Learnt(Struct, frozen=True, kw_only=True):
    """What became of one learning: new, reinforced, weakened or retired."""

    id: str
    title: str
    change: str
    confidence: float
    was: float | None = None


class LearningPlan(Struct, frozen=True, kw_only=True):
    """The events, what they say, and the slots that they depend on."""

    drafts: tuple[Draft, ...] = ()
    learnt: tuple[Learnt, ...] = ()
    slots: tuple[str, ...] = ()
    known: int = 0

    def fence(self, pos: int) -> Fence | None:
        """The condition that nobody changes these learnings meanwhile."""
        return Fence(pos=pos, slots=self.slots) if self.slots else None


def learning_id(key: str, guard: Guard) -> str:
    """One per pattern, rights and project."""
    digest = hashlib.sha256(key.encode()).hexdigest()[:24]
    rights = f"{','.join((guard.scope, *guard.agents))}{'!' if guard.sensitive else ''}"
    return f"{PREFIX}{rights};{guard.project or ''}/{digest}"


def plan_learnings(
    ctx: CallContext,
    found: Sequence[FoundPattern],
    steps: Sequence[Step],
    guard: Guard,
    *,
    reflection: str,
    task: str | None,
) -> LearningPlan:
    """What is learnt from patterns, compared with what was learnt before; and what the steps contradict."""
    sure = {learning_id(each.key, guard): each for each in found if each.confidence >= LEAST_TO_LEARN}
    current = {node.id: node for node in ctx.store.nodes(ctx.viewer, NOW, list(sure))}
    drafts: list[Draft] = []
    learnt: list[Learnt] = []
    known = 0
    for node_id, pattern in sure.items():
        made = _learn(ctx, node_id, pattern, current.get(node_id), guard, reflection=reflection, task=task)
        if made is None:
            known += 1
            continue
        drafts.append(made[0])
        learnt.append(made[1])
    weaker = _weakened(ctx, guard, steps, but={each.id for each in learnt})
    return LearningPlan(
        drafts=(*drafts, *(draft for draft, _ in weaker)),
        learnt=(*learnt, *(each for _, each in weaker)),
        slots=tuple(each.id for each in (*learnt, *(told for _, told in weaker))),
        known=known,
    )


def _learn(
    ctx: CallContext,
    node_id: str,
    pattern: FoundPattern,
    before: NodeVersion | None,
    guard: Guard,
    *,
    reflection: str,
    task: str | None,
) -> tuple[Draft, Learnt] | None:
    """A new learning, or a surer one. None if all the evidence is known, also of a retired one."""
    last = before or _last_version(ctx, node_id)
    told = set(_texts(last, "evidence"))
    fresh = [each for each in pattern.evidence if each not in told]
    if not fresh:
        return None
    was = None if before is None else confidence_of(before)
    sure = pattern.confidence if was is None else max(was, min(MOST_SURE, was + (1 - was) * REINFORCED))
    evidence = list(dict.fromkeys((*_texts(last, "evidence"), *pattern.evidence)))[-MAX_EVIDENCE:]
    props: dict[str, Any] = {
        "type": "LEARNING",
        "pattern": pattern.kind,
        "confidence": round(sure, 4),
        "status": "current",
        "files": list(pattern.places),
        "evidence": evidence,
        "agent": ctx.writer.actor.agent,
        "session": ctx.writer.session,
        **({"test_files": list(pattern.tests)} if pattern.tests else {}),
        **({"task": task} if task else {}),
    }
    node = NodeAssertion(id=node_id, kind=LEARNING, name=pattern.title, text=pattern.text, props=props, **asdict(guard))
    edges = [EdgeAssertion(src=node_id, rel=DERIVED, dst=reflection, **asdict(guard))]
    ids = [file_id(guard.project, place) for place in pattern.places]
    there = {node.id for node in ctx.store.nodes(ctx.viewer, NOW, ids)}
    edges += [EdgeAssertion(src=node_id, rel=APPLIES_TO, dst=each, **asdict(guard)) for each in ids if each in there]
    change = "new" if was is None else "reinforced"
    reason = f"{change} learning, confidence {sure:.2f}"
    draft = Draft(kind="graph.asserted", payload=Asserted(nodes=(node,), edges=tuple(edges), reason=reason))
    return draft, Learnt(id=node_id, title=pattern.title, change=change, confidence=round(sure, 4), was=was)


def _weakened(ctx: CallContext, guard: Guard, steps: Sequence[Step], *, but: set[str]) -> list[tuple[Draft, Learnt]]:
    """Learnings of this project that the steps contradict: less sure, and below a bound retired."""
    prefix = learning_id("", guard).rpartition("/")[0] + "/"
    nodes = ctx.store.find(ctx.viewer, NOW, Find(id_prefix=prefix), limit=MAX_LEARNINGS).nodes
    changed = []
    for node in nodes:
        if node.id in but or node.kind != LEARNING:
            continue
        kind = str(node.props.get("pattern", ""))
        against = contradicts(kind, _texts(node, "files"), _texts(node, "test_files"), node.event, steps)
        told = set(_texts(node, "against"))
        fresh = [step for step in against if step.id not in told]
        if fresh:
            changed.append(_weaker(node, fresh))
    return changed


def _weaker(node: NodeVersion, against: Sequence[Step]) -> tuple[Draft, Learnt]:
    was = confidence_of(node)
    now = was * HALVED
    by = "; ".join(f"“{step.title[:100]}”" for step in against[:3])
    if now < RETIRED_BELOW:
        payload = Ended(nodes=(node.id,), reason=f"retired learning: contradicted by {by}")
        return (
            Draft(kind="graph.ended", payload=payload),
            Learnt(id=node.id, title=node.name, change="retired", confidence=round(now, 4), was=was),
        )
    props = {
        **node.props,
        "confidence": round(now, 4),
        "against": [*_texts(node, "against"), *(step.id for step in against)][-MAX_EVIDENCE:],
    }
    again = NodeAssertion(
        id=node.id, kind=LEARNING, name=node.name, text=node.text, props=props, **asdict(replace(node.guard))
    )
    payload_again = Asserted(nodes=(again,), reason=f"weakened learning: contradicted by {by}")
    return (
        Draft(kind="graph.asserted", payload=payload_again),
        Learnt(id=node.id, title=node.name, change="weakened", confidence=round(now, 4), was=was),
    )


def confidence_of(node: NodeVersion) -> float:
    """How sure a learning is; of one without a number, as sure as one must be to be kept."""
    said = node.props.get("confidence")
    return float(said) if isinstance(said, int | float) and not isinstance(said, bool) else LEAST_TO_LEARN


def _last_version(ctx: CallContext, node_id: str) -> NodeVersion | None:
    versions = ctx.store.history(ctx.viewer, node_id, limit=HISTORY)
    return versions[-1] if versions else None


def _texts(node: NodeVersion | None, name: str) -> list[str]:
    held = None if node is None else node.props.get(name)
    return [each for each in held if isinstance(each, str)] if isinstance(held, list | tuple) else []
