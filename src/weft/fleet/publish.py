"""`publish`: chosen reports and documents as a static site. Its pages are registered, so that erasures reach them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.core.clock import to_iso
from weft.core.errors import Invalid, NotFound
from weft.core.types import NOW, SCOPES, Find, NodeVersion, Scope, Viewer
from weft.files.paths import read_path
from weft.fleet.site import STYLE, STYLE_FILE, Page, check_place, index_html, page_html, write_site
from weft.recall.show_values import NodeShown, show_nodes
from weft.retrieval.citations.document_parts import as_written, is_markdown, parts_of
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label
from weft.runtime.operation import Operation
from weft.writing.build.written_files import FileText, announce_files, note_files
from weft.writing.write_contract import Keyword

REPORT: Final = "Report"
DOCUMENT: Final = "Document"
MAX_REPORTS: Final = 1_000

Slug = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=64)]
Source = Annotated[str, Meta(min_length=1, max_length=4096)]


class Publish(Struct, frozen=True, kw_only=True):
    """Input of `publish`."""

    name: Annotated[Slug, Meta(description="the site's name in its address: small letters, digits and -")]
    reports: Annotated[
        tuple[Keyword, ...], Meta(max_length=100, description="topics: their reports are published")
    ] = ()
    report_ids: Annotated[tuple[Label, ...], Meta(max_length=1000, description="single reports, by id")] = ()
    documents: Annotated[
        tuple[Source, ...], Meta(max_length=1000, description="ingested documents, by path in the project")
    ] = ()
    title: Annotated[str, Meta(max_length=200, description="title of the first page; the site's name if unset")] = ""
    scope: Annotated[Scope, Meta(description="the narrowest scope that is published: public, shared or admin")] = (
        "public"
    )
    directory: (
        Annotated[
            str, Meta(min_length=1, max_length=4096, description="the directory of sites; the setting `sites` if unset")
        ]
        | None
    ) = None


class PagePublished(Struct, frozen=True, kw_only=True):
    """A page and its source."""

    file: str
    title: str
    citation: str


class SitePublished(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The site that was written; `address` is its path on a server of this directory."""

    directory: str
    address: str
    pages: tuple[PagePublished, ...]
    notes: tuple[str, ...] = ()


def publish(ctx: CallContext, given: Publish) -> SitePublished:
    """Writes a static site of the reports and documents you name: a page each, an index, no scripts.

    Only public memories are published unless `--scope` says otherwise; sensitive ones never are. The site replaces the
    previous one of this name. An erasure removes the pages that contain what is erased, and the index: publish again
    then. `weft serve` shows it under /sites/.
    """
    if not (given.reports or given.report_ids or given.documents):
        raise Invalid(
            "nothing to publish was given", hint="give topics with --reports, ids with --report-ids, or --documents"
        )
    place = _place(ctx, given)
    check_place(place)
    reader = replace(ctx, viewer=_public(ctx.viewer, given.scope))
    reports = tuple(_report_page(shown) for shown in show_nodes(reader, _reports(reader, given)))
    documents = tuple(_document_page(reader, source) for source in dict.fromkeys(given.documents))
    found = [page for page in (*reports, *documents) if page is not None]
    notes = _left_out(ctx, reader, given)
    if not found:
        raise NotFound(
            f"nothing can be published: {'; '.join(notes) or 'there are no such reports'}",
            hint="`weft report list` lists reports; `weft ingest` reads documents",
        )
    title = given.title or given.name
    groups = [("Reports", [page for page, _ in filter(None, reports)])]
    groups += [("Documents", [page for page, _ in filter(None, documents)])]
    files = {page.file: page_html(page, title) for page, _ in found}
    index = index_html(title, groups, to_iso(ctx.clock.now_us())[:10])
    known = {place / page.file: FileText(text=files[page.file], nodes=page.nodes) for page, _ in found}
    # The index names every page: it is removed with any of them.
    known[place / "index.html"] = FileText(text=index, nodes=tuple(each for page, _ in found for each in page.nodes))
    announce_files(ctx.settings, known)
    write_site(place, {**files, "index.html": index, STYLE_FILE: STYLE})
    note_files(ctx.settings, known)
    pages = tuple(PagePublished(file=page.file, title=page.title, citation=citation) for page, citation in found)
    return SitePublished(directory=str(place), address=f"/sites/{given.name}/", pages=pages, notes=notes)


def _place(ctx: CallContext, given: Publish) -> Path:
    written = given.directory or ctx.settings.sites
    if not written:
        raise Invalid(
            "no directory for sites is set", hint="give --directory, or set `sites` (WEFT_SITES) to a directory"
        )
    return read_path(written).absolute() / given.name


def _public(viewer: Viewer, scope: Scope) -> Viewer:
    """The viewer of what may be published: nothing sensitive, nothing beyond the scope or the caller's rights."""
    wide = SCOPES[: SCOPES.index(scope) + 1]
    return replace(viewer, scopes=viewer.scopes & set(wide), sensitive=False)


def _reports(ctx: CallContext, given: Publish) -> tuple[NodeVersion, ...]:
    """The chosen reports that are visible, latest first, each once."""
    found: dict[str, NodeVersion] = {}
    if given.reports:
        here = Find(kinds=(REPORT,), projects=(ctx.settings.project, None), keywords=given.reports)
        found |= {node.id: node for node in ctx.store.find(ctx.viewer, NOW, here, limit=MAX_REPORTS).nodes}
    if given.report_ids:
        named = ctx.store.nodes(ctx.viewer, NOW, given.report_ids)
        found |= {node.id: node for node in named if node.kind == REPORT}
    return tuple(sorted(found.values(), key=lambda node: (-node.interval.valid_from, -node.row)))


def _report_page(node: NodeShown) -> tuple[Page, str]:
    topics = node.props.get("keywords") or ()
    about = (node.valid_from[:16].replace("T", " "), *([", ".join(map(str, topics))] if topics else []))
    page = Page(name=node.id, title=node.name or "report", text=node.text, about=about, nodes=(node.id,))
    return page, node.citation


def _document_page(ctx: CallContext, source: str) -> tuple[Page, str] | None:
    """A document from its sections and chunks, in order; None if it is not visible."""
    nodes = ctx.store.nodes(ctx.viewer, NOW, [file_id(ctx.settings.project, source)])
    document = next((node for node in nodes if node.kind == DOCUMENT), None)
    if document is None:
        return None
    plain = not is_markdown(source)
    parts = parts_of(ctx, document.id, document.props.get("source"))
    text = as_written(parts, markdown=not plain)
    (shown,) = show_nodes(ctx, [document])
    about = (source, f"read on {to_iso(document.recorded_at)[:10]}")
    page = Page(
        name=document.id,
        title=document.name or source,
        text=text,
        about=about,
        plain=plain,
        nodes=(document.id, *(part.id for part in parts)),
    )
    return page, shown.citation


def _left_out(ctx: CallContext, reader: CallContext, given: Publish) -> tuple[str, ...]:
    """Notes on chosen items that are not published, and why, as far as the caller may know."""
    notes = []
    own = replace(ctx, viewer=replace(ctx.viewer, sensitive=False))
    hidden = len(_reports(own, given)) - len(_reports(reader, given))
    narrow = [path for path in given.documents if not _document_page(reader, path) and _document_page(own, path)]
    if hidden or narrow:
        told = [*([f"{hidden} reports"] if hidden else []), *narrow]
        notes.append(f"omitted, because not {given.scope}: {', '.join(told)}; --scope publishes more")
    unknown = [path for path in given.documents if _document_page(own, path) is None]
    if unknown:
        notes.append(f"not ingested as documents: {', '.join(unknown)}")
    return tuple(notes)


OPERATIONS = (
    Operation(
        name="publish",
        summary="write a static site of chosen reports and documents",
        input=Publish,
        output=SitePublished,
        effect="write",
        toolset="reports",
        reach="machine",
        run=publish,
        arguments=("name",),
    ),
)
