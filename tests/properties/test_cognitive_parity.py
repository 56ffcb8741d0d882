"""Cold parity: where nobody gave feedback, the cognitive profile ranks to the bit as the plain one does.

And where somebody did: the memory moves the right way, nobody drops out, and what one may not see moves nothing.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.running import SqlitePlace, memory_store
from tests.retrieval.small_worlds import PROJECT, QUESTIONS, ROWS, WordEmbedder, context_over, embed_all, record
from weft.core.kinds import MULTIPLIERS
from weft.core.ports import Store
from weft.core.types import When
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.retrieval import recipes
from weft.retrieval.pipeline import Answer, Ask, Stage, run
from weft.runtime.call_context import CallContext
from weft.testing.clock import ManualClock, day
from weft.testing.scribe import Scribe
from weft.testing.viewers import OPERATOR, PUBLIC

Rows = list[tuple[str, str, str, int]]
COGNITIVE: tuple[Stage, ...] = recipes.DEFAULT
PLAIN: tuple[Stage, ...] = recipes.compose(recipes.RankingPlan(cognitive=False))
ASKED = st.sampled_from(QUESTIONS)
EVERY = 100  # hits: more than any of these worlds has


def filled(store: Store, clock: ManualClock, rows: Rows, *, vectors: bool = True) -> CallContext:
    scribe = Scribe(store, clock)
    for number, (shape, name, text, days) in enumerate(rows):
        scribe.one(record(shape, number, name, text, days))
    embed_all(store, clock)
    return context_over(store, clock, embedder=WordEmbedder() if vectors else None)


def ask(ctx: CallContext, question: str, recipe: tuple[Stage, ...], **options: Any) -> Answer:
    """Always asked at one moment, after all that is written: what "last spring" means must not move."""
    options = {"limit": EVERY, "when": When(valid_at=day(9)), "projects": (PROJECT, None)} | options
    return run(recipe, ctx, Ask(query=question, **options))


def told(answer: Answer) -> Any:
    """All that a caller gets of an answer, how it was worked out apart."""
    assert not [step.failed for step in answer.trace if step.failed]
    return answer.ranked, [each.score.hex() for each in answer.ranked or ()], answer.notes


def feedback(memory: str, outcome: str, number: int = 0, *, scope: Any = "public") -> Draft:
    props = {"outcome": outcome, "multiplier": MULTIPLIERS[outcome]}
    node = graph.NodeAssertion(id=f"f{number}", kind="Feedback", props=props, project=PROJECT, scope=scope)
    about = graph.EdgeAssertion(src=node.id, rel="ABOUT", dst=memory, project=PROJECT, scope=scope)
    return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(node,), edges=(about,)))


@settings(max_examples=40)
@given(ROWS, ASKED, st.booleans(), st.sampled_from([3, EVERY]))
def test_without_feedback_both_profiles_rank_alike(rows: Rows, question: str, vectors: bool, limit: int) -> None:
    clock = ManualClock()
    ctx = filled(memory_store(clock), clock, rows, vectors=vectors)
    plain = ask(ctx, question, PLAIN, limit=limit)
    assert told(ask(ctx, question, COGNITIVE, limit=limit)) == told(plain)
    cued = ask(ctx, question, COGNITIVE, limit=limit, cues={"mission": "north", "tool": "grep"})
    assert told(cued) == told(plain), "no memory here has cues"


@settings(max_examples=8)
@given(ROWS, ASKED)
def test_without_feedback_both_profiles_rank_alike_in_sqlite(rows: Rows, question: str) -> None:
    clock = ManualClock()
    place = SqlitePlace(clock)
    try:
        ctx = filled(place.store, clock, rows)
        assert told(ask(ctx, question, COGNITIVE)) == told(ask(ctx, question, PLAIN))
    finally:
        place.close()


@settings(max_examples=40)
@given(ROWS, ASKED, st.sampled_from(sorted(MULTIPLIERS)), st.data())
def test_feedback_moves_a_memory_the_right_way_and_loses_nobody(
    rows: Rows, question: str, outcome: str, data: st.DataObject
) -> None:
    clock = ManualClock()
    ctx = filled(memory_store(clock), clock, rows, vectors=False)
    # Of two that are the same one is shown, whichever ranks first: that is another matter.
    plain, cognitive = (tuple(stage for stage in recipe if stage.name != "distinct") for recipe in (PLAIN, COGNITIVE))
    before = [each.node.id for each in ask(ctx, question, plain).ranked or ()]
    if not before:
        return
    memory = data.draw(st.sampled_from(before))
    Scribe(ctx.store, clock).one(feedback(memory, outcome))
    assert [each.node.id for each in ask(ctx, question, plain).ranked or ()] == before, "the plain profile looks away"
    after = [each.node.id for each in ask(ctx, question, cognitive).ranked or ()]
    assert set(after) >= set(before), "beside a weaker best, more may be shown"
    moved = [each for each in after if each in before].index(memory) - before.index(memory)
    assert moved >= 0 if outcome == "invalidated" else moved <= 0


@settings(max_examples=20)
@given(ROWS, ASKED, st.sampled_from(sorted(MULTIPLIERS)), st.data())
def test_hidden_feedback_moves_nothing(rows: Rows, question: str, outcome: str, data: st.DataObject) -> None:
    clock = ManualClock()
    ctx = filled(memory_store(clock), clock, rows)
    public = context_over(ctx.store, clock, viewer=PUBLIC, embedder=WordEmbedder())
    before = ask(public, question, COGNITIVE)
    if not before.ranked:
        return
    memory = data.draw(st.sampled_from([each.node.id for each in before.ranked]))
    Scribe(ctx.store, clock).write(feedback(memory, outcome, scope="admin"))
    assert told(ask(public, question, COGNITIVE)) == told(before)
    operator = context_over(ctx.store, clock, viewer=OPERATOR, embedder=WordEmbedder())
    seen = ask(operator, question, COGNITIVE).ranked or ()
    counted = any(source.name == "cognitive" for each in seen for source in each.sources)
    by_id = any(source.name == "id" for each in before.ranked for source in each.sources)
    # Of two that are the same one is shown: then the other one takes its place.
    replaced = bool(seen) and memory not in {each.node.id for each in seen}
    assert counted or by_id or replaced, "for those who see it, it counts"
