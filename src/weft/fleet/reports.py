"""`report_write`, `report_read_latest`, `report_list`: reports of workflows."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.core.clock import parse_instant, to_iso
from weft.core.types import NOW, Find, NodeVersion
from weft.recall.answer_limits import bounded
from weft.recall.show_values import NodeShown, flagged, show_nodes
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label, Limit, Moment
from weft.runtime.operation import Operation
from weft.writing.build.entity_builder import check_text_field
from weft.writing.build.write_once import TimedText, once_a_minute, write_once
from weft.writing.write_contract import Keyword, WriteOptions, WriteResult

KIND: Final = "Report"
MAX_BODY: Final = 10_000  # characters
MAX_REPORTS: Final = 10_000  # read for one answer
KNOWN_KEYWORDS: Final = 12  # keywords named in an empty answer

Title = Annotated[str, Meta(min_length=1, max_length=512, description="the title, in one line")]
Workflow = Annotated[Label, Meta(description="the workflow that wrote it, such as daily-briefing")]


class ReportWrite(WriteOptions, frozen=True, kw_only=True):
    """Input of `report_write`."""

    title: Title
    body: Annotated[str, Meta(min_length=1, max_length=MAX_BODY, description="the report, at most 10,000 characters")]
    source_workflow: Workflow | None = None
    occurred_at: Annotated[Moment | None, Meta(description="the time that it reports on; now if unset")] = None


def report_write(ctx: CallContext, given: ReportWrite) -> WriteResult:
    """Keeps a report. The same title in the same minute is not written again, whatever the body.

    Give it the keywords by which it will be read: `weft report read-latest KEYWORD`.
    """
    check_text_field(given.title, field="title")
    check_text_field(given.body, field="body")
    at = ctx.clock.now_us() if given.occurred_at is None else parse_instant(given.occurred_at, field="occurred_at")
    title = " ".join(given.title.split())
    props = {} if given.source_workflow is None else {"source_workflow": given.source_workflow}
    piece = once_a_minute(ctx, given, TimedText(kind=KIND, title=title, text=given.body, at=at, props=props))
    note = "nothing was written: there is already a report with this title in this minute"
    return write_once(ctx, piece, request_id=given.request_id, note=note)


class ReportReadLatest(Struct, frozen=True, kw_only=True):
    """Input of `report_read_latest`."""

    keyword: Annotated[Keyword, Meta(description="a keyword of the report; case is ignored")]
    limit: Limit = 1
    everywhere: Annotated[bool, Meta(description="from every project")] = False


class ReportsRead(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Reports with their bodies, newest first."""

    reports: tuple[NodeShown, ...]
    notes: tuple[str, ...] = ()


def report_read_latest(ctx: CallContext, given: ReportReadLatest) -> ReportsRead:
    """Reads the newest report with a keyword: for questions such as "the latest X" or "last night's X"."""
    found = _reports(ctx, given.keyword, None, everywhere=given.everywhere)[: given.limit]
    notes: tuple[str, ...] = ()
    if not found:
        known = _keywords(_reports(ctx, None, None, everywhere=given.everywhere))
        told = f"reports are tagged {', '.join(known)}" if known else "there are no reports here yet"
        notes = (f"no report is tagged {given.keyword!r}: {told}",)
    shown = show_nodes(ctx, found)
    return bounded(ReportsRead(reports=shown, notes=(*notes, *flagged(shown))), "reports")


class ReportList(Struct, frozen=True, kw_only=True):
    """Input of `report_list`."""

    keyword: Annotated[Keyword | None, Meta(description="only reports with this keyword")] = None
    source_workflow: Annotated[Workflow | None, Meta(description="only reports of this workflow")] = None
    limit: Limit = 20
    offset: Annotated[int, Meta(ge=0, le=MAX_REPORTS, description="how many newer ones to skip")] = 0
    everywhere: Annotated[bool, Meta(description="from every project")] = False


class ReportLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A report without its body."""

    id: str
    title: str
    occurred_at: str
    characters: int
    citation: str
    keywords: tuple[str, ...] = ()
    source_workflow: str | None = None


class ReportsListed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Reports, newest first; `total` is how many match, `next_offset` the offset of the next page."""

    reports: tuple[ReportLine, ...]
    total: int
    next_offset: int | None = None
    notes: tuple[str, ...] = ()


def report_list(ctx: CallContext, given: ReportList) -> ReportsListed:
    """Lists reports without their bodies, newest first."""
    found = _reports(ctx, given.keyword, given.source_workflow, everywhere=given.everywhere)
    page = found[given.offset : given.offset + given.limit]
    citations = ctx.store.citations(ctx.viewer, [node.event for node in page])
    further = given.offset + len(page)
    notes: tuple[str, ...] = ()
    if len(found) == MAX_REPORTS:
        notes = (f"only the newest {MAX_REPORTS:,} reports were read",)
    return ReportsListed(
        reports=tuple(_line(node, citations.get(node.event, "")) for node in page),
        total=len(found),
        next_offset=further if page and further < len(found) else None,
        notes=notes,
    )


def _reports(
    ctx: CallContext, keyword: str | None, workflow: str | None, *, everywhere: bool
) -> tuple[NodeVersion, ...]:
    """The matching reports that the caller may see, newest first."""
    find = Find(
        kinds=(KIND,),
        projects=None if everywhere else (ctx.settings.project, None),
        keywords=None if keyword is None else (keyword,),
        props={} if workflow is None else {"source_workflow": workflow},
    )
    found = ctx.store.find(ctx.viewer, NOW, find, limit=MAX_REPORTS).nodes
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
        summary="keep a report of a workflow, once per title and minute",
        input=ReportWrite,
        output=WriteResult,
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
