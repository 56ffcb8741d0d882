"""Printing an answer again, as its receipt tells it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from weft.context.hits import context_of
from weft.extract.question import read_question
from weft.lexical import content_hash
from weft.loom import Loom
from weft.operations.asking import Hit, show_hits
from weft.operations.bounds import bounded
from weft.operations.recalling import Recalled
from weft.operations.receipts import WORDS, KeptHit, Receipt, context_hash, read_receipt
from weft.operations.registry import Operation
from weft.retrieval.pipeline import Answer as Found
from weft.retrieval.pipeline import Ask, Candidate, Source
from weft.retrieval.subscriptions import as_subscriber
from weft.retrieval.views.ground import label
from weft.types import MAX_LIMIT, Find, NodeVersion

MAX_NAMES = 500
MAX_NODES = 10_000
WITHHELD = "(withheld)"
OTHERWISE = (
    "the context is not word for word as it was: tokens are counted otherwise here, or weft wrote contexts otherwise"
)
_ARROW = re.compile(r" (?:-\[[^\]]*\]->|<-\[[^\]]*\]-) ")


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

    A memory that was deleted since, or that is not yours to see, is withheld and counted in a note; one whose words
    are not those of then is named.
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
        problems += ("what the language model wrote is withheld: it was written from all of the hits",)
    notes = (*kept.answer.get("notes", ()), *kept.notes, *problems, *again.doubts)
    return bounded(msgspec.convert({**told, "notes": notes}, Recalled), "hits")


def retell(loom: Loom, kept: Receipt, *, explain: bool) -> Retold:
    """The hits of a receipt as they were told, as far as the viewer may see them today."""
    reader = as_subscriber(loom)
    nodes = {node.id: node for node in loom.store.nodes(reader.viewer, kept.when, [hit.id for hit in kept.hits])}
    there = [hit for hit in kept.hits if hit.id in nodes]
    found = _found(kept, there, nodes)
    shown, problems = show_hits(loom, found, explain=explain)
    hits = [_as_told(hit, each) for hit, each in zip(there, shown, strict=True)]
    doubts = (*_withheld(kept, nodes, shown), *_changed(kept, nodes), *_closed_ways(reader, kept, hits))
    return Retold(hits=hits, found=found, problems=problems, doubts=doubts)


def _found(kept: Receipt, hits: Sequence[KeptHit], nodes: Mapping[str, NodeVersion]) -> Found:
    """What the pipeline had found, as far as it takes to show it."""
    ranked = tuple(
        Candidate(
            node=nodes[hit.id],
            sources=hit.why or (_in_all(hit, rank),),
            best=hit.parts,
            marks=tuple(hit.rest.get("marks", ())),
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
        sightings={"": ()} if kept.tied else {},
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
    node = {**kept.node, **words, "props": props}
    why = found.get("why", []) if kept.why else []
    return {"parts": found.get("parts", []), "why": why, **kept.rest, "node": node}


def _closed_ways(reader: Loom, kept: Receipt, hits: Sequence[dict[str, Any]]) -> list[str]:
    """Takes the ways out of the reasons that lead over what cannot be seen today, and says so."""
    ways = [(each, name) for hit in hits for each, name in _ways(hit)]
    names = list(dict.fromkeys(step for each, name in ways for step in _ARROW.split(each[name])))
    open_to = {label(node) for node in reader.store.nodes(reader.viewer, kept.when, kept.on_the_way)}
    for start in range(0, len(names), MAX_NAMES):
        find = Find(names=tuple(names[start : start + MAX_NAMES]))
        open_to |= {label(node) for node in reader.store.find(reader.viewer, kept.when, find, limit=MAX_NODES).nodes}
    closed = [way for way in ways if not all(_is_open(step, open_to) for step in _ARROW.split(way[0][way[1]]))]
    for each, name in closed:
        each[name] = WITHHELD
    told = "reasons are withheld: they tell of what is deleted since, or not yours to see"
    return [f"{len(closed)} {told}"] if closed else []


def _ways(hit: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Where a hit tells of a way over other nodes."""
    for field, name in (("seen", "path"), ("why", "detail")):
        for each in hit.get(field, ()):
            if _ARROW.search(each.get(name, "")):
                yield each, name


def _is_open(step: str, open_to: Set[str]) -> bool:
    """Whether a step of a way may be told; before the first one the views that found it may stand."""
    return step in open_to or step.partition(": ")[2] in open_to


def _withheld(kept: Receipt, nodes: Mapping[str, NodeVersion], shown: Sequence[Hit]) -> list[str]:
    """What was found and cannot be shown."""
    notes = []
    if gone := sum(hit.id not in nodes for hit in kept.hits):
        notes.append(f"{gone} of {len(kept.hits)} hits are withheld: deleted since, or not yours to see")
    parts = sum(len(hit.parts) for hit in kept.hits if hit.id in nodes)
    if gone := parts - sum(len(hit.parts) for hit in shown):
        notes.append(f"{gone} of {parts} parts of hits are withheld: deleted since, or not yours to see")
    return notes


def _changed(kept: Receipt, nodes: Mapping[str, NodeVersion]) -> list[str]:
    """What does not say what it said: hashes are worked out again."""
    there = [(hit, nodes[hit.id]) for hit in kept.hits if hit.id in nodes]
    return [
        f"{hit.id} does not say what it said then: `weft log verify` and `weft rebuild` tell more"
        for hit, node in there
        if content_hash(node.name, node.summary, node.text).hex() != hit.content_hash
    ]


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
    ),
)
