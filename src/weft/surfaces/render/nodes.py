"""Nodes: alone, in lists, as hits with their scores, and what a write or a citation says of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from weft.context.wording import MOMENTS, spoken
from weft.core.kinds import VIEWS
from weft.surfaces.render.page import TextPage, arrow, as_json, counted, day, facts, minute, moment, one_line, span
from weft.text.one_line import flat

if TYPE_CHECKING:
    from weft.erasure.forget import Forgotten
    from weft.recall.cite import Cited
    from weft.recall.look import MadeBy, NodeDetails, NodeList
    from weft.recall.request import Hit
    from weft.recall.show_values import NodeShown
    from weft.recall.similar import SimilarFound
    from weft.recall.what_became import Since
    from weft.retrieval.pipeline import ScoreSource, StageTrace
    from weft.writing.write_contract import WriteResult

SUMMARY_CHARACTERS: Final = 80  # of what a summary is about
CODE: Final = VIEWS["code"] - {"Community"}
LEAST_MS: Final = 0.1  # of a stage that is listed by itself


def held(node: NodeShown) -> str:
    """When it happened, or from when to when it held; nothing where nobody knows."""
    happened = node.kind in MOMENTS and node.valid_to is None
    return moment(node.valid_from) if happened else span(node.valid_from, node.valid_to)


def head(p: TextPage, node: NodeShown, *more: str, at: str = "") -> str:
    """The head of a node: kind, speaker, name, date and citation, and a mark if its words look like instructions."""
    # What a fact says begins with its name, which lacks the value.
    named = node.name and not (node.kind == "Fact" and node.text)
    kind = p.paint(f"[{spoken(node.kind, node.props, node.text, node.summary)}]", "cyan")
    name = f" {p.bold(p.words(node.name))}" if named else ""
    return facts(f"{kind}{name}", at or held(node), p.dim(flat(node.citation)), *more, p.flag(node.flags))


def says(p: TextPage, node: NodeShown, *, short: bool = True) -> None:
    """Adds a node's text below its head, unless its name says it all."""
    words = node.text or node.summary
    if node.kind in CODE and node.text:
        line = node.props.get("line")
        p.code(node.text, first=line if isinstance(line, int) else 0, short=short)
    elif words or not node.name:
        p.quote(words, short=short)


def nodes(p: TextPage, answer: NodeList) -> None:
    """One node after another, newest first."""
    if not answer.nodes:
        p.empty("memories")
        return
    p.say(f"{counted(len(answer.nodes), 'memory', 'memories')}, newest first.")
    for node in answer.nodes:
        p.block(head(p, node, at=_said_at(node)))
        says(p, node)


def _said_at(node: NodeShown) -> str:
    """The time of an event; for other nodes the time of recording."""
    return (held(node) if node.kind in MOMENTS else "") or minute(node.recorded_at)


def shown(p: TextPage, answer: NodeDetails) -> None:
    """A node with its text, what it is joined to, its versions and what made it."""
    if answer.node is None and not answer.history:
        p.say("It did not hold at that time.")
        return
    last = answer.node or answer.history[0]
    about = f"{p.kind(last.kind)} {p.words(last.name, SUMMARY_CHARACTERS) if last.name else ''}".rstrip()
    p.say(f"{about}: {counted(len(answer.edges), 'relation')}, {counted(len(answer.history), 'version')}.")
    if answer.node is None:
        p.say("It did not hold at that time: this is its last version.")
    p.block(head(p, last))
    says(p, last, short=False)
    where = f"project {p.name(last.project)}" if last.project else "all projects"
    p.lines(p.dim(facts(f"id {p.name(last.id)}", where, f"scope {last.scope}" if last.scope else "")))
    p.lines(p.reason(answer.reason))
    if last.props:
        p.lines(p.dim(f"properties {p.words(as_json(last.props), 2_000)}"))
    for way, other in (("before it", answer.previous), ("after it", answer.next)):
        p.lines(p.dim(f"{way}: {p.name(other)}") if other else "")
    joined = [each for each in answer.edges if (each.rel, each.direction) != ("PRODUCED", "in")]
    p.section(
        "joined to",
        (
            f"{arrow(each.rel, each.direction)} {p.kind(each.kind)} {p.words(each.name)}  {p.dim(p.name(each.id))}"
            + (f"  project {p.name(each.project)}" if each.project else "")
            for each in joined
        ),
    )
    p.section("earlier", (facts(f"{p.kind(each.kind)} {p.words(each.text)}", held(each)) for each in answer.earlier))
    made_by(p, answer.made_by)
    versions = [each for each in answer.history if each != last]
    for each in versions:
        retired = f"replaced {day(each.retired_at)}" if each.retired_at else "current"
        p.block(f"another version: {head(p, each, retired)}")
        says(p, each)


def made_by(p: TextPage, makers: Iterable[MadeBy]) -> None:
    """What a node came of."""
    p.section(
        "made by",
        (
            f"{p.kind(each.kind)} {p.words(each.name)}{f' ({each.status})' if each.status else ''}"
            f"  {p.dim(p.name(each.id))}"
            for each in makers
        ),
    )


def cited(p: TextPage, answer: Cited) -> None:
    """Whether the source still says so, and what it says."""
    p.say(f"{flat(answer.citation)} {_verdict(p, answer)}.")
    for each in answer.since:
        became(p, each)
    if (event := answer.event) is not None:
        by = f"by {one_line(event.agent)} ({one_line(event.role)})"
        p.block(p.dim(facts(one_line(event.kind), f"recorded {minute(event.recorded_at)}", by)))
        if event.erased:
            p.lines(erased(event.erased_at, event.erased_by))
        if not answer.nodes and event.payload:
            p.quote(as_json(event.payload))
    if answer.lines:
        p.block()
        p.code("\n".join(answer.lines))
        return
    own = [node for node in answer.nodes if node.kind != "Mention"]
    for node in own or answer.nodes:
        p.block(head(p, node))
        says(p, node, short=False)


def _verdict(p: TextPage, answer: Cited) -> str:
    if not answer.matches:
        return p.paint("no longer says what was cited", "red")
    for how in ("corrected", "withdrawn"):
        if any(each.how == how for each in answer.since):
            return p.paint(f"said this, which was {how} since", "yellow")
    return p.paint("still says what was cited", "green")


def became(p: TextPage, since: Since) -> None:
    """That what was cited was corrected, and by what, was withdrawn, or is over."""
    if since.how == "over":
        p.block(f"It held until {moment(since.at)}.")
        return
    by = f"by {one_line(since.agent)}" if since.agent else ""
    why = f"{p.reason(since.reason)}" if since.reason not in ("", "corrected") else ""
    how = " ".join(filter(None, (since.how.capitalize(), moment(since.at), by)))
    p.block(facts(how, why, p.dim(flat(since.citation))))
    if since.text:
        p.quote(since.text)


def erased(at: str | None, by: str | None) -> str:
    """What there is to say of an event that was erased."""
    return f"(erased {minute(at)} by {one_line(by or '')})" if at else "(erased)"


def forgotten(p: TextPage, answer: Forgotten) -> None:
    """That a memory is out of view, or in view again."""
    if answer.status in ("failed", "blocked_scope"):
        p.say(p.paint("Not written.", "red"))  # the notes say why
    elif answer.undone:
        p.say("It is in view." if answer.status == "duplicate_skip" else p.paint("Brought back into view.", "green"))
    else:
        p.say(p.paint("Removed from view.", "green"))


def remembered(p: TextPage, answer: WriteResult) -> None:
    """What became of a write, and what is like it."""
    if answer.status in ("failed", "blocked_scope"):
        p.say(p.paint("Not written.", "red"))  # the notes say why
        return
    where = f" as {answer.citation}" if answer.citation else ""
    if answer.status == "duplicate_skip":
        p.say(p.paint(f"Already saved{where}.", "green"))
    elif not answer.candidates:
        p.say(p.paint(f"Saved{where}.", "green"))
        if answer.supersedes:
            p.say(f"It replaces {counted(len(answer.supersedes), 'older memory', 'older memories')}.")
    elif answer.id:
        p.say(p.paint(f"It contradicts a current memory, and waits for review as {p.name(answer.id)}.", "yellow"))
    else:
        p.say(p.paint("Not written: a similar memory is saved already.", "yellow"))
    if answer.candidates:
        p.block()
    for alike in answer.candidates:
        differs = f"differs in {one_line(alike.differs_in)}" if alike.differs_in else ""
        score = f"{alike.score:.0%} alike" if alike.score else ""
        p.lines(facts(p.words(alike.title), f"id {p.name(alike.id)}", flat(alike.citation), score, differs))


# ---- hits and their scores


def hit(p: TextPage, number: int, found: Hit) -> None:
    """A memory that was found, the parts of it that answer, what to know of it, and what its score is made of."""
    score = f"score {found.score:.3f}" if found.why else ""
    p.block(f"{number}. {head(p, found.node, score)}")
    if not found.parts:
        says(p, found.node)
    for part in found.parts:
        by = p.words(part.by) if part.by else ""
        own = flat(part.citation) if part.citation != found.node.citation else ""
        about = facts(by, p.dim(own), p.flag(part.flags))
        p.lines(f"· {about}" if about else "")
        p.quote(part.text, short=True)
    p.lines(*map(p.remark, found.marks))
    p.lines(*why(p, found.why))
    if found.why:
        p.lines(
            *(
                p.dim(f"   {each.view} {each.score:.3f}: {p.words(each.path, 2_000)}")
                for each in found.seen
                if each.path
            )
        )


def why(p: TextPage, sources: Iterable[ScoreSource]) -> list[str]:
    """The parts that add up to a score, a line each."""
    return [
        p.dim(
            f"   {each.part:.3f} = {each.weight:.3f} x {each.raw:.3f} {one_line(each.name)}, rank {each.rank}"
            + (f": {p.words(each.detail, 2_000)}" if each.detail else "")
        )
        for each in sources
    ]


def stages(p: TextPage, trace: Iterable[StageTrace]) -> None:
    """The time and the remaining hits of each stage; very short stages as one."""
    told = [each for each in trace if each.milliseconds >= LEAST_MS or each.dropped or each.failed]
    times = [
        f"{each.stage} {each.milliseconds:.1f} ms ({each.count}{f', {each.dropped} dropped' if each.dropped else ''})"
        + (f" {one_line(each.failed)}" if each.failed else "")
        for each in told
    ]
    quick = sum(1 for _ in trace) - len(told)
    times += [f"{quick} under {LEAST_MS} ms each"] if quick else []
    if times:
        total = sum(each.milliseconds for each in trace)
        p.block(p.dim(f"stages: {', '.join(times)}; {total:.1f} ms in all"))


def similar(p: TextPage, answer: SimilarFound) -> None:
    """What is alike."""
    if not answer.hits:
        p.empty("similar memories")
        return
    p.say(f"{counted(len(answer.hits), 'similar memory', 'similar memories')}, most alike first.")
    for number, each in enumerate(answer.hits, start=1):
        p.block(
            f"{number}. {head(p, each.node, f'{each.score:.0%} alike' if each.score <= 1 else f'{each.score:.3f}')}"
        )
        says(p, each.node)
