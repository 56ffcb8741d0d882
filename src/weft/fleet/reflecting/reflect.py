"""`reflect`: looks through episodes for what repeats itself, and keeps what is learnt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.append.append import Fence
from weft.core.errors import Invalid
from weft.core.kinds import VIEWS
from weft.core.types import MAX_LIMIT, NOW, Guard, NodeVersion
from weft.documents.keep.source_lines import path_of
from weft.fleet.episodes.contracts import files_of, type_of_episode
from weft.fleet.episodes.writing import INVOLVES, Telling, own_guard, plan_episode
from weft.fleet.fences import every
from weft.fleet.overview import episodes_of
from weft.fleet.reflecting.learnings import Learnt, plan_learnings
from weft.fleet.reflecting.mine import FoundPattern, Step, patterns
from weft.log.draft import Draft
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label, NodeName
from weft.runtime.operation import Operation
from weft.text.one_line import flat
from weft.writing.build.commit import WriteDecision, decide_and_commit
from weft.writing.build.references import covers
from weft.writing.checks.provenance import PRODUCED, task_named

EPISODES: Final = 20
MINUTE_US: Final = 60_000_000
MAX_INVOLVED: Final = 64


class Reflect(Struct, frozen=True, kw_only=True):
    """Input of `reflect`."""

    task_id: Annotated[NodeName | None, Meta(description="the task whose episodes are read, by id or title")] = None
    agent: Annotated[Label | None, Meta(description="the agent whose episodes are read; yourself if unset")] = None
    limit: Annotated[int, Meta(ge=3, le=MAX_LIMIT, description="how many of the latest episodes to read")] = EPISODES


class PatternShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A pattern that was found, and how sure it is. Those of 0.7 and more become learnings."""

    kind: str
    title: str
    text: str
    confidence: float
    files: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


class LearningShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A learning: new, reinforced, weakened or retired."""

    id: str
    title: str
    change: str
    confidence: float
    was: float | None = None


class Reflected(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the episodes show. `reflection` is the episode that keeps it; empty if there was nothing new."""

    insight: str
    read: int
    reflection: str = ""
    citation: str = ""
    patterns: tuple[PatternShown, ...] = ()
    learnings: tuple[LearningShown, ...] = ()
    notes: tuple[str, ...] = ()


class ReflectionPlan(Struct, frozen=True, kw_only=True):
    """The events of a reflection, none if there is nothing new, and what it found."""

    id: str = ""
    drafts: tuple[Draft, ...] = ()
    found: tuple[FoundPattern, ...] = ()
    learnt: tuple[Learnt, ...] = ()
    insight: str = ""
    read: int = 0
    known: int = 0
    left_out: int = 0
    fences: tuple[Fence, ...] = ()


def reflect(ctx: CallContext, given: Reflect) -> Reflected:
    """Looks through the latest episodes of a task or an agent for what repeats itself, and keeps what is learnt.

    It finds files edited again and again, decisions followed by errors on the same code, code read again and again, and
    edits that made tests pass. Each becomes a learning joined to that code, once: new evidence makes it surer,
    contradiction less sure until it is retired. `context_pack` shows learnings with the code.
    """
    if given.task_id is not None and given.agent is not None:
        raise Invalid("both a task and an agent are given", hint="give task_id or agent")
    task = None if given.task_id is None else task_named(ctx, given.task_id).id
    agent = given.agent or ctx.writer.actor.agent

    def decide(pos: int) -> WriteDecision[ReflectionPlan]:
        nodes = episodes_of_task(ctx, task, given.limit) if task else episodes_of(ctx, agent, limit=given.limit)
        plan = plan_reflection(ctx, nodes, own_guard(ctx), task=task, pos=pos)
        return WriteDecision(answer=plan, drafts=plan.drafts, fence=every(*plan.fences))

    plan, done = decide_and_commit(ctx, decide)
    return _told(plan, "" if done is None else done.citation, () if done is None else done.notes)


def reflect_if_due(ctx: CallContext) -> Reflected | None:
    """The caller's reflection, if it has not reflected for as long as the setting says; None if it has."""
    own = episodes_of(ctx, ctx.writer.actor.agent, limit=MAX_LIMIT)
    since = ctx.clock.now_us() - ctx.settings.reflect_minutes * MINUTE_US
    last = [node.recorded_at for node in own if node.props.get("type") == "REFLECTION"]
    begun = min((node.recorded_at for node in own), default=since)
    if max(last, default=begun) > since:
        return None
    return reflect(ctx, Reflect())


def plan_reflection(
    ctx: CallContext,
    nodes: Sequence[NodeVersion],
    guard: Guard,
    *,
    task: str | None,
    pos: int,
    before: str | None = None,
) -> ReflectionPlan:
    """What these episodes show. With nothing new, no events: a reflection that repeats an earlier one is none.

    It repeats words of the episodes, so those are left out that not everybody may see who may see the reflection.
    """
    told = [node for node in nodes if type_of_episode(node) not in (None, "REFLECTION", "LEARNING")]
    open_enough = [node for node in told if covers(node.guard, guard)]
    left_out = len(told) - len(open_enough)
    steps = steps_of(ctx, open_enough)
    found = patterns(steps)
    reflection = ctx.new_id()
    learning = plan_learnings(ctx, found, steps, guard, reflection=reflection, task=task)
    insight = _insight(found, learning.learnt, len(steps), learning.known)
    if not learning.learnt:
        return ReflectionPlan(found=found, insight=insight, read=len(steps), known=learning.known, left_out=left_out)
    evidence = {each for pattern in found for each in pattern.evidence}
    places = dict.fromkeys(place for pattern in found for place in pattern.places)
    ids = [file_id(guard.project, place) for place in places]
    telling = Telling(
        id=reflection,
        type="REFLECTION",
        name=f"Reflection on {len(steps)} episodes",
        content=insight,
        guard=guard,
        involves=tuple(node.id for node in ctx.store.nodes(ctx.viewer, NOW, ids[:MAX_INVOLVED])),
        derived_from=tuple(step.id for step in steps if step.id in evidence) or tuple(step.id for step in steps),
        task=task,
    )
    episode = plan_episode(ctx, telling, before=before)
    fences = [fence for fence in (episode.fence(pos), learning.fence(pos)) if fence is not None]
    return ReflectionPlan(
        id=reflection,
        drafts=(*episode.drafts, *learning.drafts),
        found=found,
        learnt=learning.learnt,
        insight=insight,
        read=len(steps),
        known=learning.known,
        left_out=left_out,
        fences=tuple(fences),
    )


def episodes_of_task(ctx: CallContext, task: str, limit: int) -> list[NodeVersion]:
    """The latest episodes of a task, latest first."""
    edges = ctx.store.edges(ctx.viewer, NOW, task, rel=PRODUCED, direction="out", before=None, limit=MAX_LIMIT * 5)
    nodes = ctx.store.nodes(ctx.viewer, NOW, list(dict.fromkeys(edge.dst for edge in edges)))
    return [node for node in nodes if type_of_episode(node) is not None][:limit]


def steps_of(ctx: CallContext, nodes: Sequence[NodeVersion]) -> list[Step]:
    """Episodes as steps, oldest first, with the files that they name or whose code they involve."""
    about: dict[str, list[str]] = {}
    if nodes:
        ids = [node.id for node in nodes]
        joined = ctx.store.neighbours(ctx.viewer, NOW, ids, rels=(INVOLVES,), direction="out", limit=MAX_INVOLVED)
        for each in joined:
            if each.node.kind in VIEWS["code"]:
                about.setdefault(each.start, []).append(path_of(each.node))
    steps = [_step(node, about.get(node.id, [])) for node in nodes]
    return sorted(steps, key=lambda step: step.at)


def _step(node: NodeVersion, paths: Sequence[str]) -> Step:
    props, kind = node.props, type_of_episode(node) or ""
    named = files_of(node)
    tests = tuple(each for each in props.get("test_files", ()) if isinstance(each, str))
    return Step(
        id=node.id,
        type=kind,
        at=node.event,
        places=tuple(dict.fromkeys((*named, *paths))),
        title=flat(node.name or node.text)[:160],
        tests=tests,
        passed=_count(props.get("passed")),
        failed=_count(props.get("failed")),
        is_failure=props.get("outcome") == "failure",
    )


def _count(held: object) -> int:
    return held if isinstance(held, int) and not isinstance(held, bool) else 0


def _insight(found: Sequence[FoundPattern], learnt: Sequence[Learnt], read: int, known: int) -> str:
    if not read:
        return "There are no episodes to reflect on."
    if not found and not learnt:
        return f"Nothing repeats itself in {read} episodes."
    if not learnt:
        return f"Nothing new in {read} episodes: {known or len(found)} patterns were known, or are not sure enough."
    changes = [f"{each.change}: {each.title} ({each.confidence:.2f})" for each in learnt]
    return f"From {read} episodes. {'. '.join(changes)}."


def _told(plan: ReflectionPlan, citation: str, notes: tuple[str, ...]) -> Reflected:
    if plan.left_out:
        notes = (f"left out, because fewer may see them than what is learnt: {plan.left_out} episodes", *notes)
    return Reflected(
        insight=plan.insight,
        read=plan.read,
        reflection=plan.id if citation else "",
        citation=citation,
        patterns=tuple(
            PatternShown(
                kind=each.kind,
                title=each.title,
                text=each.text,
                confidence=round(each.confidence, 4),
                files=each.places,
                evidence=each.evidence,
            )
            for each in plan.found
        ),
        learnings=tuple(
            LearningShown(id=each.id, title=each.title, change=each.change, confidence=each.confidence, was=each.was)
            for each in plan.learnt
        ),
        notes=notes,
    )


OPERATIONS = (
    Operation(
        name="reflect",
        summary="look through episodes for what repeats itself, and keep what is learnt",
        input=Reflect,
        output=Reflected,
        effect="write",
        toolset="fleet",
        run=reflect,
        priorities={
            "insight": "required",
            "patterns.text": "medium",
            "patterns.evidence": "low",
            "learnings.id": "low",
        },
    ),
)
