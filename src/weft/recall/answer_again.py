"""Printing an earlier answer again from its receipt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.context.hits import HitSources, context_of, read_sources
from weft.core.types import MAX_IDS_PER_READ, MAX_LIMIT, NodeVersion
from weft.recall.answer_limits import bounded
from weft.recall.recall import Recalled
from weft.recall.receipts import WORDS, KeptHit, Receipt, context_hash, read_receipt
from weft.recall.request import Hit, flagged, show_hits
from weft.retrieval.pipeline import Answer as RankedAnswer
from weft.retrieval.pipeline import Ask, Candidate, ScoreSource
from weft.retrieval.sources.subscriptions import readable
from weft.runtime.call_context import CallContext
from weft.runtime.operation import Operation
from weft.text.extract.question.question import read_question
from weft.text.lexical import content_hash

WITHHELD = "(withheld)"
OTHERWISE = "the context is not word for word as it was: tokens are counted, or contexts written, in another way now"
GONE = "deleted since, or you may not see it"


class AnswerInput(Struct, frozen=True, kw_only=True):
    """Input of `answer`."""

    id: Annotated[str, Meta(min_length=1, max_length=128, description="a receipt, as `weft recall --receipt` gives it")]


class RetoldHits(Struct, frozen=True, kw_only=True):
    """The hits of a receipt, read again. `doubts` name differences from the earlier answer."""

    hits: list[dict[str, Any]]
    found: RankedAnswer
    sources: HitSources
    problems: tuple[str, ...]
    doubts: tuple[str, ...]


def answer(ctx: CallContext, given: AnswerInput) -> Recalled:
    """Prints an earlier answer again, exactly as it was, whatever was recorded since.

    A memory that was deleted since, or that you may not see, is withheld and counted in a note, and so are remarks that
    name it; another note names memories whose words have changed since.
    """
    written = given.id.strip()
    kept = read_receipt(ctx, written)
    again = retell(ctx, kept, explain=kept.explained)
    told = {**kept.answer, "hits": again.hits, "receipt": written}
    problems = again.problems
    if kept.context_hash and again.hits:
        context, missing = context_of(ctx, again.found, again.sources, kept.budget_tokens)
        told["context"] = context.text
        problems += tuple(missing)
        if not again.doubts and context_hash(told["context"]) != kept.context_hash:
            problems += (OTHERWISE,)
    if again.doubts and told.pop("answer", ""):
        told.pop("written_by", "")
        problems += ("the text of the language model is withheld: it was written from all of the hits",)
    notes = (*kept.answer.get("notes", ()), *kept.notes, *problems, *again.doubts)
    recalled = msgspec.convert({**told, "notes": notes}, Recalled)
    return bounded(replace(recalled, notes=(*recalled.notes, *flagged(recalled.hits))), "hits")


def retell(ctx: CallContext, kept: Receipt, *, explain: bool) -> RetoldHits:
    """The hits of a receipt as they were shown, as far as the viewer may see them now."""
    followed = _followed(ctx, kept)
    wanted = [hit.id for hit in kept.hits]
    nodes = {node.id: node for node in readable(ctx, kept.when, wanted, followed=followed)}
    gone, unknown = _closed(ctx, kept, followed)
    there = [hit for hit in kept.hits if hit.id in nodes]
    told = [_without(hit, gone | unknown) for hit in there]
    found = replace(_found(kept, told, nodes), followed=followed)
    sources = read_sources(ctx, found, found.ranked or ())
    shown, problems = show_hits(ctx, found, explain=explain, sources=sources)
    hits = [_as_told(hit, each) for hit, each in zip(told, shown, strict=True)]
    doubts = (
        *_withheld(kept, nodes, shown, served=not problems),
        *_changed(kept, nodes),
        *_untold(there, gone, f"they name a memory that is {GONE}", explain=explain),
        *_untold(there, unknown, "the nodes they name are unknown", explain=explain),
    )
    return RetoldHits(hits=hits, found=found, sources=sources, problems=problems, doubts=doubts)


def _followed(ctx: CallContext, kept: Receipt) -> frozenset[str]:
    """Nodes that only topics brought in, as long as the caller still follows all of those topics."""
    return frozenset(kept.followed if set(kept.keywords) <= set(ctx.settings.keywords) else ())


def _found(kept: Receipt, hits: Sequence[KeptHit], nodes: Mapping[str, NodeVersion]) -> RankedAnswer:
    """The result of the pipeline, as far as it is needed to show the hits."""
    ranked = tuple(
        Candidate(
            node=nodes[hit.id],
            sources=hit.why or (_in_all(hit, rank),),
            best=hit.parts,
            marks=hit.marks,
            seen=hit.seen,
        )
        for rank, hit in enumerate(hits, start=1)
    )
    return RankedAnswer(
        ask=Ask(query=kept.query, when=kept.when, limit=MAX_LIMIT, projects=None),
        query=kept.query,
        question=read_question(""),
        asked_at=kept.valid_at,
        intent=kept.answer.get("intent") or "WHAT",
        ranked=ranked,
    )


def _in_all(hit: KeptHit, rank: int) -> ScoreSource:
    """The score of a hit of which the reasons were not kept."""
    score = float(hit.rest["score"])
    return ScoreSource(name="score", rank=rank, raw=score, weight=1.0, part=score)


def _as_told(kept: KeptHit, hit: Hit) -> dict[str, Any]:
    """A hit with its words from the store, and everything else from the receipt."""
    found = msgspec.to_builtins(hit)
    props = {name: value for name, value in found["node"].get("props", {}).items() if name in kept.props}
    words = {name: found["node"].get(name, "") for name in WORDS if name != "props"}
    node = {**kept.node, **words, "props": props, "flags": found["node"].get("flags", ())}
    why = found.get("why", []) if kept.why else []
    return {"parts": found.get("parts", []), "why": why, **kept.rest, "node": node}


def _closed(ctx: CallContext, kept: Receipt, followed: Set[str]) -> tuple[set[str], set[str]]:
    """Marks and reasons that name nodes the viewer cannot see now, and those whose nodes are unknown."""
    ids = sorted({each for named in kept.subjects.values() for each in named or ()})
    there: set[str] = set()
    for start in range(0, len(ids), MAX_IDS_PER_READ):
        some = ids[start : start + MAX_IDS_PER_READ]
        there |= {node.id for node in readable(ctx, kept.when, some, followed=followed)}
    unknown = {line for line, named in kept.subjects.items() if named is None}
    return {line for line, named in kept.subjects.items() if not there.issuperset(named or ())}, unknown


def _without(hit: KeptHit, closed: Set[str]) -> KeptHit:
    """A hit without closed remarks: marks are removed, of reasons the numbers stay."""
    why = tuple(replace(each, detail=WITHHELD) if each.detail in closed else each for each in hit.why)
    seen = tuple(replace(each, path=WITHHELD, way=()) if each.path in closed else each for each in hit.seen)
    rest = dict(hit.rest)
    if "marks" in rest:
        rest["marks"] = [mark for mark in hit.marks if mark not in closed]
    if "seen" in rest:
        rest["seen"] = msgspec.to_builtins(seen)
    return replace(hit, why=why, seen=seen, rest=rest)


def _untold(hits: Sequence[KeptHit], closed: Set[str], because: str, *, explain: bool) -> list[str]:
    """How many marks and reasons would have been shown, and are not."""
    said = [mark for hit in hits for mark in hit.marks]
    said += [each.detail for hit in hits for each in hit.why if explain]
    said += [each.path for hit in hits for each in hit.seen if "seen" in hit.rest]
    count = sum(line in closed for line in said)
    return [f"{count} marks or reasons are withheld: {because}"] if count else []


def _withheld(kept: Receipt, nodes: Mapping[str, NodeVersion], shown: Sequence[Hit], *, served: bool) -> list[str]:
    """Notes on hits that cannot be shown."""
    notes = []
    if gone := sum(hit.id not in nodes for hit in kept.hits):
        notes.append(f"{gone} of {len(kept.hits)} hits are withheld: {GONE}")
    parts = sum(len(hit.parts) for hit in kept.hits if hit.id in nodes)
    if gone := parts - sum(len(hit.parts) for hit in shown):
        why = f"withheld: {GONE}" if served else "left out: the store could not serve them"
        notes.append(f"{gone} of {parts} parts of hits are {why}")
    return notes


def _changed(kept: Receipt, nodes: Mapping[str, NodeVersion]) -> list[str]:
    """Notes on nodes whose words differ: hashes are computed again."""
    there = [(hit, nodes[hit.id]) for hit in kept.hits if hit.id in nodes]
    return [
        f"{hit.id} has been reworded since: run `weft log verify` and `weft rebuild`"
        for hit, node in there
        if _hash(node).hex() != hit.content_hash
    ]


def _hash(node: NodeVersion) -> bytes:
    """The hash of its words; an encrypted node has the hash of its encrypted form."""
    return node.content_hash if node.recorded_guard.sensitive else content_hash(node.name, node.summary, node.text)


OPERATIONS = (
    Operation(
        name="answer",
        summary="print an earlier answer again, exactly, from its receipt",
        input=AnswerInput,
        output=Recalled,
        effect="read",
        toolset="memory",
        run=answer,
        arguments=("id",),
        told=("hits", "query", "intent", "valid_at", "known_at"),
    ),
)
