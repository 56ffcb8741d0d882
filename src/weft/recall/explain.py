"""Explains the rank of a node in an answer, or its absence: runs the pipeline again and follows the node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.core.clock import to_iso
from weft.core.errors import Invalid, NotFound, StoreError
from weft.core.kinds import RECORD_KINDS
from weft.core.queries import Lead, VectorQuery
from weft.core.types import NodeVersion
from weft.recall.answer_again import retell
from weft.recall.answer_limits import bounded
from weft.recall.explanation import Explained, ReceiptHit, SourceFound, Verdict, explained_by_log
from weft.recall.recall import recipe_named
from weft.recall.receipts import Receipt, is_receipt, read_receipt
from weft.recall.request import Asking, read_ask
from weft.recall.show_values import show_cited, show_node
from weft.retrieval.citations.resolve import resolve
from weft.retrieval.pipeline import Answer, Ask, Candidate, ScoreSource, Stage, is_wanted, run
from weft.retrieval.scoring.rank import Rank
from weft.retrieval.sources.subscriptions import as_subscriber, cited, readable
from weft.runtime.call_context import CallContext
from weft.runtime.fields import History, NodeName
from weft.runtime.operation import Operation
from weft.text.extract.question.intent import Intent
from weft.writing.build.subjects import names

MAX_RANKED = 10_000


class Explain(Asking, frozen=True, kw_only=True):
    """Input of `explain`: the question as `recall` takes it, or a receipt, and a node."""

    id: NodeName | None = None
    intent: Annotated[Intent | None, Meta(description="the intent; read from the question if unset")] = None
    history: History = ()
    recipe: Annotated[str, Meta(max_length=64, description="how to rank, by name")] = "default"


def explain(ctx: CallContext, given: Explain) -> Explained:
    """Says why a node has its rank in the answer to a question, or why it is not among the answers.

    Takes the settings of `weft recall`, and runs the same stages, so scores are the same. The question may be a
    receipt: then the scores are those of the receipt, and without a node all of them are listed.
    """
    if is_receipt(given.query.strip()):
        return bounded(_explain_receipt(ctx, given), "kept")
    if given.id is None or not given.id.strip():
        raise Invalid("say which node to explain", hint="give an id, a name or a citation after the question")
    recipe, ask, written = recipe_named(given.recipe), _ask(ctx, given), given.id.strip()
    try:
        pinned = replace(ask, when=ctx.store.pin(ctx.viewer, ask.when))
        told = _explained(ctx, pinned, recipe, _node(ctx, pinned, written))
    except StoreError:
        answer = run(recipe, ctx, ask)
        if not answer.degraded:  # the graph can be searched, and a read of explain failed
            raise
        told = explained_by_log(answer, written)
    return bounded(told, "kept")


def _ask(ctx: CallContext, given: Explain) -> Ask:
    return read_ask(ctx, given, as_of=given.as_of is not None, history=given.history, intent=given.intent)


def _node(ctx: CallContext, ask: Ask, written: str) -> NodeVersion:
    """Raises NotFound for a node that does not exist, is not visible, or does not hold at that time."""
    node_id = resolve(ctx, written, ask.when)
    nodes = ctx.store.nodes(as_subscriber(ctx).viewer, ask.when, [node_id])
    if nodes:
        return nodes[0]
    if ctx.store.history(ctx.viewer, node_id, limit=1):
        raise NotFound(f"{written[:80]!r} does not hold at that time", hint="`weft show` prints when it did")
    raise _not_there(written)


def _not_there(written: str) -> NotFound:
    hint = "`weft recall` finds nodes by their words"
    return NotFound(f"there is no node {written[:80]!r} that you may see", hint=hint)


# Following


class _Trail:
    """The way of one node, or of its whole, through the stages."""

    def __init__(self, node: NodeVersion) -> None:
        whole = node.props.get("part_of")
        self.ids = (node.id, whole) if isinstance(whole, str) else (node.id,)
        self.came_in = self.lost_at = self.lost_why = ""
        self.last: Answer | None = None  # the last that had it among its candidates

    def look(self, stage: str, before: Answer, after: Answer) -> None:
        """Records the effect of a stage."""
        row, stood = self.row(after), self.row(before)
        if row is not None:
            self.came_in = self.came_in if stood is not None else stage
            self.last, self.lost_at = after, ""
        elif stood is not None:
            self.lost_at = stage
            refused = [after.refused] if after.refused != before.refused else []
            self.lost_why = "; ".join([*self._named_by(after, stood), *after.notes[len(before.notes) :], *refused])

    def row(self, answer: Answer) -> str | None:
        """The id under which it is among the candidates."""
        places = answer.pool.places
        return next((each for each in self.ids if each in places), None)

    def _named_by(self, answer: Answer, gone: str) -> list[str]:
        """Marks on other candidates that name it: a duplicate is named on the one that is kept."""
        return [
            f"{kept}: {mark}"
            for kept, marks in answer.pool.marks.items()
            for mark in marks
            if gone in answer.pool.named.get(mark, ()) or names(mark, gone)
        ]


class _Watched(Struct, frozen=True):
    """A stage that is looked at while it works."""

    stage: Stage
    trail: _Trail

    @property
    def name(self) -> str:
        return self.stage.name

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        after = self.stage(ctx, answer)
        self.trail.look(self.name, answer, after)
        return after


class _Standing(Struct, frozen=True):
    """Its rank among all candidates, with its score; empty if it never was one."""

    rank: int | None = None
    of: int = 0
    candidate: Candidate | None = None
    best: float = 0.0


def _explained(ctx: CallContext, ask: Ask, recipe: Sequence[Stage], node: NodeVersion) -> Explained:
    trail = _Trail(node)
    answer = run([_Watched(stage, trail) for stage in recipe], ctx, ask)
    if not readable(ctx, ask.when, [node.id], followed=answer.followed):
        raise _not_there(node.id)  # a followed topic shows its own nodes and nothing else
    standing = _standing(ctx, trail, answer)
    found_by = _found_by(answer, trail)
    verdict, reason = _verdict(answer, node, trail, standing, _tail(recipe))
    if verdict in ("not found", "not chosen"):
        reason += _beside(ctx, answer, node, found_by)
    candidate = standing.candidate
    notes = tuple(dict.fromkeys(filter(None, (*answer.notes, answer.refused, *answer.details))))
    if candidate is not None and candidate.node.id != node.id:
        notes += (f"it is answered as part of {candidate.node.id}: rank and score are those of the whole",)
    (shown,), uncited = show_cited(ctx, [node], replace(answer, degraded=""))
    return Explained(
        query=ask.query,
        verdict=verdict,
        reason=reason,
        valid_at=to_iso(ask.when.valid_at or 0),
        known_at=to_iso(ask.when.known_at or 0),
        rank=None if trail.lost_at else standing.rank,
        of=standing.of,
        score=0.0 if candidate is None else candidate.score,
        node=shown,
        why=() if candidate is None else candidate.sources,
        found_by=found_by,
        seen=() if candidate is None else candidate.seen or tuple(answer.sightings.get(candidate.node.id, ())),
        came_in=trail.came_in,
        lost_at=trail.lost_at,
        stages=answer.trace,
        degraded=answer.degraded,
        notes=(*notes, *uncited),
    )


def _standing(ctx: CallContext, trail: _Trail, answer: Answer) -> _Standing:
    """Ranks all candidates, those too that no answer shows."""
    last = trail.last
    ranked: Sequence[Candidate] = answer.ranked or ()
    if last is not None:
        everyone = replace(last, ask=replace(last.ask, limit=MAX_RANKED), ranked=None)
        ranked = Rank(tail=-MAX_RANKED)(ctx, everyone).ranked or ()
    best = ranked[0].score if ranked else 0.0
    for among in (answer.ranked or (), ranked):  # the rank in the answer, if it has one
        for place, candidate in enumerate(among, start=1):
            if candidate.node.id in trail.ids:
                return _Standing(place, len(ranked), candidate, best)
    return _Standing(None, len(ranked))


def _tail(recipe: Sequence[Stage]) -> float:
    """The share of the best score that an answer has to reach."""
    return next((stage.tail for stage in recipe if isinstance(stage, Rank)), 0.0)


def _verdict(answer: Answer, node: NodeVersion, trail: _Trail, standing: _Standing, tail: float) -> tuple[Verdict, str]:
    ask, place, limit = answer.ask, standing.rank, answer.ask.limit
    if standing.candidate is not None and any(
        each.node.id == standing.candidate.node.id for each in answer.ranked or ()
    ):
        return "answered", f"it is number {place} of {len(answer.ranked or ())} answers"
    if answer.skip:
        return "not found", f"nothing was searched: {answer.skip}"
    if trail.lost_at:
        why = f": {trail.lost_why}" if trail.lost_why else ""
        return "dropped", f"it was a candidate until the stage {trail.lost_at} left it out{why}"
    if trail.last is not None:
        score = standing.candidate.score if standing.candidate is not None else 0.0
        if score > tail * standing.best:
            return "beyond the limit", f"it is number {place} of {standing.of} candidates, and {limit} were asked for"
        return "too weak", f"its score of {score:.3f} is not over {tail:.0%} of the best, which is {standing.best:.3f}"
    if not is_wanted(ask, node):
        return "not asked about", _unwanted(ask, node)
    if any(each in trail.ids for lead in _leads(answer) for each in (lead.id, lead.whole)):
        return "not chosen", "it was found, but others ranked higher"
    return "not found", "no source found it"


def _unwanted(ask: Ask, node: NodeVersion) -> str:
    if ask.kinds is not None and node.kind not in ask.kinds:
        return f"it is a {node.kind}; {', '.join(ask.kinds)} were asked for"
    if node.kind in RECORD_KINDS and ask.kinds is None:
        return f"it is a {node.kind}, an internal record of weft: these are answers only if their kind is asked for"
    return f"it belongs to {_project(node.guard.project)}, which was not asked about"


def _project(name: str | None) -> str:
    return "no project" if name is None else f"project {name}"


def _leads(answer: Answer) -> list[Lead]:
    found = [hit.node for hit in answer.text.hits] if answer.text is not None else []
    found += [hit.node for hit in answer.near.hits] if answer.near is not None else []
    return [*found, *answer.dated, *(each.node for mention in answer.mentions for each in mention.nodes)]


def _found_by(answer: Answer, trail: _Trail) -> tuple[SourceFound, ...]:
    """The sources that found it or a part of it, each with the best place it has there."""
    named = [each.node for mention in answer.mentions for each in mention.nodes]
    sources = (
        ("text", [(hit.node, hit.score) for hit in answer.text.hits] if answer.text is not None else []),
        ("vector", [(hit.node, hit.cosine) for hit in answer.near.hits] if answer.near is not None else []),
        ("names", [(lead, 1.0) for lead in named]),
        ("dated", [(lead, 1.0) for lead in answer.dated]),
    )
    found = []
    for source, hits in sources:
        for place, (lead, score) in enumerate(hits, start=1):
            if lead.id in trail.ids or lead.whole in trail.ids:
                found.append(SourceFound(source=source, place=place, of=len(hits), score=score))
                break
    return tuple(found)


def _beside(ctx: CallContext, answer: Answer, node: NodeVersion, found_by: Sequence[SourceFound]) -> str:
    """Reasons why a node was not found, or not chosen: by words, by meaning."""
    told = [f"{each.source} has it at place {each.place} of {each.of}" for each in found_by]
    if answer.text is not None and not any(each.source == "text" for each in found_by):
        told.append(f"it is not among the {len(answer.text.hits)} that share words with the question")
    if answer.vector is not None and answer.near is not None and ctx.embedding.model is not None:
        query = VectorQuery(model=ctx.embedding.model, data=answer.vector)
        try:
            near = ctx.store.near(ctx.viewer, query, [node.content_hash]).get(node.content_hash)
        except StoreError as problem:
            return ": " + "; ".join([*told, f"its cosine could not be read: {problem.message}"])
        if near is None:
            told.append("its text has no vector")
        elif not any(each.source == "vector" for each in found_by) and answer.near.hits:
            last = answer.near.hits[-1].cosine
            told.append(
                f"its cosine is {near.cosine:.3f}, the {len(answer.near.hits)} nearest reach down to {last:.3f}"
            )
    return ": " + "; ".join(told) if told else ""


# Receipts


def _explain_receipt(ctx: CallContext, given: Explain) -> Explained:
    written = given.query.strip()
    receipt = read_receipt(ctx, written)
    again = retell(ctx, receipt, explain=True)
    ranks = {hit.id: rank for rank, hit in enumerate(receipt.hits, start=1)}
    kept = tuple(
        ReceiptHit(
            rank=ranks[hit["node"]["id"]],
            id=hit["node"]["id"],
            score=hit["score"],
            why=msgspec.convert(hit["why"], tuple[ScoreSource, ...]),
        )
        for hit in again.hits
    )
    notes = (
        f"ranked by recipe {receipt.recipe} of weft {receipt.weft}",
        *receipt.notes,
        *again.problems,
        *again.doubts,
    )
    told = Explained(
        query=receipt.query,
        verdict="answered" if kept else "not found",
        reason=f"{written} holds {len(receipt.hits)} hits",
        valid_at=to_iso(receipt.valid_at),
        known_at=to_iso(receipt.known_at),
        of=len(receipt.hits),
        notes=notes,
    )
    if given.id is None:
        return replace(told, kept=kept)
    return _explain_kept(ctx, told, receipt, kept, given)


def _explain_kept(
    ctx: CallContext, told: Explained, receipt: Receipt, kept: Sequence[ReceiptHit], given: Explain
) -> Explained:
    """One hit of a receipt; for another node, the stages are run again at that time."""
    ask = Ask(query=receipt.query, when=receipt.when, limit=given.limit, projects=None)
    node = _node(ctx, ask, (given.id or "").strip())
    hit = next((each for each in kept if each.id == node.id), None)
    if hit is not None:
        return replace(
            told,
            reason=f"it is number {hit.rank} of {told.of} answers",
            rank=hit.rank,
            score=hit.score,
            why=hit.why,
            node=show_node(node, cited(ctx, [node], followed={node.id})),  # it is one of the hits, so it may be cited
        )
    asked = {name: value for name, value in receipt.arguments.items() if name in Explain.__struct_fields__}
    again = msgspec.convert({**asked, "id": node.id, "as_of": None, "known_at": None}, Explain)
    rerun = replace(_ask(ctx, again), when=receipt.when, as_of="as_of" in receipt.arguments)
    found = _explained(ctx, rerun, recipe_named(receipt.recipe), node)
    return replace(found, notes=(*found.notes, "it is not in the receipt: the stages were run again, for that time"))


OPERATIONS = (
    Operation(
        name="explain",
        summary="say why a node has its rank in an answer, or why it is not there",
        input=Explain,
        output=Explained,
        effect="read",
        toolset="memory",
        run=explain,
        arguments=("query", "id"),
        priorities={"found_by": "high", "kept": "medium"},
    ),
)
