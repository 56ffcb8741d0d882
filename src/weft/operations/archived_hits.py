"""Hits in conversations that are archived: left out of a search, with as many others in their place."""

from __future__ import annotations

from msgspec.structs import replace

from weft.errors import StoreError
from weft.loom import Loom
from weft.operations.archiving import is_archived
from weft.operations.conversations import LATEST
from weft.retrieval import recipes
from weft.retrieval.pipeline import Answer, Candidate, run
from weft.types import MAX_IDS_PER_READ, MAX_LIMIT


def without_archived(loom: Loom, answer: Answer) -> tuple[Answer, tuple[str, ...]]:
    """The answer without messages of archived conversations, and a note that counts these.

    Whether one is archived is asked of what was found only, so a search without any costs one read. Where some go, the
    search is made again for as many as there may be. Of an answer from the log nothing is known: it stays as it is, and
    so does one of which the store cannot tell it; a note says so.
    """
    limit = answer.ask.limit
    try:
        kept, gone = _parted(loom, answer)
        if gone and limit < MAX_LIMIT:
            answer = run(recipes.RECIPES["default"], loom, replace(answer.ask, limit=MAX_LIMIT))
            kept, gone = _parted(loom, answer)
    except StoreError as problem:
        note = f"messages of archived conversations may be among these: {problem.message}"
        return replace(answer, ranked=(answer.ranked or ())[:limit]), (note,)
    note = f"{gone} {'message' if gone == 1 else 'messages'} of archived conversations left out: --archived"
    return replace(answer, ranked=kept[:limit]), (note,) if gone else ()


def _parted(loom: Loom, answer: Answer) -> tuple[tuple[Candidate, ...], int]:
    """What is not archived, and how many are."""
    ranked = answer.ranked or ()
    hidden = _archived(loom, answer)
    kept = tuple(each for each in ranked if each.node.props.get("conversation") not in hidden)
    return kept, len(ranked) - len(kept)


def _archived(loom: Loom, answer: Answer) -> set[object]:
    """Which of the conversations that were found in are archived."""
    if answer.degraded:
        return set()
    names = {each.node.props.get("conversation") for each in answer.ranked or ()}
    ids = [each for each in names if isinstance(each, str)][:MAX_IDS_PER_READ]
    return {node.id for node in loom.store.nodes(loom.viewer, LATEST, ids) if is_archived(node)}
