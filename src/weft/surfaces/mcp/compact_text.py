"""How briefings, compactions and baked knowledge read to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.retrieval.views.ground import flat
from weft.surfaces.mcp.words import QUOTED, Rendered, block, counted, facts, kind, line, mark, node_id, said

if TYPE_CHECKING:
    from weft.operations.baking import AgentKnowledge, Baked
    from weft.operations.compacting import Compacted
    from weft.operations.compacting_sessions import SessionCompacted, SessionStatus
    from weft.operations.projections import Projected, ProjectedRecord


def session_compacted(answer: SessionCompacted) -> Rendered:
    """That the briefing is kept."""
    if answer.status == "duplicate_skip":
        return Rendered(summary=f"Already kept as {flat(answer.citation)}.")
    kept = f"{counted(answer.statements, 'statement')}, {answer.cited} with a source that was checked"
    where = f" as {flat(answer.citation)}" if answer.citation else ""
    return Rendered(summary=f"Briefing of {node_id(answer.session)} {line(answer.status)}{where}: {kept}.")


def session_status(answer: SessionStatus) -> Rendered:
    """Whether to compact now, how, and the last briefing."""
    used = "" if answer.share is None else f" {answer.share:.0%} of the window is used."
    due = "It is time to compact." if answer.due else "It need not be compacted yet."
    blocks = [answer.prompt] if answer.prompt else []
    if answer.briefing:
        by = f"by {flat(answer.briefed_by)}" if answer.briefed_by else ""
        head = facts("the last briefing", by, (answer.briefed_at or "")[:16], flat(answer.citation))
        blocks.append(f"{head}\n{block(answer.briefing)}")
    return Rendered(summary=f"{due}{used} {QUOTED}", blocks=tuple(blocks))


def compacted(answer: Compacted) -> Rendered:
    """What was kept, and why the rest was not."""
    total = f"{counted(answer.records, 'record')} of {counted(answer.memories, 'memory', 'memories')}"
    summary = f"{line(answer.status)}: {total} for {answer.purpose}; {answer.collapsed:,} stand behind an exemplar."
    told = [
        f"{name}: {_counts(counts)}" for name, counts in (("kept", answer.kept), ("left out", answer.left)) if counts
    ]
    told += [f"{row.state}: {kind(row.kind)} {node_id(row.id)} · {flat(row.citation)}" for row in answer.reported]
    told += [f"written to {said(answer.file, 4_096)}"] if answer.file else []
    return Rendered(summary=summary, blocks=("\n".join(told),) if told else ())


def projected(answer: Projected) -> Rendered:
    """Records with their sources."""
    if not answer.records:
        return Rendered(summary="Nothing is compacted here for that, or nothing of it is left.")
    gone = f" Not shown: {_counts(answer.dropped)}." if answer.dropped else ""
    summary = f"{len(answer.records)} of {counted(answer.total, 'record')} for {answer.purpose}.{gone} {QUOTED}"
    return Rendered(summary=summary, blocks=tuple(map(_record, answer.records)))


def _record(record: ProjectedRecord) -> str:
    more = f"and {record.more} more" if record.more else ""
    head = facts(
        f"{kind(record.kind)}{f' {said(record.name)}' if record.name else ''}",
        f"{record.role}, {line(record.why)}",
        record.valid_from[:10],
        *map(flat, record.sources),
        more,
    )
    stale = f"\n{mark(record.stale)}" if record.stale else ""
    return f"{head}{stale}\n{block(record.text)}"


def baked(answer: Baked) -> Rendered:
    """Which files were written, and for whom none could be."""
    lines = [
        facts(
            f"{line(each.slug)}: {counted(each.memories, 'memory', 'memories')}",
            said(each.full, 4_096),
            f"{each.left_out} had no room" if each.left_out else "",
            f"not baked: {_counts(each.left)}" if each.left else "",
        )
        for each in answer.agents
    ]
    lines += [f"{line(each.slug)}: not baked: {said(each.error, 2_000)}" for each in answer.failed]
    count = counted(len(answer.agents), "agent")
    return Rendered(summary=f"Baked for {count}.", blocks=("\n".join(lines),) if lines else ())


def knowledge(answer: AgentKnowledge) -> Rendered:
    """The baked text, quoted."""
    summary = f"The {answer.used} file for {line(answer.slug)}, baked {answer.baked_at[:16]}. {QUOTED}"
    return Rendered(summary=summary, blocks=(block(answer.text),))


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {line(why)}" for why, count in counts.items())
