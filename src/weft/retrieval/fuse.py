"""Joins what the sources found into one ranked list."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.loom import Loom
from weft.retrieval.pipeline import Answer, Candidate
from weft.types import RECORD_KINDS


class Fuse(Struct, frozen=True):
    """A node's score is the sum of what each source gave; ties go to the newer version."""

    name: str = "fuse"

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        by_id: dict[str, Candidate] = {}
        for candidate in (each for found in answer.gathered for each in found):
            known = by_id.get(candidate.node.id)
            sources = (known.sources if known else ()) + candidate.sources
            by_id[candidate.node.id] = Candidate(node=candidate.node, sources=sources)
        asked = answer.ask.kinds or ()
        kept = [each for each in by_id.values() if each.node.kind not in RECORD_KINDS or each.node.kind in asked]
        kept.sort(key=lambda each: (-each.score, -each.node.row))
        return replace(answer, ranked=tuple(kept[: answer.ask.limit]))
