"""No answer grows past its bound, whatever memories hold; what is left out is said, and had by `show` and `cite`."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

import weft
from tests.retrieval.small_worlds import PROJECT, WordEmbedder, context_over, embed_all
from tests.retrieval.views_world import call
from weft.backends.memory import MemoryStore
from weft.log.chain import commit_genesis
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.models.embedding import ASKED_CHARACTERS
from weft.recall.answer_limits import OUTPUT_CHARACTERS, bounded, size
from weft.recall.memory_search import Related, Searched, SearchResult
from weft.recall.request import Hit, PartShown
from weft.recall.show_values import NodeShown
from weft.runtime.call_context import CallContext
from weft.testing.clock import ManualClock
from weft.testing.scribe import edge, node
from weft.testing.viewers import OPERATOR

WORD = "giraffe"
LONG = 20_000


def world() -> CallContext:
    clock = ManualClock()
    store = MemoryStore(commit_genesis, clock=clock)
    return context_over(store, clock, embedder=WordEmbedder())


def characters(answer: dict[str, Any]) -> int:
    return len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


@pytest.fixture(scope="module")
def long_texts() -> CallContext:
    """Twenty memories of 20,000 characters, turns of a talk as long, and an entity whose name is longer than any."""
    ctx = world()
    ctx.append([node("long-name", WORD, kind="Person", project=PROJECT, name="Mira " + "m" * 30_000)])
    ctx.append([node("p/talk", "", kind="Session", project=PROJECT)])
    for number in range(20):
        body = f"{WORD} " + f"word{number} " * (LONG // 6)
        said = {"conversation": "p/talk", "seq": number}
        ctx.append([node(f"long{number}", body, kind="Memory", project=PROJECT, props={"record": f"r{number}"})])
        ctx.append([node(f"p/talk#{number:05d}", body, kind="Message", project=PROJECT, props=said)])
        ctx.append([node(f"event{number}", body, kind="Event", project=PROJECT, name="n" * 30_000)])
        ctx.append([edge(f"event{number}", "INVOLVES", "long-name", project=PROJECT)])
    ctx.append([node("longest", f"{WORD} " * LONG, kind="Memory", project=PROJECT)])
    embed_all(ctx.store, ctx.clock, viewer=OPERATOR)  # type: ignore[arg-type]
    return ctx


@pytest.mark.parametrize(
    ("operation", "given", "rows", "least"),
    [
        ("recall", {"query": WORD, "limit": 100, "min_score": 0.0}, "hits", 40),
        ("recall", {"query": WORD, "limit": 100, "min_score": 0.0, "explain": True}, "hits", 20),
        ("recall_raw", {"query": WORD, "limit": 100, "min_score": 0.0}, "merged", 40),
        ("memory_search", {"query": WORD, "limit": 100, "min_score": 0.0}, "results", 40),
        ("find_similar", {"text": WORD, "limit": 100}, "hits", 40),
        ("conversation_search", {"query": WORD, "limit": 100, "min_score": 0.0, "neighbours": 3}, "messages", 20),
        ("conversation_search", {"query": WORD, "limit": 100, "session": "p/talk"}, "messages", 20),
        ("semantic_search", {"query": WORD, "top_k": 50, "min_score": 0.0}, "matches", 40),
        ("temporal_expand", {"entity_ids": ["long-name"]}, "nodes", 20),
        ("subgraph_merge", {"views": [{"view": "temporal", "nodes": [{"id": "event1", "score": 1.0}]}]}, "nodes", 1),
        ("explain", {"query": WORD, "id": "longest"}, "node", 1),
    ],
)
def test_long_texts_are_cut_and_no_result_is_lost(
    long_texts: CallContext, operation: str, given: dict[str, Any], rows: str, least: int
) -> None:
    answer = call(long_texts, operation, **given)
    assert characters(answer) <= OUTPUT_CHARACTERS
    assert len(answer[rows]) >= least
    if operation not in ("recall_raw", "subgraph_merge", "temporal_expand", "semantic_search"):  # these tell less
        assert any("`weft show` and `weft cite` print all" in note for note in answer["notes"])
        assert "more characters)" in json.dumps(answer[rows], ensure_ascii=False)


def test_the_whole_text_is_had_by_what_a_cut_one_names(long_texts: CallContext) -> None:
    (hit, *_) = call(long_texts, "recall", query=WORD, kinds=["Memory"], limit=20)["hits"]
    assert len(hit["node"]["text"]) < LONG
    (cited,) = call(long_texts, "cite", citation=hit["node"]["citation"])["nodes"]
    assert len(cited["text"]) > LONG
    begins, left = hit["node"]["text"].removesuffix(" more characters)").split("… (")
    assert cited["text"].startswith(begins)
    assert len(begins) + int(left.replace(",", "")) == len(cited["text"])
    assert call(long_texts, "show", id=hit["node"]["id"])["node"]["text"] == cited["text"]


def test_short_properties_stay_and_long_ones_are_cut_whatever_they_are() -> None:
    ctx = world()
    long = {"blob": "x" * 200_000, "numbers": list(range(50_000)), "deep": {"a": {"b": "y" * 90_000}}}
    props = {**long, **{f"key{n}": "z" * 300 for n in range(900)}, "record": "r7", "pinned": True, "line": 3}
    ctx.append([node("big", "zebra zebra", kind="Memory", project=PROJECT, props=props)])
    for operation, rows in (("recall", "hits"), ("memory_search", "results"), ("find_similar", "hits")):
        given = {"text": "zebra"} if operation == "find_similar" else {"query": "zebra"}
        answer = call(ctx, operation, **given)
        assert characters(answer) <= OUTPUT_CHARACTERS
        (found,) = answer[rows]
        shown = found.get("hit", found)["node"]
        assert (shown["props"]["record"], shown["props"]["pinned"], shown["props"]["line"]) == ("r7", True, 3)
        assert shown["text"] == "zebra zebra"
        assert any("cut" in note for note in answer["notes"])
    assert call(ctx, "show", id="big")["node"]["props"] == props


def test_short_answers_are_whole() -> None:
    ctx = world()
    for number in range(8):
        text = f"zebra {number} " + "runs over the hill " * 200
        ctx.append([node(f"z{number}", text, kind="Memory", project=PROJECT)])
    answer = call(ctx, "recall", query="zebra", limit=8)
    assert len(answer["hits"]) == 8
    assert all(len(hit["node"]["text"]) > 3_000 for hit in answer["hits"])
    assert not answer.get("notes", ()) or not any("cut" in note for note in answer["notes"])


def test_a_long_context_that_was_asked_for_is_given_and_hits_beside_it(long_texts: CallContext) -> None:
    answer = call(long_texts, "recall", query=WORD, limit=100, min_score=0.0, max_tokens=100_000)
    assert len(answer["context"]) > OUTPUT_CHARACTERS // 2
    assert len(answer["hits"]) >= 10
    assert characters({**answer, "context": ""}) <= OUTPUT_CHARACTERS


@pytest.mark.parametrize("explain", [False, True])
def test_a_receipt_tells_a_cut_answer_as_it_was(memory_of_long: weft.Memory, *, explain: bool) -> None:
    before = memory_of_long.recall(WORD, limit=30, min_score=0.0, receipt=True, explain=explain)
    assert any("cut" in note for note in before.notes)
    assert size(before) <= OUTPUT_CHARACTERS
    memory_of_long.remember(f"{WORD} again")
    assert memory_of_long.answer(before.receipt) == before
    told = memory_of_long.explain(before.receipt, before.hits[0].node.id)
    assert size(told) <= OUTPUT_CHARACTERS


@pytest.fixture
def memory_of_long(tmp_path: Any) -> Any:
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "none", "WEFT_PROJECT": PROJECT}
    with weft.open(f"sqlite://{tmp_path}/store", directory=tmp_path, environment=environment) as memory:
        nodes = tuple(
            graph.NodeAssertion(
                id=f"n{number}",
                kind="Memory",
                text=f"{WORD} {number} " + "w" * 30_000,
                props={"record": f"r{number}", "long": "p" * 5_000},
                project=PROJECT,
                scope="public",
            )
            for number in range(25)
        )
        memory.ctx.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=nodes))])
        yield memory


# ---- what goes first


def shown(number: int, text: str, related: int, parts: int = 0) -> SearchResult:
    one = NodeShown(
        id=f"n{number}", kind="Note", name="", text=text, citation="weft://s/events/1#00", valid_from="2020"
    )
    steps = tuple(Related(direction="out", rel="TO", id=f"r{at}", kind="Note", name="x" * 100) for at in range(related))
    said = tuple(PartShown(text=f"part {at}", citation="weft://s/events/1#00") for at in range(parts))
    return SearchResult(hit=Hit(score=1.0 / (number + 1), node=one, parts=said), related=steps)


def fitted(*results: SearchResult) -> Searched:
    whole = Searched(
        query="q", status="succeeded", results=results, intent="WHAT", retrieval_class="", valid_at="", known_at=""
    )
    cut = bounded(whole, "results", beside={"related items": ("related",)})
    assert size(cut) <= OUTPUT_CHARACTERS
    assert (cut == whole) == (not cut.notes)
    return cut


def test_what_is_related_goes_first_then_the_ends_of_texts_then_parts_then_the_last_results() -> None:
    assert not fitted(*(shown(number, "word " * 100, 3) for number in range(10))).notes
    related = [shown(number, "word " * 200, 20) for number in range(40)]
    cut = fitted(*related)
    assert [each.hit for each in cut.results] == [each.hit for each in related]
    assert cut.results[0].related == related[0].related
    assert not cut.results[-1].related
    assert len(cut.notes) == 1
    assert "related items are left out" in cut.notes[0]

    long = fitted(*(shown(number, "w" * 9_000, 5, 2) for number in range(20)))
    assert len(long.results) == 20
    assert not any(each.related for each in long.results)
    assert all(2_000 <= len(each.hit.node.text) < 9_000 and each.hit.parts for each in long.results)
    assert len(long.notes) == 2

    parts = fitted(*(shown(number, "w" * 600, 0, 12) for number in range(100)))
    assert len(parts.results) == 100
    assert parts.results[0].hit.parts
    assert not parts.results[-1].hit.parts

    many = fitted(*(shown(number, "w" * 9_000, 5, 2) for number in range(900)))
    assert 100 < len(many.results) < 900
    assert [each.hit.node.id for each in many.results] == [f"n{at}" for at in range(len(many.results))]
    assert any(f"the last {900 - len(many.results)} of 900 results" in note for note in many.notes)

    (huge,) = fitted(shown(0, "w" * 900_000, 2)).results
    assert len(huge.hit.node.text) > OUTPUT_CHARACTERS // 2
    assert msgspec.json.encode(huge)


class _Measuring(WordEmbedder):
    """Remembers how much it was given at most."""

    longest = 0

    def embed(self, texts: Any) -> Any:
        self.longest = max([self.longest, *map(len, texts)])
        return super().embed(texts)


def test_of_a_long_question_the_beginning_is_embedded_and_that_is_said() -> None:
    clock, embedder = ManualClock(), _Measuring()
    ctx = context_over(MemoryStore(commit_genesis, clock=clock), clock, embedder=embedder)
    ctx.append([node("short", WORD, kind="Memory", project=PROJECT)])
    embed_all(ctx.store, ctx.clock, viewer=OPERATOR)  # type: ignore[arg-type]
    found = call(ctx, "recall", query=f"{WORD}? " + "a@" * 16_000)
    assert embedder.longest == ASKED_CHARACTERS
    assert any("the question is long" in note for note in found["notes"])
    assert [hit["node"]["id"] for hit in found["hits"]] == ["short"]
