"""A task as another agent needs it: asked, done, decided, open, learnt, where to look; each line with its source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from weft.core.clock import to_iso
from weft.core.types import NOW, NodeVersion
from weft.documents.keep.source_lines import citation_of
from weft.fleet.episodes.contracts import files_of, type_of_episode
from weft.fleet.episodes.involved import known_file
from weft.fleet.overview import ClaimShown, show_claims
from weft.fleet.reflecting.learnings import APPLIES_TO, confidence_of
from weft.fleet.reflecting.reflect import episodes_of_task
from weft.fleet.work.dependencies import unfinished, waits_for
from weft.retrieval.judging.superseded import replaced_among
from weft.runtime.call_context import CallContext
from weft.text.one_line import flat
from weft.writing.checks.provenance import status_of
from weft.writing.claims.held import held_for

READ: Final = 200  # episodes of the task
LINES: Final = 20  # of each part
FILES: Final = 20
LINE_CHARACTERS: Final = 400


class PackLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is known, who recorded it, when, and its source."""

    text: str
    citation: str
    at: str = ""
    by: str = ""
    type: str = ""


class HandoffPack(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was asked, done (latest first) and decided; what is open and was learnt; where to look, who holds what."""

    task: str
    title: str
    status: str
    asked: str = ""
    citation: str = ""
    done: tuple[PackLine, ...] = ()
    decided: tuple[PackLine, ...] = ()
    open: tuple[PackLine, ...] = ()
    learnt: tuple[PackLine, ...] = ()
    where: tuple[PackLine, ...] = ()
    claims: tuple[ClaimShown, ...] = ()
    agents: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def pack_of(ctx: CallContext, task: NodeVersion) -> HandoffPack:
    """The pack of a task, from its episodes, claims and dependencies as they are now."""
    episodes = sorted(episodes_of_task(ctx, task.id, READ), key=lambda node: node.event)
    by_type: dict[str, list[NodeVersion]] = {}
    for node in episodes:
        by_type.setdefault(type_of_episode(node) or "", []).append(node)
    held = held_for(ctx, task.id)
    decided = by_type.get("DECISION", [])
    replaced = replaced_among(ctx, NOW, [node.id for node in decided]) if decided else frozenset()
    paths = list(dict.fromkeys(path for node in episodes for path in files_of(node)))
    files = [file for path in paths[:FILES] if (file := known_file(ctx, path)) is not None]
    cited = dict(ctx.store.citations(ctx.viewer, [task.event, *(node.event for node in episodes)]))
    agents = [str(node.props.get("agent")) for node in episodes] + [each.claim.holder.agent for each in held]
    return HandoffPack(
        task=task.id,
        title=task.name,
        status=status_of(task),
        asked=task.text,
        citation=cited.get(task.event, ""),
        done=_lines(_done(episodes), cited)[::-1],
        decided=_lines([node for node in decided if node.id not in replaced], cited),
        open=_open(ctx, task, episodes, cited),
        learnt=_learnt(ctx, [file.id for file in files]),
        where=_where(files, [path for path in paths if path not in {file.name for file in files}]),
        claims=show_claims(ctx, held),
        agents=tuple(dict.fromkeys(agents)),
        notes=(f"only the latest {READ} episodes were read",) if len(episodes) == READ else (),
    )


def _done(episodes: Sequence[NodeVersion]) -> list[NodeVersion]:
    """Edits, test results that passed, and what was seen; not what failed, which is open or mended."""
    kinds = ("EDIT", "OBSERVATION", "TEST_RESULT")
    return [node for node in episodes if type_of_episode(node) in kinds and not node.props.get("failed")]


def _open(
    ctx: CallContext, task: NodeVersion, episodes: Sequence[NodeVersion], cited: dict[int, str]
) -> tuple[PackLine, ...]:
    """What is not mended, what the task waits for, and its last note."""
    lines: list[PackLine] = []
    last_pass = max(
        (node.event for node in episodes if type_of_episode(node) == "TEST_RESULT" and not node.props.get("failed")),
        default=0,
    )
    wrong = [
        node
        for node in episodes
        if node.event > last_pass
        and (type_of_episode(node) == "ERROR" or (type_of_episode(node) == "TEST_RESULT" and node.props.get("failed")))
    ]
    lines += _lines(wrong, cited)
    for each in unfinished(waits_for(ctx, [task.id]).get(task.id, [])):
        source = ctx.store.citations(ctx.viewer, [each.event]).get(each.event, "")
        lines.append(PackLine(text=f"waits for {flat(each.name)} ({status_of(each)})", citation=source, type="WAITS"))
    note = task.props.get("note")
    if isinstance(note, str) and note:
        lines.append(PackLine(text=flat(note)[:LINE_CHARACTERS], citation=cited.get(task.event, ""), type="NOTE"))
    return tuple(lines[-LINES:])


def _learnt(ctx: CallContext, files: Sequence[str]) -> tuple[PackLine, ...]:
    """Current learnings that apply to these files, the surest first."""
    if not files:
        return ()
    steps = ctx.store.neighbours(ctx.viewer, NOW, list(files), rels=(APPLIES_TO,), direction="in", limit=LINES)
    found = {step.node.id: step.node for step in steps}
    nodes = sorted(found.values(), key=lambda node: -confidence_of(node))
    cited = ctx.store.citations(ctx.viewer, [node.event for node in nodes])
    return _lines(nodes[:LINES], dict(cited))


def _where(files: Sequence[NodeVersion], unknown: Sequence[str]) -> tuple[PackLine, ...]:
    known = [PackLine(text=file.name, citation=citation_of(file) or file.id, type="FILE") for file in files]
    return (*known, *(PackLine(text=f"{path} (not indexed)", citation="", type="FILE") for path in unknown[:FILES]))


def _lines(nodes: Iterable[NodeVersion], cited: dict[int, str]) -> tuple[PackLine, ...]:
    kept = list(nodes)[-LINES:]
    return tuple(
        PackLine(
            text=_said(node),
            citation=cited.get(node.event, ""),
            at=to_iso(node.recorded_at),
            by=str(node.props.get("agent", "")),
            type=type_of_episode(node) or "",
        )
        for node in kept
    )


def _said(node: NodeVersion) -> str:
    text = flat(node.text)
    if node.kind == "Episode" and node.props.get("type") in ("OBSERVATION", "REFLECTION"):
        return text[:LINE_CHARACTERS]
    name = flat(node.name)
    return (f"{name}: {text}" if text and not text.startswith(name) else name or text)[:LINE_CHARACTERS]
