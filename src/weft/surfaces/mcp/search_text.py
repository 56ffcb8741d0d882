"""How searches read to a model: `[Kind] (id) (score)`, properties, what it is joined to, `---` between results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.context.wording import plain
from weft.retrieval.views.ground import flat
from weft.surfaces.mcp.words import VALUE_CHARACTERS, arrow, detail, facts, flag, kind, line, mark, node_id, said, value

if TYPE_CHECKING:
    from weft.operations.raw import RawMerged, RecalledRaw
    from weft.operations.searching import Found, Related, Searched


def searched_blocks(answer: Searched) -> tuple[str, ...]:
    """One block per result."""
    blocks = [_result(found) for found in answer.results]
    return ("\n---\n".join(blocks),) if blocks else ()


def _result(found: Found) -> str:
    hit, node = found.hit, found.hit.node
    lines = [f"{kind(node.kind)} ({node_id(node.id)}) ({hit.score:.3f})"]
    own: dict[str, Any] = {"name": node.name, "text": node.text, "summary": node.summary}
    shown = {**own, **node.props}
    lines += [f"  {plain(name)}: {value(held)}" for name, held in shown.items() if held not in ("", None, [], ())]
    for part in hit.parts:
        by = f"{said(part.by)}: " if part.by else ""
        lines.append(
            f"  part: {by}{said(part.text, VALUE_CHARACTERS)} ({flat(part.citation)}) {flag(part.flags)}".rstrip()
        )
    held = f"{node.valid_from[:10]}{' to ' + node.valid_to[:10] if node.valid_to else ''}"
    lines.append(f"  citation: {flat(node.citation)}, since {held}" if node.citation else f"  since {held}")
    lines += [f"  {each}" for each in (flag(node.flags), *map(mark, hit.marks)) if each]
    lines += [f"  {part.part:.3f}: {line(part.name)} rank {part.rank}{detail(part.detail)}" for part in hit.why]
    if found.related:
        lines += ["Related:", *map(_related, found.related)]
    return "\n".join(lines)


def _related(step: Related) -> str:
    return f"  {arrow(step.rel, step.direction)} {kind(step.kind)} {said(step.name)} ({node_id(step.id)})"


def _merged(node: RawMerged) -> str:
    head = f"  {node.score:.3f} {kind(node.kind)} {said(node.name)} ({node_id(node.id)}) {' + '.join(node.views)}"
    return facts(head.rstrip(), flag(node.flags))


def raw_blocks(answer: RecalledRaw) -> tuple[str, ...]:
    """How it was read, what each view found, the chains, the merge."""
    depths = ", ".join(f"{view} {depth}" for view, depth in answer.depths.items())
    blocks = [f"intent {answer.intent} (depths {depths}), class {answer.retrieval_class}"]
    for view in answer.views:
        if view.nodes:
            lines = [
                f"  {each.score:.3f} {kind(each.kind)} {said(each.name)} ({node_id(each.id)})" for each in view.nodes
            ]
            blocks.append("\n".join([f"{view.view}:", *lines]))
    if answer.chains:
        blocks.append("\n".join(["chains:", *(f"  {' -> '.join(map(node_id, chain))}" for chain in answer.chains)]))
    lines = [_merged(each) for each in answer.merged]
    return (*blocks, "\n".join(["merged:", *lines])) if lines else tuple(blocks)
