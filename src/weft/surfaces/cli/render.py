"""How answers look on a terminal: one function per output type, one visible table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click
import msgspec

from weft.adopt import Adopted
from weft.bench.retrieval import RetrievalBenched
from weft.context.wording import visible
from weft.log.verify import Verified
from weft.operations.alerts import AlertsListed
from weft.operations.alike import SimilarFound
from weft.operations.approving import ApprovalDecided, ApprovalList, ApprovalRequested
from weft.operations.auditing import ToolCallsShown
from weft.operations.batches import BatchWritten
from weft.operations.deleting import Deleted, DeletionList
from weft.operations.erasing import Erasure
from weft.operations.explained import Explained
from weft.operations.extracting import ExtractedMemories
from weft.operations.finding import MessagesFound
from weft.operations.hygiene import HygieneReport
from weft.operations.hygiene_apply import HygieneApplied
from weft.operations.indexing import Reindexed
from weft.operations.ingesting import Ingested
from weft.operations.keys import KeyMade, KeyRotated
from weft.operations.logbook import Events, Exported, HeadShown
from weft.operations.merging import ContextLinearized, SubgraphMerged
from weft.operations.pending import PendingDelivered, PendingShownAll
from weft.operations.priority import ProjectContext
from weft.operations.products import WorkListed, WorkMadeShown, WorkShown
from weft.operations.projects import ProjectsShown
from weft.operations.proposals import ProposalList
from weft.operations.raw import RecalledRaw
from weft.operations.reading import Cited, NodeList, Shown
from weft.operations.recalling import Recalled
from weft.operations.recording import TurnsRecorded
from weft.operations.remembered import Remembered
from weft.operations.reports import ReportsListed, ReportsRead
from weft.operations.routing import AnalysisRouted
from weft.operations.searching import Searched
from weft.operations.setting_up import ConfigShown, Initialised
from weft.operations.showing import EventShown
from weft.operations.statistics import Statistics
from weft.operations.tending import TruthCompiled
from weft.operations.upkeep import BackedUp, Changed, Diagnosis, Rebuilt, Stats
from weft.operations.viewing import SemanticSearched, ViewExpanded
from weft.retrieval.views.ground import flat
from weft.surfaces.cli.approval_lines import approvals_lines, decided_lines, requested_lines
from weft.surfaces.cli.batch_lines import batch_lines
from weft.surfaces.cli.call_lines import calls_lines
from weft.surfaces.cli.deletion_lines import deleted_lines, deletions_lines, erasure_lines
from weft.surfaces.cli.found import (
    explained_lines,
    messages_lines,
    raw_lines,
    recalled_lines,
    searched_lines,
    similar_lines,
)
from weft.surfaces.cli.hygiene_lines import applied_lines, report_lines, routed_lines
from weft.surfaces.cli.key_lines import key_made, key_rotated
from weft.surfaces.cli.lines import all_lines, arrow, dim, heading, notes_below, one_line, validity
from weft.surfaces.cli.place_lines import context_lines, delivered_lines, pending_lines, projects_lines
from weft.surfaces.cli.report_lines import alerts_lines, report_list_lines, reports_lines, statistics_lines
from weft.surfaces.cli.truth_lines import proposals_lines, truth_lines
from weft.surfaces.cli.view_lines import Viewed, view_lines
from weft.surfaces.cli.work_lines import made_by_lines, made_lines, tasks_lines, work_lines


def render(answer: msgspec.Struct) -> None:
    """Prints an answer for a person."""
    RENDERERS[type(answer)](answer)


def _remembered(answer: Remembered) -> None:
    colour = "red" if answer.status in ("failed", "blocked_scope") else "yellow" if answer.candidates else "green"
    click.echo(f"{click.style(answer.status, fg=colour)}  {answer.citation}".rstrip())
    if answer.id:
        click.echo(dim(f"id {answer.id}"))
    for alike in answer.candidates:
        differs = f", differs in {alike.differs_in}" if alike.differs_in else ""
        click.echo(
            f"{one_line(alike.title)}  {dim(f'id {alike.id}  {alike.citation}  alike {alike.score:.2f}{differs}')}"
        )
    if answer.supersedes:
        click.echo(dim(f"supersedes {', '.join(answer.supersedes)}"))
    notes_below(answer.notes)


def _nodes(answer: NodeList) -> None:
    for node in answer.nodes:
        click.echo(f"{dim(node.recorded_at[:19].replace('T', ' '))}  {heading(node)}  {one_line(node.text)}")
        click.echo(dim(f"    {flat(node.citation)}"))
    notes_below(answer.notes)


def _shown(answer: Shown) -> None:
    if answer.node is not None:
        click.echo(heading(answer.node))
        click.echo(all_lines(answer.node.text or answer.node.summary))
        click.echo(dim(f"{flat(answer.node.citation)}  {validity(answer.node)}"))
        project = flat(answer.node.project or "(all)")
        click.echo(dim(f"id {flat(answer.node.id)}  project {project}  scope {answer.node.scope}"))
        if answer.node.props:
            click.echo(dim(f"props {flat(msgspec.json.encode(answer.node.props).decode())}"))
    notes_below(answer.notes)
    for edge in answer.edges:
        if (edge.rel, edge.direction) == ("PRODUCED", "in"):
            continue  # told below
        joined = f"{arrow(edge.rel, edge.direction)} [{flat(edge.kind)}]"
        click.echo(f"  {joined} {one_line(edge.name)}  {dim(flat(edge.id))}")
    made_by_lines(answer.made_by)
    if len(answer.history) > 1:
        click.echo("history:")
        for version in answer.history:
            until = f"retired {version.retired_at[:19]}" if version.retired_at else "stands"
            click.echo(f"  {version.recorded_at[:19]}  {until}  {validity(version)}  {one_line(version.text)}")


def _event(event: EventShown) -> None:
    click.echo(f"{click.style(event.citation, bold=True)}  {event.kind}  {dim(event.recorded_at)}  by {event.agent}")
    if event.erased:
        click.echo(dim(f"    {_erased(event)}"))
    if event.payload is not None:
        click.echo(f"    {one_line(msgspec.json.encode(event.payload).decode())}")


def _erased(event: EventShown) -> str:
    """What there is to say of an event that was erased."""
    return f"(erased {event.erased_at} by {flat(event.erased_by or '')})" if event.erased_at else "(erased)"


def _cited(answer: Cited) -> None:
    mark = click.style("matches", fg="green") if answer.matches else click.style("differs", fg="red")
    click.echo(f"{flat(answer.citation)}  {mark}")
    if answer.event is not None:
        event = answer.event
        click.echo(dim(f"{event.kind}  recorded {event.recorded_at}  by {event.agent} ({event.role})  {event.hash}"))
        for node in answer.nodes:
            click.echo(f"{heading(node)}\n{all_lines(node.text)}")
        if event.erased:
            click.echo(_erased(event))
        if not answer.nodes and event.payload is not None:
            click.echo(flat(msgspec.json.encode(event.payload).decode()))
    for line in answer.lines:
        click.echo(f"  {visible(line)}")
    notes_below(answer.notes)


def _events(answer: Events) -> None:
    for event in answer.events:
        _event(event)
    notes_below(answer.notes)


def _verified(answer: Verified) -> None:
    if answer.problem is None:
        click.secho("every hash fits", fg="green")
    else:
        click.secho(answer.problem, fg="red")
    erased = f", {answer.erased} with payloads replaced (erased, or sealed anew)" if answer.erased else ""
    click.echo(f"{answer.events} events in {answer.commits} commits{erased}; head {answer.digest}")


def _head(answer: HeadShown) -> None:
    click.echo(answer.digest)
    click.echo(dim(f"account {answer.account}, position {answer.pos}, {answer.at or 'nothing written yet'}"))
    for session in answer.sessions:
        click.echo(f"  {session.session}  {session.seq}  {dim(session.hash[:16])}")


def _exported(answer: Exported) -> None:
    click.echo(f"{answer.events} events to {answer.path}; head {answer.digest}")


def _adopted(answer: Adopted) -> None:
    how = "exactly as they were" if answer.exact else "known from now on"
    click.echo(f"{answer.events} events taken in, {how}; {answer.already_there} were here; head {answer.digest}")


def _rebuilt(answer: Rebuilt) -> None:
    if answer.equal:
        click.echo(f"{answer.events} events folded; {click.style('equal', fg='green')} to what stood before")
    elif answer.equal is None:
        click.echo(f"{answer.events} events folded")
    else:
        click.secho(f"{answer.events} events folded; what stood before was different", fg="yellow")
    click.echo(dim(answer.digest_after))
    notes_below(answer.notes)


def _changed(answer: Changed) -> None:
    click.echo(f"since {answer.since}")
    for sign, kinds in (("+", answer.added), ("-", answer.removed), ("~", answer.modified)):
        for kind, nodes in kinds.items():
            for node in nodes:
                click.echo(f"  {sign} [{flat(kind)}] {flat(node)}")
    for edge in answer.edges_added:
        click.echo(f"  + {flat(edge)}")
    for edge in answer.edges_removed:
        click.echo(f"  - {flat(edge)}")
    for tx in answer.transactions:
        state = " (unfinished)" if tx.open else ""
        click.echo(dim(f"  {tx.id}  {tx.at[:19]}  {tx.kind} by {tx.agent}{state}"))
    notes_below(answer.notes)


def _stats(answer: Stats) -> None:
    store = answer.store
    click.echo(f"{store.backend} store, schema {store.schema_version}, {store.bytes_on_disk / 1e6:.1f} MB")
    click.echo(f"{store.events} events in {store.sessions} sessions")
    click.echo(f"{store.nodes} nodes ({store.node_versions} versions), {store.edges} edges, {store.texts} texts")
    for kind in answer.kinds:
        props = f"  props: {', '.join(kind.props)}" if kind.props else ""
        click.echo(f"  {kind.nodes:7} {kind.kind}  {dim('/'.join(kind.views) + props)}")


def _backed_up(answer: BackedUp) -> None:
    click.echo(f"copied to {answer.path}; head {answer.digest}")
    if answer.audit_digest:
        click.echo(dim(f"and the audit; head {answer.audit_digest}"))
    notes_below(answer.notes)


def _diagnosis(answer: Diagnosis) -> None:
    for check in answer.checks:
        mark = click.style("ok  ", fg="green") if check.ok else click.style("FAIL", fg="red")
        click.echo(f"{mark}  {check.name:11} {check.detail}")
        if check.hint:
            click.echo(f"      hint: {check.hint}")


def _config(answer: ConfigShown) -> None:
    width = max(len(setting.name) for setting in answer.settings)
    for setting in answer.settings:
        value = ", ".join(setting.value) if isinstance(setting.value, tuple) else setting.value
        click.echo(f"{setting.name:{width}}  {click.style(str(value), bold=True)}  {dim(setting.origin)}")
        click.echo(dim(f"{'':{width}}  {setting.summary} ({setting.variable})"))


def _initialised(answer: Initialised) -> None:
    click.echo(f"wrote {answer.path}: project {answer.project}; memories go to {answer.store}")
    notes_below(answer.notes)


def _ingested(answer: Ingested) -> None:
    read = f"{answer.documents} documents in {answer.sections} sections"
    if answer.files:
        read += f", {answer.files} source files with {answer.symbols} symbols"
    if answer.records:
        read = f"{answer.records} records ({answer.messages} turns of conversations)"
    click.echo(f"{read}; {answer.unchanged} unchanged; {len(answer.skipped)} skipped")
    if answer.revived:
        click.echo(f"{answer.revived} of them had been deleted, and are back")
    for skipped in answer.skipped:
        click.echo(dim(f"  {skipped.path}: {skipped.reason}"))
    notes_below(answer.notes)


def _turns_recorded(answer: TurnsRecorded) -> None:
    click.echo(f"{click.style(answer.status, fg='green')}  {answer.session}")
    for turn in answer.turns:
        click.echo(f"  {turn.seq:5}  {turn.citation}  {dim(turn.id)}")
    notes_below(answer.notes)


def _reindexed(answer: Reindexed) -> None:
    click.echo(f"{answer.embedded} texts embedded with {answer.model or 'nothing'}")
    for line in answer.indexes:
        click.echo(dim(f"  {line}"))
    notes_below(answer.notes)


def _retrieval_benched(answer: RetrievalBenched) -> None:
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


def _viewed(answer: Viewed) -> None:
    for line in view_lines(answer):
        click.echo(line)
    notes_below(answer.notes)


def _extracted_memories(answer: ExtractedMemories) -> None:
    click.echo(f"{answer.texts} texts read: {answer.things} things and {answer.relations} relations")
    notes_below(answer.notes)


RENDERERS: Final[dict[type, Callable[[Any], None]]] = {
    AlertsListed: alerts_lines,
    ApprovalDecided: decided_lines,
    ApprovalList: approvals_lines,
    ApprovalRequested: requested_lines,
    Adopted: _adopted,
    AnalysisRouted: routed_lines,
    BackedUp: _backed_up,
    BatchWritten: batch_lines,
    Changed: _changed,
    Cited: _cited,
    ConfigShown: _config,
    ContextLinearized: _viewed,
    Deleted: deleted_lines,
    DeletionList: deletions_lines,
    Diagnosis: _diagnosis,
    Erasure: erasure_lines,
    Events: _events,
    Explained: explained_lines,
    Exported: _exported,
    ExtractedMemories: _extracted_memories,
    HeadShown: _head,
    HygieneApplied: applied_lines,
    HygieneReport: report_lines,
    Ingested: _ingested,
    Initialised: _initialised,
    KeyMade: key_made,
    KeyRotated: key_rotated,
    MessagesFound: messages_lines,
    NodeList: _nodes,
    PendingDelivered: delivered_lines,
    PendingShownAll: pending_lines,
    ProjectContext: context_lines,
    ProjectsShown: projects_lines,
    ProposalList: proposals_lines,
    Rebuilt: _rebuilt,
    Reindexed: _reindexed,
    Recalled: recalled_lines,
    RecalledRaw: raw_lines,
    Searched: searched_lines,
    Remembered: _remembered,
    ReportsListed: report_list_lines,
    ReportsRead: reports_lines,
    RetrievalBenched: _retrieval_benched,
    SemanticSearched: _viewed,
    Shown: _shown,
    SimilarFound: similar_lines,
    Statistics: statistics_lines,
    Stats: _stats,
    SubgraphMerged: _viewed,
    ToolCallsShown: calls_lines,
    TruthCompiled: truth_lines,
    TurnsRecorded: _turns_recorded,
    Verified: _verified,
    ViewExpanded: _viewed,
    WorkListed: tasks_lines,
    WorkMadeShown: made_lines,
    WorkShown: work_lines,
}
