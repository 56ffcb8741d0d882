"""Remembering and recalling: words are kept as they are and found with a citation; wrong arguments are named."""

from __future__ import annotations

from typing import Any

import pytest

import weft
from weft.core.errors import Conflict, Invalid, NotFound, TooLarge
from weft.operations import OPERATIONS


def test_words_are_kept_verbatim_and_found_at_once_with_a_citation(memory: weft.Memory) -> None:
    said = "  Deploys freeze on Fridays.\n\tAsk Mira — she knows. 東京 "
    written = memory.remember(said, name="Freeze")
    hit = memory.recall("when do deploys freeze?").hits[0]
    assert (written.status, hit.node.text, hit.node.id) == ("saved", said, written.id)
    assert hit.node.citation == written.citation
    assert memory.cite(written.citation).nodes[0].text == said


def test_the_best_answer_comes_first_and_the_limit_holds(memory: weft.Memory) -> None:
    for number in range(5):
        memory.remember(f"The build server number {number} runs jobs.")
    memory.remember("The release key lives in the vault; ask Jonas for the release key.")
    answer = memory.recall("where is the release key?", limit=3)
    assert "vault" in answer.hits[0].node.text
    assert len(memory.recall("server jobs", limit=3).hits) == 3
    scores = [hit.score for hit in memory.recall("build server release").hits]
    assert scores == sorted(scores, reverse=True)


def test_an_answer_says_when_there_is_nothing(memory: weft.Memory) -> None:
    memory.remember("about contexts")
    answer = memory.recall("submarines")
    assert (answer.status, answer.hits) == ("empty", ())
    assert any("--everywhere" in note for note in answer.notes)
    assert any("no words" in note for note in memory.recall("?!").notes)
    assert any("small talk" in note for note in memory.recall("thanks!").notes)
    assert any("no words" in note for note in memory.recall("?!", min_score=0.0).notes)


def test_the_parts_of_every_score_add_up(memory: weft.Memory) -> None:
    memory.remember("Redis keeps the sessions.", name="Session store")
    memory.remember("Sessions expire after a day in Redis.")
    memory.add_fact("Redis", "status", "in use")
    answer = memory.recall("Redis sessions: the session store", explain=True)
    assert len(answer.hits) >= 2
    for hit in answer.hits:
        assert hit.why
        assert hit.score == pytest.approx(sum(source.part for source in hit.why))
        for source in hit.why:
            assert source.part > 0
            assert source.rank >= 1
            assert source.detail
    assert {source.name for hit in answer.hits for source in hit.why} >= {"name", "text"}
    assert {"text", "names", "base", "rank"} <= {stage.stage for stage in answer.stages}
    plain = memory.recall("Redis sessions: the session store")
    assert [hit.score for hit in plain.hits] == [hit.score for hit in answer.hits]
    assert all(hit.why == () for hit in plain.hits)


@pytest.mark.parametrize(
    "question", ["Acme Inc.", "What about Acme Inc.'s plans?", "is (acme inc) there", "ACME   INC", "Acme Inc.’s"]
)
def test_a_name_inside_a_question_is_found(memory: weft.Memory, question: str) -> None:
    memory.add_fact("Acme Inc.", "status", "fine")
    answer = memory.recall(question, explain=True, kinds=["Entity", "Fact"])
    named = [hit for hit in answer.hits if any(source.name == "name" for source in hit.why)]
    assert [hit.node.name for hit in named] == ["Acme Inc."]


def test_an_id_is_the_best_question(memory: weft.Memory) -> None:
    wanted = memory.remember("one thing")
    memory.remember("another thing")
    assert memory.recall(wanted.id).hits[0].node.id == wanted.id


def test_kinds_narrow_the_answer(memory: weft.Memory) -> None:
    memory.remember("we decided for Redis", kind="Decision")
    memory.remember("Redis is a cache")
    assert [hit.node.kind for hit in memory.recall("redis", kinds=["Decision"]).hits] == ["Decision"]
    assert [node.kind for node in memory.recent(kinds=["Decision"]).nodes] == ["Decision"]


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_empty_words_are_refused(memory: weft.Memory, text: str) -> None:
    with pytest.raises(Invalid):
        memory.remember(text)
    assert memory.recent().nodes == ()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"scope": "secret"}, "scope"),
        ({"colour": "red"}, "no argument colour"),
        ({"valid_from": "2026-02-30"}, "valid_from"),
        ({"valid_from": "2026-02", "valid_to": "2026-01"}, "ends before it begins"),
        ({"occurred_at": "soon"}, "occurred_at"),
        ({"kind": "Tx"}, "weft creates Tx nodes itself"),
        ({"kind": "not a kind"}, "kind"),
        ({"props": {"a": [1]}}, "props"),
        ({"props": {f"k{n}": n for n in range(65)}}, "props"),
        ({"level": "planet"}, "level"),
        ({"agents": ["no spaces"]}, "agents"),
        ({"request_id": "no spaces"}, "request_id"),
        ({"name": "lone \udce9"}, "surrogate"),
        ({"account": "someone-else"}, "no argument account"),
    ],
)
def test_arguments_that_do_not_fit_are_named(memory: weft.Memory, given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(Invalid, match=complaint) as caught:
        memory.remember("words", **given)
    assert caught.value.hint
    assert memory.stats().store.events == 0


@pytest.mark.parametrize(
    "operation", ["recall", "show", "cite", "diff", "ingest", "log_export", "log_import", "backup"]
)
def test_what_is_not_text_is_refused_everywhere(memory: weft.Memory, operation: str) -> None:
    memory.remember("so that there is a file to ask")
    first = next(each for each in OPERATIONS if each.name == operation).arguments[0]
    with pytest.raises((Invalid, NotFound)) as caught:
        memory.call(operation, **{first: "caf\udce9"})
    assert caught.value.hint


def test_too_much_is_refused(memory: weft.Memory) -> None:
    with pytest.raises(TooLarge):
        memory.remember("é" * 600_000)
    with pytest.raises(Invalid):
        memory.recall("x" * 40_000)
    for limit in (0, -1, 101):
        with pytest.raises(Invalid, match="limit"):
            memory.recall("x", limit=limit)


def test_a_repeated_request_is_written_once(memory: weft.Memory) -> None:
    first = memory.remember("once", request_id="r-1")
    again = memory.remember("once", request_id="r-1")
    assert (again.status, again.id, again.citation) == ("duplicate_skip", first.id, first.citation)
    assert again.notes
    with pytest.raises(Conflict):
        memory.remember("something else", request_id="r-1")
    assert memory.stats().store.events == 1


def test_a_repeated_fact_is_written_once_though_the_world_moved_on(memory: weft.Memory) -> None:
    memory.add_fact("Mira", "role", "engineer", valid_from="2024")
    first = memory.add_fact("Mira", "role", "lead", valid_from="2025", request_id="r-1")
    again = memory.add_fact("Mira", "role", "lead", valid_from="2025", request_id="r-1")
    assert (first.status, again.status) == ("superseded", "duplicate_skip")
    assert (again.id, again.citation) == (first.id, first.citation)
    with pytest.raises(Conflict):
        memory.add_fact("Mira", "role", "chief", valid_from="2025", request_id="r-1")
    assert memory.stats().store.events == 2


def test_expected_head_guards_against_lost_updates(memory: weft.Memory) -> None:
    memory.remember("one", expected_head=0)
    with pytest.raises(Conflict, match="is at 1, you wrote after 0"):
        memory.remember("two", expected_head=0)
    memory.remember("two", expected_head=1)
