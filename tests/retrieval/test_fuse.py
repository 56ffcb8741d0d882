"""The gated score: what it is made of, and how words give way to meaning."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.lexical import content_hash
from weft.retrieval.fuse import EXACT, MIN_GATE, Fuse
from weft.retrieval.pipeline import Answer, Ask, Candidate, Find
from weft.types import NOW, Guard, Interval, NodeVersion

Raws = dict[str, dict[str, float]]  # of each node, by source
scores = st.floats(0.001, 50.0)
cosines = st.floats(-1.0, 1.0)
found = st.fixed_dictionaries({}, optional={"text": scores, "vector": cosines, "exact": st.floats(0.5, 1.0)})
worlds = st.dictionaries(st.sampled_from("abcdef"), found.filter(bool), min_size=1)


def node(name: str) -> NodeVersion:
    return NodeVersion(
        row=ord(name),
        id=name,
        kind="Note",
        name=name,
        summary="",
        text="",
        props={},
        focus=None,
        slot=name,
        guard=Guard(),
        recorded_guard=Guard(),
        interval=Interval(valid_from=0, valid_to=None, asserted_from=0, asserted_to=None),
        recorded_at=0,
        born=1,
        tx="tx",
        retired_at=None,
        retired_pos=None,
        retired_tx=None,
        deleted_at=None,
        event=1,
        content_hash=content_hash(name, "", ""),
    )


def fuse(raws: Raws, *, vector: bytes | None = b"q", known: dict[str, float] | None = None) -> dict[str, Candidate]:
    """Fuses what was found; `known` are cosines that the store would tell of any node."""
    told = {node(name).content_hash: cosine for name, cosine in (known or {}).items()}
    store = SimpleNamespace(cosines=lambda viewer, query, hashes: {key: told[key] for key in hashes if key in told})
    loom: Any = SimpleNamespace(store=store, viewer=None, embedding=SimpleNamespace(model="m"))
    finds = tuple(
        Find(source=source, node=node(name), rank=1, raw=raw)
        for name, by_source in raws.items()
        for source, raw in by_source.items()
    )
    ask = Ask(query="q", when=NOW, limit=10, projects=None)
    ranked = Fuse()(loom, Answer(ask=ask, vector=vector, found=finds)).ranked
    assert [each.score for each in ranked] == sorted((each.score for each in ranked), reverse=True)
    return {each.node.id: each for each in ranked}


def part(candidate: Candidate, source: str) -> float:
    return sum(each.part for each in candidate.sources if each.name == source)


@given(worlds)
def test_parts_add_up_to_the_formula(raws: Raws) -> None:
    best_text = max((by["text"] for by in raws.values() if "text" in by), default=1.0)
    best_cosine = max((by["vector"] for by in raws.values() if "vector" in by), default=0.0)
    gate = max(MIN_GATE, 1.0 - max(best_cosine, 0.0))
    ranked = fuse(raws)
    assert ranked.keys() == raws.keys()
    for name, by in raws.items():
        expected = gate * by.get("text", 0.0) / best_text + by.get("vector", 0.0) + EXACT * by.get("exact", 0.0)
        assert ranked[name].score == pytest.approx(expected)
        assert ranked[name].score == pytest.approx(sum(each.weight * each.raw for each in ranked[name].sources))


@given(st.dictionaries(st.sampled_from("abcdef"), scores, min_size=1))
def test_without_a_vector_words_count_in_full(texts: dict[str, float]) -> None:
    ranked = fuse({name: {"text": raw} for name, raw in texts.items()}, vector=None, known=dict.fromkeys(texts, 0.9))
    best = max(texts.values())
    for name, raw in texts.items():
        assert ranked[name].score == pytest.approx(raw / best)
        assert [each.name for each in ranked[name].sources] == ["text"]


@given(cosines, cosines)
def test_the_surer_the_meaning_the_less_the_words(one: float, two: float) -> None:
    low, high = sorted((one, two))
    parts = [part(fuse({"a": {"text": 3.0}, "b": {"vector": best}})["a"], "text") for best in (low, high)]
    assert parts[0] >= parts[1] >= MIN_GATE
    if 0.0 <= low < high - 1e-9 and high < 1.0 - MIN_GATE:
        assert parts[0] > parts[1]


@given(scores, cosines, cosines)
def test_a_hit_by_words_alone_gets_its_cosine(text: float, own: float, best: float) -> None:
    ranked = fuse({"a": {"text": text}, "b": {"vector": best}}, known={"a": own, "b": best})
    assert part(ranked["a"], "vector") == own
    assert part(ranked["b"], "vector") == best, "once"
    (source,) = [each for each in ranked["a"].sources if each.name == "vector"]
    assert (source.rank, source.detail) == (0, f"cosine {own:.2f}, beyond the nearest")
