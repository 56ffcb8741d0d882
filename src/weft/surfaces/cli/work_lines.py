"""How tasks and what they made look on a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click
import msgspec

from weft.retrieval.views.ground import flat
from weft.surfaces.cli.lines import all_lines, dim, notes_below, one_line

if TYPE_CHECKING:
    from weft.operations.products import ProductShown, TaskShown, WorkListed, WorkMadeShown, WorkShown
    from weft.operations.reading import MadeBy


def work_lines(answer: WorkShown) -> None:
    """A task, its states one a line, its products one a line."""
    _task(answer.task)
    if answer.task.description:
        click.echo(all_lines(answer.task.description))
    for name, values in (("inputs", answer.task.inputs), ("outputs", answer.task.outputs)):
        if values:
            click.echo(dim(f"{name} {flat(msgspec.json.encode(values).decode())}"))
    for state in answer.states:
        until = f" to {state.until[:19]}" if state.until else ""
        click.echo(f"  {state.since[:19]}{until}  {state.status}  {one_line(state.note)}".rstrip())
    _products(answer.products, answer.total, answer.next_offset)
    notes_below(answer.notes)


def tasks_lines(answer: WorkListed) -> None:
    """One task a line."""
    for task in answer.tasks:
        _task(task)
    if answer.next_offset is not None:
        click.echo(dim(f"{answer.total} in all; --offset {answer.next_offset} goes on"))
    notes_below(answer.notes)


def made_lines(answer: WorkMadeShown) -> None:
    """The tasks of a conversation, then what was made."""
    click.echo(click.style(flat(answer.conversation), bold=True))
    for task in answer.tasks:
        _task(task)
    _products(answer.products, answer.total, answer.next_offset)
    notes_below(answer.notes)


def made_by_lines(makers: Iterable[MadeBy]) -> None:
    """What a node came of, one a line."""
    for maker in makers:
        state = f" ({maker.status})" if maker.status else ""
        click.echo(f"  made by [{flat(maker.kind)}] {one_line(maker.name)}{state}  {dim(flat(maker.id))}")


def _task(task: TaskShown) -> None:
    said = one_line(task.result or task.note)
    head = f"{click.style(task.status, bold=True)}  {one_line(task.title)}  {dim(flat(task.kind))}"
    click.echo(f"{head}  {said}".rstrip())
    raised = f"  raised in {flat(task.conversation)}" if task.conversation else ""
    click.echo(dim(f"    id {flat(task.id)}  {task.changed_at[:19]}  {flat(task.citation)}{raised}"))


def _products(products: Iterable[ProductShown], total: int, next_offset: int | None) -> None:
    for product in products:
        click.echo(f"  made [{flat(product.kind)}] {one_line(product.name)}  {dim(flat(product.id))}")
        click.echo(dim(f"      {flat(product.citation)}"))
    if next_offset is not None:
        click.echo(dim(f"{total} in all; --offset {next_offset} goes on"))
