"""The ranked hits of a question as lines of a context, with the words of the parts that answer.

Parts and citations are read once. A turn that says little without the one before it ("Yes, the second one") is shown
with that one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.context.arrange import ContextLine, TurnBefore, answer_first, without_repeated_causes
from weft.context.assemble import AssembledText, linearise
from weft.context.code_blocks import fenced, joined_parts
from weft.context.excerpts import Span, excerpt, excerpt_of_code, tells_again
from weft.context.relations import Ties, ties_of
from weft.context.render import PASSAGES
from weft.core.errors import StoreError
from weft.core.types import NodeVersion
from weft.retrieval.citations.file_ids import line_citation
from weft.retrieval.pipeline import VIEW_NAMES, Answer, Candidate, PartPlace
from weft.retrieval.pool import CODE_KINDS
from weft.retrieval.scoring.conversation_flow import turn_beside
from weft.retrieval.scoring.passages import is_whole
from weft.retrieval.sources.subscriptions import cited, cited_by_id, readable
from weft.runtime.call_context import CallContext
from weft.text.injection import flags_of, mark_of

PART_CHARACTERS: Final = 240  # on each side of the sentence that is nearest
PARTED: Final = "\n\n…\n\n"  # of passages, whose blocks begin on lines of their own
NO_TIES: Final = Ties()
UNKNOWN_TIES: Final = Ties(known=False)
MESSAGE: Final = "Message"
FEW_WORDS: Final = 12  # a turn of fewer leans on the one before it
_ANSWERS: Final = re.compile(
    r"(?:yes|no|yeah|yep|yup|nope|nah|ok|okay|sure|exactly|right|correct|true|agreed|absolutely|definitely|of course"
    r"|neither|either|both|none|all of them|maybe|perhaps|probably|not really|not yet|me too|same here|because"
    r"|(?:the|that|this) (?:first|second|third|last|former|latter|other|same|one)|i (?:do|don't|did|didn't|will|won't)"
    r"|it (?:is|isn't|was|wasn't|does|doesn't))\b",
    re.IGNORECASE,
)


class HitSources(Struct, frozen=True, kw_only=True):
    """The nodes of the parts that answer, by id, and citations by event. Notes say what could not be read."""

    parts: Mapping[str, NodeVersion] = {}
    events: Mapping[int, str] = {}
    notes: tuple[str, ...] = ()

    def citation_of(self, node: NodeVersion) -> str:
        """The citation of its file if it is lines of one, else of its event; empty if unknown."""
        return line_citation(node) or self.events.get(node.event, "")


def read_sources(ctx: CallContext, answer: Answer, ranked: Sequence[Candidate]) -> HitSources:
    """Reads parts and citations, one read each. An answer from the log has its citations, and no parts."""
    if answer.degraded:
        return HitSources(events=answer.citations)
    notes: list[str] = []
    parts: tuple[NodeVersion, ...] = ()
    events: Mapping[int, str] = {}
    ids = tuple(dict.fromkeys(place.id for candidate in ranked for place in candidate.best))
    try:
        parts = readable(ctx, answer.ask.when, ids, followed=answer.followed) if ids else ()
    except StoreError as problem:
        notes.append(f"the passages that answer could not be read, so whole memories are shown: {problem.message}")
    try:
        events = cited(ctx, [*(each.node for each in ranked), *parts], followed=answer.followed)
    except StoreError as problem:
        notes.append(f"citations could not be read: {problem.message}")
    return HitSources(parts={node.id: node for node in parts}, events=events, notes=tuple(notes))


def context_of(
    ctx: CallContext, answer: Answer, sources: HitSources, budget_tokens: int
) -> tuple[AssembledText, list[str]]:
    """The hits as one context in the order of the intent, and notes on failed reads."""
    ranked = answer.ranked or ()
    lines, alone = lines_of(ctx, answer, ranked, sources)
    ties, untied = ties_among(ctx, answer, ranked)
    lines = without_repeated_causes(lines, ties)
    written = linearise(lines, intent=answer.intent, ties=ties, budget_tokens=budget_tokens, arranged=answer_first)
    return written, [*alone, *untied]


def lines_of(
    ctx: CallContext, answer: Answer, ranked: Sequence[Candidate], sources: HitSources
) -> tuple[list[ContextLine], tuple[str, ...]]:
    """Candidates as lines, with the words of the parts that answer, and notes on failed reads."""
    words = {candidate.node.id: _words(candidate, sources.parts) for candidate in ranked}
    asked = asked_stems(answer)
    lines = [
        ContextLine(
            node=candidate.node,
            score=candidate.score,
            views=tuple(view for view in VIEW_NAMES if any(seen.view == view for seen in candidate.seen)),
            citation=sources.citation_of(candidate.node),
            words=words[candidate.node.id],
            marks=candidate.marks,
            parts=tuple(
                citation
                for place in candidate.best
                if place.id in sources.parts and (citation := sources.citation_of(sources.parts[place.id]))
            ),
            asked=asked,
            near=_near(answer, candidate, words[candidate.node.id], sources.parts),
        )
        for candidate in ranked
    ]
    return _with_turns_before(ctx, answer, lines)


def ties_among(ctx: CallContext, answer: Answer, ranked: Sequence[Candidate]) -> tuple[Ties, tuple[str, ...]]:
    """The relations among the hits; none where no view of the graph found any of them. Unknown if the graph is away."""
    if answer.degraded:
        return UNKNOWN_TIES, ()
    if not any(seen.view != "semantic" for candidate in ranked for seen in candidate.seen):
        return NO_TIES, ()
    try:
        return ties_of(ctx, answer.ask.when, [candidate.node for candidate in ranked]), ()
    except StoreError as problem:
        return UNKNOWN_TIES, (f"relations could not be read, so the lines are ordered by score: {problem.message}",)


def asked_stems(answer: Answer) -> dict[str, float]:
    """The stems of the question by weight: the rarer, the more."""
    if answer.text is None or not answer.text.used:
        return dict(answer.terms)
    return {term.term: term.weight * term.idf for term in answer.text.used}


def _words(candidate: Candidate, parts: Mapping[str, NodeVersion]) -> str:
    """The words of its parts that answer; before them its summary, unless a part repeats it."""
    node = candidate.node
    if all(place.id == node.id for place in candidate.best):
        return ""  # its own, cut as there is room
    said = [_said(parts[place.id], place, of=node) for place in candidate.best if place.id in parts]
    summed_up = said and node.summary and is_whole(node) and not tells_again(node.summary, " ".join(said))
    parts_said = [node.summary, *said] if summed_up else said
    return PARTED.join(parts_said) if node.kind in PASSAGES else joined_parts(parts_said)


def _said(node: NodeVersion, place: PartPlace, *, of: NodeVersion) -> str:
    """The words of a part around its nearest sentence, after its speaker or name."""
    if node.kind in CODE_KINDS:
        words = fenced(excerpt_of_code(node.text, place.start, place.end, PART_CHARACTERS))
    else:
        words = excerpt(node.text, place.start, place.end, PART_CHARACTERS)
    by = "" if node.id == of.id else node.name or node.props.get("speaker") or node.props.get("role")
    if not isinstance(by, str) or not by or words.startswith(f"{by}:"):
        return words
    return f"{by}:\n{words}" if words.startswith("```") else f"{by}: {words}"


def _near(answer: Answer, candidate: Candidate, words: str, parts: Mapping[str, NodeVersion]) -> tuple[Span, ...]:
    """The similarity of each sentence of the shown words to the question, if known."""
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


# ---- the turn before


def _with_turns_before(
    ctx: CallContext, answer: Answer, lines: Sequence[ContextLine]
) -> tuple[list[ContextLine], tuple[str, ...]]:
    """Lines with the turn before each short answer, unless that turn is a line itself."""
    marked = [_judged(line) for line in lines]
    shown = {line.node.id for line in lines}
    beside = {line.node.id: turn_beside(line.node.id, -1) for line in lines if leans_back(line.node)}
    wanted = [each for each in beside.values() if each is not None and each not in shown]
    if answer.degraded or not wanted:
        return marked, ()
    try:
        turns = readable(ctx, answer.ask.when, wanted, followed=answer.followed)
        citations = cited_by_id(ctx, turns, followed=answer.followed)
    except StoreError as problem:
        return marked, (f"turns are shown without the ones they answer, which could not be read: {problem.message}",)
    before = {turn.id: turn for turn in turns if turn.kind == MESSAGE and citations.get(turn.id)}
    return [_joined(line, before.get(beside.get(line.node.id) or ""), citations) for line in marked], ()


def leans_back(node: NodeVersion) -> bool:
    """Whether a turn needs the one before it: it is short, or begins as answers do."""
    if node.kind != MESSAGE:
        return False
    speaker = node.props.get("speaker")
    said = (node.text.removeprefix(f"{speaker}:") if isinstance(speaker, str) else node.text).strip()
    return len(said.split(maxsplit=FEW_WORDS)) < FEW_WORDS or _ANSWERS.match(said) is not None


def _judged(line: ContextLine) -> ContextLine:
    """A message that the gateway found suspicious when it came in is marked so."""
    verdict = line.node.props.get("verdict") if line.node.kind == MESSAGE else None
    told = f"when it came in, it was found {verdict}"
    return replace(line, marks=(*line.marks, told)) if verdict in ("SUSPICIOUS", "DISCARD") else line


def _joined(line: ContextLine, turn: NodeVersion | None, citations: Mapping[str, str]) -> ContextLine:
    if turn is None or turn.props.get("conversation") != line.node.props.get("conversation"):
        return line
    by = turn.props.get("speaker") or turn.props.get("role")
    words = turn.text if not isinstance(by, str) or turn.text.startswith(f"{by}:") else f"{by}: {turn.text}"
    flags = flags_of(turn.text)
    marks = (*line.marks, mark_of(flags)) if flags else line.marks
    return replace(line, before=TurnBefore(words=words, citation=citations[turn.id]), marks=marks)
