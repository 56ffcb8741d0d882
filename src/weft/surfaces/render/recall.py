"""Answers to questions: recalls, searches, conversations, explanations, and the views of the graph one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.context.wording import plain
from weft.surfaces.render.nodes import head, hit, says, stages, why
from weft.surfaces.render.page import (
    TextPage,
    arrow,
    counted,
    day,
    facts,
    minute,
    one_line,
    span,
)
from weft.text.one_line import flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.recall.conversation_search import MessagesFound, TurnShown
    from weft.recall.explanation import Explained
    from weft.recall.memory_search import Searched, SearchResult
    from weft.recall.recall import Recalled
    from weft.recall.recall_raw import RecalledRaw
    from weft.recall.views.merge_views import ContextLinearized, SubgraphMerged
    from weft.recall.views.view_nodes import ViewNode
    from weft.recall.views.view_steps import SemanticSearched, ViewExpanded

SUMMARY_CHARACTERS = 160  # of a reason in a summary


def recalled(p: TextPage, answer: Recalled) -> None:
    """The context; with scores, or where there is none, the hits one by one."""
    count = len(answer.hits)
    if not (count or answer.context):
        p.empty("memories")
    elif p.for_model or not answer.context:  # a context is its own summary
        order = ", best first" if count > 1 and not answer.context else ""
        p.say(f"{counted(count, 'memory', 'memories')} found{order}.")
    if answer.receipt:
        p.say(f"Kept as {p.name(answer.receipt)}.")
    if answer.answer:
        by = one_line(answer.written_by) or "a language model"
        p.block(f"written by {by}, from the lines below:")
        p.quote(answer.answer)
    if answer.context and (answer.answer or not answer.stages):
        p.passage(answer.context, headed=not p.width)
    if answer.stages or not answer.context:
        for number, each in enumerate(answer.hits, start=1):
            hit(p, number, each)
    if answer.stages:
        stages(p, answer.stages)
        p.lines(
            p.dim(
                facts(
                    f"intent {answer.intent}",
                    f"valid at {minute(answer.valid_at)}",
                    f"known at {minute(answer.known_at)}",
                )
            )
        )


def searched(p: TextPage, answer: Searched) -> None:
    """A block for each result: `[Kind] (id) (score)`, properties, what it is joined to; `---` between them."""
    if not answer.results:
        p.empty("memories")
    else:
        p.say(f"{counted(len(answer.results), 'result')}{', best first' if len(answer.results) > 1 else ''}.")
        p.block()
    for number, found in enumerate(answer.results):
        p.lines(*(["---"] if number else []), *_result(p, found))
    if answer.stages:
        stages(p, answer.stages)
        p.lines(p.dim(facts(f"intent {answer.intent}", f"class {answer.retrieval_class}")))


def _result(p: TextPage, found: SearchResult) -> list[str]:
    node = found.hit.node
    lines = [f"{p.kind(node.kind)} ({p.name(node.id)}) ({found.hit.score:.3f})"]
    own: dict[str, Any] = {"name": node.name, "text": node.text, "summary": node.summary}
    fields = {**own, **node.props}
    lines += [f"  {plain(name)}: {p.value(held)}" for name, held in fields.items() if held not in ("", None, [], ())]
    for part in found.hit.parts:
        by = f"{p.words(part.by)}: " if part.by else ""
        lines.append(f"  part: {by}{p.words(part.text, 2_000)} ({flat(part.citation)}) {p.flag(part.flags)}".rstrip())
    cited = f"citation: {flat(node.citation)}" if node.citation else ""
    lines.append(f"  {p.dim(facts(cited, span(node.valid_from, node.valid_to)))}".rstrip())
    lines += [f"  {each}" for each in (p.flag(node.flags), *map(p.remark, found.hit.marks)) if each]
    lines += why(p, found.hit.why)
    if found.related:
        lines.append("Related:")
    for step in found.related:
        joined = f"{arrow(step.rel, step.direction)} {p.kind(step.kind)} {p.words(step.name)}"
        lines.append(f"  {joined} ({p.name(step.id)})")
    return lines


def recalled_raw(p: TextPage, answer: RecalledRaw) -> None:
    seen = [view for view in answer.views if view.nodes]
    p.say(f"{counted(len(answer.merged), 'node')} in {counted(len(seen), 'view')}.")
    depths = ", ".join(f"{view} {depth}" for view, depth in answer.depths.items())
    p.block(f"intent {answer.intent} (depths {depths}), class {answer.retrieval_class}")
    for view in seen:
        p.section(
            view.view,
            (
                f"{each.score:.3f} {p.kind(each.kind)} {p.words(each.name)} ({p.name(each.id)})"
                + (p.dim(f"  {p.words(each.path, 2_000)}") if each.depth else "")
                for each in view.nodes
            ),
        )
    p.section("chains", (" -> ".join(map(p.name, chain)) for chain in answer.chains))
    p.section(
        "merged",
        (
            facts(
                f"{each.score:.3f} {p.kind(each.kind)} {p.words(each.name)} ({p.name(each.id)})",
                " + ".join(each.views),
                p.flag(each.flags),
            )
            for each in answer.merged
        ),
    )


def messages(p: TextPage, answer: MessagesFound) -> None:
    if not answer.messages:
        p.empty("messages")
        return
    p.say(f"{counted(len(answer.messages), 'message')}{', best first' if len(answer.messages) > 1 else ''}.")
    for number, found in enumerate(answer.messages, start=1):
        p.block(f"{number}. {p.bold(p.name(found.session))}")
        for turn in (*found.before, found.message, *found.after):
            _turn(p, turn, is_found=turn is found.message)


def _turn(p: TextPage, turn: TurnShown, *, is_found: bool) -> None:
    by = turn.speaker or turn.role
    who = facts(p.words(by) if by else "", minute(turn.at), p.dim(flat(turn.citation)), p.flag(turn.flags))
    p.lines(f"· {facts(who, p.paint('found', 'green') if is_found else '')}")
    p.quote(turn.text, short=True)


def explained(p: TextPage, answer: Explained) -> None:
    p.say(f"{p.bold(answer.verdict)}: {one_line(answer.reason, SUMMARY_CHARACTERS).rstrip('.')}.")
    if len(answer.reason) > SUMMARY_CHARACTERS:
        p.block(one_line(answer.reason, 1_000))
    if answer.node is not None:
        p.block(head(p, answer.node))
        says(p, answer.node)
        p.lines(p.dim(f"id {p.name(answer.node.id)}"))
    if answer.rank is not None:
        p.block(f"rank {answer.rank} of {answer.of}, score {answer.score:.3f}", *why(p, answer.why))
    if answer.found_by or answer.seen:
        p.block()
    for found in answer.found_by:
        p.lines(p.dim(f"found by {found.source}: place {found.place} of {found.of} ({found.score:.3f})"))
    for seen in answer.seen:
        path = f" {p.words(seen.path, 2_000)}" if seen.path else ""
        p.lines(p.dim(f"seen by view {seen.view} ({seen.score:.3f}){path}"))
    for kept in answer.kept:
        p.block(f"{kept.rank}. {p.name(kept.id)} {kept.score:.3f}", *why(p, kept.why))
    stages(p, answer.stages)


# ---- views of the graph, one step at a time: a caller passes the ids on


def _view_nodes(p: TextPage, nodes: Sequence[ViewNode]) -> None:
    for number, node in enumerate(nodes, start=1):
        name = f" {p.words(node.name)}" if node.name else ""
        views = f"in {' + '.join(node.views)}" if node.views else ""
        about = (f"id {p.name(node.id)}", f"score {node.score:.3f}", views, day(node.valid_from), flat(node.citation))
        p.block(f"{number}. {facts(f'{p.kind(node.kind)}{name}', *about, p.flag(node.flags))}")
        if node.depth:
            p.lines(p.dim(f"   path: {p.words(node.path, 2_000)}"))
        if node.text:
            p.quote(node.text, short=True)


def semantic_searched(p: TextPage, answer: SemanticSearched) -> None:
    matches = counted(len(answer.matches), "match", "matches")
    p.say(f"{matches}, best first, and {counted(answer.seed_entity_count, 'entity', 'entities')} to begin with.")
    seeds = [f"{p.name(each.id)} ({p.kind(each.kind)} {p.words(each.name)})" for each in answer.seed_entities]
    p.block(f"seed_entity_ids ({answer.seed_entity_count}):", *seeds, answer.instruction)
    _view_nodes(p, answer.matches)


def view_expanded(p: TextPage, answer: ViewExpanded) -> None:
    seeds = counted(len(answer.seed_entity_ids), "seed entity", "seed entities")
    p.say(f"View {answer.view}: {counted(len(answer.nodes), 'node')} from {seeds}.")
    _view_nodes(p, answer.nodes)
    p.section("chains", (" -> ".join(map(p.name, chain)) for chain in answer.chains))


def subgraph_merged(p: TextPage, answer: SubgraphMerged) -> None:
    p.say(f"{counted(len(answer.nodes), 'node')}, best first.")
    _view_nodes(p, answer.nodes)


def linearized(p: TextPage, answer: ContextLinearized) -> None:
    left = f", {answer.left_out} omitted" if answer.left_out else ""
    p.say(f"{counted(answer.line_count, 'line')}, {counted(answer.tokens, 'token')}{left}.")
    p.passage(answer.text)
