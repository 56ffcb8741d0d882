"""How symbols of code read to a model: packs, slices, explanations, what a change affects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.context.code_pack import known_line, pack_text, quoted_code
from weft.surfaces.mcp.words import Rendered, facts, line, node_id, said

if TYPE_CHECKING:
    from weft.context.code_pack import ContextPack, SymbolRef
    from weft.operations.code_explaining import CodeExplained
    from weft.operations.code_reach import Reached
    from weft.operations.impact import ImpactAnalyzed
    from weft.operations.slicing import SliceShown


def pack(answer: ContextPack) -> Rendered:
    """The briefing."""
    text = pack_text(answer)
    return Rendered(summary=_summary(answer.summary), blocks=(text,) if text else ())


def slice_(answer: SliceShown) -> Rendered:
    """The lines of a symbol, then what it is joined to."""
    head = f"{answer.citation}{_to(answer.start_line, answer.end_line)}"
    code = f"{head}\n{quoted_code(answer.code)}" if answer.code else ""
    blocks = [code or facts(head, said(answer.signature, 500) if answer.signature else "")]
    beside = [
        *_refs("called by", answer.callers),
        *_refs("calls", answer.callees),
        *_refs("tested by", answer.tests),
        *_refs("holds", answer.members),
        *_refs("also by that name", answer.others),
    ]
    blocks += ["\n".join(beside)] if beside else []
    known = [known_line(each) for each in (*answer.decisions, *answer.learnings, *answer.documents)]
    blocks += ["\n".join(["about it:", *known])] if known else []
    return Rendered(summary=_summary(answer.summary), blocks=tuple(blocks))


def explained(answer: CodeExplained) -> Rendered:
    """What the graph knows of it, a line each."""
    head = f"{answer.citation}{_to(answer.start_line, answer.end_line)}"
    lines = [
        facts(head, said(answer.signature, 500) if answer.signature else ""),
        *_reached("used by", answer.callers),
        *_reached("uses", answer.callees),
        *_refs("tested by", answer.tests),
        *_refs("extends", answer.bases),
        *_refs("extended by", answer.implementations),
        *_refs("holds", answer.members),
        *(
            [f"outside, or not resolved: {', '.join(said(each) for each in answer.unresolved)}"]
            if answer.unresolved
            else []
        ),
        *_refs("also by that name", answer.others),
    ]
    history = [
        facts(f"since {each.valid_from[:16]}", f"line {each.line}", each.git_commit, each.citation)
        for each in answer.history
    ]
    blocks = ["\n".join(lines), *(["\n".join(["versions:", *history])] if history else [])]
    return Rendered(summary=_summary(answer.summary), blocks=tuple(blocks))


def impact(answer: ImpactAnalyzed) -> Rendered:
    """What is affected, the nearest first."""
    blocks = []
    for title, found in (
        ("direct", answer.direct),
        ("direct tests", answer.direct_tests),
        ("tests further away", answer.transitive_tests),
        ("further away", answer.transitive),
    ):
        if found:
            blocks.append("\n".join([f"{title}:", *map(_way, found)]))
    return Rendered(summary=_summary(answer.summary), blocks=tuple(blocks))


def _summary(told: str) -> str:
    return line(told, 400) or "Nothing is told of it."


def _to(first: int, last: int) -> str:
    return f"-{last}" if last > first else ""


def _refs(told: str, refs: Sequence[SymbolRef]) -> list[str]:
    return [f"{told} {', '.join(f'{said(each.name)} {node_id(each.citation)}' for each in refs)}"] if refs else []


def _reached(told: str, found: Sequence[Reached]) -> list[str]:
    far = [f"{said(each.name)} {node_id(each.citation)}{_distance(each)}" for each in found]
    return [f"{told} {', '.join(far)}"] if far else []


def _distance(each: Reached) -> str:
    return f" ({each.distance} steps)" if each.distance > 1 else ""


def _way(each: Reached) -> str:
    via = f" by way of {' < '.join(said(name, 60) for name in each.via)}" if each.via else ""
    return f"  {node_id(each.citation)} {said(each.name)} {each.relation.lower().replace('_', ' ')}{via}"


def _unresolved(chains: Sequence[str]) -> list[str]:
    return [f"outside, or not resolved: {', '.join(map(said, chains))}"] if chains else []
