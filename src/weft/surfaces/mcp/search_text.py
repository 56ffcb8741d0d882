"""How searches read to a model: `[Kind] (id) (score)`, properties, what it is joined to, `---` between results."""

from __future__ import annotations

from typing import Any

from weft.operations.raw import RecalledRaw
from weft.operations.searching import Found, Related, Searched

LINE_CHARACTERS = 2_000


def searched_blocks(answer: Searched) -> tuple[str, ...]:
    """One block per result."""
    blocks = [_result(found) for found in answer.results]
    return ("\n---\n".join(blocks),) if blocks else ()


def _result(found: Found) -> str:
    hit, node = found.hit, found.hit.node
    lines = [f"[{node.kind}] ({node.id}) ({hit.score:.3f})"]
    own: dict[str, Any] = {"name": node.name, "text": node.text, "summary": node.summary}
    lines += [f"  {name}: {_flat(value)}" for name, value in {**own, **node.props}.items() if value not in ("", None)]
    lines += [f"  part: {_flat(part.by)}: {_flat(part.text)} ({part.citation})" for part in hit.parts]
    held = f"{node.valid_from[:10]}{' to ' + node.valid_to[:10] if node.valid_to else ''}"
    lines.append(f"  citation: {node.citation}, since {held}" if node.citation else f"  since {held}")
    lines += [f"  ! {_flat(mark)}" for mark in hit.marks]
    lines += [f"  {part.part:.3f}: {part.name} rank {part.rank} {_flat(part.detail)}" for part in hit.why]
    if found.related:
        lines += ["Related:", *map(_related, found.related)]
    return "\n".join(lines)


def _related(step: Related) -> str:
    arrow = f"-[{_flat(step.rel)}]->" if step.direction == "out" else f"<-[{_flat(step.rel)}]-"
    return f"  {arrow} [{step.kind}] {_flat(step.name)} ({step.id})"


def _flat(value: Any) -> str:
    """A property on one line: no memory can begin a line of its own."""
    line = " ".join(str(value).split())
    return line if len(line) <= LINE_CHARACTERS else line[: LINE_CHARACTERS - 1] + "…"


def raw_blocks(answer: RecalledRaw) -> tuple[str, ...]:
    """How it was read, what each view found, the chains, the merge."""
    depths = ", ".join(f"{view} {depth}" for view, depth in answer.depths.items())
    blocks = [f"intent {answer.intent} (depths {depths}), class {answer.retrieval_class}"]
    for view in answer.views:
        if view.nodes:
            lines = [f"  {node.score:.3f} [{node.kind}] {_flat(node.name)} ({node.id})" for node in view.nodes]
            blocks.append("\n".join([f"{view.view}:", *lines]))
    if answer.chains:
        blocks.append("\n".join(["chains:", *(f"  {' -> '.join(chain)}" for chain in answer.chains)]))
    lines = [
        f"  {node.score:.3f} [{node.kind}] {_flat(node.name)} ({node.id}) {' + '.join(node.views)}"
        for node in answer.merged
    ]
    return (*blocks, "\n".join(["merged:", *lines])) if lines else tuple(blocks)
