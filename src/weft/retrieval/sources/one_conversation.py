"""Search in one conversation: every message of it is compared, and nothing else.

A filtered search over everything would find little of a short conversation among long ones, and its scores would depend
on the others. Here words and meaning are compared within this conversation alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.queries import Lead, TextHit, TextMatches, TextQuery, VectorHit, VectorMatches, VectorQuery
from weft.core.types import Find, NodeVersion, When
from weft.models.embedding import asked
from weft.retrieval.judging.evidence import EnoughEvidence, Scale
from weft.retrieval.pipeline import Answer, Stage
from weft.retrieval.question.understand import Understand
from weft.retrieval.scoring.conversation_flow import Flow
from weft.retrieval.scoring.prefer_newer import PreferNewer
from weft.retrieval.scoring.rank import Rank
from weft.retrieval.scoring.times import Times
from weft.retrieval.scoring.words_and_meaning import WordsAndMeaning
from weft.retrieval.sources.gather import Gather
from weft.runtime.call_context import CallContext
from weft.text import lexical

MAX_MESSAGES: Final = 2_000  # of one conversation, the latest


def messages_of(ctx: CallContext, when: When, conversation: str) -> tuple[NodeVersion, ...]:
    """The latest messages of a conversation that the viewer may see at that time, at most MAX_MESSAGES."""
    find = Find(kinds=("Message",), id_prefix=f"{conversation}#")
    found = ctx.store.find(ctx.viewer, when, find, limit=MAX_MESSAGES)
    return tuple(node for node in found.nodes if node.props.get("conversation") == conversation)


def within(messages: Sequence[NodeVersion]) -> tuple[Stage, ...]:
    """The recipe for these messages: turns ranked as usual, without stages that lead elsewhere."""
    those = tuple(messages)
    return (
        Understand(),
        WithinText(messages=those),
        WithinVector(messages=those),
        Gather(),
        WithinOnly(messages=those),
        WordsAndMeaning(),
        Times(),
        Flow(),
        Scale(),
        PreferNewer(),
        EnoughEvidence(),
        Rank(),
    )


class WithinText(Struct, frozen=True, kw_only=True):
    """BM25 over some messages, in which these alone decide how rare a word is."""

    messages: tuple[NodeVersion, ...]
    name: str = "text"

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        if not answer.terms or not self.messages:
            return answer
        texts = [lexical.lex(node.name, node.summary, node.text) for node in self.messages]
        holders = Counter(key for text in texts for key in lexical.term_hashes(text.vector))
        frequencies = {term: holders[lexical.term_hash(term)] for term, _ in answer.terms}
        used, dropped = lexical.choose_terms(answer.terms, frequencies, len(texts))
        mean_length = sum(text.length for text in texts) / len(texts)
        query = TextQuery(terms=answer.terms)
        bm25 = lexical.Bm25(used, mean_length=mean_length, k1=query.k1, b=query.b)
        weighed = bm25.weigh([(text.vector, text.length) for text in texts])
        scores = weighed.scores.tolist()
        best = sorted((at for at, score in enumerate(scores) if score > 0.0), key=lambda at: -scores[at])
        rows = zip(best, weighed.parts(best), weighed.counted(best), strict=True)
        hits = tuple(
            TextHit(
                node=_lead(self.messages[at]), score=scores[at], parts=parts, counts=counts, length=texts[at].length
            )
            for at, parts, counts in rows
        )
        matches = TextMatches(
            hits=hits,
            used=used,
            dropped=dropped,
            population=len(texts),
            mean_length=mean_length,
            truncated=False,
        )
        return replace(answer, text=matches)


class WithinVector(Struct, frozen=True, kw_only=True):
    """Cosine of some messages to the question. Without an embedder, a note says that only words are searched."""

    messages: tuple[NodeVersion, ...]
    name: str = "vector"

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        model = ctx.embedding.model
        if not answer.query.strip() or not self.messages:
            return answer
        data, problem = ctx.embedding.query(asked(answer.query))
        if data is None or model is None:
            return answer.noted(problem)
        hashes = tuple(dict.fromkeys(node.content_hash for node in self.messages))
        near = ctx.store.near(ctx.viewer, VectorQuery(model=model, data=data), hashes)
        hits = [
            VectorHit(node=_lead(node), cosine=near[node.content_hash].cosine)
            for node in self.messages
            if node.content_hash in near
        ]
        hits.sort(key=lambda hit: -hit.cosine)
        answer = replace(answer, vector=data, near=VectorMatches(hits=tuple(hits)))
        if missing := len(self.messages) - len(hits):
            answer = answer.noted(
                f"{missing} messages have no vector yet and are found by words only: run `weft reindex`"
            )
        return answer


class WithinOnly(Struct, frozen=True, kw_only=True):
    """Lets nothing else through: a question that is the id of some other message finds that message."""

    messages: tuple[NodeVersion, ...]
    name: str = "within"

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        wanted = {node.id for node in self.messages}
        rows = [row for row, node in enumerate(answer.pool.nodes) if node.id in wanted]
        return replace(answer, pool=answer.pool.only(rows)) if len(rows) < len(answer.pool.nodes) else answer


def _lead(node: NodeVersion) -> Lead:
    role = node.props.get("role")
    return Lead(
        id=node.id,
        row=node.row,
        kind=node.kind,
        content_hash=node.content_hash,
        conversation=str(node.props.get("conversation")),
        role=role if isinstance(role, str) else None,
    )
