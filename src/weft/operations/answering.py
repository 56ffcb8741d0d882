"""Printing an answer again, as its receipt tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.context.hits import context_of
from weft.extract.question import read_question
from weft.lexical import content_hash
from weft.loom import Loom
from weft.operations.asking import Hit, flagged, show_hits
from weft.operations.bounds import bounded
from weft.operations.recalling import Recalled
from weft.operations.receipts import WORDS, KeptHit, Receipt, context_hash, read_receipt
from weft.operations.registry import Operation
from weft.retrieval.pipeline import Answer as Found
from weft.retrieval.pipeline import Ask, Candidate, Source
from weft.retrieval.subscriptions import readable
from weft.types import MAX_IDS_PER_READ, MAX_LIMIT, NodeVersion

WITHHELD = "(withheld)"
OTHERWISE = (
    "the context is not word for word as it was: tokens are counted otherwise here, or weft wrote contexts otherwise"
)
GONE = "deleted since, or not yours to see"


class Answer(Struct, frozen=True, kw_only=True):
    """Input of `answer`."""

    id: Annotated[str, Meta(min_length=1, max_length=128, description="a receipt, as `weft recall --receipt` gives it")]


class Retold(Struct, frozen=True, kw_only=True):
    """Hits told again, and what they were made of. `doubts` say what of them is not told as it was."""

    hits: list[dict[str, Any]]
    found: Found
    problems: tuple[str, ...]
    doubts: tuple[str, ...]


def answer(loom: Loom, given: Answer) -> Recalled:
    """Prints an earlier answer again, exactly as it was, whatever has been learnt since.

    A memory that was deleted since, or that is not yours to see, is withheld and counted in a note, and so is what was
    said of others that names it; a memory whose words are not those of then is named.
    """
    written = given.id.strip()
    kept = read_receipt(loom, written)
    again = retell(loom, kept, explain=kept.explained)
    told = {**kept.answer, "hits": again.hits, "receipt": written}
    problems = again.problems
    if kept.context_hash and again.hits:
        citations = {hit["node"]["id"]: hit["node"].get("citation", "") for hit in again.hits}
        context = context_of(loom, again.found, citations, kept.budget_tokens)
        told["context"] = context.text
        problems += context.notes
        if not again.doubts and context_hash(told["context"]) != kept.context_hash:
            problems += (OTHERWISE,)
    if again.doubts and told.pop("answer", ""):
        told.pop("written_by", "")
        problems += ("what the language model wrote is withheld: it was written from all of the hits",)
    notes = (*kept.answer.get("notes", ()), *kept.notes, *problems, *again.doubts)
    recalled = msgspec.convert({**told, "notes": notes}, Recalled)
    return bounded(replace(recalled, notes=(*recalled.notes, *flagged(recalled.hits))), "hits")


def retell(loom: Loom, kept: Receipt, *, explain: bool) -> Retold:
    """The hits of a receipt as they were told, as far as the viewer may see them today."""
    followed = _followed(loom, kept)
    wanted = [hit.id for hit in kept.hits]
    nodes = {node.id: node for node in readable(loom, kept.when, wanted, followed=followed)}
    gone, unknown = _closed(loom, kept, followed)
    there = [hit for hit in kept.hits if hit.id in nodes]
    told = [_without(hit, gone | unknown) for hit in there]
    found = replace(_found(kept, told, nodes), followed=followed)
    shown, problems = show_hits(loom, found, explain=explain)
    hits = [_as_told(hit, each) for hit, each in zip(told, shown, strict=True)]
    doubts = (
        *_withheld(kept, nodes, shown, served=not problems),
        *_changed(kept, nodes),
        *_untold(there, gone, f"they tell of what is {GONE}", explain=explain),
        *_untold(there, unknown, "whom they tell of could not be kept", explain=explain),
    )
    return Retold(hits=hits, found=found, problems=problems, doubts=doubts)


def _followed(loom: Loom, kept: Receipt) -> frozenset[str]:
    """What only topics had brought in, as long as all of those topics are followed."""
    return frozenset(kept.followed if set(kept.keywords) <= set(loom.settings.keywords) else ())


def _found(kept: Receipt, hits: Sequence[KeptHit], nodes: Mapping[str, NodeVersion]) -> Found:
    """What the pipeline had found, as far as it takes to show it."""
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
    return Found(
        ask=Ask(query=kept.query, when=kept.when, limit=MAX_LIMIT, projects=None),
        query=kept.query,
        question=read_question(""),
        asked_at=kept.valid_at,
        intent=kept.answer.get("intent") or "WHAT",
        ranked=ranked,
    )


def _in_all(hit: KeptHit, rank: int) -> Source:
    """The score of a hit of which the reasons were not kept."""
    score = float(hit.rest["score"])
    return Source(name="score", rank=rank, raw=score, weight=1.0, part=score)


def _as_told(kept: KeptHit, hit: Hit) -> dict[str, Any]:
    """A hit with its words as they are found, and everything else as it was told then."""
    found = msgspec.to_builtins(hit)
    props = {name: value for name, value in found["node"].get("props", {}).items() if name in kept.props}
    words = {name: found["node"].get(name, "") for name in WORDS if name != "props"}
    node = {**kept.node, **words, "props": props, "flags": found["node"].get("flags", ())}
    why = found.get("why", []) if kept.why else []
    return {"parts": found.get("parts", []), "why": why, **kept.rest, "node": node}


def _closed(loom: Loom, kept: Receipt, followed: Set[str]) -> tuple[set[str], set[str]]:
    """Marks and reasons that tell of what cannot be seen today, and those of which nobody knows whom they tell of."""
    ids = sorted({each for named in kept.subjects.values() for each in named or ()})
    there: set[str] = set()
    for start in range(0, len(ids), MAX_IDS_PER_READ):
        some = ids[start : start + MAX_IDS_PER_READ]
        there |= {node.id for node in readable(loom, kept.when, some, followed=followed)}
    unknown = {line for line, named in kept.subjects.items() if named is None}
    return {line for line, named in kept.subjects.items() if not there.issuperset(named or ())}, unknown


def _without(hit: KeptHit, closed: Set[str]) -> KeptHit:
    """A hit without what may not be told of it: marks go, of reasons the numbers stay."""
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
    """What was found and cannot be shown."""
    notes = []
    if gone := sum(hit.id not in nodes for hit in kept.hits):
        notes.append(f"{gone} of {len(kept.hits)} hits are withheld: {GONE}")
    parts = sum(len(hit.parts) for hit in kept.hits if hit.id in nodes)
    if gone := parts - sum(len(hit.parts) for hit in shown):
        why = f"withheld: {GONE}" if served else "left out: the store could not serve them"
        notes.append(f"{gone} of {parts} parts of hits are {why}")
    return notes


def _changed(kept: Receipt, nodes: Mapping[str, NodeVersion]) -> list[str]:
    """What does not say what it said: hashes are worked out again."""
    there = [(hit, nodes[hit.id]) for hit in kept.hits if hit.id in nodes]
    return [
        f"{hit.id} does not say what it said then: `weft log verify` and `weft rebuild` tell more"
        for hit, node in there
        if _hash(node).hex() != hit.content_hash
    ]


def _hash(node: NodeVersion) -> bytes:
    """Worked out from its words; what is sealed is bound to its place by its key, and has its sealed form's hash."""
    return node.content_hash if node.recorded_guard.sensitive else content_hash(node.name, node.summary, node.text)


OPERATIONS = (
    Operation(
        name="answer",
        summary="print an earlier answer again, exactly, from its receipt",
        input=Answer,
        output=Recalled,
        effect="read",
        toolset="memory",
        run=answer,
        arguments=("id",),
        told=("hits", "query", "intent", "valid_at", "known_at"),
    ),
)
