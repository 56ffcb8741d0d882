"""Doubles: each thing once, its best, and nothing else is lost."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.properties.pools import Row, answer_of, empty_context, ids
from tests.retrieval.small_worlds import QUESTIONS
from tests.retrieval.small_worlds import ROWS as WORLDS
from tests.retrieval.test_scores import Rows, ask, check, world
from weft.retrieval import recipes
from weft.retrieval.judging.distinct import MAX_NAMED, Distinct, keys_of
from weft.retrieval.pipeline import Answer

LOOM = empty_context()
KINDS = ("Person", "Service", "Concept", "Memory", "Document", "Section", "Message", "Session", "Function", "Event")
ROW = st.builds(
    Row,
    id=st.sampled_from([f"n{number}" for number in range(30)]),
    score=st.floats(0.0, 2.0),
    kind=st.sampled_from(KINDS),
    name=st.sampled_from(["", "Marta Okonro", "marta  okonro", "Velmora", "VELMORA."]),
    text=st.sampled_from(["", "Sails on Mondays.", "Lives by the harbour."]),
    props=st.sampled_from([{}, {"slug": "velmora"}, {"canonical_name": "Velmora"}, {"slug": 7}, {"slug": " "}]),
    project=st.sampled_from(["p", "q", None]),
    days=st.integers(-400, 5),
)
ROWS = st.lists(ROW, max_size=14, unique_by=lambda row: row.id)


def distinct(answer: Answer) -> Answer:
    return Distinct()(LOOM, answer)


def left(*rows: Row) -> set[str]:
    return {node.id for node in distinct(answer_of(rows)).pool.nodes}


@given(ROWS)
def test_twice_is_once(rows: list[Row]) -> None:
    once = distinct(answer_of(rows))
    assert distinct(once) is once


@given(ROWS)
def test_the_best_of_each_stays_and_what_goes_has_a_better_double(rows: list[Row]) -> None:
    answer = answer_of(rows)
    after = distinct(answer)
    ranked, kept = ids(answer), ids(after)
    nodes = {node.id: node for node in answer.pool.nodes}
    for gone in set(ranked) - set(kept):
        better = [each for each in kept if set(keys_of(nodes[each])) & set(keys_of(nodes[gone]))]
        assert better, f"{gone} went, and nothing that is the same stayed"
        assert min(map(ranked.index, better)) < ranked.index(gone)
    keys = [key for each in kept for key in keys_of(nodes[each])]
    assert len(keys) == len(set(keys)), "no two that are left are the same"
    if ranked:
        assert kept[0] == ranked[0]


@given(ROWS)
def test_the_rest_keeps_its_order_its_scores_and_their_reasons(rows: list[Row]) -> None:
    answer = answer_of(rows)
    after = distinct(answer)
    kept = {node.id for node in after.pool.nodes}
    assert ids(after) == [each for each in ids(answer) if each in kept]
    assert [node.id for node in after.pool.nodes] == [node.id for node in answer.pool.nodes if node.id in kept]
    before = dict(zip([node.id for node in answer.pool.nodes], answer.pool.scores().tolist(), strict=True))
    for at, (node, score) in enumerate(zip(after.pool.nodes, after.pool.scores().tolist(), strict=True)):
        assert score == before[node.id]
        for part in after.pool.parts:
            assert part.detail is not None
            assert part.detail(at) == f"{part.name} of {node.id}"


def test_a_thing_is_one_by_slug_or_name_whatever_its_letters() -> None:
    one = Row("a", 0.9, "Person", "Marta Okonro", "She sails.")
    assert left(one, Row("b", 0.5, "Person", "marta okonro", "She is from Tarn.")) == {"a"}
    assert left(one, Row("b", 0.5, "Person", "M. Okonro", props={"canonical_name": "MARTA OKONRO"})) == {"a"}
    slugs = {"slug": "marta"}
    assert left(Row("a", 0.9, "Person", "Marta", props=slugs), Row("b", 0.5, "Entity", "Okonro", props=slugs)) == {"a"}


def test_different_things_that_share_a_name_are_all_kept() -> None:
    for kind in ("Document", "Section", "Function", "Class", "File", "Memory", "Event", "Task"):
        assert left(Row("a", 0.9, kind, "Overview", "One."), Row("b", 0.5, kind, "Overview", "Two.")) == {"a", "b"}
    assert left(Row("a", 0.9, "Person", "Mercury"), Row("b", 0.5, "Product", "Mercury")) == {"a", "b"}
    assert left(Row("a", 0.9, "Person", "Ada"), Row("b", 0.5, "Person", "Ada", project="q")) == {"a", "b"}


def test_what_was_said_or_happened_twice_is_twice() -> None:
    for kind in ("Message", "Session", "Event", "Fact", "Episode", "Function", "Class", "File", "Task", "Cause"):
        assert left(Row("a", 0.9, kind, "", "ok, thanks"), Row("b", 0.5, kind, "", "ok, thanks")) == {"a", "b"}
    for kind in ("Memory", "Document", "Section", "Chunk", "Preference", "Note"):
        assert left(Row("a", 0.9, kind, "", "Use tabs."), Row("b", 0.5, kind, "", "Use tabs.")) == {"a"}
        assert left(Row("a", 0.9, kind), Row("b", 0.5, kind)) == {"a", "b"}, "nothing said is not the same said"


def test_the_one_that_stays_names_the_others_and_keeps_its_marks() -> None:
    rows = [Row(f"m{number}", 1.0 - 0.1 * number, "Memory", "", "Use tabs.", days=-number) for number in range(6)]
    answer = answer_of(rows)
    answer = replace(answer, pool=replace(answer.pool, marks={"m0": ("pinned",)}), evidence=np.arange(6.0))
    after = distinct(answer)
    assert [node.id for node in after.pool.nodes] == ["m0"]
    first, told = after.pool.marks["m0"]
    assert first == "pinned"
    assert told.startswith("also recorded on ")
    assert told.endswith(f"and {5 - MAX_NAMED} more days")
    assert after.evidence.tolist() == [0.0], "what speaks for a row goes with it"


@settings(max_examples=10)
@given(WORLDS, st.sampled_from(QUESTIONS))
def test_an_answer_holds_each_thing_once_and_is_still_explained(rows: Rows, question: str) -> None:
    ctx = world([*rows, *rows])  # all of it twice, under other ids
    recipe = (*recipes.DEFAULT[:-1], Distinct(), recipes.DEFAULT[-1])
    answer = ask(ctx, question, recipe=recipe, limit=100)
    check(answer, recipe)
    keys = [key for each in answer.ranked or () for key in keys_of(each.node)]
    assert len(keys) == len(set(keys))
    things = {each.node.name for each in ask(ctx, question, limit=100).ranked or () if each.node.kind == "Entity"}
    assert {each.node.name for each in answer.ranked or () if each.node.kind == "Entity"} == things


def test_without_doubles_nothing_is_touched() -> None:
    answer = answer_of([Row("a", 0.9, text="One."), Row("b", 0.5, text="Two.")])
    assert distinct(answer) is answer
