"""How nodes read to a model: alone, in a list, with what they are joined to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.context.wording import spoken
from weft.retrieval.views.ground import flat
from weft.surfaces.mcp.words import QUOTED, Rendered, arrow, block, counted, facts, flag, kind, node_id, said

SUMMARY_WORDS = 80  # characters of what a summary is about

if TYPE_CHECKING:
    from weft.operations.alerts import AlertsListed
    from weft.operations.reading import NodeList, Shown
    from weft.operations.reports import ReportsListed, ReportsRead
    from weft.operations.showing import NodeShown


def validity(node: NodeShown) -> str:
    """From when to when it held."""
    begin, end = node.valid_from[:10], node.valid_to
    if begin == "0001-01-01" and end is None:
        return "always"
    return f"since {begin}" if end is None else f"{begin} to {end[:10]}"


def node_head(node: NodeShown) -> str:
    """Its kind, speaker and name, since when, its citation; a mark where its words look like instructions."""
    # What a fact says begins with its name, which lacks the value.
    name = f" {said(node.name)}" if node.name and not (node.kind == "Fact" and node.text) else ""
    head = f"[{spoken(node.kind, node.props, node.text, node.summary)}]{name}"
    return facts(head, validity(node), flat(node.citation), flag(node.flags))


def node_lines(node: NodeShown) -> str:
    """The same, and below it what it says, unless its name says it all."""
    words = node.text or node.summary
    return f"{node_head(node)}\n{block(words)}" if words or not node.name else node_head(node)


def _with_id(node: NodeShown) -> str:
    return f"{node_id(node.id)} · {node_lines(node)}"


def nodes(answer: NodeList) -> Rendered:
    """A list of them."""
    if not answer.nodes:
        return Rendered(summary="There is nothing yet.")
    count = counted(len(answer.nodes), "node")
    return Rendered(summary=f"{count}, newest first. {QUOTED}", blocks=tuple(map(_with_id, answer.nodes)))


def shown(answer: Shown) -> Rendered:
    """One node, what it is joined to, its versions and what made it."""
    if answer.node is None and not answer.history:
        return Rendered(summary="It does not hold at the moment asked about, and its versions are left out.")
    last = answer.node or answer.history[0]
    blocks = [_with_id(last)]
    beside = (("before it", answer.previous), ("after it", answer.next))
    if answer.previous or answer.next:
        blocks.append("\n".join(f"{way}: {node_id(each)}" for way, each in beside if each))
    if answer.edges:
        joined = (
            f"  {arrow(each.rel, each.direction)} {kind(each.kind)} {said(each.name)} ({node_id(each.id)})"
            + (f" · project {node_id(each.project)}" if each.project else "")
            for each in answer.edges
        )
        blocks.append("\n".join(["joined to:", *joined]))
    earlier = [each for each in answer.history if each is not last and each.citation != last.citation]
    if earlier:
        blocks.append(
            "\n".join(
                ["other versions:", *(f"  {node_head(each)}\n{block(each.text or each.summary)}" for each in earlier)]
            )
        )
    if answer.made_by:
        made = (
            f"  {kind(each.kind)} {said(each.name)} ({node_id(each.id)}) {each.status}".rstrip()
            for each in answer.made_by
        )
        blocks.append("\n".join(["made by:", *made]))
    holds = "" if answer.node is not None else " It does not hold at the moment asked about."
    count = f"{counted(len(answer.edges), 'relation')}, {counted(len(answer.history), 'version')}"
    words = said(last.name or last.text or last.summary, SUMMARY_WORDS)
    return Rendered(summary=f"{kind(last.kind)} {words}: {count}.{holds} {QUOTED}", blocks=tuple(blocks))


def reports_read(answer: ReportsRead) -> Rendered:
    """Reports with their texts."""
    if not answer.reports:
        return Rendered(summary="There is no report.")
    count = counted(len(answer.reports), "report")
    return Rendered(summary=f"{count}, the latest first. {QUOTED}", blocks=tuple(map(node_lines, answer.reports)))


def reports_listed(answer: ReportsListed) -> Rendered:
    """Reports in a line each."""
    lines = [
        facts(
            f"{node_id(each.id)} {said(each.title)}",
            each.occurred_at[:16],
            counted(each.characters, "character"),
            flat(each.citation),
        )
        for each in answer.reports
    ]
    more = f" The next begin at offset {answer.next_offset}." if answer.next_offset is not None else ""
    summary = f"{counted(answer.total, 'report')}; {len(lines)} shown.{more}"
    return Rendered(summary=summary, blocks=("\n".join(lines),) if lines else ())


def alerts(answer: AlertsListed) -> Rendered:
    """Alerts with what they say."""
    if not answer.alerts:
        return Rendered(summary="No alert is active.")
    count = f"{counted(answer.total, 'alert')}; {len(answer.alerts)} shown."
    return Rendered(summary=f"{count} {QUOTED}", blocks=tuple(map(_with_id, answer.alerts)))
