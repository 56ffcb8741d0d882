"""Questions that are odd, hostile, endless or empty: each is answered or refused in plain words, and soon."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import weft
from tests.retrieval.small_worlds import WordEmbedder
from weft.core.errors import Invalid, NotFound, TooLarge
from weft.core.types import MAX_LIMIT, MAX_QUERY_CHARACTERS
from weft.models.embedding import Embedding
from weft.recall.recall import Recalled
from weft.testing.clock import ManualClock
from weft.testing.scribe import node

SAID = {
    "ferry": "The ferry to Port Ysolde sails at nine.",
    "russian": "Паром уходит в девять утра.",
    "chinese": "渡轮 九点 出发",
    "arabic": "تغادر العبارة في التاسعة صباحا",
    "emoji": "party at the harbour 🎉🎉",
    "header": 'parse_header("x") OR fails',
}


@pytest.fixture(scope="module", params=["memory", "sqlite"])
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[weft.Memory]:
    scratch: Path = tmp_path_factory.mktemp("asked")
    clock = ManualClock()
    url = "memory://" if request.param == "memory" else f"sqlite://{scratch / 'store'}"
    environment = {"HOME": str(scratch), "WEFT_EMBEDDER": "none", "WEFT_AUDIT": "off"}
    with weft.open(url, directory=scratch, environment=environment, clock=clock) as opened:
        opened.ctx = replace(opened.ctx, embedding=Embedding(WordEmbedder(), clock))
        for name, text in SAID.items():
            clock.step()
            opened.remember(text, name=f"About {name}")
        yield opened


MORE = ("recall_raw", "memory_search", "conversation_search", "semantic_search")


def first(answer: Recalled) -> str | None:
    return answer.hits[0].node.text if answer.hits else None


# ---- refused, and why


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"query": ""}, "query"),
        ({"query": "ferry\x00sails"}, "query"),
        ({"query": "x" * (MAX_QUERY_CHARACTERS + 1)}, "query"),
        ({"query": "ferry", "limit": 0}, "limit"),
        ({"query": "ferry", "limit": -1}, "limit"),
        ({"query": "ferry", "limit": 10**6}, "limit"),
        ({"query": "ferry", "limit": MAX_LIMIT + 1}, "limit"),
        ({"query": "ferry", "limit": "many"}, "limit"),
        ({"query": "ferry", "kinds": ["no kind!"]}, "kinds"),
        ({"query": "ferry", "project": "no project!"}, "project"),
        ({"query": "ferry", "asked_at": "the day before"}, "asked_at"),
        ({"query": "ferry", "asked_at": "2026-13-45"}, "asked_at"),
        ({"query": "ferry", "as_of": "never"}, "as_of"),
        ({"query": "ferry", "known_at": "never"}, "known_at"),
        ({"query": "ferry", "recipe": "soup"}, "recipe"),
        ({"query": "ferry", "recipe": "../soup"}, "recipe"),
        ({"query": 7}, "query"),
        ({"query": "ferry", "colour": "blue"}, "colour"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_its_name(memory: weft.Memory, given: dict[str, Any], named: str) -> None:
    with pytest.raises((Invalid, TooLarge)) as refused:
        memory.recall(**given)
    assert named in str(refused.value)


def test_half_a_character_is_refused(memory: weft.Memory) -> None:
    with pytest.raises(Invalid, match="lone surrogate"):
        memory.recall("ferry\ud800")


@pytest.mark.parametrize("moment", ["tx-0000000000000000", "abcdef0123456789"])
def test_a_moment_that_is_not_known_here_is_named(memory: weft.Memory, moment: str) -> None:
    with pytest.raises(NotFound, match=moment):
        memory.recall("ferry", as_of=moment)


def test_an_unknown_recipe_says_which_there_are(memory: weft.Memory) -> None:
    with pytest.raises(Invalid) as refused:
        memory.recall("ferry", recipe="soup")
    assert "default" in (refused.value.hint or "")


# ---- answered


@pytest.mark.parametrize(
    "question",
    [
        '" OR *',
        'ferry" OR *',
        "NEAR(ferry sails)",
        "name:ferry",
        "{name summary}: ferry",
        "-ferry",
        "ferry NOT sails",
        "ferry AND",
        "(ferry",
        "ferry*",
        "^ferry",
        'the "ferry',
        "ferry'; DROP TABLE node; --",
        "ferry \\ \\\\ \\n %s {0}",
        "ferry\t\r\n\x0b\x0c\u2028 ",
        "FERRY",
        "ｆｅｒｒｙ",
        "ferry " * 3_000,
        "ferry " + "zzzz" * 8_000,
        "ferry " + " ".join(f"w{n}" for n in range(5_000)),
    ],
    ids=lambda question: repr(question[:24]),
)
def test_operators_and_odd_characters_are_only_words(memory: weft.Memory, question: str) -> None:
    answer = memory.recall(question[:MAX_QUERY_CHARACTERS])
    assert any(hit.node.text == SAID["ferry"] for hit in answer.hits) or question.startswith('" OR')


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("когда уходит паром?", "russian"),
        ("渡轮 几点", "chinese"),
        ("متى تغادر العبارة", "arabic"),
        ("which ferry sails at nine?", "ferry"),
        ("About header", "header"),
    ],
)
def test_any_script_finds_its_own(memory: weft.Memory, question: str, found: str) -> None:
    assert first(memory.recall(question)) == SAID[found]


@pytest.mark.parametrize("question", ["🎉", "🎉🎉🎉", "?!…", "—", "   ", "\n"])
def test_a_question_without_words_says_so(memory: weft.Memory, question: str) -> None:
    answer = memory.recall(question)
    assert answer.status in ("empty", "succeeded")
    assert any("no words" in note for note in answer.notes)


@pytest.mark.parametrize("question", ["what is it", "who are you and what was that", "the", "The The"])
def test_stop_words_alone_do_no_harm(memory: weft.Memory, question: str) -> None:
    answer = memory.recall(question)
    assert answer.status == ("succeeded" if answer.hits else "empty")


def test_the_longest_question_is_answered_soon(memory: weft.Memory) -> None:
    report = "The ferry fails to sail\n\n" + "Port Ysolde said (Velmora) that parse_header was late. " * 700
    for question in (report, "Ysolde " * 5_000, "(" * 40_000, "a.b" * 12_000, "A b " * 9_000, '"' * 33_000):
        began = time.process_time()
        memory.recall(question[:MAX_QUERY_CHARACTERS], explain=True)
        assert time.process_time() - began < 5.0


def test_kinds_that_nothing_is_of_give_nothing(memory: weft.Memory) -> None:
    answer = memory.recall("ferry", kinds=["Submarine"])
    assert (answer.status, answer.hits) == ("empty", ())
    assert answer.notes


def test_before_the_beginning_there_was_nothing(memory: weft.Memory) -> None:
    for moment in ({"as_of": "1066"}, {"known_at": "1066"}, {"as_of": "1066", "known_at": "1066"}):
        answer = memory.recall("ferry", **moment)
        assert (answer.status, answer.hits) == ("empty", ())


@pytest.mark.parametrize("moment", [{"as_of": "1999-01-01"}, {"known_at": "1999-01-01"}])
def test_where_nothing_was_there_yet_the_moment_is_the_reason(memory: weft.Memory, moment: dict[str, str]) -> None:
    for everywhere in (False, True):
        more = {**moment, "everywhere": everywhere}
        answers: list[Any] = [memory.recall("when does the ferry sail", **more)]
        answers += [memory.call(name, query="when does the ferry sail", **more) for name in MORE]
        for answer in answers:
            assert any("matches at that time" in note for note in answer.notes), answer
        alike = memory.find_similar(text="when does the ferry sail", **more)
        assert alike.notes[-1] == "no memory that you may see is similar at that time"
    assert "at that time" not in str(memory.recall("zebra crossings of Utrecht").notes)


def test_a_project_that_is_not_there_is_named(memory: weft.Memory) -> None:
    project = "atlantis"
    answers: list[Any] = [memory.recall("the ferry to Port Ysolde", project=project)]
    answers += [memory.call(name, query="the ferry to Port Ysolde", project=project) for name in MORE]
    answers.append(memory.find_similar(text="the ferry", project=project))
    for answer in answers:
        assert any(note.startswith(f"there is no project {project!r} that you may see") for note in answer.notes)


def test_what_is_alike_but_not_enough_and_kinds_that_are_not_there_are_told(memory: weft.Memory) -> None:
    best = memory.find_similar(text="the ferry of Ysolde").hits[0].score
    found = memory.find_similar(text="the ferry of Ysolde", min_score=1.0)
    assert found.hits == ()
    assert found.notes == (f"the most alike has a likeness of {best:.3f}, and 1 is the least asked for",)
    none = memory.find_similar(text="the ferry of Ysolde", kinds=["Ship", "Memory", "Barge"])
    assert none.hits
    none = memory.find_similar(text="the ferry of Ysolde", kinds=["Ship", "Barge"])
    assert none.hits == ()
    assert any(
        note.startswith("no memory that you may see is of kind Ship, Barge; known kinds: ") for note in none.notes
    )


def test_when_it_is_asked_is_no_filter(memory: weft.Memory) -> None:
    for moment in ("1066", "2026-01-05", "9999"):
        answer = memory.recall("ferry to Port Ysolde last week", asked_at=moment)
        assert first(answer) == SAID["ferry"]


def test_an_id_is_a_question(memory: weft.Memory) -> None:
    wanted = memory.recall("ferry").hits[0].node.id
    for asked in (wanted, f"  {wanted}\n"):
        assert memory.recall(asked).hits[0].node.id == wanted


def test_blank_nodes_never_answer(memory: weft.Memory) -> None:
    memory.ctx.append([node("blank-1", kind="Entity", project=memory.ctx.settings.project)])
    for question in ("blank-1", "ferry", "blank", "🎉"):
        for hit in memory.recall(question, limit=100).hits:
            assert hit.node.name or hit.node.text


@cache
def in_words_only() -> weft.Memory:
    """One memory for all examples: nothing is written to it any more."""
    environment = {"HOME": "/nonexistent", "WEFT_EMBEDDER": "none", "WEFT_AUDIT": "off", "WEFT_PROJECT": "p"}
    opened = weft.open("memory://", directory=Path(__file__).parent, environment=environment, clock=ManualClock())
    for text in SAID.values():
        opened.remember(text)
    return opened


@settings(max_examples=60)
@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
    | st.text('"()*:^-+{}\\.ferryOR NEAT', min_size=1, max_size=30)
)
def test_whatever_is_asked_is_answered_or_refused(question: str) -> None:
    try:
        answer = in_words_only().recall(question, explain=True)
    except Invalid:
        assert "\x00" in question
        return
    for hit in answer.hits:
        assert hit.score == pytest.approx(sum(source.part for source in hit.why))
