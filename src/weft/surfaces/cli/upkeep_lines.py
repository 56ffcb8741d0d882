"""How the store's state, its settings and its self-tests look on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.retrieval.views.ground import flat
from weft.surfaces.cli.lines import counted, dim, notes_below, wrapped
from weft.surfaces.cli.tables import show_table

if TYPE_CHECKING:
    from weft.bench.retrieval import RetrievalBenched
    from weft.operations.extracting import ExtractedMemories
    from weft.operations.indexing import Reindexed
    from weft.operations.setting_up import ConfigShown, Initialised
    from weft.operations.upkeep import BackedUp, Diagnosis, Stats


def stats_lines(answer: Stats) -> None:
    """Counts."""
    store = answer.store
    size = f", {store.bytes_on_disk / 1e6:.1f} MB" if store.bytes_on_disk else ""
    click.echo(f"{store.backend} store, schema {store.schema_version}{size}")
    click.echo(f"{counted(store.events, 'event')} in {counted(store.sessions, 'session')}")
    nodes = f"{counted(store.nodes, 'node')} ({counted(store.node_versions, 'version')})"
    click.echo(f"{nodes}, {counted(store.edges, 'edge')}, {counted(store.texts, 'text')}")
    if answer.vectors is not None and answer.vectors.wanted is not None:
        from weft.operations.vectors_held import held_line

        click.echo(f"vectors: {held_line(answer.vectors)}")
    rows = [
        (f"{kind.nodes:,}", flat(kind.kind), ", ".join(kind.views), flat(", ".join(kind.props)))
        for kind in answer.kinds
    ]
    show_table(("nodes", "kind", "views", "props"), rows, right=("nodes",))


def backed_up_lines(answer: BackedUp) -> None:
    """Where the copy is."""
    click.echo(f"copied to {answer.path}; head {answer.digest}")
    if answer.audit_digest:
        click.echo(dim(f"and the audit; head {answer.audit_digest}"))
    notes_below(answer.notes)


def diagnosis_lines(answer: Diagnosis) -> None:
    """One line for each self-test."""
    for check in answer.checks:
        mark = click.style("ok  ", fg="green") if check.ok else click.style("FAIL", fg="red")
        click.echo(f"{mark}  {check.name:11} {check.detail}")
        if check.hint:
            click.echo(f"      hint: {check.hint}")


def config_lines(answer: ConfigShown) -> None:
    """One setting after another, with where it comes from."""
    width = max(len(setting.name) for setting in answer.settings)
    for setting in answer.settings:
        value = ", ".join(setting.value) if isinstance(setting.value, tuple) else setting.value
        shown = click.style(str(value), bold=True) if value not in ("", None) else dim("(none)")
        click.echo(f"{setting.name:{width}}  {shown}  {dim(setting.origin)}")
        about = f"{'':{width}}  {setting.summary} ({setting.variable})"
        click.echo(dim(wrapped(about, indent=" " * (width + 2))))


def initialised_lines(answer: Initialised) -> None:
    """What was written."""
    click.echo(f"wrote {answer.path}: project {answer.project}; memories go to {answer.store}")
    notes_below(answer.notes)


def reindexed_lines(answer: Reindexed) -> None:
    """What was embedded."""
    click.echo(f"{counted(answer.embedded, 'text')} embedded with {answer.model or 'nothing'}")
    if answer.switched_from is not None:
        click.echo(f"questions go by {answer.in_use} from now on, no longer by {answer.switched_from}")
    for model, gone in answer.dropped.items():
        click.echo(f"{counted(gone, 'vector')} of {model} dropped")
    for line in answer.indexes:
        click.echo(dim(f"  {line}"))
    notes_below(answer.notes)


def extracted_lines(answer: ExtractedMemories) -> None:
    """How much was read out."""
    found = f"{counted(answer.things, 'thing')} and {counted(answer.relations, 'relation')}"
    click.echo(f"{counted(answer.texts, 'text')} read: {found}")
    notes_below(answer.notes)


def benched_lines(answer: RetrievalBenched) -> None:
    """The figures of a run."""
    click.echo(f"{answer.questions} questions over {answer.rows} rows in {answer.scopes} scopes; run in {answer.out}")
    click.echo(f"recipe {answer.recipe}, limit {answer.limit}, embedder {answer.embedder or 'none'}")
    if answer.ingest_seconds is not None:
        click.echo(f"ingest   {answer.ingest_rows_per_second:,} rows/s ({answer.ingest_seconds:.1f} s)")
    if answer.skipped_rows:
        click.secho(f"skipped  {answer.skipped_rows} rows", fg="yellow")
    if answer.query_p50_ms is not None:
        click.echo(f"query    p50 {answer.query_p50_ms} ms, p95 {answer.query_p95_ms} ms")
    click.echo(f"memory   {answer.peak_memory_mb:,.0f} MB at most")
    times = f", {answer.store_bytes / answer.text_bytes:.1f} times the text" if answer.text_bytes else ""
    click.echo(f"store    {answer.store_bytes / 1e6:.1f} MB{times}")
    click.echo(f"empty    {answer.empty} of {answer.questions} answers")
    for reason, count in answer.refused.items():
        click.echo(f"refused  {count}: {reason}")
    notes_below(answer.notes)
