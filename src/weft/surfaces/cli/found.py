"""How what was found looks on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.retrieval.views.ground import flat
from weft.surfaces.cli.lines import arrow, dim, flag, heading, notes_below, one_line, quoted_lines, validity, wrapped

if TYPE_CHECKING:
    from weft.operations.alike import SimilarFound
    from weft.operations.asking import Hit, PartShown
    from weft.operations.explained import Explained
    from weft.operations.finding import MessagesFound
    from weft.operations.questions import Asked
    from weft.operations.raw import RecalledRaw
    from weft.operations.recalling import Recalled
    from weft.operations.searching import Searched
    from weft.retrieval.pipeline import Source, StageTrace

LEAST_MS = 0.1  # of a stage that is told by itself


def recalled_lines(answer: Recalled) -> None:
    """Prints hits, or the context where the graph's views found them."""
    if answer.answer:
        by = flat(answer.written_by) or "a language model"
        click.echo(f"written by {by}, from the lines below:\n{quoted_lines(answer.answer)}\n")
    if answer.answer or (not answer.stages and any(hit.seen for hit in answer.hits)):
        click.echo(answer.context)  # found by the graph's views: the order tells more than the scores
    if answer.stages or not (answer.answer or any(hit.seen for hit in answer.hits)):
        for number, hit in enumerate(answer.hits, start=1):
            _hit(number, hit)
    if answer.stages:
        _stages(answer.stages)
        click.echo(dim(f"intent {answer.intent}, valid at {answer.valid_at}, known at {answer.known_at}"))
    if answer.receipt:
        click.echo(f"kept as {click.style(answer.receipt, bold=True)}")
    notes_below(answer.notes)


def asked_lines(answer: Asked) -> None:
    """Prints what the model wrote, if one did, then the cited lines."""
    if answer.answer:
        by = flat(answer.written_by) or "a language model"
        click.echo(f"{quoted_lines(answer.answer)}\n\n{dim(f'written by {by}, from these lines:')}")
    if answer.context:
        click.echo(answer.context)
    notes_below(answer.notes)


def _stages(stages: tuple[StageTrace, ...]) -> None:
    """How long each stage took and how many it left; those that took no time to speak of as one."""
    slow = [stage for stage in stages if stage.milliseconds >= LEAST_MS]
    times = [f"{stage.stage} {stage.milliseconds:.1f} ms ({stage.count})" for stage in slow]
    if quick := len(stages) - len(slow):
        times.append(f"{quick} under {LEAST_MS} ms each")
    together = [each.replace(" ", "\u00a0") for each in times]  # a stage stays on one line
    total = sum(stage.milliseconds for stage in stages)
    click.echo(dim(wrapped(f"stages: {', '.join(together)}; {total:.1f} ms in all").replace("\u00a0", " ")))


def _hit(number: int, hit: Hit) -> None:
    click.echo(f"{number:2}. {hit.score:.3f}  {heading(hit.node)}")
    if not hit.parts and (text := hit.node.text or hit.node.summary):
        click.echo(f"    {one_line(text)}")
    click.echo(dim(f"    {flat(hit.node.citation)}  {validity(hit.node)}"))
    for part in hit.parts:
        click.echo(f"    · {_said(part)}{one_line(part.text)}{flag(part.flags)}")
        if part.citation != hit.node.citation:
            click.echo(dim(f"      {flat(part.citation)}"))
    for mark in hit.marks:
        click.echo(dim(f"    ! {flat(mark)}"))
    for source in hit.why:
        _source(source)
    for seen in hit.seen:
        if seen.path:
            click.echo(dim(f"      {seen.view} {seen.score:.3f}: {flat(seen.path)}"))


def searched_lines(answer: Searched) -> None:
    """Prints results and what they are joined to."""
    for number, found in enumerate(answer.results, start=1):
        _hit(number, found.hit)
        for step in found.related:
            joined = f"{arrow(step.rel, step.direction)} [{flat(step.kind)}]"
            click.echo(f"      {joined} {one_line(step.name)}  {dim(flat(step.id))}")
    if answer.stages:
        _stages(answer.stages)
    click.echo(dim(f"intent {answer.intent}, class {answer.retrieval_class}"))
    notes_below(answer.notes)


def raw_lines(answer: RecalledRaw) -> None:
    """Prints how a question was read and what each view found."""
    depths = ", ".join(f"{view} {depth}" for view, depth in answer.depths.items())
    click.echo(f"intent {answer.intent}, class {answer.retrieval_class}, depths {depths}")
    for view in answer.views:
        for node in view.nodes:
            way = dim(f"  {flat(node.path)}") if node.depth else ""
            click.echo(f"  {view.view:9} {node.score:.3f}  [{flat(node.kind)}] {one_line(node.name)}{way}")
    for chain in answer.chains:
        click.echo(f"  chain     {' -> '.join(map(flat, chain))}")
    for each in answer.merged:
        views = dim(" + ".join(each.views))
        click.echo(
            f"  merged    {each.score:.3f}  [{flat(each.kind)}] {one_line(each.name)}  {views}{flag(each.flags)}"
        )
    notes_below(answer.notes)


def _said(part: PartShown) -> str:
    return f"{flat(part.by)}: " if part.by else ""


def messages_lines(answer: MessagesFound) -> None:
    """Prints messages, each with the turns around it."""
    for number, found in enumerate(answer.messages, start=1):
        click.echo(f"{number:2}. {found.score:.3f}  {flat(found.session)}")
        for turn in (*found.before, found.message, *found.after):
            who, text = flat(turn.speaker or turn.role), one_line(turn.text)
            text = f"{who}: {text}" if who and not text.startswith(f"{who}:") else text
            said = f"  > {text}" if turn is found.message else dim(f"    {text}")
            click.echo(said + flag(turn.flags))
        click.echo(dim(f"    {flat(found.message.citation)}  {found.message.at[:16].replace('T', ' ')}"))
    notes_below(answer.notes)


def similar_lines(answer: SimilarFound) -> None:
    """Prints what is alike."""
    for number, hit in enumerate(answer.hits, start=1):
        click.echo(f"{number:2}. {hit.score:.3f}  {heading(hit.node)}")
        click.echo(f"    {one_line(hit.node.text or hit.node.summary)}")
        click.echo(dim(f"    {flat(hit.node.citation)}  {validity(hit.node)}"))
    notes_below(answer.notes)


def explained_lines(answer: Explained) -> None:
    """Prints why a node ranks where it does, or where it was lost."""
    if answer.node is not None:
        click.echo(f"{heading(answer.node)}  {dim(flat(answer.node.id))}")
        click.echo(f"    {one_line(answer.node.text or answer.node.summary)}")
    click.echo(f"{click.style(answer.verdict, bold=True)}: {flat(answer.reason)}")
    if answer.rank is not None:
        click.echo(f"rank {answer.rank} of {answer.of}, score {answer.score:.3f}")
    for source in answer.why:
        _source(source)
    for found in answer.found_by:
        click.echo(dim(f"  found by {found.source}: place {found.place} of {found.of} ({found.score:.3f})"))
    for seen in answer.seen:
        click.echo(dim(f"  seen by view {seen.view} ({seen.score:.3f}) {flat(seen.path)}".rstrip()))
    for kept in answer.kept:
        click.echo(f"{kept.rank:2}. {kept.score:.3f}  {flat(kept.id)}")
        for source in kept.why:
            _source(source)
    for stage in answer.stages:
        lost = f", {stage.dropped} dropped" if stage.dropped else ""
        click.echo(
            dim(f"  {stage.stage:14} {stage.count:5} left{lost}  {stage.milliseconds:.1f} ms  {stage.failed}".rstrip())
        )
    notes_below(answer.notes)


def _source(source: Source) -> None:
    parts = f"{source.part:.3f} = {source.weight:.3f} x {source.raw:.3f} {source.name} (rank {source.rank})"
    click.echo(dim(f"      {parts}{'  ' + flat(source.detail) if source.detail else ''}"))
