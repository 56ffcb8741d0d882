"""The end of a task, in one commit: its claims end, its outcome is kept as a decision, something is learnt.

Only for a task that somebody worked on: one that is claimed or has episodes. Another one just ends.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.append.append import Fence
from weft.core.types import NodeVersion
from weft.fleet.episodes.contracts import DECISION, files_of, type_of_episode
from weft.fleet.episodes.involved import known_file
from weft.fleet.episodes.writing import EpisodeOutcome, Telling, plan_episode
from weft.fleet.fences import every
from weft.fleet.reflecting.reflect import ReflectionPlan, episodes_of_task, plan_reflection
from weft.log.draft import Draft
from weft.runtime.call_context import CallContext
from weft.text.one_line import flat
from weft.writing.build.references import covers
from weft.writing.claims.claim import Claim
from weft.writing.claims.held import held_for
from weft.writing.claims.writing import claims_fence, ended

READ: Final = 100  # episodes of the task
TITLE_CHARACTERS: Final = 200
OUTCOMES: Final[dict[str, EpisodeOutcome]] = {"succeeded": "success", "failed": "failure", "cancelled": "partial"}


class Completion(Struct, frozen=True, kw_only=True):
    """The events beside the task's own, and what they do."""

    drafts: tuple[Draft, ...] = ()
    released: tuple[Claim, ...] = ()
    decision: str = ""
    reflection: ReflectionPlan = ReflectionPlan()
    fence: Fence | None = None


def completion(ctx: CallContext, task: NodeVersion, *, status: str, result: str, pos: int) -> Completion:
    """What ends with a task, and what is kept of it."""
    released = tuple(each.claim for each in held_for(ctx, task.id))
    everything = episodes_of_task(ctx, task.id, READ)
    fence = claims_fence((task.id, *(claim.target for claim in released)), pos, task=task.id)
    if not released and not everything:
        return Completion(fence=fence)
    guard = replace(task.guard, project=task.guard.project or ctx.settings.project)
    episodes = [node for node in everything if covers(node.guard, guard)]
    outcome = OUTCOMES[status]
    edited = dict.fromkeys(path for node in episodes if type_of_episode(node) == "EDIT" for path in files_of(node))
    files = [file for path in edited if (file := known_file(ctx, path)) is not None]
    verb = {"success": "is done", "failure": "failed", "partial": "was cancelled"}[outcome]
    telling = Telling(
        type="DECISION",
        kind=DECISION,
        name=f"{flat(task.name)[:TITLE_CHARACTERS]}: {verb}",
        content=result or f"The task {verb}, without a word on its result.",
        guard=guard,
        props={"status": "accepted", "tradeoffs": [], "affected_files": list(edited)},
        involves=tuple(file.id for file in files),
        outcome=outcome,
        task=task.id,
        focus=task.focus,
    )
    decision = plan_episode(ctx, telling)
    reflection = plan_reflection(ctx, episodes, guard, task=task.id, pos=pos, before=decision.id)
    ends = (ended(released, reason=f"the task {status}"),) if released else ()
    return Completion(
        drafts=(*ends, *decision.drafts, *reflection.drafts),
        released=released,
        decision=decision.id,
        reflection=reflection,
        fence=every(fence, decision.fence(pos), *reflection.fences),
    )
