"""The hits of a question as one context to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from weft.context.arrange import Line
from weft.context.excerpts import Span
from weft.context.linearise import Linearised, linearise
from weft.context.neighbours import with_turns_before
from weft.context.repeated import tells_again
from weft.context.ties import Ties, ties_of
from weft.context.wording import excerpt
from weft.errors import StoreError
from weft.log.citation import file_citation
from weft.loom import Loom
from weft.retrieval.passages import is_whole
from weft.retrieval.pipeline import VIEW_NAMES, Answer, Candidate, Place
from weft.retrieval.subscriptions import cited, readable
from weft.types import NodeVersion

PART_CHARACTERS: Final = 240  # on each side of the sentence that is nearest
NO_TIES: Final = Ties()
UNKNOWN_TIES: Final = Ties(known=False)


def context_of(loom: Loom, answer: Answer, citations: Mapping[str, str], budget_tokens: int) -> Linearised:
    """The ranked candidates as lines in the order of the intent. `citations` are by node id.

    What the store cannot serve costs that only, and leaves a note: parts their own words, ties the order that takes
    them.
    """
    ranked = answer.ranked or ()
    lines, unserved = lines_of(loom, answer, ranked, citations)
    ties, untied = ties_among(loom, answer, ranked)
    written = linearise(lines, intent=answer.intent, ties=ties, budget_tokens=budget_tokens)
    return replace(written, notes=(*unserved, *untied))


def lines_of(
    loom: Loom, answer: Answer, ranked: tuple[Candidate, ...], citations: Mapping[str, str]
) -> tuple[list[Line], tuple[str, ...]]:
    """Candidates as lines, with the words of the parts that answer, and notes on what could not be read."""
    parts, places, unserved = _parts(loom, answer, ranked)
    words = {candidate.node.id: _words(candidate, parts) for candidate in ranked}
    asked = asked_stems(answer)
    lines = [
        Line(
            node=candidate.node,
            score=candidate.score,
            views=tuple(view for view in VIEW_NAMES if any(seen.view == view for seen in candidate.seen)),
            citation=citations.get(candidate.node.id, ""),
            words=words[candidate.node.id],
            marks=candidate.marks,
            parts=tuple(places[place.id] for place in candidate.best if places.get(place.id)),
            asked=asked,
            near=_near(answer, candidate, words[candidate.node.id], parts),
        )
        for candidate in ranked
    ]
    lines, alone = with_turns_before(loom, answer, lines)
    return lines, (*unserved, *alone)


def ties_among(loom: Loom, answer: Answer, ranked: tuple[Candidate, ...]) -> tuple[Ties, tuple[str, ...]]:
    """What joins the hits; nothing where no view of the graph found any of them. Unknown if the graph is away."""
    if answer.degraded:
        return UNKNOWN_TIES, ()
    if not any(seen.view != "semantic" for candidate in ranked for seen in candidate.seen):
        return NO_TIES, ()
    try:
        return ties_of(loom, answer.ask.when, [candidate.node for candidate in ranked]), ()
    except StoreError as problem:
        return UNKNOWN_TIES, (f"what joins the hits cannot be told, so the context is by score: {problem.message}",)


def _parts(
    loom: Loom, answer: Answer, ranked: tuple[Candidate, ...]
) -> tuple[dict[str, NodeVersion], dict[str, str], tuple[str, ...]]:
    """The turns or symbols that answer, of wholes, and their citations, by id; none of an answer from the log."""
    ids = [place.id for candidate in ranked for place in candidate.best]
    if answer.degraded or not ids:
        return {}, {}, ()
    try:
        nodes = readable(loom, answer.ask.when, ids, followed=answer.followed)
        events = cited(loom, nodes, followed=answer.followed)
    except StoreError as problem:
        return {}, {}, (f"the context is without the parts that answer: {problem.message}",)
    places = {node.id: in_file(node) or events.get(node.event, "") for node in nodes}
    return {node.id: node for node in nodes}, places, ()


def in_file(node: NodeVersion) -> str:
    """The citation of a node as lines of a file; nothing where it is of none."""
    source, line = node.props.get("source"), node.props.get("line")
    return file_citation(source, line) if isinstance(source, str) and isinstance(line, int) else ""


def _words(candidate: Candidate, parts: Mapping[str, NodeVersion]) -> str:
    """What its parts say that answer; of a document or section that has no words of its own, its summary before.

    Not where a part says that, too: a section's summary is how it begins.
    """
    node = candidate.node
    if all(place.id == node.id for place in candidate.best):
        return ""  # its own: what is shown of them goes by the room that there is
    said = [_said(parts[place.id], place, of=node) for place in candidate.best if place.id in parts]
    summed_up = said and node.summary and is_whole(node) and not tells_again(node.summary, " ".join(said))
    return " … ".join([node.summary, *said] if summed_up else said)


def asked_stems(answer: Answer) -> dict[str, float]:
    """The stems of the question by weight: the rarer, the more."""
    if answer.text is None or not answer.text.used:
        return dict(answer.terms)
    return {term.term: term.weight * term.idf for term in answer.text.used}


def _near(answer: Answer, candidate: Candidate, words: str, parts: Mapping[str, NodeVersion]) -> tuple[Span, ...]:
    """How near the places of the words are that a line shows, where the sentences of its text are known."""
    nearness = answer.pool.nearness
    if not words:
        known = nearness.get(candidate.node.content_hash)
        return known.parts if known else ()
    found: list[Span] = []
    for place in candidate.best:
        if (node := parts.get(place.id)) is None or (known := nearness.get(node.content_hash)) is None:
            continue
        for start, end, cosine in known.parts:
            said = node.text[start:end]
            if (at := words.find(said)) >= 0:
                found.append((at, at + len(said), cosine))
    return tuple(found)


def _said(node: NodeVersion, place: Place, *, of: NodeVersion) -> str:
    """What a part says around its nearest sentence, and who says it; of the node itself its name is told anyway."""
    words = excerpt(node.text, place.start, place.end, PART_CHARACTERS)
    by = "" if node.id == of.id else node.name or node.props.get("speaker") or node.props.get("role")
    return f"{by}: {words}" if isinstance(by, str) and by and not words.startswith(f"{by}:") else words
