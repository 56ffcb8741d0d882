"""Publishing: chosen reports and documents as a static site. Its pages are known, so that an erasure reaches them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.errors import Invalid, NotFound
from weft.instants import to_iso
from weft.loom import Loom
from weft.operations.code_records import file_id
from weft.operations.document_parts import as_written, is_markdown, parts_of
from weft.operations.fields import Label
from weft.operations.paths import read_path
from weft.operations.registry import Operation
from weft.operations.showing import NodeShown, show_nodes
from weft.operations.write_options import Keyword
from weft.operations.written_files import FileText, announce_files, note_files
from weft.publishing.pages import STYLE, STYLE_FILE, Page, index_html, page_html
from weft.publishing.site import check_place, write_site
from weft.types import NOW, SCOPES, Find, NodeVersion, Scope, Viewer

REPORT: Final = "Report"
DOCUMENT: Final = "Document"
MAX_REPORTS: Final = 1_000

Slug = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=64)]
Source = Annotated[str, Meta(min_length=1, max_length=4096)]


class Publish(Struct, frozen=True, kw_only=True):
    """Input of `publish`."""

    name: Annotated[Slug, Meta(description="the site's name: small letters, digits and -, as it stands in its address")]
    reports: Annotated[tuple[Keyword, ...], Meta(max_length=100, description="topics whose reports are published")] = ()
    report_ids: Annotated[tuple[Label, ...], Meta(max_length=1000, description="single reports, by their ids")] = ()
    documents: Annotated[
        tuple[Source, ...], Meta(max_length=1000, description="ingested documents, by their paths in the project")
    ] = ()
    title: Annotated[str, Meta(max_length=200, description="what the first page is called; the name if unset")] = ""
    scope: Annotated[
        Scope, Meta(description="the narrowest scope that is published: what is public, or shared or admin too")
    ] = "public"
    directory: (
        Annotated[str, Meta(min_length=1, max_length=4096, description="where sites are; the setting `sites` if unset")]
        | None
    ) = None


class PagePublished(Struct, frozen=True, kw_only=True):
    """A page and where it came from."""

    file: str
    title: str
    citation: str


class Published(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The site that was written; `address` is its path at a server that shows this directory."""

    directory: str
    address: str
    pages: tuple[PagePublished, ...]
    notes: tuple[str, ...] = ()


def publish(loom: Loom, given: Publish) -> Published:
    """Writes a static site of the reports and documents you name: a page each, an index, no scripts.

    Only what is public is published unless `--scope` says otherwise; what is sensitive never is. The site replaces the
    one of this name that was there. Erasing something removes the pages that hold it, and the index: publish again
    then. `weft serve` shows it under /sites/.
    """
    if not (given.reports or given.report_ids or given.documents):
        raise Invalid("nothing was chosen", hint="name topics with --reports, ids with --report-ids, or --documents")
    place = _place(loom, given)
    check_place(place)
    reader = replace(loom, viewer=_public(loom.viewer, given.scope))
    reports = tuple(_report_page(shown) for shown in show_nodes(reader, _reports(reader, given)))
    documents = tuple(_document_page(reader, source) for source in dict.fromkeys(given.documents))
    found = [page for page in (*reports, *documents) if page is not None]
    notes = _left_out(loom, reader, given)
    if not found:
        raise NotFound(
            f"nothing that was chosen may be published: {'; '.join(notes) or 'there are no such reports'}",
            hint="`weft report list` shows reports; `weft ingest` reads documents",
        )
    title = given.title or given.name
    groups = [("Reports", [page for page, _ in filter(None, reports)])]
    groups += [("Documents", [page for page, _ in filter(None, documents)])]
    files = {page.file: page_html(page, title) for page, _ in found}
    index = index_html(title, groups, to_iso(loom.clock.now_us())[:10])
    known = {place / page.file: FileText(text=files[page.file], nodes=page.nodes) for page, _ in found}
    # The index names every page: it goes with any of them.
    known[place / "index.html"] = FileText(text=index, nodes=tuple(each for page, _ in found for each in page.nodes))
    announce_files(loom.settings, known)
    write_site(place, {**files, "index.html": index, STYLE_FILE: STYLE})
    note_files(loom.settings, known)
    pages = tuple(PagePublished(file=page.file, title=page.title, citation=citation) for page, citation in found)
    return Published(directory=str(place), address=f"/sites/{given.name}/", pages=pages, notes=notes)


def _place(loom: Loom, given: Publish) -> Path:
    written = given.directory or loom.settings.sites
    if not written:
        raise Invalid(
            "it is not said where sites are", hint="give --directory, or set `sites` (WEFT_SITES) to a directory"
        )
    return read_path(written).absolute() / given.name


def _public(viewer: Viewer, scope: Scope) -> Viewer:
    """Who sees what may be published: nothing sensitive, nothing narrower than the scope, nothing beyond one's own."""
    wide = SCOPES[: SCOPES.index(scope) + 1]
    return replace(viewer, scopes=viewer.scopes & set(wide), sensitive=False)


def _reports(loom: Loom, given: Publish) -> tuple[NodeVersion, ...]:
    """Those chosen that may be seen, the latest first, each once."""
    found: dict[str, NodeVersion] = {}
    if given.reports:
        here = Find(kinds=(REPORT,), projects=(loom.settings.project, None), keywords=given.reports)
        found |= {node.id: node for node in loom.store.find(loom.viewer, NOW, here, limit=MAX_REPORTS).nodes}
    if given.report_ids:
        named = loom.store.nodes(loom.viewer, NOW, given.report_ids)
        found |= {node.id: node for node in named if node.kind == REPORT}
    return tuple(sorted(found.values(), key=lambda node: (-node.interval.valid_from, -node.row)))


def _report_page(node: NodeShown) -> tuple[Page, str]:
    topics = node.props.get("keywords") or ()
    about = (node.valid_from[:16].replace("T", " "), *([", ".join(map(str, topics))] if topics else []))
    page = Page(name=node.id, title=node.name or "report", text=node.text, about=about, nodes=(node.id,))
    return page, node.citation


def _document_page(loom: Loom, source: str) -> tuple[Page, str] | None:
    """A document as its sections and chunks say it, in order; None if nobody may read it here."""
    nodes = loom.store.nodes(loom.viewer, NOW, [file_id(loom.settings.project, source)])
    document = next((node for node in nodes if node.kind == DOCUMENT), None)
    if document is None:
        return None
    plain = not is_markdown(source)
    parts = parts_of(loom, document.id, document.props.get("source"))
    text = as_written(parts, markdown=not plain)
    (shown,) = show_nodes(loom, [document])
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


def _left_out(loom: Loom, reader: Loom, given: Publish) -> tuple[str, ...]:
    """What was chosen and is not published, and why, as far as the caller may know."""
    notes = []
    own = replace(loom, viewer=replace(loom.viewer, sensitive=False))
    hidden = len(_reports(own, given)) - len(_reports(reader, given))
    narrow = [path for path in given.documents if not _document_page(reader, path) and _document_page(own, path)]
    if hidden or narrow:
        told = [*([f"{hidden} reports"] if hidden else []), *narrow]
        notes.append(f"not {given.scope}, and left out: {', '.join(told)}; --scope publishes more")
    unknown = [path for path in given.documents if _document_page(own, path) is None]
    if unknown:
        notes.append(f"never ingested as documents: {', '.join(unknown)}")
    return tuple(notes)


OPERATIONS = (
    Operation(
        name="publish",
        summary="write a static site of chosen reports and documents",
        input=Publish,
        output=Published,
        effect="write",
        toolset="reports",
        reach="machine",
        run=publish,
        arguments=("name",),
    ),
)
