"""How answers read to a model: one function per output type, one visible table.

What memories say is data. Every line of it begins with `> ` or stands in quotes, so that no memory can end its own
quotation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from weft.retrieval.views.ground import flat
from weft.surfaces.mcp import (
    checkout_text,
    code_query_text,
    code_text,
    compact_text,
    conversation_text,
    deed_text,
    graph_text,
    node_text,
    screen_text,
    slice_text,
    store_text,
    upkeep_text,
    work_text,
)
from weft.surfaces.mcp.node_text import node_head, node_lines
from weft.surfaces.mcp.search_text import raw_blocks, searched_blocks
from weft.surfaces.mcp.tool_text import ToolsFound, tool_blocks, tool_summary
from weft.surfaces.mcp.words import QUOTED, Rendered, block, counted, detail, flag, kind, line, mark, node_id, said

if TYPE_CHECKING:  # a server that answers two kinds of calls need not load a hundred
    from weft.operations.alike import SimilarFound
    from weft.operations.asking import Hit
    from weft.operations.citing import Cited
    from weft.operations.explained import Explained
    from weft.operations.finding import MessagesFound, TurnShown
    from weft.operations.merging import ContextLinearized, SubgraphMerged
    from weft.operations.raw import RecalledRaw
    from weft.operations.recalling import Recalled
    from weft.operations.remembered import Remembered
    from weft.operations.searching import Searched
    from weft.operations.view_nodes import ViewNode
    from weft.operations.viewing import SemanticSearched, ViewExpanded
    from weft.retrieval.pipeline import Source

REASON_CHARACTERS: Final = 1_000
SUMMARY_WORDS: Final = 160  # characters of a reason in a summary


def render(answer: Struct) -> Rendered:
    """An answer in words; one of a type without a renderer as quoted JSON."""
    return RENDERERS.get(type(answer).__name__, _plain)(answer)


def _hit(number: int, hit: Hit) -> str:
    text = f"{number}. {node_head(hit.node) if hit.parts else node_lines(hit.node)}"
    for shown in hit.parts:
        by = said(shown.by) if shown.by else ""
        cited = "" if shown.citation == hit.node.citation else flat(shown.citation)
        text += f"\n· {' · '.join(filter(None, (by, cited, flag(shown.flags))))}\n{block(shown.text)}"
    for each in hit.marks:
        text += f"\n{mark(each)}"
    return text + _why(hit.why, hit.score)


def _why(sources: tuple[Source, ...], score: float) -> str:
    return "".join(
        f"\n   {part.part:.3f} of {score:.3f}: {line(part.name)} rank {part.rank}{detail(part.detail)}"
        for part in sources
    )


def _remembered(answer: Remembered) -> Rendered:
    if answer.status in ("failed", "blocked_scope"):
        return Rendered(summary="Not written.")  # the notes say why
    if answer.status == "duplicate_skip":
        where = f" as {answer.citation}" if answer.citation else ""
        return Rendered(summary=f"Already kept{where}.")
    if answer.candidates and answer.id:
        stands = "; ".join(f"{node_id(alike.id)}: {said(alike.title)}" for alike in answer.candidates)
        return Rendered(
            summary=f"It contradicts what stands, and waits for review as {node_id(answer.id)}.", blocks=(stands,)
        )
    if answer.candidates:
        listed = tuple(
            f"{node_id(alike.id)}: {said(alike.title)} (alike {alike.score:.2f})" for alike in answer.candidates
        )
        return Rendered(summary="Not written: it is like what stands already.", blocks=listed)
    ended = f" It ends {', '.join(map(node_id, answer.supersedes))}." if answer.supersedes else ""
    return Rendered(summary=f"Saved as {answer.citation}.{ended}")


def _recalled(answer: Recalled) -> Rendered:
    kept = f" Kept as {answer.receipt}." if answer.receipt else ""
    if not answer.hits:
        return Rendered(summary=f"No memory matches.{kept}")
    count = "1 memory" if len(answer.hits) == 1 else f"{len(answer.hits)} memories, best first"
    by = line(answer.written_by) or "a language model"
    written = (f"written by {by}, from the lines below:\n{block(answer.answer)}",) if answer.answer else ()
    if answer.context and not answer.stages:
        return Rendered(
            summary=f"{counted(len(answer.hits), 'memory', 'memories')} found.{kept}", blocks=(*written, answer.context)
        )
    blocks = [*written, *([answer.context] if written else ())]
    blocks += [_hit(number, hit) for number, hit in enumerate(answer.hits, start=1)]
    if answer.stages:
        times = ", ".join(f"{stage.stage} {stage.milliseconds:.1f} ms ({stage.count})" for stage in answer.stages)
        blocks.append(f"stages: {times}")
    return Rendered(summary=f"{count}. {QUOTED}{kept}", blocks=tuple(blocks))


def _turn(turn: TurnShown) -> str:
    by = turn.speaker or turn.role
    cited = flat(turn.citation)
    who = " · ".join(filter(None, (said(by) if by else "", turn.at[:16], cited, flag(turn.flags))))
    return f"· {who}\n{block(turn.text)}"


def _messages(answer: MessagesFound) -> Rendered:
    if not answer.messages:
        return Rendered(summary="No message matches.")
    count = "1 message" if len(answer.messages) == 1 else f"{len(answer.messages)} messages, best first"
    blocks = []
    for number, found in enumerate(answer.messages, start=1):
        around = [*found.before, found.message, *found.after]
        head = f"{number}. {found.score:.3f} · {node_id(found.session)} · found {flat(found.message.citation)}"
        blocks.append("\n".join([head, *map(_turn, around)]))
    return Rendered(summary=f"{count}. {QUOTED}", blocks=tuple(blocks))


def _similar(answer: SimilarFound) -> Rendered:
    if not answer.hits:
        return Rendered(summary="Nothing is like it.")
    blocks = [f"{number}. {hit.score:.3f} · {node_lines(hit.node)}" for number, hit in enumerate(answer.hits, start=1)]
    return Rendered(summary=f"{len(answer.hits)} alike, most alike first. {QUOTED}", blocks=tuple(blocks))


def _explained(answer: Explained) -> Rendered:
    blocks = [] if answer.node is None else [node_lines(answer.node)]
    if answer.rank is not None:
        blocks.append(f"rank {answer.rank} of {answer.of}, score {answer.score:.3f}{_why(answer.why, answer.score)}")
    found = [f"found by {each.source}: place {each.place} of {each.of} ({each.score:.3f})" for each in answer.found_by]
    found += [f"seen by view {each.view} ({each.score:.3f}){detail(each.path)}" for each in answer.seen]
    blocks += ["\n".join(found)] if found else []
    blocks += [f"{each.rank}. {node_id(each.id)} {each.score:.3f}{_why(each.why, each.score)}" for each in answer.kept]
    if answer.stages:
        times = ", ".join(f"{stage.stage} {stage.milliseconds:.1f} ms ({stage.count})" for stage in answer.stages)
        blocks.append(f"stages: {times}")
    if len(answer.reason) > SUMMARY_WORDS:
        blocks.insert(0, line(answer.reason, REASON_CHARACTERS))
    return Rendered(summary=f"{answer.verdict}: {line(answer.reason, SUMMARY_WORDS)}. {QUOTED}", blocks=tuple(blocks))


def _view_node(number: int, node: ViewNode) -> str:
    name = f" {said(node.name)}" if node.name else ""
    seen = f"seen in {' + '.join(node.views)}" if node.views else ""
    facts = (
        f"id {node_id(node.id)}",
        f"score {node.score:.3f}",
        seen,
        node.valid_from[:10],
        flat(node.citation),
        flag(node.flags),
    )
    head = f"{number}. {kind(node.kind)}{name} · {' · '.join(filter(None, facts))}"
    way = f"\n   way:{detail(node.path)}" if node.depth else ""
    return head + way + (f"\n{block(node.text)}" if node.text else "")


def _view_nodes(nodes: tuple[ViewNode, ...]) -> tuple[str, ...]:
    return tuple(_view_node(number, node) for number, node in enumerate(nodes, start=1))


def _semantic_searched(answer: SemanticSearched) -> Rendered:
    seeds = [f"{node_id(each.id)} ({kind(each.kind)} {said(each.name)})" for each in answer.seed_entities]
    head = "\n".join([f"seed_entity_ids ({answer.seed_entity_count}):", *seeds, answer.instruction])
    summary = f"{len(answer.matches)} matches, best first, lead to {answer.seed_entity_count} entities. {QUOTED}"
    return Rendered(summary=summary, blocks=(head, *_view_nodes(answer.matches)))


def _view_expanded(answer: ViewExpanded) -> Rendered:
    chains = "\n".join(f"chain: {' -> '.join(map(node_id, chain))}" for chain in answer.chains)
    blocks = (*_view_nodes(answer.nodes), *([chains] if chains else []))
    summary = f"View {answer.view}: {len(answer.nodes)} nodes from {len(answer.seed_entity_ids)} seed entities."
    return Rendered(summary=f"{summary} {QUOTED}", blocks=blocks)


def _subgraph_merged(answer: SubgraphMerged) -> Rendered:
    return Rendered(summary=f"{len(answer.nodes)} nodes, best first. {QUOTED}", blocks=_view_nodes(answer.nodes))


def _linearized(answer: ContextLinearized) -> Rendered:
    left = f", {answer.left_out} left out" if answer.left_out else ""
    return Rendered(summary=f"{answer.line_count} lines{left}. {QUOTED}", blocks=(answer.text,))


def _cited(answer: Cited) -> Rendered:
    verdict = "still says what was cited" if answer.matches else "does not say any more what was cited"
    blocks = []
    if (event := answer.event) is not None:
        blocks.append(f"{line(event.kind)} by {line(event.agent)} ({line(event.role)}), recorded {event.recorded_at}")
        if event.erased:
            blocks.append(f"(erased {event.erased_at} by {line(event.erased_by or '')})")
        if not answer.nodes and event.payload:
            blocks.append(block(msgspec.json.encode(event.payload).decode()))
    if answer.lines:
        blocks.append(block("\n".join(answer.lines)))
    else:
        blocks.extend(map(node_lines, answer.nodes))
    return Rendered(summary=f"{flat(answer.citation)} {verdict}. {QUOTED}", blocks=tuple(blocks))


def _plain(answer: Struct) -> Rendered:
    body = msgspec.json.format(msgspec.json.encode(answer), indent=1).decode()
    return Rendered(summary=f"Done. {QUOTED}", blocks=(block(body),))


def _searched(answer: Searched) -> Rendered:
    count = "1 result" if len(answer.results) == 1 else f"{len(answer.results)} results, best first"
    summary = f"{count}. {QUOTED}" if answer.results else "Nothing matches."
    return Rendered(summary=summary, blocks=searched_blocks(answer))


def _recalled_raw(answer: RecalledRaw) -> Rendered:
    summary = f"{len(answer.merged)} nodes in {len([view for view in answer.views if view.nodes])} views. {QUOTED}"
    return Rendered(summary=summary, blocks=raw_blocks(answer))


def _tools_found(answer: ToolsFound) -> Rendered:
    return Rendered(summary=tool_summary(answer), blocks=tool_blocks(answer))


# By the names of the types, so that none has to be loaded before there is an answer of it.
RENDERERS: Final[dict[str, Callable[[Any], Rendered]]] = {
    "Adopted": store_text.adopted,
    "AgentKnowledge": compact_text.knowledge,
    "AlertsListed": node_text.alerts,
    "AnalysisRouted": store_text.routed,
    "ApprovalDecided": deed_text.approval_decided,
    "ApprovalList": deed_text.approvals,
    "ApprovalRequested": deed_text.approval_requested,
    "Asked": _recalled,
    "Assembled": checkout_text.assembled,
    "BackedUp": store_text.backed_up,
    "Baked": compact_text.baked,
    "BatchWritten": deed_text.batch,
    "Changed": upkeep_text.changed,
    "Checkout": checkout_text.checkout,
    "Cited": _cited,
    "CodeChanged": code_text.changed,
    "CommitIndexed": code_text.commit,
    "CodeExplained": slice_text.explained,
    "CommunitiesListed": code_query_text.communities,
    "Compacted": compact_text.compacted,
    "ConfigShown": store_text.config,
    "ConversationsShown": conversation_text.conversations,
    "ContextPack": slice_text.pack,
    "ContextLinearized": _linearized,
    "Deleted": deed_text.deleted,
    "DeletionList": deed_text.deletions,
    "Diagnosis": upkeep_text.diagnosis,
    "Erasure": deed_text.erasure,
    "Events": store_text.events,
    "Explained": _explained,
    "Exported": store_text.exported,
    "ExtractedMemories": upkeep_text.extracted,
    "GraphAnswer": code_query_text.answer,
    "GraphHealth": graph_text.health,
    "GraphRebuilt": graph_text.rebuilt,
    "HeadShown": store_text.head,
    "HygieneApplied": work_text.hygiene_applied,
    "HygieneReport": work_text.hygiene,
    "DocsFound": code_text.docs,
    "EdgesListed": code_text.edges,
    "Ingested": upkeep_text.ingested,
    "Initialised": store_text.initialised,
    "KeyMade": store_text.key_made,
    "KeyRotated": store_text.key_rotated,
    "MessagesFound": _messages,
    "NodeList": node_text.nodes,
    "PendingDelivered": store_text.delivered,
    "PendingShownAll": deed_text.pending,
    "PreviousContext": checkout_text.previous,
    "ProjectContext": upkeep_text.project_context,
    "Projected": compact_text.projected,
    "ProjectsShown": upkeep_text.projects,
    "ProposalList": deed_text.proposals,
    "Published": upkeep_text.published,
    "Rebuilt": store_text.rebuilt,
    "Recalled": _recalled,
    "RecalledRaw": _recalled_raw,
    "Received": conversation_text.received,
    "Reindexed": store_text.reindexed,
    "Remembered": _remembered,
    "ReportsListed": node_text.reports_listed,
    "ReportsRead": node_text.reports_read,
    "Screened": screen_text.screened,
    "Searched": _searched,
    "SemanticSearched": _semantic_searched,
    "SessionArchived": conversation_text.archived,
    "SessionCompacted": compact_text.session_compacted,
    "SessionStatus": compact_text.session_status,
    "Shown": node_text.shown,
    "ImpactAnalyzed": slice_text.impact,
    "SliceShown": slice_text.slice_,
    "SimilarCode": code_query_text.similar,
    "SimilarFound": _similar,
    "Statistics": work_text.statistics,
    "Stats": upkeep_text.stats,
    "SubgraphMerged": _subgraph_merged,
    "TokenCreated": store_text.token_created,
    "TokenRevoked": store_text.token_revoked,
    "TokensListed": store_text.tokens,
    "ToolCallsShown": work_text.calls,
    "ToolsFound": _tools_found,
    "TranscriptsIngested": upkeep_text.transcripts,
    "TruthCompiled": upkeep_text.truth,
    "TurnsRecorded": deed_text.turns,
    "Verified": upkeep_text.verified,
    "ViewExpanded": _view_expanded,
    "WorkListed": work_text.tasks,
    "WorkMadeShown": work_text.made,
    "WorkShown": work_text.task,
    "WorkspaceSet": graph_text.workspace,
}
