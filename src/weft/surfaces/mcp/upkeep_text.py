"""How what was read in, where it went and how the store stands read to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.context.wording import plain
from weft.surfaces.mcp.node_text import node_lines
from weft.surfaces.mcp.words import QUOTED, Rendered, block, counted, facts, kind, line, node_id, said

if TYPE_CHECKING:
    from weft.log.verify import Verified
    from weft.operations.extracting import ExtractedMemories
    from weft.operations.ingesting import Ingested
    from weft.operations.priority import ProjectContext
    from weft.operations.projects import ProjectsShown
    from weft.operations.publishing import Published
    from weft.operations.tending import TruthCompiled
    from weft.operations.transcripts import TranscriptsIngested
    from weft.operations.upkeep import Changed, Diagnosis, Stats


KINDS_NAMED = 4


def ingested(answer: Ingested) -> Rendered:
    """What was read, and what was passed over."""
    read = f"{counted(answer.documents, 'document')} in {counted(answer.sections, 'section')}"
    if answer.chunks:
        read += f" and {counted(answer.chunks, 'chunk')}"
    if answer.files:
        read += f", {counted(answer.files, 'source file')} with {counted(answer.symbols, 'symbol')}"
    if answer.records:
        read = f"{counted(answer.records, 'record')}, {counted(answer.messages, 'turn')} of conversations among them"
    back = f" {answer.revived:,} of them had been deleted, and are back." if answer.revived else ""
    back += f" {answer.ended:,} whose files are gone were ended." if answer.ended else ""
    skipped = [f"skipped: {said(each.path, 500)}: {line(each.reason, 500)}" for each in answer.skipped]
    summary = f"Read {read}; {answer.unchanged:,} unchanged, {sum(answer.reasons.values()):,} skipped.{back}"
    return Rendered(summary=summary, blocks=("\n".join(skipped),) if skipped else ())


def transcripts(answer: TranscriptsIngested) -> Rendered:
    """How many conversations were read, and into which projects they went."""
    found = f"{counted(answer.conversations, 'conversation')}, {counted(answer.read, 'turn')}"
    kept = f"{answer.written:,} written, {answer.unchanged:,} unchanged, {answer.skipped:,} skipped"
    where = [f"{node_id(project)}: {counted(turns, 'turn')}" for project, turns in answer.projects.items()]
    where += [f"left out, {count:,} of: {said(reason, 500)}" for reason, count in answer.reasons.items()]
    where += [f"left out: {said(each, 500)}" for each in answer.left_out]
    summary = f"{found} in {counted(answer.files, 'file')}: {'nothing was kept' if answer.dry_run else kept}."
    return Rendered(summary=summary, blocks=("\n".join(where),) if where else ())


def extracted(answer: ExtractedMemories) -> Rendered:
    """What was read out of texts."""
    found = f"{counted(answer.things, 'thing')} and {counted(answer.relations, 'relation')}"
    return Rendered(summary=f"{counted(answer.texts, 'text')} read: {found}; {answer.read_before:,} read before.")


def projects(answer: ProjectsShown) -> Rendered:
    """One project a line, with its focus areas."""
    lines = []
    for project in answer.projects:
        focuses = ", ".join(said(focus.name) for focus in project.focuses)
        about = said(project.description, 500) if project.description else ""
        here = "this one" if project.here else ""
        lines.append(facts(node_id(project.name), here, about, f"focus areas {focuses}" if focuses else ""))
    blocks = ("\n".join(lines),) if lines else ()
    return Rendered(summary=f"{counted(len(lines), 'project')}. {QUOTED}", blocks=blocks)


def project_context(answer: ProjectContext) -> Rendered:
    """What to know, each with the level that it comes from."""
    if not answer.items:
        return Rendered(summary=f"{answer.status}: nothing is kept there.")
    blocks = [f"{item.level} · {node_id(item.node.id)} · {node_lines(item.node)}" for item in answer.items]
    blocks += [f"{node_id(one)} conflicts with {node_id(other)}" for one, other in answer.conflicts]
    due = " Hygiene is due." if answer.hygiene_due else ""
    return Rendered(
        summary=f"{counted(len(answer.items), 'memory', 'memories')} to know.{due} {QUOTED}", blocks=tuple(blocks)
    )


def changed(answer: Changed) -> Rendered:
    """What came, went and changed, each with how its words begin."""
    lines = [
        facts(f"{sign} {kind(each)} {node_id(node)}", said(answer.words[node]) if node in answer.words else "")
        for sign, kinds in (("+", answer.added), ("-", answer.removed), ("~", answer.modified))
        for each, nodes in kinds.items()
        for node in nodes
    ]
    lines += [f"+ {said(each, 500)}" for each in answer.edges_added]
    lines += [f"- {said(each, 500)}" for each in answer.edges_removed]
    edges = len(answer.edges_added) + len(answer.edges_removed)
    told = [
        f"{sum(map(len, kinds.values())):,} {done} ({_kinds(kinds)})"
        for done, kinds in (("added", answer.added), ("removed", answer.removed), ("changed", answer.modified))
        if any(kinds.values())
    ]
    told += [counted(edges, "relation")] if edges else []
    summary = f"Since {line(answer.since)[:19]}: {', '.join(told) or 'nothing changed'}. {QUOTED}"
    return Rendered(summary=summary, blocks=("\n".join(lines),) if lines else ())


def _kinds(kinds: dict[str, tuple[str, ...]]) -> str:
    """How many of which kind, the most first; of a few."""
    most = sorted(kinds, key=lambda each: -len(kinds[each]))
    named = [f"{len(kinds[each]):,} {plain(each)}" for each in most[:KINDS_NAMED] if kinds[each]]
    return ", ".join(named) + (" and others" if len(most) > KINDS_NAMED else "")


def stats(answer: Stats) -> Rendered:
    """Counts, and the kinds there are."""
    store = answer.store
    counts = (("node", store.nodes), ("edge", store.edges), ("event", store.events), ("text", store.texts))
    size = f"{store.bytes_on_disk / 1e6:.1f} MB" if store.bytes_on_disk else ""
    kinds = "\n".join(f"{kind(each.kind)} {each.nodes:,}" for each in answer.kinds)
    told = ", ".join(filter(None, (*(counted(number, what) for what, number in counts), size)))
    from weft.operations.vectors_held import held_line

    held = answer.vectors
    vectors = f" Vectors: {line(held_line(held), 500)}." if held is not None and held.wanted is not None else ""
    return Rendered(summary=f"{told}.{vectors}", blocks=(kinds,) if kinds else ())


def diagnosis(answer: Diagnosis) -> Rendered:
    """Which self-tests pass."""
    lines = [
        facts(f"{'ok' if each.ok else 'FAILED'}: {line(each.name)}", line(each.detail, 500), line(each.hint, 500))
        for each in answer.checks
    ]
    failed = sum(not each.ok for each in answer.checks)
    summary = f"{failed} of {len(lines)} self-tests failed." if failed else "Every self-test passes."
    return Rendered(summary=summary, blocks=("\n".join(lines),))


def truth(answer: TruthCompiled) -> Rendered:
    """What was compiled, and from how much."""
    if not answer.text:
        return Rendered(summary="Nothing was compiled.")  # the notes say why
    kept = f", {'already kept' if answer.status == 'duplicate_skip' else 'kept'} as {answer.citation}"
    summary = f"Compiled from {counted(len(answer.sources), 'memory', 'memories')}{kept if answer.citation else ''}."
    return Rendered(summary=f"{summary} {QUOTED}", blocks=(block(answer.text),))


def published(answer: Published) -> Rendered:
    """Where the site is, and its pages."""
    pages = [facts(said(page.file), said(page.title), line(page.citation, 500)) for page in answer.pages]
    return Rendered(
        summary=f"{counted(len(pages), 'page')} in {said(answer.directory, 500)}; at a server {said(answer.address)}.",
        blocks=("\n".join(pages),) if pages else (),
    )


def verified(answer: Verified) -> Rendered:
    """Whether the log is whole."""
    events = f"{counted(answer.events, 'event')} in {counted(answer.commits, 'commit')}"
    if answer.problem is not None:
        return Rendered(summary=f"The log is broken: {line(answer.problem, 500)} ({events} read).")
    return Rendered(summary=f"The log is whole: {events}, {answer.erased:,} erased; its head is {answer.digest}.")
