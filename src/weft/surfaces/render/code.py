"""Answers about a workspace's source code: packs, slices, callers, what a change breaks, and the state of its graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from weft.context.code_pack import known_line, pack_text
from weft.runtime.jobs import job_line
from weft.surfaces.render.ingest import skipped_lines, skipped_reasons
from weft.surfaces.render.page import (
    Colour,
    TextPage,
    counted,
    facts,
    minute,
    more_from,
    one_line,
    sentence,
)
from weft.text.one_line import flat

if TYPE_CHECKING:
    from weft.code.ask.diff import CodeChanged
    from weft.code.ask.docs import DocsFound
    from weft.code.ask.explain import CodeExplained
    from weft.code.ask.graph_edges import EdgesListed
    from weft.code.ask.graph_health import GraphHealth
    from weft.code.ask.graph_query import CodeHit, GraphAnswer
    from weft.code.ask.impact import ImpactAnalyzed
    from weft.code.ask.reach import ReachedSymbol
    from weft.code.ask.rebuild import GraphRebuilt
    from weft.code.ask.semantic_slice import SliceShown
    from weft.code.ask.similar_code import SimilarCode
    from weft.code.ask.workspaces import WorkspaceSet
    from weft.code.communities.show import CommunitiesListed, CommunityShown
    from weft.code.index.history import CommitIndexed
    from weft.context.code_pack import ContextPack, SymbolRef

SUMMARY_CHARACTERS: Final = 300
SENTENCE_CHARACTERS: Final = 400


def pack(p: TextPage, answer: ContextPack) -> None:
    """The text of a pack, which is quoted already and within its budget."""
    p.say(one_line(answer.summary, SENTENCE_CHARACTERS))
    p.text(answer.text)
    if p.for_model:
        p.text(pack_text(answer))  # its summary is said


def slice_(p: TextPage, answer: SliceShown) -> None:
    """The lines of a symbol, then what it is joined to."""
    p.say(one_line(answer.summary, SENTENCE_CHARACTERS) or "Nothing is known of it.")
    p.block(_place(p, answer))
    if answer.code:
        p.code(answer.code, first=answer.start_line)
    elif answer.signature:
        p.lines(p.words(answer.signature, 500))
    _refs(p, "called by", answer.callers)
    _refs(p, "calls", answer.callees)
    _refs(p, "tested by", answer.tests)
    _refs(p, "members", answer.members)
    _refs(p, "others of that name", answer.others)
    known = (*answer.decisions, *answer.learnings, *answer.documents)
    p.section("about it", (known_line(each).strip() for each in known))


def explained(p: TextPage, answer: CodeExplained) -> None:
    """What the graph knows of a symbol."""
    p.say(one_line(answer.summary, SENTENCE_CHARACTERS) or "Nothing is known of it.")
    p.block(facts(_place(p, answer), p.words(answer.signature, 500) if answer.signature else ""))
    _reached(p, "used by", answer.callers)
    _reached(p, "uses", answer.callees)
    _refs(p, "tested by", answer.tests)
    _refs(p, "extends", answer.bases)
    _refs(p, "extended by", answer.implementations)
    _refs(p, "members", answer.members)
    if answer.unresolved:
        p.block(f"outside, or not resolved: {', '.join(map(p.words, answer.unresolved))}")
    _refs(p, "others of that name", answer.others)
    p.section(
        "versions",
        (
            facts(
                f"{minute(each.valid_from)}{f' to {minute(each.valid_to)}' if each.valid_to else ''}",
                f"line {each.line}",
                flat(each.git_commit or ""),
                p.dim(flat(each.citation)),
            )
            for each in answer.history
        ),
    )


def impact(p: TextPage, answer: ImpactAnalyzed) -> None:
    """What a change affects, the nearest first."""
    p.say(one_line(answer.summary, SENTENCE_CHARACTERS) or "Nothing is known of it.")
    _reached(p, "direct", answer.direct)
    _reached(p, "direct tests", answer.direct_tests)
    _reached(p, "tests further away", answer.transitive_tests)
    _reached(p, "further away", answer.transitive)


def _place(p: TextPage, answer: SliceShown | CodeExplained) -> str:
    last = f"-{answer.end_line}" if answer.end_line > answer.start_line else ""
    return p.dim(f"{flat(answer.citation)}{last}" if answer.citation else "")


def _refs(p: TextPage, title: str, refs: Sequence[SymbolRef]) -> None:
    p.section(title, (f"{p.words(each.name)}  {p.dim(p.name(each.citation))}" for each in refs))


def _reached(p: TextPage, title: str, found: Sequence[ReachedSymbol]) -> None:
    p.section(title, (_reach(p, each) for each in found))


def _reach(p: TextPage, each: ReachedSymbol) -> str:
    relation = each.relation.lower().replace("_", " ")
    via = f"by way of {' < '.join(p.words(name, 60) for name in each.via)}" if each.via else ""
    steps = f"{each.distance} steps" if each.distance > 1 and not each.via else ""
    return f"{p.words(each.name)}  {facts(p.dim(p.name(each.citation)), relation, via or steps)}"


# ---- questions


def graph_answer(p: TextPage, answer: GraphAnswer) -> None:
    """Communities, then files with the symbols that answer."""
    if not answer.communities and not answer.hits:
        p.empty("answers in this workspace's code")
        return
    whole = counted(len(answer.communities), "community", "communities") if answer.communities else ""
    detail = counted(len(answer.hits), "hit") if answer.hits else ""
    p.say(f"{' and '.join(filter(None, (whole, detail)))} in this workspace's code.")
    if answer.communities:
        p.block(*(_community(p, each) for each in answer.communities))
    for number, hit in enumerate(answer.hits, start=1):
        _code_hit(p, number, hit)


def _code_hit(p: TextPage, number: int, hit: CodeHit) -> None:
    place = f"{hit.path}:{hit.line}"
    title = p.name(hit.path) if hit.type == "File" else f"{p.name(hit.name)} · {p.dim(p.name(place))}"
    p.block(f"{number}. {p.bold(title) if hit.type == 'File' else title}{_about(p, hit.summary)}")
    p.lines(*(f"   {p.name(each.name)}:{each.line}{_about(p, each.summary)}" for each in hit.symbols))


def _community(p: TextPage, community: CommunityShown) -> str:
    return f"{p.bold(p.name(community.label))}{_about(p, community.summary)}"


def _about(p: TextPage, summary: str) -> str:
    return f"  {p.words(summary, SUMMARY_CHARACTERS)}" if summary else ""


def communities(p: TextPage, answer: CommunitiesListed) -> None:
    """Groups of files that work together, the largest first."""
    if not answer.communities:
        p.empty("communities")
        return
    p.say(f"{counted(answer.total, 'community', 'communities')} of files, largest first.")
    p.say(more_from(answer.next_offset))
    p.block(*(_community(p, each) for each in answer.communities))


def similar(p: TextPage, answer: SimilarCode) -> None:
    """Symbols that are alike."""
    if not answer.similar:
        p.empty("similar symbols")
        return
    like = f" to {p.words(answer.element)}" if answer.element else ""
    p.say(f"{counted(len(answer.similar), 'symbol')} similar{like}, most similar first.")
    p.block()
    for each in answer.similar:
        share = "same" if each.same else f"{each.similarity:.0%}"
        p.lines(
            f"{share:>4}  {p.name(each.name)} · {p.dim(p.name(f'{each.path}:{each.line}'))}{_about(p, each.summary)}"
        )


def docs(p: TextPage, answer: DocsFound) -> None:
    """Passages of documents, each under its headings."""
    if not answer.passages:
        p.empty("passages")
        return
    p.say(f"{counted(len(answer.passages), 'passage')} of this workspace's documents.")
    for number, each in enumerate(answer.passages, start=1):
        title = p.bold(p.words(each.heading))
        p.block(f"{number}. {facts(title, p.dim(flat(each.citation)), p.flag(each.flags))}")
        p.quote(each.text)


def edges(p: TextPage, answer: EdgesListed) -> None:
    """Relations, one a line."""
    p.say(f"{counted(len(answer.edges), 'relation')} of this workspace's code.")
    p.say(f"The next begin after {answer.next}." if answer.next is not None else "")
    p.block(*(edge_line(p, each.src, each.rel, each.dst) for each in answer.edges))


def edge_line(p: TextPage, src: str, rel: str, dst: str) -> str:
    """A relation."""
    return f"{p.name(src)}  {p.dim(rel)}  {p.name(dst)}"


# ---- what changed, and the state of the graph


def changed(p: TextPage, answer: CodeChanged) -> None:
    """What was added, removed and modified: a sign, the kind, and where."""
    p.say(sentence(answer.summary))
    sides: tuple[tuple[str, str, Colour], ...] = (
        ("+", "added", "green"),
        ("-", "removed", "red"),
        ("~", "modified", "yellow"),
    )
    for sign, name, colour in sides:
        deltas = getattr(answer, name)
        if deltas:
            p.block(f"{name}:")
        for each in deltas:
            place = p.name(f"{each.path}:{each.line}" if each.line else each.path)
            symbol = f"{p.name(each.symbol)} · {p.dim(place)}" if each.symbol else place
            p.lines(f"{p.paint(sign, colour)} {each.type} {symbol}")


def commit(p: TextPage, answer: CommitIndexed) -> None:
    """What was read of a commit."""
    p.say(sentence(answer.summary))
    p.section("without symbols", skipped_lines(p, answer.skipped))


def workspace(p: TextPage, answer: WorkspaceSet) -> None:
    """What code tools work on now."""
    p.say(f"Code tools work on {p.words(answer.workspace, 300)}, project {p.name(answer.project)}.")
    p.say("It is indexed." if answer.indexed else "Nothing of it is indexed.")
    p.say(f"Watcher: {answer.watcher}.")


def rebuilt(p: TextPage, answer: GraphRebuilt) -> None:
    """A job that was begun or done, and what was skipped."""
    p.say(sentence(answer.summary))
    p.block(p.dim(f"job {answer.job.id}"), *map(p.dim, skipped_reasons(p, answer)))


def health(p: TextPage, answer: GraphHealth) -> None:
    """What is in the graph, what changed since, what is at work."""
    p.say(sentence(one_line(answer.summary, SUMMARY_CHARACTERS)))
    rows = [("workspace", p.words(answer.workspace, 4_096))]
    for title, counts in (("languages", answer.languages), ("symbols", answer.kinds), ("edges", answer.edges)):
        rows += [(title, ", ".join(f"{name} {count:,}" for name, count in counts.items()))] if counts else []
    if answer.files and answer.unresolved is not None:
        rows.append(("references", f"{answer.unresolved:,} unresolved, {answer.outside or 0:,} outside"))
    if (tx := answer.latest_tx) is not None:
        commit_of = f"commit {p.name(tx.commit[:12])}" if tx.commit else ""
        rows.append(("latest", facts(tx.kind, tx.id, minute(tx.at), commit_of, counted(answer.tx_count, "change"))))
    if answer.pending_changes:
        more = answer.pending_changes - len(answer.pending)
        rows.append(("changed", ", ".join(map(p.name, answer.pending)) + (f" and {more:,} more" if more else "")))
    note = f": {one_line(answer.watcher.note, SUMMARY_CHARACTERS)}" if answer.watcher.note else ""
    rows += [("watcher", f"{answer.watcher.state}{note}")]
    rows += [("", p.words(each, SUMMARY_CHARACTERS)) for each in answer.watcher.recent]
    rows += [("vectors", f"{answer.vectors_pending:,} still to be made")] if answer.vectors_pending else []
    rows += [("job", f"{job.id}: {one_line(job_line(job), SUMMARY_CHARACTERS)}") for job in answer.jobs]
    rows += [("problem", each) for each in skipped_lines(p, answer.problems)]
    rows += [("next", flat(each)) for each in answer.hints]
    p.block(*(f"{p.bold(f'{title:<10}')}  {value}" for title, value in rows))
