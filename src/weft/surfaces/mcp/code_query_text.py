"""How answers about a workspace's code read to a model: hits, communities, what is alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.surfaces.mcp.words import QUOTED, Rendered, counted, node_id, said

if TYPE_CHECKING:
    from weft.operations.community_reading import CommunitiesListed, CommunityShown
    from weft.operations.graph_query import CodeHit, GraphAnswer
    from weft.operations.similar_code import SimilarCode, SimilarSymbol

SUMMARY_CHARACTERS = 300


def answer(given: GraphAnswer) -> Rendered:
    """Communities first, then files with the symbols that answer."""
    if not given.communities and not given.hits:
        return Rendered(summary="Nothing in this workspace's code answers that.")
    whole = counted(len(given.communities), "community", "communities") if given.communities else ""
    detail = counted(len(given.hits), "hit") if given.hits else ""
    blocks = []
    if given.communities:
        blocks.append("\n".join(map(_community, given.communities)))
    blocks += [_hit(number, hit) for number, hit in enumerate(given.hits, start=1)]
    told = " and ".join(each for each in (whole, detail) if each)
    return Rendered(summary=f"{told} of this workspace's code. {QUOTED}", blocks=tuple(blocks))


def _hit(number: int, hit: CodeHit) -> str:
    place = f"{hit.path}:{hit.line}"
    head = (
        f"{number}. {node_id(hit.path)}" if hit.type == "File" else f"{number}. {node_id(hit.name)} · {node_id(place)}"
    )
    lines = [f"{head} {said(hit.summary, SUMMARY_CHARACTERS)}" if hit.summary else head]
    for symbol in hit.symbols:
        told = f" {said(symbol.summary, SUMMARY_CHARACTERS)}" if symbol.summary else ""
        lines.append(f"   {node_id(symbol.name)}:{symbol.line}{told}")
    return "\n".join(lines)


def _community(community: CommunityShown) -> str:
    told = f" {said(community.summary, SUMMARY_CHARACTERS)}" if community.summary else ""
    return f"{node_id(community.label)}{told}"


def communities(given: CommunitiesListed) -> Rendered:
    """One a line, the largest first."""
    if not given.communities:
        return Rendered(summary="No communities are known in this workspace.")
    more = f" The rest begins at offset {given.next_offset}." if given.next_offset is not None else ""
    return Rendered(
        summary=f"{counted(given.total, 'community', 'communities')} of files, largest first.{more}",
        blocks=("\n".join(map(_community, given.communities)),),
    )


def similar(given: SimilarCode) -> Rendered:
    """What is alike, a line each."""
    lines = [_alike(each) for each in given.similar]
    what = said(given.element) if given.element else "it"
    if not lines:
        return Rendered(summary=f"Nothing is like {what}.")
    return Rendered(summary=f"{len(lines)} like {what}, most alike first.", blocks=("\n".join(lines),))


def _alike(symbol: SimilarSymbol) -> str:
    share = "same" if symbol.same else f"{symbol.similarity:.2f}"
    place = node_id(f"{symbol.path}:{symbol.line}")
    told = f" {said(symbol.summary, SUMMARY_CHARACTERS)}" if symbol.summary else ""
    return f"{share} {node_id(symbol.name)} · {place}{told}"
