"""Reports: what a workflow found out, kept for whoever asks for the latest of its sort."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.instants import parse_instant, to_iso
from weft.loom import Loom
from weft.operations.bounds import bounded
from weft.operations.fields import Label, Limit, Moment
from weft.operations.making import check_words
from weft.operations.once import this_minute, write_once
from weft.operations.registry import Operation
from weft.operations.remembered import Remembered
from weft.operations.showing import NodeShown, flagged, show_nodes
from weft.operations.write_options import Keyword, WriteOptions
from weft.types import NOW, Find, NodeVersion

KIND: Final = "Report"
MAX_BODY: Final = 10_000  # characters
MAX_REPORTS: Final = 10_000  # that are looked through
KNOWN_KEYWORDS: Final = 12  # that an empty answer names

Title = Annotated[str, Meta(min_length=1, max_length=512, description="what it is a report of, in one line")]
Workflow = Annotated[Label, Meta(description="the workflow that wrote it, such as daily-briefing")]


class ReportWrite(WriteOptions, frozen=True, kw_only=True):
    """Input of `report_write`."""

    title: Title
    body: Annotated[str, Meta(min_length=1, max_length=MAX_BODY, description="the report, at most 10,000 characters")]
    source_workflow: Workflow | None = None
    occurred_at: Annotated[Moment | None, Meta(description="the moment it reports of; now if unset")] = None


def report_write(loom: Loom, given: ReportWrite) -> Remembered:
    """Keeps a report. The same title in the same minute is the report that is there already, whatever its body.

    Give it the keywords by which it will be asked for: `weft report read-latest KEYWORD`.
    """
    check_words(given.title, field="title")
    check_words(given.body, field="body")
    at = loom.clock.now_us() if given.occurred_at is None else parse_instant(given.occurred_at, field="occurred_at")
    title = " ".join(given.title.split())
    props = {} if given.source_workflow is None else {"source_workflow": given.source_workflow}
    piece = this_minute(loom, given, kind=KIND, title=title, text=given.body, at=at, props=props)
    note = "a report of this title and minute is there already; nothing was written"
    return write_once(loom, piece, request_id=given.request_id, note=note)


class ReportReadLatest(Struct, frozen=True, kw_only=True):
    """Input of `report_read_latest`."""

    keyword: Annotated[Keyword, Meta(description="the topic it was tagged with, in capitals or not")]
    limit: Limit = 1
    everywhere: Annotated[bool, Meta(description="from every project")] = False


class ReportsRead(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Reports with their bodies, newest first."""

    reports: tuple[NodeShown, ...]
    notes: tuple[str, ...] = ()


def report_read_latest(loom: Loom, given: ReportReadLatest) -> ReportsRead:
    """Reads the newest report tagged with a keyword: what to call for "the latest X" or "last night's X"."""
    found = _reports(loom, given.keyword, None, everywhere=given.everywhere)[: given.limit]
    notes: tuple[str, ...] = ()
    if not found:
        known = _keywords(_reports(loom, None, None, everywhere=given.everywhere))
        told = f"reports are tagged {', '.join(known)}" if known else "there are no reports here yet"
        notes = (f"no report is tagged {given.keyword!r}: {told}",)
    shown = show_nodes(loom, found)
    return bounded(ReportsRead(reports=shown, notes=(*notes, *flagged(shown))), "reports")


class ReportList(Struct, frozen=True, kw_only=True):
    """Input of `report_list`."""

    keyword: Annotated[Keyword | None, Meta(description="only those tagged so")] = None
    source_workflow: Annotated[Workflow | None, Meta(description="only those of this workflow")] = None
    limit: Limit = 20
    offset: Annotated[int, Meta(ge=0, le=MAX_REPORTS, description="how many newer ones to pass over")] = 0
    everywhere: Annotated[bool, Meta(description="from every project")] = False


class ReportLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a report is, without its body."""

    id: str
    title: str
    occurred_at: str
    characters: int
    citation: str
    keywords: tuple[str, ...] = ()
    source_workflow: str | None = None


class ReportsListed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Reports, newest first; `total` is how many fit, `next_offset` where to go on."""

    reports: tuple[ReportLine, ...]
    total: int
    next_offset: int | None = None
    notes: tuple[str, ...] = ()


def report_list(loom: Loom, given: ReportList) -> ReportsListed:
    """Lists reports without their bodies, newest first."""
    found = _reports(loom, given.keyword, given.source_workflow, everywhere=given.everywhere)
    page = found[given.offset : given.offset + given.limit]
    citations = loom.store.citations(loom.viewer, [node.event for node in page])
    further = given.offset + len(page)
    notes: tuple[str, ...] = ()
    if len(found) == MAX_REPORTS:
        notes = (f"only the newest {MAX_REPORTS:,} were looked at",)
    return ReportsListed(
        reports=tuple(_line(node, citations.get(node.event, "")) for node in page),
        total=len(found),
        next_offset=further if page and further < len(found) else None,
        notes=notes,
    )


def _reports(loom: Loom, keyword: str | None, workflow: str | None, *, everywhere: bool) -> tuple[NodeVersion, ...]:
    """Reports that fit and that the caller may see, those of the latest moment first."""
    find = Find(
        kinds=(KIND,),
        projects=None if everywhere else (loom.settings.project, None),
        keywords=None if keyword is None else (keyword,),
        props={} if workflow is None else {"source_workflow": workflow},
    )
    found = loom.store.find(loom.viewer, NOW, find, limit=MAX_REPORTS).nodes
    return tuple(sorted(found, key=lambda node: (-node.interval.valid_from, -node.row)))


def _keywords(reports: tuple[NodeVersion, ...]) -> list[str]:
    told = dict.fromkeys(word for node in reports for word in _tags(node))
    return list(told)[:KNOWN_KEYWORDS]


def _tags(node: NodeVersion) -> tuple[str, ...]:
    held = node.props.get("keywords")
    return tuple(map(str, held)) if isinstance(held, list | tuple) else ()


def _line(node: NodeVersion, citation: str) -> ReportLine:
    workflow = node.props.get("source_workflow")
    return ReportLine(
        id=node.id,
        title=node.name,
        occurred_at=to_iso(node.interval.valid_from),
        characters=len(node.text),
        citation=citation,
        keywords=_tags(node),
        source_workflow=workflow if isinstance(workflow, str) else None,
    )


OPERATIONS = (
    Operation(
        name="report_write",
        summary="keep a report of a workflow, once a minute and title",
        input=ReportWrite,
        output=Remembered,
        effect="write",
        toolset="reports",
        run=report_write,
        arguments=("title", "body"),
    ),
    Operation(
        name="report_read_latest",
        summary="read the newest report tagged with a keyword",
        input=ReportReadLatest,
        output=ReportsRead,
        effect="read",
        toolset="reports",
        run=report_read_latest,
        arguments=("keyword",),
    ),
    Operation(
        name="report_list",
        summary="list reports without their bodies, newest first",
        input=ReportList,
        output=ReportsListed,
        effect="read",
        toolset="reports",
        run=report_list,
    ),
)
