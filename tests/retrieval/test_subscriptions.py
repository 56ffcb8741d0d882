"""Topics an agent follows: what is tagged for nobody is found through them, what is tagged for others never is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.retrieval.small_worlds import PROJECT, SETTINGS, WordEmbedder, context_over
from tests.retrieval.views_world import call
from weft.backends.memory import MemoryStore
from weft.backends.sqlite.store import SqliteStore
from weft.core.errors import Misconfigured, NotFound
from weft.log.chain import commit_genesis
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.runtime.call_context import CallContext
from weft.runtime.settings.load import load_settings
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, edge, memory_of, node
from weft.testing.viewers import ANN, OPERATOR

QUESTION = "when does the ferry sail to Ysolde"


@pytest.fixture(params=["memory", "sqlite"])
def ctx(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    clock = ManualClock()
    store: Any = (
        MemoryStore(commit_genesis, clock=clock)
        if request.param == "memory"
        else SqliteStore(tmp_path / "store", commit_genesis, clock=clock)
    )
    writer = context_over(store, clock, embedder=WordEmbedder())
    scribe = Scribe(store, clock)
    for node_id, text, guard in (
        ("mine", "the bakery opens at six", {"agents": ("ann",)}),
        ("open", "the ferry sails to Ysolde at nine", {}),
        ("tagged", "the boat to Ysolde sails when the bell rings", {"props": {"keywords": ["Ferries"]}}),
        (
            "bobs",
            "the ferry sails to Ysolde at midnight, for Bob",
            {"agents": ("bob",), "props": {"keywords": ["ferry"]}},
        ),
        ("secret", "the ferry sails to Ysolde with gold", {"scope": "admin", "props": {"keywords": ["ferry"]}}),
        ("apart", "the ferry museum was painted green", {"props": {"keywords": ["ferries"]}}),
    ):
        writer.append([memory_of(node_id, text, **{"project": PROJECT, **guard})])
    assert scribe.store is store
    viewer = replace(ANN, scopes=frozenset({"public", "shared"}))
    yield replace(writer, viewer=viewer)
    store.close()


def following(ctx: CallContext, *keywords: str) -> CallContext:
    return replace(ctx, settings=replace(SETTINGS, keywords=keywords))


def found(ctx: CallContext, operation: str = "recall") -> list[str]:
    answer = call(ctx, operation, query=QUESTION)
    assert all(hit["node"]["citation"] for hit in answer["hits"])
    return [hit["node"]["id"] for hit in answer["hits"]]


def test_untagged_memories_are_found_through_keywords_only(ctx: CallContext) -> None:
    assert found(following(ctx)) == []
    assert found(following(ctx, "bakery")) == []
    through = found(following(ctx, "ferry", "Ferries"))
    assert through[0] == "open"
    assert {"open", "tagged"} <= set(through) <= {"open", "tagged", "apart"}
    assert found(following(ctx, "FERRIES"))[0] in ("tagged", "open")


def write(ctx: CallContext, *drafts: Draft) -> None:
    """By somebody who may, in this order."""
    for draft in drafts:
        replace(ctx, viewer=OPERATOR).append([draft])


def test_a_topic_shows_what_fits_it_and_nothing_that_stands_beside(ctx: CallContext) -> None:
    said = {"part_of": "p/s1", "conversation": "p/s1"}
    write(
        ctx,
        node("p/s1", "", kind="Session", agents=("ann",), project=PROJECT),
        node("p/s1#0001", "where is the lighthouse key", kind="Message", agents=("ann",), project=PROJECT, props=said),
        node("p/s1#0002", "under the mat, tell nobody", kind="Message", project=PROJECT, props=said),
    )
    ann = following(ctx, "tides")
    for operation in ("recall", "memory_search"):
        answer = call(ann, operation, query="where is the lighthouse key", min_score=0.0)
        hits = answer["hits"] if operation == "recall" else [each["hit"] for each in answer["results"]]
        assert [part["text"] for part in hits[0]["parts"]] == ["where is the lighthouse key"]
        assert "tell nobody" not in str(answer)
    with pytest.raises(NotFound, match="that you may see"):
        call(ann, "explain", query="where is the lighthouse key", id="p/s1#0002")
    kept = call(ann, "recall", query="where is the lighthouse key", min_score=0.0, receipt=True)
    told = call(ann, "answer", id=kept["receipt"])
    assert (told["hits"], told["context"], told.get("notes", ())) == (kept["hits"], kept["context"], ())
    assert "tell nobody" not in str(call(replace(ctx, settings=SETTINGS), "answer", id=kept["receipt"]))


def test_what_is_joined_to_a_followed_memory_is_not_told(ctx: CallContext) -> None:
    write(
        ctx,
        memory_of("beside", "Bob keeps the gold of the crossing", project=PROJECT),
        edge("open", "TELLS_OF", "beside", project=PROJECT),
    )
    answer = call(following(ctx, "ferry"), "memory_search", query=QUESTION)
    assert "open" in [each["hit"]["node"]["id"] for each in answer["results"]]
    assert "gold" not in str(answer)


def test_of_a_long_memory_that_is_followed_the_place_is_shown(ctx: CallContext) -> None:
    long = "The tide comes in. " * 60 + "The lamp of the pier is lit at seven."
    write(ctx, memory_of("long", long, project=PROJECT))
    hits = call(following(ctx, "tide"), "recall", query="when is the lamp of the pier lit")["hits"]
    assert hits[0]["node"]["id"] == "long"
    assert len(hits[0]["parts"]) == 1
    assert hits[0]["parts"][0]["citation"]


def test_citations_of_what_a_topic_brought_resolve_while_it_is_followed(ctx: CallContext) -> None:
    ann = following(ctx, "ferry", "Ferries")
    brought = {hit["node"]["id"]: hit["node"]["citation"] for hit in call(ann, "recall", query=QUESTION)["hits"]}
    assert {"open", "tagged"} <= brought.keys()
    for node_id, citation in brought.items():
        cited = call(ann, "cite", citation=citation)
        assert [each["id"] for each in cited["nodes"]] == [node_id]
        assert (cited["matches"], cited["nodes"][0]["citation"]) == (True, citation)
        assert "payload" not in cited["event"] or cited["event"]["payload"] is None
        for keywords in ((), ("bakery",)):
            with pytest.raises(NotFound, match="nothing that you may see"):
                call(following(ctx, *keywords), "cite", citation=citation)
    everything = call(replace(ctx, viewer=OPERATOR), "recent", limit=50)["nodes"]
    for hidden in (each["citation"] for each in everything if each["id"] in ("bobs", "secret")):
        with pytest.raises(NotFound, match="nothing that you may see"):
            call(ann, "cite", citation=hidden)


def test_of_an_event_only_what_fits_a_topic_is_cited(ctx: CallContext) -> None:
    both = (
        graph.NodeAssertion(id="tide", kind="Memory", text="The tide of the pier is high.", scope="public"),
        graph.NodeAssertion(id="vault", kind="Memory", text="The vault opens at nine.", scope="public"),
    )
    write(ctx, Draft(kind="graph.asserted", payload=graph.Asserted(nodes=both)))
    ann = following(ctx, "tide")
    hit = call(ann, "recall", query="how high is the tide of the pier")["hits"][0]["node"]
    cited = call(ann, "cite", citation=hit["citation"])
    assert [each["id"] for each in cited["nodes"]] == ["tide"]
    assert "vault" not in str(cited)


def test_a_topic_of_several_words_takes_all_of_them(ctx: CallContext) -> None:
    for keyword, brings in (("ferry museum", {"apart"}), ("museum ferries", {"apart"}), ("ferry captain", set())):
        answer = call(following(ctx, keyword), "recall", query="what colour is the ferry museum", min_score=0.0)
        assert {hit["node"]["id"] for hit in answer["hits"]} - {"mine"} == brings


def test_matches_of_a_semantic_search_that_a_topic_brought_are_cited(ctx: CallContext) -> None:
    ann = following(ctx, "ferry")
    matches = call(ann, "semantic_search", query=QUESTION, min_score=0.0)["matches"]
    assert "open" in [each["id"] for each in matches]
    for each in matches:
        assert call(ann, "cite", citation=each["citation"])["nodes"][0]["id"] == each["id"]


# ---- what was replaced

TABLE = "what does the tide table of the pier say"


def replaced(ctx: CallContext, old: dict[str, Any], new: dict[str, Any]) -> dict[str, list[str]]:
    """What an agent that follows tides gets, with marks, where one memory replaces another."""
    for node_id, given in (("old", old), ("new", new)):
        write(ctx, memory_of(node_id, **{"project": PROJECT, **given}))
    write(ctx, edge("new", "SUPERSEDES", "old", project=PROJECT))
    answer = call(following(ctx, "tide"), "recall", query=TABLE, min_score=0.0)
    assert all(hit["node"]["citation"] for hit in answer["hits"])
    return {hit["node"]["id"]: list(hit.get("marks", ())) for hit in answer["hits"]}


NINE, TEN = {"text": "the tide table of the pier says nine"}, {"text": "the tide table of the pier says ten"}
MINE = {"agents": ("ann",)}


@pytest.mark.parametrize(
    ("old", "new"), [(NINE, TEN), (NINE | MINE, TEN), (NINE, TEN | MINE), (NINE, {"text": "ten o'clock"} | MINE)]
)
def test_what_was_replaced_gives_way_however_either_was_found(
    ctx: CallContext, old: dict[str, Any], new: dict[str, Any]
) -> None:
    found = replaced(ctx, old, new)
    assert "old" not in found
    assert [mark.partition(" of ")[0] for mark in found["new"]] == ["replaces old"]


def test_what_replaced_it_is_not_named_where_no_topic_brings_it(ctx: CallContext) -> None:
    found = replaced(ctx, NINE, {"text": "the gold is moved at ten"})
    assert "new" not in found
    assert found["old"] == ["replaced by a memory that you may not see"]
    answer = call(following(ctx, "tide"), "recall", query=TABLE, min_score=0.0, receipt=True)
    told = call(following(ctx, "tide"), "answer", id=answer["receipt"])
    assert told["hits"] == answer["hits"]


# ---- receipts


def test_a_receipt_shows_what_a_topic_brought_while_all_its_topics_are_followed(ctx: CallContext) -> None:
    before = call(following(ctx, "ferry"), "recall", query=QUESTION, receipt=True)
    receipt = before["receipt"]
    brought = [hit["node"]["id"] for hit in before["hits"]]
    assert "open" in brought
    for keywords, seen in ((("ferry",), brought), (("tides", "ferry"), brought), (("tides",), []), ((), [])):
        told = call(following(ctx, *keywords), "answer", id=receipt)
        assert [hit["node"]["id"] for hit in told["hits"]] == seen


def test_the_part_is_named_in_the_explanation(ctx: CallContext) -> None:
    answer = call(following(ctx, "ferry"), "recall", query=QUESTION, explain=True)
    assert [part for part in answer["hits"][0]["why"] if part["name"] == "subscription"]


def test_at_most_five_are_read_and_long_ones_refused(tmp_path: Path) -> None:
    def settings(value: str) -> Any:
        return load_settings(tmp_path, {"HOME": str(tmp_path), "WEFT_KEYWORDS": value})

    assert settings("ferries, tides ,ferries").keywords == ("ferries", "tides")
    for bad in ("a,b,c,d,e,f", "x" * 65):
        with pytest.raises(Misconfigured, match="keywords"):
            settings(bad)
